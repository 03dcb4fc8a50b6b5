// SPDX-License-Identifier: GPL-2.0-only
/* The code that was traced. */
#include "code.h"

#include <errno.h>
#include <fcntl.h>
#include <inttypes.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/stat.h>
#include <unistd.h>

#ifndef KTAU_NO_LIBELF
#include <gelf.h>
#endif

#include "lib/bisect.h"
#include "lib/cli.h"
#include "lib/output.h"

struct code_mapping {
	struct code_mapping *next;
	char *path;
	void *data;
	uint64_t bytes;
};

void code_deinit(struct code *code)
{
	struct code_mapping *m;

	while ((m = code->mappings)) {
		code->mappings = m->next;
		if (m->bytes)
			munmap(m->data, m->bytes);
		free(m->path);
		free(m);
	}
	free(code->pieces);
	*code = (struct code){ 0 };
}

/* Map the open file; -1 with errno. */
static int map_fd(int fd, struct code_mapping *m)
{
	struct stat st;

	if (fstat(fd, &st))
		return -1;
	if (!S_ISREG(st.st_mode)) {
		errno = S_ISDIR(st.st_mode) ? EISDIR : ESPIPE;
		return -1;
	}
	m->bytes = (uint64_t)st.st_size;
	m->data = "";
	if (!m->bytes)
		return 0;
	m->data = mmap(NULL, m->bytes, PROT_READ, MAP_PRIVATE, fd, 0);
	return m->data == MAP_FAILED ? -1 : 0;
}

const uint8_t *code_map(struct code *code, const char *path, uint64_t *bytes)
{
	struct code_mapping *m;
	int fd, err = -1;

	for (m = code->mappings; m; m = m->next) {
		if (strcmp(m->path, path))
			continue;
		*bytes = m->bytes;
		return m->data;
	}
	m = cli_alloc(NULL, 1, sizeof(*m));
	/* A FIFO must not block. */
	fd = open(path, O_RDONLY | O_CLOEXEC | O_NONBLOCK);
	if (fd >= 0)
		err = map_fd(fd, m);
	if (err) {
		complain("cannot read %s: %s", path,
			 errno == ESPIPE ? "not a regular file" : strerror(errno));
		free(m);
	} else {
		m->path = strdup(path);
		m->next = code->mappings;
		code->mappings = m;
		*bytes = m->bytes;
	}
	if (fd >= 0)
		close(fd);
	return err ? NULL : m->data;
}

bool code_is_input(const struct code *code, const char *path)
{
	const struct code_mapping *m;

	for (m = code->mappings; m; m = m->next)
		if (output_is_input(path, m->path))
			return true;
	return false;
}

static bool ends_before(const void *pieces, size_t i, const void *address)
{
	return ((const struct code_piece *)pieces)[i].end <= *(const uint64_t *)address;
}

/* The first piece that ends after @address. */
static size_t find_piece(const struct code *code, uint64_t address)
{
	return bisect(code->pieces, code->nr, &address, ends_before);
}

static void insert_piece(struct code *code, size_t at, struct code_piece piece)
{
	if (code->nr == code->room) {
		code->room = 2 * code->room + 16;
		code->pieces = cli_alloc(code->pieces, code->room, sizeof(*code->pieces));
	}
	memmove(code->pieces + at + 1, code->pieces + at,
		(code->nr - at) * sizeof(*code->pieces));
	code->pieces[at] = piece;
	code->nr++;
}

/* Add the parts of @piece where there is no code yet. */
static void add_piece(struct code *code, struct code_piece piece)
{
	struct code_piece part;
	size_t at;

	while (piece.start < piece.end) {
		at = find_piece(code, piece.start);
		part = piece;
		if (at < code->nr && code->pieces[at].start < part.end)
			part.end = code->pieces[at].start;
		if (part.start < part.end)
			insert_piece(code, at++, part);
		if (at == code->nr || code->pieces[at].end >= piece.end)
			return;
		piece.data += code->pieces[at].end - piece.start;
		piece.start = code->pieces[at].end;
	}
}

