// SPDX-License-Identifier: GPL-2.0-only
/* What takes a path, other than opening it; and what is known of a file. */
#include <errno.h>
#include <fcntl.h>
#include <stdio.h>
#include <sys/stat.h>
#include <sys/sysmacros.h>
#include <unistd.h>

#include "ciod_wire.h"
#include "shim.h"

#define N(value) ((uint64_t)(value))

static int refuse(int error)
{
	errno = error;
	return -1;
}

static int stat_remote(uint32_t at, const char *path, int flags, uint64_t value[CIOD_NR_STAT])
{
	unsigned char raw[8 * CIOD_NR_STAT];
	struct shim_data data = { raw, sizeof(raw), 0 };
	int i;

	if (shim_ship(CIOD_NR_statx, &data, at, path, N(flags)) < 0)
		return -1;
	if (data.bytes != sizeof(raw))
		return refuse(EIO);
	for (i = 0; i < CIOD_NR_STAT; i++)
		value[i] = ciod_get64(raw + 8 * i);
	return 0;
}

static int fill_stat(uint32_t at, const char *path, int flags, struct stat *st)
{
	uint64_t v[CIOD_NR_STAT];

	if (stat_remote(at, path, flags, v))
		return -1;
	*st = (struct stat){
		.st_mode = v[CIOD_ST_MODE],
		.st_nlink = v[CIOD_ST_NLINK],
		.st_uid = v[CIOD_ST_UID],
		.st_gid = v[CIOD_ST_GID],
		/* Never a device of this node, whatever its number */
		.st_dev = makedev(v[CIOD_ST_DEV_MAJOR] + 0xc10d000, v[CIOD_ST_DEV_MINOR]),
		.st_ino = v[CIOD_ST_INO],
		.st_rdev = makedev(v[CIOD_ST_RDEV_MAJOR], v[CIOD_ST_RDEV_MINOR]),
		.st_size = (off_t)v[CIOD_ST_SIZE],
		.st_blocks = (blkcnt_t)v[CIOD_ST_BLOCKS],
		.st_blksize = (blksize_t)v[CIOD_ST_BLKSIZE],
		.st_atim = { (time_t)v[CIOD_ST_ATIME], (long)v[CIOD_ST_ATIME_NS] },
		.st_mtim = { (time_t)v[CIOD_ST_MTIME], (long)v[CIOD_ST_MTIME_NS] },
		.st_ctim = { (time_t)v[CIOD_ST_CTIME], (long)v[CIOD_ST_CTIME_NS] },
	};
	return 0;
}

EXPORT int fstatat(int at, const char *path, struct stat *st, int flags)
{
	const char *wire;
	uint32_t fd;

	if (shim_path(at, path, &fd, &wire))
		return fill_stat(fd, wire, flags, st);
	return NEXT(fstatat)(at, path, st, flags);
}

EXPORT int fstat(int fd, struct stat *st)
{
	uint32_t remote;

	if (shim_remote(fd, &remote))
		return fill_stat(remote, "", AT_EMPTY_PATH, st);
	return NEXT(fstat)(fd, st);
}

EXPORT int stat(const char *path, struct stat *st)
{
	return fstatat(AT_FDCWD, path, st, 0);
}

EXPORT int lstat(const char *path, struct stat *st)
{
	return fstatat(AT_FDCWD, path, st, AT_SYMLINK_NOFOLLOW);
}

static struct statx_timestamp stamp(const uint64_t *value)
{
	return (struct statx_timestamp){ .tv_sec = (int64_t)value[0], .tv_nsec = value[1] };
}

