// SPDX-License-Identifier: GPL-2.0-only
/* Calls on a path on the I/O node, and the attributes of a file. */
#include <errno.h>
#include <fcntl.h>
#include <string.h>
#include <sys/stat.h>
#include <sys/sysmacros.h>
#include <sys/time.h>
#include <sys/vfs.h>
#include <time.h>
#include <utime.h>

#include "ciod/wire.h"
#include "cnk/files.h"
#include "cnk/link.h"
#include "cnk/memory.h"
#include "cnk/path.h"

/* Never the number of a local device. */
#define DEVICE_BASE 0xc10d000

static int64_t open_file(struct cnk_call *call, int flags, mode_t mode)
{
	int64_t wire = ciod_flags_to_wire(flags), remote;

	if ((flags & O_TMPFILE) == O_TMPFILE)
		return -EOPNOTSUPP;
	if (wire < 0)
		return -EINVAL;
	if (flags & O_CREAT)
		mode &= ~cnk_umask(call->pid);
	remote = cnk_ship(CIOD_NR_openat, NULL, call->fd[0], call->path[0], CNK_I(wire),
			  CNK_I(mode & 07777));
	return remote < 0 ? remote : cnk_add_file(call, remote, flags);
}

int64_t cnk_open(struct cnk_call *call)
{
	return open_file(call, call->args[1], call->args[2]);
}

int64_t cnk_openat(struct cnk_call *call)
{
	return open_file(call, call->args[2], call->args[3]);
}

int64_t cnk_creat(struct cnk_call *call)
{
	return open_file(call, O_CREAT | O_WRONLY | O_TRUNC, call->args[1]);
}

/*
 * Load @nr numbers from the reply to a call whose arguments are a descriptor, a path and flags.
 */
static int64_t load_numbers(struct cnk_data *data, uint64_t *value, size_t nr)
{
	const unsigned char *raw = data->to;
	size_t i;

	if (data->bytes != 8 * nr)
		return -EIO;
	for (i = 0; i < nr; i++)
		value[i] = ciod_get64(raw + 8 * i);
	return 0;
}

static int64_t load_stat(uint32_t fd, const char *path, int flags, uint64_t value[CIOD_NR_STAT])
{
	unsigned char raw[8 * CIOD_NR_STAT];
	struct cnk_data data = { raw, sizeof(raw), 0 };
	int64_t result = cnk_ship(CIOD_NR_statx, &data, fd, path, CNK_I(flags));

	return result < 0 ? result : load_numbers(&data, value, CIOD_NR_STAT);
}

/* On this architecture, the kernel's struct stat is the same as the C library's. */
static int64_t store_stat(struct cnk_call *call, const char *path, int flags, uint64_t to)
{
	uint64_t v[CIOD_NR_STAT];
	int64_t error = load_stat(call->fd[0], path, flags, v);
	struct stat st;

	if (error)
		return error;
	memset(&st, 0, sizeof(st));
	st.st_mode = v[CIOD_ST_MODE];
	st.st_nlink = v[CIOD_ST_NLINK];
	st.st_uid = v[CIOD_ST_UID];
	st.st_gid = v[CIOD_ST_GID];
	st.st_dev = makedev(v[CIOD_ST_DEV_MAJOR] + DEVICE_BASE, v[CIOD_ST_DEV_MINOR]);
	st.st_ino = v[CIOD_ST_INO];
	st.st_rdev = makedev(v[CIOD_ST_RDEV_MAJOR], v[CIOD_ST_RDEV_MINOR]);
	st.st_size = (off_t)v[CIOD_ST_SIZE];
	st.st_blocks = (blkcnt_t)v[CIOD_ST_BLOCKS];
	st.st_blksize = (blksize_t)v[CIOD_ST_BLKSIZE];
	st.st_atim = (struct timespec){ (time_t)v[CIOD_ST_ATIME], (long)v[CIOD_ST_ATIME_NS] };
	st.st_mtim = (struct timespec){ (time_t)v[CIOD_ST_MTIME], (long)v[CIOD_ST_MTIME_NS] };
	st.st_ctim = (struct timespec){ (time_t)v[CIOD_ST_CTIME], (long)v[CIOD_ST_CTIME_NS] };
	return cnk_store(call->pid, to, &st, sizeof(st));
}

