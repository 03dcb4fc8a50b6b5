// SPDX-License-Identifier: GPL-2.0-only
/*
 * The calls of the C library that file programs make, in front of the library's own. Each asks
 * whether its path or descriptor is the I/O node's, and if so ships the call.
 *
 * Not shipped: what maps files, locks them, or changes the current folder. On a
 * descriptor of the I/O node these fail with EBADF, and so does every call that nobody
 * stands in for here. A descriptor is not inherited over fork or exec.
 */
#include <errno.h>
#include <fcntl.h>
#include <pthread.h>
#include <stdarg.h>
#include <stdio.h>
#include <sys/stat.h>
#include <sys/sysmacros.h>
#include <sys/uio.h>
#include <unistd.h>

#include "ciod_wire.h"
#include "shim.h"

#define N(value) ((uint64_t)(value))

static mode_t mask;

mode_t shim_umask(void)
{
	return mask;
}

EXPORT mode_t umask(mode_t new)
{
	mask = new & 0777;
	return NEXT(umask)(new);
}

static int refuse(int error)
{
	errno = error;
	return -1;
}

/* A data argument may be as large as the program likes; calls may do less than asked. */
static size_t at_most(size_t bytes)
{
	return bytes < CIOD_MAX_DATA ? bytes : CIOD_MAX_DATA;
}

static int open_remote(uint32_t at, const char *path, int flags, mode_t mode)
{
	int64_t wire = ciod_flags_to_wire(flags), remote;
	int fd;

	if (wire < 0)
		return refuse(EINVAL);
	remote = shim_ship(CIOD_NR_openat, NULL, at, path, N(wire), N(mode & ~shim_umask()));
	if (remote < 0)
		return -1;
	fd = shim_add(remote, flags);
	if (fd < 0)
		shim_ship(CIOD_NR_close, NULL, (uint32_t)remote);
	return fd;
}

static mode_t mode_of(int flags, va_list args)
{
	return flags & O_CREAT || (flags & O_TMPFILE) == O_TMPFILE ? va_arg(args, mode_t) : 0;
}

static int open_at(int at, const char *path, int flags, mode_t mode)
{
	const char *wire;
	uint32_t fd;

	if (shim_path(at, path, &fd, &wire))
		return open_remote(fd, wire, flags, mode);
	return NEXT(openat)(at, path, flags, mode);
}

EXPORT int openat(int at, const char *path, int flags, ...)
{
	va_list args;
	mode_t mode;

	va_start(args, flags);
	mode = mode_of(flags, args);
	va_end(args);
	return open_at(at, path, flags, mode);
}

EXPORT int open(const char *path, int flags, ...)
{
	va_list args;
	mode_t mode;

	va_start(args, flags);
	mode = mode_of(flags, args);
	va_end(args);
	return open_at(AT_FDCWD, path, flags, mode);
}

EXPORT int creat(const char *path, mode_t mode)
{
	return open_at(AT_FDCWD, path, O_CREAT | O_WRONLY | O_TRUNC, mode);
}

/* What the headers make of open and openat where programs are fortified. */
int __open_2(const char *path, int flags);
int __openat_2(int at, const char *path, int flags);

EXPORT int __open_2(const char *path, int flags)
{
	return open_at(AT_FDCWD, path, flags, 0);
}

EXPORT int __openat_2(int at, const char *path, int flags)
{
	return open_at(at, path, flags, 0);
}

static int drop(int fd)
{
	uint32_t remote;

	return shim_drop(fd, &remote) ? shim_ship(CIOD_NR_close, NULL, remote) : 0;
}

EXPORT int close(int fd)
{
	uint32_t remote;
	int status = 0;

	if (shim_remote(fd, &remote))
		status = drop(fd);
	return NEXT(close)(fd) ? -1 : status;
}

EXPORT int dup(int fd)
{
	int copy = NEXT(dup)(fd);

	shim_dup(fd, copy);
	return copy;
}

EXPORT int dup2(int fd, int to)
{
	int copy = NEXT(dup2)(fd, to);

	if (copy >= 0 && fd != to) {
		drop(to);
		shim_dup(fd, to);
	}
	return copy;
}

EXPORT int dup3(int fd, int to, int flags)
{
	int copy = NEXT(dup3)(fd, to, flags);

	if (copy >= 0) {
		drop(to);
		shim_dup(fd, to);
	}
	return copy;
}