int code_add_file(struct code *code, const char *path, uint64_t offset, uint64_t length,
		  uint64_t address)
{
	uint64_t bytes;
	const uint8_t *data = code_map(code, path, &bytes);

	if (!data)
		return -1;
	if (offset > bytes || length > bytes - offset) {
		complain("%s: has %" PRIu64 " bytes, but %" PRIu64 " from %" PRIu64
			 " on are said to be code", path, bytes, length, offset);
		return -1;
	}
	if (!length)
		length = bytes - offset;
	if (address > UINT64_MAX - length) {
		complain("%s: code of %" PRIu64 " bytes at 0x%" PRIx64
			 " is beyond the end of memory", path, length, address);
		return -1;
	}
	add_piece(code, (struct code_piece){ address, address + length, data + offset });
	return 0;
}

void code_add_mapping(struct code *code, const char *path, uint64_t offset, uint64_t length,
		      uint64_t address)
{
	uint64_t bytes;
	const uint8_t *data = code_map(code, path, &bytes);

	if (!data || offset >= bytes)
		return;
	if (length > bytes - offset)
		length = bytes - offset;
	if (address <= UINT64_MAX - length)
		add_piece(code, (struct code_piece){ address, address + length, data + offset });
}

#ifndef KTAU_NO_LIBELF
static void add_sections(struct code *code, Elf *elf, const uint8_t *data, uint64_t bytes)
{
	const GElf_Xword flags = SHF_ALLOC | SHF_EXECINSTR;
	Elf_Scn *section = NULL;
	GElf_Shdr h;

	while ((section = elf_nextscn(elf, section))) {
		if (!gelf_getshdr(section, &h) || h.sh_type != SHT_PROGBITS ||
		    (h.sh_flags & flags) != flags || h.sh_flags & SHF_COMPRESSED ||
		    h.sh_offset > bytes || h.sh_size > bytes - h.sh_offset ||
		    h.sh_addr > UINT64_MAX - h.sh_size)
			continue;
		add_piece(code, (struct code_piece){ h.sh_addr, h.sh_addr + h.sh_size,
						     data + h.sh_offset });
	}
}

int code_add_elf(struct code *code, const char *path)
{
	uint64_t bytes;
	const uint8_t *data = code_map(code, path, &bytes);
	Elf *elf;

	if (!data)
		return -1;
	elf_version(EV_CURRENT);
	elf = elf_memory((char *)data, bytes);
	/* A System.map has names, but no code. */
	if (elf && elf_kind(elf) == ELF_K_ELF)
		add_sections(code, elf, data, bytes);
	elf_end(elf);
	return 0;
}
#else
int code_add_elf(struct code *code, const char *path)
{
	(void)code, (void)path;
	return 0;
}
#endif

size_t code_read(const struct code *code, uint64_t address, void *data, size_t bytes)
{
	size_t at = find_piece(code, address), done = 0, part;
	const struct code_piece *piece;

	for (; done < bytes && at < code->nr; at++) {
		piece = &code->pieces[at];
		if (piece->start > address + done)
			break;
		part = piece->end - (address + done);
		if (part > bytes - done)
			part = bytes - done;
		memcpy((uint8_t *)data + done, piece->data + (address + done - piece->start), part);
		done += part;
	}
	return done;
}

uint64_t code_instruction_bytes(const struct code *code, const struct cycles_range *range,
				uint64_t address)
{
	uint64_t left = range->end - address, length = left;
	uint8_t half[2];

	if (range->isa == CYCLES_WORDS)
		length = 4;
	/* Arm ARM, "T32 instruction set encoding": 11101, 11110 and 11111 begin two halfwords. */
	else if (range->isa == CYCLES_THUMB)
		length = code_read(code, address, half, 2) == 2 && half[1] >> 3 >= 0x1d ? 4 : 2;
	return length < left ? length : left;
}
