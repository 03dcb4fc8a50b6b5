// SPDX-License-Identifier: GPL-2.0-only
/*
 * Each descriptor of the I/O node has one here that leads nowhere: so the numbers are this
 * process's own, and a call that nobody stands in for fails instead of reaching
 * something else.
 */
#include <errno.h>
#include <fcntl.h>
#include <stdlib.h>
#include <string.h>
#include <sys/syscall.h>
#include <unistd.h>

#include "shim.h"

#define MAX_DESCRIPTORS 4096

struct file {
	uint32_t remote;
	int flags;
	int users;	/* descriptors here */
};

static struct file *files[MAX_DESCRIPTORS];

static struct file *file_of(int fd)
{
	return fd >= 0 && fd < MAX_DESCRIPTORS ? files[fd] : NULL;
}

bool shim_remote(int fd, uint32_t *remote)
{
	const struct file *file = file_of(fd);

	if (file)
		*remote = file->remote;
	return file;
}

int shim_flags(int fd)
{
	return file_of(fd)->flags;
}

int shim_add(uint32_t remote, int flags)
{
	struct file *file = malloc(sizeof(*file));
	int fd;

	if (!file)
		return -1;
	fd = syscall(SYS_openat, AT_FDCWD, "/", O_PATH | O_CLOEXEC);
	if (fd >= MAX_DESCRIPTORS) {
		syscall(SYS_close, fd);
		errno = EMFILE;
		fd = -1;
	}
	if (fd < 0) {
		free(file);
		return -1;
	}
	*file = (struct file){ remote, flags, 1 };
	files[fd] = file;
	return fd;
}

void shim_dup(int fd, int copy)
{
	struct file *file = file_of(fd);

	if (!file || copy < 0 || copy >= MAX_DESCRIPTORS)
		return;
	file->users++;
	files[copy] = file;
}

bool shim_drop(int fd, uint32_t *remote)
{
	struct file *file = file_of(fd);

	if (!file)
		return false;
	files[fd] = NULL;
	if (--file->users)
		return false;
	*remote = file->remote;
	free(file);
	return true;
}

void shim_forget_table(void)
{
	memset(files, 0, sizeof(files));
}

/* The path below the prefix, "." for the prefix itself; NULL if it is not below it. */
static const char *below(const char *path)
{
	const char *prefix = getenv("CIOD_PREFIX");
	size_t bytes = prefix ? strlen(prefix) : 0;

	while (bytes && prefix[bytes - 1] == '/')
		bytes--;
	if (!bytes || strncmp(path, prefix, bytes) || (path[bytes] && path[bytes] != '/'))
		return NULL;
	path += bytes + strspn(path + bytes, "/");
	return *path ? path : ".";
}

bool shim_path(int at, const char *path, uint32_t *fd, const char **wire)
{
	if (!path)
		return false;
	if (*path != '/') {
		*wire = path;
		return at != AT_FDCWD && shim_remote(at, fd);
	}
	*wire = below(path);
	*fd = CIOD_ROOT;
	return *wire;
}