int64_t cnk_stat(struct cnk_call *call)
{
	return store_stat(call, call->path[0], 0, call->args[1]);
}

int64_t cnk_lstat(struct cnk_call *call)
{
	return store_stat(call, call->path[0], AT_SYMLINK_NOFOLLOW, call->args[1]);
}

int64_t cnk_fstat(struct cnk_call *call)
{
	return store_stat(call, "", AT_EMPTY_PATH, call->args[1]);
}

int64_t cnk_newfstatat(struct cnk_call *call)
{
	return store_stat(call, call->path[0], call->args[3], call->args[2]);
}

static struct statx_timestamp stamp(const uint64_t *value)
{
	return (struct statx_timestamp){ .tv_sec = (int64_t)value[0], .tv_nsec = value[1] };
}

int64_t cnk_statx(struct cnk_call *call)
{
	const int known = AT_SYMLINK_NOFOLLOW | AT_EMPTY_PATH | AT_NO_AUTOMOUNT;
	uint64_t v[CIOD_NR_STAT];
	struct statx st;
	int64_t error;

	error = load_stat(call->fd[0], call->path[0], call->args[2] & known, v);
	if (error)
		return error;
	memset(&st, 0, sizeof(st));
	st.stx_mask = STATX_BASIC_STATS;
	st.stx_mode = v[CIOD_ST_MODE];
	st.stx_nlink = v[CIOD_ST_NLINK];
	st.stx_uid = v[CIOD_ST_UID];
	st.stx_gid = v[CIOD_ST_GID];
	st.stx_dev_major = v[CIOD_ST_DEV_MAJOR] + DEVICE_BASE;
	st.stx_dev_minor = v[CIOD_ST_DEV_MINOR];
	st.stx_ino = v[CIOD_ST_INO];
	st.stx_rdev_major = v[CIOD_ST_RDEV_MAJOR];
	st.stx_rdev_minor = v[CIOD_ST_RDEV_MINOR];
	st.stx_size = v[CIOD_ST_SIZE];
	st.stx_blocks = v[CIOD_ST_BLOCKS];
	st.stx_blksize = v[CIOD_ST_BLKSIZE];
	st.stx_atime = stamp(v + CIOD_ST_ATIME);
	st.stx_mtime = stamp(v + CIOD_ST_MTIME);
	st.stx_ctime = stamp(v + CIOD_ST_CTIME);
	return cnk_store(call->pid, call->args[4], &st, sizeof(st));
}

static int64_t store_statfs(struct cnk_call *call, int64_t result, struct cnk_data *data)
{
	uint64_t v[CIOD_NR_STATFS];
	struct statfs fs;

	if (result >= 0)
		result = load_numbers(data, v, CIOD_NR_STATFS);
	if (result < 0)
		return result;
	memset(&fs, 0, sizeof(fs));
	fs.f_type = v[CIOD_FS_TYPE];
	fs.f_bsize = v[CIOD_FS_BSIZE];
	fs.f_blocks = v[CIOD_FS_BLOCKS];
	fs.f_bfree = v[CIOD_FS_BFREE];
	fs.f_bavail = v[CIOD_FS_BAVAIL];
	fs.f_files = v[CIOD_FS_FILES];
	fs.f_ffree = v[CIOD_FS_FFREE];
	fs.f_namelen = v[CIOD_FS_NAMELEN];
	fs.f_frsize = v[CIOD_FS_FRSIZE];
	fs.f_flags = v[CIOD_FS_FLAGS];
	return cnk_store(call->pid, call->args[1], &fs, sizeof(fs));
}