static int fill_statx(uint32_t at, const char *path, int flags, struct statx *st)
{
	uint64_t v[CIOD_NR_STAT];

	if (stat_remote(at, path, flags, v))
		return -1;
	*st = (struct statx){
		.stx_mask = STATX_BASIC_STATS,
		.stx_mode = v[CIOD_ST_MODE],
		.stx_nlink = v[CIOD_ST_NLINK],
		.stx_uid = v[CIOD_ST_UID],
		.stx_gid = v[CIOD_ST_GID],
		.stx_dev_major = v[CIOD_ST_DEV_MAJOR] + 0xc10d000,
		.stx_dev_minor = v[CIOD_ST_DEV_MINOR],
		.stx_ino = v[CIOD_ST_INO],
		.stx_rdev_major = v[CIOD_ST_RDEV_MAJOR],
		.stx_rdev_minor = v[CIOD_ST_RDEV_MINOR],
		.stx_size = v[CIOD_ST_SIZE],
		.stx_blocks = v[CIOD_ST_BLOCKS],
		.stx_blksize = v[CIOD_ST_BLKSIZE],
		.stx_atime = stamp(v + CIOD_ST_ATIME),
		.stx_mtime = stamp(v + CIOD_ST_MTIME),
		.stx_ctime = stamp(v + CIOD_ST_CTIME),
	};
	return 0;
}

EXPORT int statx(int at, const char *path, int flags, unsigned int which, struct statx *st)
{
	const int known = AT_SYMLINK_NOFOLLOW | AT_EMPTY_PATH | AT_NO_AUTOMOUNT;
	const char *wire;
	uint32_t fd;

	if (shim_path(at, path, &fd, &wire))
		return fill_statx(fd, wire, flags & known, st);
	return NEXT(statx)(at, path, flags, which, st);
}

EXPORT int mkdirat(int at, const char *path, mode_t mode)
{
	const char *wire;
	uint32_t fd;

	if (shim_path(at, path, &fd, &wire))
		return shim_ship(CIOD_NR_mkdirat, NULL, fd, wire, N(mode & ~shim_umask()));
	return NEXT(mkdirat)(at, path, mode);
}

EXPORT int mkdir(const char *path, mode_t mode)
{
	return mkdirat(AT_FDCWD, path, mode);
}

EXPORT int unlinkat(int at, const char *path, int flags)
{
	const char *wire;
	uint32_t fd;

	if (shim_path(at, path, &fd, &wire))
		return shim_ship(CIOD_NR_unlinkat, NULL, fd, wire, N(flags));
	return NEXT(unlinkat)(at, path, flags);
}

EXPORT int unlink(const char *path)
{
	return unlinkat(AT_FDCWD, path, 0);
}

EXPORT int rmdir(const char *path)
{
	return unlinkat(AT_FDCWD, path, AT_REMOVEDIR);
}

/* A call with two paths is shipped if both are the I/O node's. */
struct pair {
	uint32_t from_fd, to_fd;
	const char *from, *to;
};

enum where { HERE, THERE, BETWEEN };

static enum where both(int from_at, const char *from, int to_at, const char *to, struct pair *p)
{
	bool first = shim_path(from_at, from, &p->from_fd, &p->from);
	bool second = shim_path(to_at, to, &p->to_fd, &p->to);

	if (first != second)
		return BETWEEN;
	return first ? THERE : HERE;
}

EXPORT int renameat2(int from_at, const char *from, int to_at, const char *to, unsigned int flags)
{
	struct pair p;

	switch (both(from_at, from, to_at, to, &p)) {
	case HERE:
		return NEXT(renameat2)(from_at, from, to_at, to, flags);
	case THERE:
		return shim_ship(CIOD_NR_renameat2, NULL, p.from_fd, p.from, p.to_fd, p.to,
				 N(flags));
	default:
		return refuse(EXDEV);
	}
}

EXPORT int renameat(int from_at, const char *from, int to_at, const char *to)
{
	return renameat2(from_at, from, to_at, to, 0);
}

EXPORT int rename(const char *from, const char *to)
{
	return renameat2(AT_FDCWD, from, AT_FDCWD, to, 0);
}

EXPORT int linkat(int from_at, const char *from, int to_at, const char *to, int flags)
{
	struct pair p;

	switch (both(from_at, from, to_at, to, &p)) {
	case HERE:
		return NEXT(linkat)(from_at, from, to_at, to, flags);
	case THERE:
		return shim_ship(CIOD_NR_linkat, NULL, p.from_fd, p.from, p.to_fd, p.to,
				 N(flags));
	default:
		return refuse(EXDEV);
	}
}

EXPORT int link(const char *from, const char *to)
{
	return linkat(AT_FDCWD, from, AT_FDCWD, to, 0);
}

