// SPDX-License-Identifier: LGPL-2.1-or-later
/*
 * The name of a function, from the symbols of the file that it was loaded from.
 *
 * _dl_find_object() does not take the lock of the dynamic linker, which another thread may hold
 * while it waits for this one.
 */
#include <dlfcn.h>
#include <elf.h>
#include <errno.h>
#include <fcntl.h>
#include <link.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/stat.h>
#include <unistd.h>

#include "user.h"

#if UINTPTR_MAX > UINT32_MAX
typedef Elf64_Ehdr Head;
typedef Elf64_Shdr Section;
typedef Elf64_Sym Symbol;
typedef Elf64_Addr Address;
#else
typedef Elf32_Ehdr Head;
typedef Elf32_Shdr Section;
typedef Elf32_Sym Symbol;
typedef Elf32_Addr Address;
#endif

/* A mapped file. */
struct image {
	const char *data;
	size_t bytes;
};

static bool map_image(const char *path, struct image *image)
{
	int fd = open(path, O_RDONLY | O_CLOEXEC | O_NONBLOCK);
	struct stat st;
	void *data = MAP_FAILED;

	if (fd < 0)
		return false;
	if (!fstat(fd, &st) && S_ISREG(st.st_mode) && st.st_size > 0)
		data = mmap(NULL, (size_t)st.st_size, PROT_READ, MAP_PRIVATE, fd, 0);
	close(fd);
	if (data == MAP_FAILED)
		return false;
	*image = (struct image){ data, (size_t)st.st_size };
	return true;
}

/* @nr objects of @size bytes at offset @at, or NULL if the file does not contain them. */
static const void *part(const struct image *image, uint64_t at, uint64_t nr, uint64_t size)
{
	if (at > image->bytes || nr > (image->bytes - at) / size || at % sizeof(Address))
		return NULL;
	return image->data + at;
}

static const char *text_at(const struct image *image, const Section *texts, uint64_t at)
{
	const char *text;

	if (at >= texts->sh_size || texts->sh_offset > image->bytes ||
	    texts->sh_size > image->bytes - texts->sh_offset)
		return NULL;
	text = image->data + texts->sh_offset + at;
	return memchr(text, 0, texts->sh_size - at) ? text : NULL;
}

static const char *find_in(const struct image *image, const Section *sections, size_t nr,
			   const Section *table, Address address)
{
	const size_t nr_symbols = table->sh_size / sizeof(Symbol);
	const Symbol *s = part(image, table->sh_offset, nr_symbols, sizeof(*s));
	size_t i;

	if (!s || table->sh_link >= nr)
		return NULL;
	for (i = 0; i < nr_symbols; i++)
		if (s[i].st_value == address && (s[i].st_info & 0xf) == STT_FUNC &&
		    s[i].st_shndx != SHN_UNDEF)
			return text_at(image, &sections[table->sh_link], s[i].st_name);
	return NULL;
}

/* A stripped file only has its dynamic symbols. */
static const char *find_symbol(const struct image *image, Address address)
{
	static const unsigned int types[] = { SHT_SYMTAB, SHT_DYNSYM };
	const Head *head = part(image, 0, 1, sizeof(*head));
	const Section *sections;
	const char *name = NULL;
	size_t i, k;

	if (!head || memcmp(head->e_ident, ELFMAG, SELFMAG) ||
	    head->e_shentsize != sizeof(*sections))
		return NULL;
	sections = part(image, head->e_shoff, head->e_shnum, sizeof(*sections));
	for (k = 0; sections && !name && k < 2; k++)
		for (i = 0; !name && i < head->e_shnum; i++)
			if (sections[i].sh_type == types[k])
				name = find_in(image, sections, head->e_shnum, &sections[i],
					       address);
	return name;
}

char *ktau__symbol_name(const void *function)
{
	const char *path, *base, *symbol = NULL;
	struct dl_find_object found;
	struct image image;
	char *name = NULL;
	Address address;

	if (_dl_find_object((void *)function, &found) || !found.dlfo_link_map)
		return strdup("?");
	address = (Address)function - found.dlfo_link_map->l_addr;
	path = found.dlfo_link_map->l_name;
	if (!*path)
		path = "/proc/self/exe";
	if (map_image(path, &image)) {
		symbol = find_symbol(&image, address);
		if (symbol)
			name = strdup(symbol);
		munmap((void *)image.data, image.bytes);
	}
	if (symbol)
		return name;
	path = found.dlfo_link_map->l_name;
	if (!*path)
		path = program_invocation_short_name;
	base = strrchr(path, '/');
	if (asprintf(&name, "%s+%#lx", base ? base + 1 : path, (unsigned long)address) < 0)
		return NULL;
	return name;
}

bool ktau__is_loaded(const void *function)
{
	struct dl_find_object found;

	return !_dl_find_object((void *)function, &found);
}
