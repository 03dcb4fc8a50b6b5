// SPDX-License-Identifier: LGPL-2.1-or-later
/* Facts about the running kernel: version, control groups, boot, build. */
#include <elf.h>
#include <fcntl.h>
#include <stdio.h>
#include <stdlib.h>
#include <sys/ioctl.h>
#include <sys/stat.h>
#include <unistd.h>

#include "buffer.h"
#include "info.h"

#define CGROUP_ROOT	"/sys/fs/cgroup"

int ktau_info_read(int fd, struct ktau_info *info)
{
	int own = -1, err = 0;

	memset(info, 0, sizeof(*info));
	if (fd < 0) {
		own = open(KTAU_PROC "/profile", O_RDONLY | O_CLOEXEC);
		if (own < 0)
			return -errno;
		fd = own;
	}
	info->size = sizeof(*info);
	if (ioctl(fd, KTAU_IOC_INFO, info) < 0)
		err = -errno;
	if (own >= 0)
		close(own);
	return err;
}

/* The id of a group is the number in its file handle, on every architecture. */
static int handle_id(const char *path, uint64_t *id)
{
	struct {
		struct file_handle handle;
		unsigned char bytes[MAX_HANDLE_SZ];
	} h = { .handle.handle_bytes = MAX_HANDLE_SZ };
	int mount_id;

	if (name_to_handle_at(AT_FDCWD, path, &h.handle, &mount_id, 0))
		return -errno;
	if (h.handle.handle_bytes != sizeof(*id))
		return -ENOENT;
	memcpy(id, h.handle.f_handle, sizeof(*id));
	return 0;
}

/* Only groups of version 2 have this file, the root included. */
static bool is_group(const char *path)
{
	char *file;
	bool found;

	if (asprintf(&file, "%s/cgroup.controllers", path) < 0)
		return false;
	found = !access(file, F_OK);
	free(file);
	return found;
}

int ktau_cgroup_id(const char *path, uint64_t *id)
{
	static const char *const roots[] = { CGROUP_ROOT, CGROUP_ROOT "/unified" };
	int err = -ENOENT;
	char *full;
	size_t i;

	*id = 0;
	if (!strncmp(path, CGROUP_ROOT "/", sizeof(CGROUP_ROOT)))
		return is_group(path) ? handle_id(path, id) : -ENOENT;
	for (i = 0; err && i < sizeof(roots) / sizeof(*roots); i++) {
		if (asprintf(&full, "%s/%s", roots[i], path) < 0)
			return -ENOMEM;
		if (is_group(full))
			err = handle_id(full, id);
		free(full);
	}
	return err;
}

static int hex_digit(char c)
{
	if (c >= '0' && c <= '9')
		return c - '0';
	return c >= 'a' && c <= 'f' ? c - 'a' + 10 : -1;
}

static int read_file(const char *path, size_t max, struct ktau__buffer *buffer)
{
	int fd = open(path, O_RDONLY | O_CLOEXEC), err;

	if (fd < 0)
		return -errno;
	err = ktau__read_all(fd, max, buffer);
	close(fd);
	return err;
}

int ktau_boot_id(uint8_t id[16])
{
	struct ktau__buffer text = { 0 };
	int err = read_file("/proc/sys/kernel/random/boot_id", 4096, &text);
	unsigned int nr = 0;
	int digit;
	size_t i;

	memset(id, 0, 16);
	for (i = 0; !err && i < text.size && nr < 32; i++) {
		digit = hex_digit(text.data[i]);
		if (digit < 0)
			continue;
		id[nr / 2] |= digit << (nr % 2 ? 0 : 4);
		nr++;
	}
	ktau__buffer_free(&text);
	if (!err && nr < 32) {
		memset(id, 0, 16);
		err = -EINVAL;
	}
	return err;
}

size_t ktau__note_build_id(const void *notes, size_t size, const uint8_t **id)
{
	const uint8_t *at = notes;
	uint64_t name_bytes, desc_bytes;
	Elf32_Nhdr note;

	while (size >= sizeof(note)) {
		memcpy(&note, at, sizeof(note));
		at += sizeof(note);
		size -= sizeof(note);
		name_bytes = ((uint64_t)note.n_namesz + 3) & ~3ULL;
		desc_bytes = ((uint64_t)note.n_descsz + 3) & ~3ULL;
		if (name_bytes > size || desc_bytes > size - name_bytes)
			return 0;
		if (note.n_type == NT_GNU_BUILD_ID && note.n_namesz == 4 &&
		    !memcmp(at, "GNU", 4)) {
			*id = at + name_bytes;
			return note.n_descsz;
		}
		at += name_bytes + desc_bytes;
		size -= name_bytes + desc_bytes;
	}
	return 0;
}

int ktau__build_id(uint8_t *id, size_t size)
{
	struct ktau__buffer notes = { 0 };
	const uint8_t *found;
	size_t bytes;
	int err = read_file("/sys/kernel/notes", 1U << 20, &notes);

	if (!err) {
		bytes = ktau__note_build_id(notes.data, notes.size, &found);
		err = bytes && bytes <= size ? (int)bytes : -ENOENT;
		if (err > 0)
			memcpy(id, found, bytes);
	}
	ktau__buffer_free(&notes);
	return err;
}