EXPORT int symlinkat(const char *text, int at, const char *path)
{
	const char *wire;
	uint32_t fd;

	if (shim_path(at, path, &fd, &wire))
		return shim_ship(CIOD_NR_symlinkat, NULL, text, fd, wire);
	return NEXT(symlinkat)(text, at, path);
}

EXPORT int symlink(const char *text, const char *path)
{
	return symlinkat(text, AT_FDCWD, path);
}

EXPORT ssize_t readlinkat(int at, const char *path, char *to, size_t bytes)
{
	struct shim_data data = { to, bytes < CIOD_MAX_DATA ? bytes : CIOD_MAX_DATA, 0 };
	const char *wire;
	uint32_t fd;

	if (shim_path(at, path, &fd, &wire))
		return shim_ship(CIOD_NR_readlinkat, &data, fd, wire, N(data.room));
	return NEXT(readlinkat)(at, path, to, bytes);
}

EXPORT ssize_t readlink(const char *path, char *to, size_t bytes)
{
	return readlinkat(AT_FDCWD, path, to, bytes);
}

EXPORT int faccessat(int at, const char *path, int mode, int flags)
{
	const char *wire;
	uint32_t fd;

	if (!shim_path(at, path, &fd, &wire))
		return NEXT(faccessat)(at, path, mode, flags);
	/* Over there the real user is the effective one */
	if (flags & ~AT_EACCESS)
		return refuse(EINVAL);
	return shim_ship(CIOD_NR_faccessat, NULL, fd, wire, N(mode));
}

EXPORT int access(const char *path, int mode)
{
	return faccessat(AT_FDCWD, path, mode, 0);
}

/*
 * The kernel's fchmodat always follows links. As the C library does, what must not
 * be followed is looked at first.
 */
EXPORT int fchmodat(int at, const char *path, mode_t mode, int flags)
{
	uint64_t value[CIOD_NR_STAT];
	const char *wire;
	uint32_t fd;

	if (!shim_path(at, path, &fd, &wire))
		return NEXT(fchmodat)(at, path, mode, flags);
	if (flags & ~AT_SYMLINK_NOFOLLOW)
		return refuse(EINVAL);
	if (flags) {
		if (stat_remote(fd, wire, flags, value))
			return -1;
		if (S_ISLNK(value[CIOD_ST_MODE]))
			return refuse(EOPNOTSUPP);
	}
	return shim_ship(CIOD_NR_fchmodat, NULL, fd, wire, N(mode));
}

EXPORT int chmod(const char *path, mode_t mode)
{
	return fchmodat(AT_FDCWD, path, mode, 0);
}

EXPORT int fchownat(int at, const char *path, uid_t uid, gid_t gid, int flags)
{
	const char *wire;
	uint32_t fd;

	if (shim_path(at, path, &fd, &wire))
		return shim_ship(CIOD_NR_fchownat, NULL, fd, wire, N(uid), N(gid), N(flags));
	return NEXT(fchownat)(at, path, uid, gid, flags);
}

static int set_times(uint32_t fd, const char *path, const struct timespec times[2], int flags)
{
	const struct timespec now[2] = { { 0, UTIME_NOW }, { 0, UTIME_NOW } };

	if (!times)
		times = now;
	return shim_ship(CIOD_NR_utimensat, NULL, fd, path, N(times[0].tv_sec),
			 N(times[0].tv_nsec), N(times[1].tv_sec), N(times[1].tv_nsec), N(flags));
}

EXPORT int utimensat(int at, const char *path, const struct timespec times[2], int flags)
{
	const char *wire;
	uint32_t fd;

	if (shim_path(at, path, &fd, &wire))
		return set_times(fd, wire, times, flags);
	return NEXT(utimensat)(at, path, times, flags);
}

EXPORT int futimens(int fd, const struct timespec times[2])
{
	uint32_t remote;

	if (shim_remote(fd, &remote))
		return set_times(remote, "", times, 0);
	return NEXT(futimens)(fd, times);
}

SAME(fstatat64, fstatat);
SAME(fstat64, fstat);
SAME(stat64, stat);
SAME(lstat64, lstat);