int64_t cnk_statfs(struct cnk_call *call)
{
	unsigned char raw[8 * CIOD_NR_STATFS];
	struct cnk_data data = { raw, sizeof(raw), 0 };

	return store_statfs(call, cnk_ship(CIOD_NR_statfs, &data, call->path[0]), &data);
}

int64_t cnk_fstatfs(struct cnk_call *call)
{
	unsigned char raw[8 * CIOD_NR_STATFS];
	struct cnk_data data = { raw, sizeof(raw), 0 };

	return store_statfs(call, cnk_ship(CIOD_NR_fstatfs, &data, call->fd[0]), &data);
}

int64_t cnk_truncate(struct cnk_call *call)
{
	return cnk_ship(CIOD_NR_truncate, NULL, call->path[0], call->args[1]);
}

/* A call on one path that has a number besides, and one on two. */
static int64_t ship_path(struct cnk_call *call, enum ciod_call nr, uint32_t value)
{
	return cnk_ship(nr, NULL, call->fd[0], call->path[0], value);
}

static int64_t ship_pair(struct cnk_call *call, enum ciod_call nr, uint32_t flags)
{
	return cnk_ship(nr, NULL, call->fd[0], call->path[0], call->fd[1], call->path[1], flags);
}

static int64_t make_folder(struct cnk_call *call, mode_t mode)
{
	return ship_path(call, CIOD_NR_mkdirat, mode & 07777 & ~cnk_umask(call->pid));
}

int64_t cnk_mkdir(struct cnk_call *call)
{
	return make_folder(call, call->args[1]);
}

int64_t cnk_mkdirat(struct cnk_call *call)
{
	return make_folder(call, call->args[2]);
}

int64_t cnk_rmdir(struct cnk_call *call)
{
	return ship_path(call, CIOD_NR_unlinkat, AT_REMOVEDIR);
}

int64_t cnk_unlink(struct cnk_call *call)
{
	return ship_path(call, CIOD_NR_unlinkat, 0);
}

int64_t cnk_unlinkat(struct cnk_call *call)
{
	return ship_path(call, CIOD_NR_unlinkat, call->args[2]);
}

int64_t cnk_rename(struct cnk_call *call)
{
	return ship_pair(call, CIOD_NR_renameat2, 0);
}

int64_t cnk_renameat2(struct cnk_call *call)
{
	return ship_pair(call, CIOD_NR_renameat2, call->args[4]);
}

int64_t cnk_link(struct cnk_call *call)
{
	return ship_pair(call, CIOD_NR_linkat, 0);
}

int64_t cnk_linkat(struct cnk_call *call)
{
	return ship_pair(call, CIOD_NR_linkat, call->args[4]);
}

/* Also used for symlinkat: the text is the first argument of both. */
int64_t cnk_symlink(struct cnk_call *call)
{
	static char text[CIOD_MAX_PATH];
	int error = cnk_load_path(call->pid, call->args[0], text);

	if (error)
		return error;
	return cnk_ship(CIOD_NR_symlinkat, NULL, text, call->fd[0], call->path[0]);
}

static int64_t read_link(struct cnk_call *call, uint64_t to, int bytes)
{
	static char text[CIOD_MAX_PATH];
	struct cnk_data data = { text, sizeof(text), 0 };
	int64_t result;
	int error;

	if (bytes <= 0)
		return -EINVAL;
	if (bytes < CIOD_MAX_PATH)
		data.room = bytes;
	result = cnk_ship(CIOD_NR_readlinkat, &data, call->fd[0], call->path[0],
			  CNK_I(data.room));
	if (result < 0)
		return result;
	error = cnk_store(call->pid, to, text, data.bytes);
	return error ? error : (int64_t)data.bytes;
}

int64_t cnk_readlink(struct cnk_call *call)
{
	return read_link(call, call->args[1], call->args[2]);
}