EXPORT int fcntl(int fd, int command, ...)
{
	uint32_t remote;
	void *argument;
	va_list args;
	int result;

	va_start(args, command);
	argument = va_arg(args, void *);
	va_end(args);
	if (command == F_GETFL && shim_remote(fd, &remote))
		return shim_flags(fd);
	result = NEXT(fcntl)(fd, command, argument);
	if (command == F_DUPFD || command == F_DUPFD_CLOEXEC)
		shim_dup(fd, result);
	return result;
}

EXPORT ssize_t read(int fd, void *to, size_t bytes)
{
	struct shim_data data = { to, at_most(bytes), 0 };
	uint32_t remote;

	if (!shim_remote(fd, &remote))
		return NEXT(read)(fd, to, bytes);
	return shim_ship(CIOD_NR_read, &data, remote, N(data.room));
}

EXPORT ssize_t pread(int fd, void *to, size_t bytes, off_t at)
{
	struct shim_data data = { to, at_most(bytes), 0 };
	uint32_t remote;

	if (!shim_remote(fd, &remote))
		return NEXT(pread)(fd, to, bytes, at);
	return shim_ship(CIOD_NR_pread64, &data, remote, N(data.room), N(at));
}

EXPORT ssize_t write(int fd, const void *from, size_t bytes)
{
	uint32_t remote;

	if (!shim_remote(fd, &remote))
		return NEXT(write)(fd, from, bytes);
	return shim_ship(CIOD_NR_write, NULL, remote, from, (uint32_t)at_most(bytes));
}

EXPORT ssize_t pwrite(int fd, const void *from, size_t bytes, off_t at)
{
	uint32_t remote;

	if (!shim_remote(fd, &remote))
		return NEXT(pwrite)(fd, from, bytes, at);
	return shim_ship(CIOD_NR_pwrite64, NULL, remote, from, (uint32_t)at_most(bytes), N(at));
}

EXPORT off_t lseek(int fd, off_t to, int whence)
{
	uint32_t remote;

	if (!shim_remote(fd, &remote))
		return NEXT(lseek)(fd, to, whence);
	return shim_ship(CIOD_NR_lseek, NULL, remote, N(to), N(whence));
}

EXPORT int ftruncate(int fd, off_t bytes)
{
	uint32_t remote;

	if (!shim_remote(fd, &remote))
		return NEXT(ftruncate)(fd, bytes);
	return shim_ship(CIOD_NR_ftruncate, NULL, remote, N(bytes));
}

EXPORT int fsync(int fd)
{
	uint32_t remote;

	if (!shim_remote(fd, &remote))
		return NEXT(fsync)(fd);
	return shim_ship(CIOD_NR_fsync, NULL, remote);
}

EXPORT int fchmod(int fd, mode_t mode)
{
	uint32_t remote;

	if (!shim_remote(fd, &remote))
		return NEXT(fchmod)(fd, mode);
	return shim_ship(CIOD_NR_fchmod, NULL, remote, N(mode));
}

EXPORT int fchown(int fd, uid_t uid, gid_t gid)
{
	uint32_t remote;

	if (!shim_remote(fd, &remote))
		return NEXT(fchown)(fd, uid, gid);
	return shim_ship(CIOD_NR_fchown, NULL, remote, N(uid), N(gid));
}

/* Nothing of two files is on one kernel: the program copies by read and write. */
EXPORT ssize_t copy_file_range(int in, off64_t *in_at, int out, off64_t *out_at, size_t bytes,
			       unsigned int flags)
{
	uint32_t remote;

	if (shim_remote(in, &remote) || shim_remote(out, &remote))
		return refuse(EXDEV);
	return NEXT(copy_file_range)(in, in_at, out, out_at, bytes, flags);
}

EXPORT int posix_fadvise(int fd, off_t from, off_t bytes, int advice)
{
	uint32_t remote;

	if (shim_remote(fd, &remote))
		return 0;
	return NEXT(posix_fadvise)(fd, from, bytes, advice);
}

EXPORT void _exit(int status)
{
	shim_finish();
	NEXT(_exit)(status);
	__builtin_unreachable();
}

/* The parent's descriptors and its connection are the parent's. */
static void forked(void)
{
	shim_forget_link();
	shim_forget_table();
}

__attribute__((constructor)) static void begin(void)
{
	mode_t (*set)(mode_t) = NEXT(umask);

	mask = set(0);
	set(mask);
	pthread_atfork(NULL, NULL, forked);
}

__attribute__((destructor)) static void end(void)
{
	shim_finish();
}

SAME(open64, open);
SAME(openat64, openat);
SAME(creat64, creat);
SAME(fcntl64, fcntl);
SAME(pread64, pread);
SAME(pwrite64, pwrite);
SAME(lseek64, lseek);
SAME(ftruncate64, ftruncate);
SAME(posix_fadvise64, posix_fadvise);
