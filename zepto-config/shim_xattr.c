// SPDX-License-Identifier: GPL-2.0-only
/*
 * Extended attributes are not shipped. A program is told so by the error of a file system
 * that has none, for it takes any other to heart.
 */
#include <errno.h>
#include <fcntl.h>
#include <sys/xattr.h>

#include "shim.h"

static bool there(const char *path)
{
	const char *wire;
	uint32_t fd;

	return shim_path(AT_FDCWD, path, &fd, &wire);
}

static bool open_there(int fd)
{
	uint32_t remote;

	return shim_remote(fd, &remote);
}

static int none(void)
{
	errno = EOPNOTSUPP;
	return -1;
}

EXPORT ssize_t getxattr(const char *path, const char *name, void *to, size_t bytes)
{
	return there(path) ? none() : NEXT(getxattr)(path, name, to, bytes);
}

EXPORT ssize_t lgetxattr(const char *path, const char *name, void *to, size_t bytes)
{
	return there(path) ? none() : NEXT(lgetxattr)(path, name, to, bytes);
}

EXPORT ssize_t fgetxattr(int fd, const char *name, void *to, size_t bytes)
{
	return open_there(fd) ? none() : NEXT(fgetxattr)(fd, name, to, bytes);
}

EXPORT ssize_t listxattr(const char *path, char *to, size_t bytes)
{
	return there(path) ? none() : NEXT(listxattr)(path, to, bytes);
}

EXPORT ssize_t llistxattr(const char *path, char *to, size_t bytes)
{
	return there(path) ? none() : NEXT(llistxattr)(path, to, bytes);
}

EXPORT ssize_t flistxattr(int fd, char *to, size_t bytes)
{
	return open_there(fd) ? none() : NEXT(flistxattr)(fd, to, bytes);
}

EXPORT int setxattr(const char *path, const char *name, const void *value, size_t bytes, int flags)
{
	return there(path) ? none() : NEXT(setxattr)(path, name, value, bytes, flags);
}

EXPORT int lsetxattr(const char *path, const char *name, const void *value, size_t bytes,
		     int flags)
{
	return there(path) ? none() : NEXT(lsetxattr)(path, name, value, bytes, flags);
}

EXPORT int fsetxattr(int fd, const char *name, const void *value, size_t bytes, int flags)
{
	return open_there(fd) ? none() : NEXT(fsetxattr)(fd, name, value, bytes, flags);
}
