// SPDX-License-Identifier: GPL-2.0-only
/*
 * Folders of the I/O node. A DIR is the C library's secret, so ours are kept in a
 * list: one that is in it is ours.
 */
#include <dirent.h>
#include <errno.h>
#include <fcntl.h>
#include <pthread.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "ciod_wire.h"
#include "shim.h"

#define FOLDER_BYTES 32768

struct folder {
	struct folder *next;
	int fd;
	uint32_t remote;
	size_t at, end;			/* entries in @raw not read yet */
	struct dirent entry;		/* what readdir returns */
	unsigned char raw[FOLDER_BYTES];
};

static pthread_mutex_t lock = PTHREAD_MUTEX_INITIALIZER;
static struct folder *folders;		/* guarded by lock */

static struct folder *ours(DIR *dir)
{
	struct folder *folder;

	pthread_mutex_lock(&lock);
	for (folder = folders; folder && folder != (struct folder *)dir; folder = folder->next)
		;
	pthread_mutex_unlock(&lock);
	return folder;
}

EXPORT DIR *fdopendir(int fd)
{
	struct folder *folder;
	uint32_t remote;

	if (!shim_remote(fd, &remote))
		return NEXT(fdopendir)(fd);
	folder = malloc(sizeof(*folder));
	if (!folder)
		return NULL;
	folder->fd = fd;
	folder->remote = remote;
	folder->at = 0;
	folder->end = 0;
	pthread_mutex_lock(&lock);
	folder->next = folders;
	folders = folder;
	pthread_mutex_unlock(&lock);
	return (DIR *)folder;
}

EXPORT DIR *opendir(const char *path)
{
	const char *wire;
	uint32_t remote;
	DIR *dir;
	int fd;

	if (!shim_path(AT_FDCWD, path, &remote, &wire))
		return NEXT(opendir)(path);
	fd = open(path, O_RDONLY | O_DIRECTORY | O_CLOEXEC);
	if (fd < 0)
		return NULL;
	dir = fdopendir(fd);
	if (!dir)
		close(fd);
	return dir;
}

/* Take the next entry out of what came. False if it is not a whole one. */
static bool take_entry(struct folder *folder)
{
	const unsigned char *raw = folder->raw + folder->at;
	size_t left = folder->end - folder->at, length;

	if (left < CIOD_ENTRY_BYTES)
		return false;
	length = ciod_get16(raw + 17);
	if (length > left - CIOD_ENTRY_BYTES || length >= sizeof(folder->entry.d_name))
		return false;
	folder->entry.d_ino = ciod_get64(raw);
	folder->entry.d_off = (off_t)ciod_get64(raw + 8);
	folder->entry.d_reclen = sizeof(folder->entry);
	folder->entry.d_type = raw[16];
	memcpy(folder->entry.d_name, raw + CIOD_ENTRY_BYTES, length);
	folder->entry.d_name[length] = '\0';
	folder->at += CIOD_ENTRY_BYTES + length;
	return true;
}

EXPORT struct dirent *readdir(DIR *dir)
{
	struct folder *folder = ours(dir);
	struct shim_data data;

	if (!folder)
		return NEXT(readdir)(dir);
	if (folder->at == folder->end) {
		data = (struct shim_data){ folder->raw, sizeof(folder->raw), 0 };
		if (shim_ship(CIOD_NR_getdents64, &data, folder->remote,
			      (uint64_t)sizeof(folder->raw)) <= 0)
			return NULL;
		folder->at = 0;
		folder->end = data.bytes;
	}
	if (take_entry(folder))
		return &folder->entry;
	folder->at = folder->end;
	errno = EIO;
	return NULL;
}

EXPORT void rewinddir(DIR *dir)
{
	struct folder *folder = ours(dir);

	if (!folder) {
		NEXT(rewinddir)(dir);
		return;
	}
	folder->at = folder->end;
	lseek(folder->fd, 0, SEEK_SET);
}

EXPORT int dirfd(DIR *dir)
{
	const struct folder *folder = ours(dir);

	return folder ? folder->fd : NEXT(dirfd)(dir);
}

EXPORT int closedir(DIR *dir)
{
	struct folder *folder = ours(dir), **link;
	int fd;

	if (!folder)
		return NEXT(closedir)(dir);
	pthread_mutex_lock(&lock);
	for (link = &folders; *link != folder; link = &(*link)->next)
		;
	*link = folder->next;
	pthread_mutex_unlock(&lock);
	fd = folder->fd;
	free(folder);
	return close(fd);
}

SAME(readdir64, readdir);