int64_t cnk_readlinkat(struct cnk_call *call)
{
	return read_link(call, call->args[2], call->args[3]);
}

int64_t cnk_access(struct cnk_call *call)
{
	return ship_path(call, CIOD_NR_faccessat, call->args[1]);
}

int64_t cnk_faccessat(struct cnk_call *call)
{
	return ship_path(call, CIOD_NR_faccessat, call->args[2]);
}

/* On the I/O node the real user is the effective user. The C library emulates all other flags. */
int64_t cnk_faccessat2(struct cnk_call *call)
{
	if ((int)call->args[3] & ~AT_EACCESS)
		return -ENOSYS;
	return ship_path(call, CIOD_NR_faccessat, call->args[2]);
}

int64_t cnk_chmod(struct cnk_call *call)
{
	return ship_path(call, CIOD_NR_fchmodat, call->args[1]);
}

int64_t cnk_fchmodat(struct cnk_call *call)
{
	return ship_path(call, CIOD_NR_fchmodat, call->args[2]);
}

static int64_t change_owner(struct cnk_call *call, const uint64_t *ids, uint32_t flags)
{
	return cnk_ship(CIOD_NR_fchownat, NULL, call->fd[0], call->path[0], CNK_I(ids[0]),
			CNK_I(ids[1]), flags);
}

int64_t cnk_chown(struct cnk_call *call)
{
	return change_owner(call, call->args + 1, 0);
}

int64_t cnk_lchown(struct cnk_call *call)
{
	return change_owner(call, call->args + 1, AT_SYMLINK_NOFOLLOW);
}

int64_t cnk_fchownat(struct cnk_call *call)
{
	return change_owner(call, call->args + 2, call->args[4]);
}

static int64_t set_times(struct cnk_call *call, const struct timespec times[2], uint32_t flags)
{
	if ((uint64_t)times[0].tv_nsec > UINT32_MAX || (uint64_t)times[1].tv_nsec > UINT32_MAX)
		return -EINVAL;
	return cnk_ship(CIOD_NR_utimensat, NULL, call->fd[0], call->path[0],
			CNK_N(times[0].tv_sec), CNK_I(times[0].tv_nsec), CNK_N(times[1].tv_sec),
			CNK_I(times[1].tv_nsec), flags);
}

static const struct timespec both_now[2] = { { 0, UTIME_NOW }, { 0, UTIME_NOW } };

int64_t cnk_utimensat(struct cnk_call *call)
{
	struct timespec times[2];

	if (!call->args[2])
		return set_times(call, both_now, call->args[3]);
	if (cnk_load(call->pid, call->args[2], times, sizeof(times)))
		return -EFAULT;
	return set_times(call, times, call->args[3]);
}

int64_t cnk_utime(struct cnk_call *call)
{
	struct timespec times[2] = { 0 };
	struct utimbuf old;

	if (!call->args[1])
		return set_times(call, both_now, 0);
	if (cnk_load(call->pid, call->args[1], &old, sizeof(old)))
		return -EFAULT;
	times[0].tv_sec = old.actime;
	times[1].tv_sec = old.modtime;
	return set_times(call, times, 0);
}

static int64_t set_microseconds(struct cnk_call *call, uint64_t from)
{
	struct timespec times[2];
	struct timeval old[2];
	int i;

	if (!from)
		return set_times(call, both_now, 0);
	if (cnk_load(call->pid, from, old, sizeof(old)))
		return -EFAULT;
	for (i = 0; i < 2; i++) {
		if (old[i].tv_usec < 0 || old[i].tv_usec >= 1000000)
			return -EINVAL;
		times[i] = (struct timespec){ old[i].tv_sec, 1000 * old[i].tv_usec };
	}
	return set_times(call, times, 0);
}

int64_t cnk_utimes(struct cnk_call *call)
{
	return set_microseconds(call, call->args[1]);
}

int64_t cnk_futimesat(struct cnk_call *call)
{
	return set_microseconds(call, call->args[2]);
}
