// SPDX-License-Identifier: GPL-2.0-only
/*
 * The system calls. Each function makes exactly the one system call that it is named after, so the
 * calls that the kernel counts for this process are those that the compute node shipped.
 */
#include <dirent.h>
#include <errno.h>
#include <fcntl.h>
#include <linux/time_types.h>
#include <stdbool.h>
#include <stdio.h>
#include <string.h>
#include <sys/stat.h>
#include <sys/syscall.h>
#include <sys/vfs.h>
#include <unistd.h>

#include "ciod/calls.h"
#include "ciod/wire.h"

#define MAX_DESCRIPTORS 1024

/* If the old call has 32-bit times, the C library chooses the call by the time to be set. */
#ifdef SYS_utimensat_time64
#define SYS_UTIMENSAT SYS_utimensat_time64
#else
#define SYS_UTIMENSAT SYS_utimensat
#endif

/* The descriptors that the peer has opened; it can use no others. */
static bool owned[MAX_DESCRIPTORS];

static bool is_owned(uint32_t fd)
{
	return fd < MAX_DESCRIPTORS && owned[fd];
}

static int64_t run_openat(const struct ciod_args *a, struct ciod_reply *reply)
{
	int flags = ciod_flags_from_wire(a->number[0]);
	int fd;

	(void)reply;
	if (flags < 0) {
		errno = EINVAL;
		return -1;
	}
	/* Nothing that a peer opens may ever block, such as a FIFO or a terminal. */
	fd = openat(a->fd[0], a->path[0], flags | O_CLOEXEC | O_NOCTTY | O_NONBLOCK,
		    (mode_t)(a->number[1] & 07777));
	if (fd >= 0)
		owned[fd] = true;
	return fd;
}

static int64_t run_close(const struct ciod_args *a, struct ciod_reply *reply)
{
	(void)reply;
	owned[a->fd[0]] = false;
	return close(a->fd[0]);
}

static size_t at_most(uint64_t bytes)
{
	return bytes < CIOD_MAX_DATA ? bytes : CIOD_MAX_DATA;
}

static int64_t keep_data(struct ciod_reply *reply, int64_t bytes)
{
	if (bytes > 0)
		reply->bytes = bytes;
	return bytes;
}

static int64_t run_read(const struct ciod_args *a, struct ciod_reply *reply)
{
	return keep_data(reply, read(a->fd[0], reply->data, at_most(a->number[0])));
}

static int64_t run_pread64(const struct ciod_args *a, struct ciod_reply *reply)
{
	return keep_data(reply, pread(a->fd[0], reply->data, at_most(a->number[0]),
				      (off_t)a->number[1]));
}

static int64_t run_write(const struct ciod_args *a, struct ciod_reply *reply)
{
	(void)reply;
	return write(a->fd[0], a->data, a->data_bytes);
}

static int64_t run_pwrite64(const struct ciod_args *a, struct ciod_reply *reply)
{
	(void)reply;
	return pwrite(a->fd[0], a->data, a->data_bytes, (off_t)a->number[0]);
}

static int64_t run_lseek(const struct ciod_args *a, struct ciod_reply *reply)
{
	(void)reply;
	return lseek(a->fd[0], (off_t)a->number[0], (int)a->number[1]);
}

static int64_t run_statx(const struct ciod_args *a, struct ciod_reply *reply)
{
	struct statx st;
	int i;

	if (statx(a->fd[0], a->path[0], (int)a->number[0], STATX_BASIC_STATS, &st))
		return -1;
	{
		const uint64_t values[CIOD_NR_STAT] = {
			[CIOD_ST_MODE] = st.stx_mode,
			[CIOD_ST_NLINK] = st.stx_nlink,
			[CIOD_ST_UID] = st.stx_uid,
			[CIOD_ST_GID] = st.stx_gid,
			[CIOD_ST_DEV_MAJOR] = st.stx_dev_major,
			[CIOD_ST_DEV_MINOR] = st.stx_dev_minor,
			[CIOD_ST_INO] = st.stx_ino,
			[CIOD_ST_RDEV_MAJOR] = st.stx_rdev_major,
			[CIOD_ST_RDEV_MINOR] = st.stx_rdev_minor,
			[CIOD_ST_SIZE] = st.stx_size,
			[CIOD_ST_BLOCKS] = st.stx_blocks,
			[CIOD_ST_BLKSIZE] = st.stx_blksize,
			[CIOD_ST_ATIME] = (uint64_t)st.stx_atime.tv_sec,
			[CIOD_ST_ATIME_NS] = st.stx_atime.tv_nsec,
			[CIOD_ST_MTIME] = (uint64_t)st.stx_mtime.tv_sec,
			[CIOD_ST_MTIME_NS] = st.stx_mtime.tv_nsec,
			[CIOD_ST_CTIME] = (uint64_t)st.stx_ctime.tv_sec,
			[CIOD_ST_CTIME_NS] = st.stx_ctime.tv_nsec,
		};

		for (i = 0; i < CIOD_NR_STAT; i++)
			ciod_put64(reply->data + 8 * i, values[i]);
	}
	reply->bytes = 8 * CIOD_NR_STAT;
	return 0;
}

/* The kernel's struct linux_dirent64, for which the C library has a different name. */
struct entry {
	uint64_t inode;
	int64_t next;
	unsigned short bytes;
	unsigned char type;
	char name[];
};

static int64_t run_getdents64(const struct ciod_args *a, struct ciod_reply *reply)
{
	static char raw[32768] __attribute__((aligned(8)));
	size_t room = at_most(a->number[0]), length;
	const struct entry *entry;
	unsigned char *to = reply->data;
	long bytes, at;

	bytes = syscall(SYS_getdents64, a->fd[0], raw, room < sizeof(raw) ? room : sizeof(raw));
	/* An entry is never longer in a reply than in the kernel's format. */
	for (at = 0; at < bytes; at += entry->bytes) {
		entry = (const struct entry *)(raw + at);
		length = strlen(entry->name);
		ciod_put64(to, entry->inode);
		ciod_put64(to + 8, (uint64_t)entry->next);
		to[16] = entry->type;
		ciod_put16(to + 17, length);
		memcpy(to + CIOD_ENTRY_BYTES, entry->name, length);
		to += CIOD_ENTRY_BYTES + length;
	}
	return bytes < 0 ? bytes : keep_data(reply, to - reply->data);
}

static int64_t run_mkdirat(const struct ciod_args *a, struct ciod_reply *reply)
{
	(void)reply;
	return mkdirat(a->fd[0], a->path[0], (mode_t)a->number[0]);
}

static int64_t run_unlinkat(const struct ciod_args *a, struct ciod_reply *reply)
{
	(void)reply;
	return unlinkat(a->fd[0], a->path[0], (int)a->number[0]);
}

static int64_t run_renameat2(const struct ciod_args *a, struct ciod_reply *reply)
{
	(void)reply;
	return syscall(SYS_renameat2, a->fd[0], a->path[0], a->fd[1], a->path[1],
		       (unsigned int)a->number[0]);
}

static int64_t run_linkat(const struct ciod_args *a, struct ciod_reply *reply)
{
	(void)reply;
	return linkat(a->fd[0], a->path[0], a->fd[1], a->path[1], (int)a->number[0]);
}

static int64_t run_symlinkat(const struct ciod_args *a, struct ciod_reply *reply)
{
	(void)reply;
	return symlinkat(a->path[0], a->fd[0], a->path[1]);
}

static int64_t run_readlinkat(const struct ciod_args *a, struct ciod_reply *reply)
{
	return keep_data(reply, readlinkat(a->fd[0], a->path[0], (char *)reply->data,
					   at_most(a->number[0])));
}

/* The function of the C library may try other calls first. */
static int64_t run_faccessat(const struct ciod_args *a, struct ciod_reply *reply)
{
	(void)reply;
	return syscall(SYS_faccessat, a->fd[0], a->path[0], (int)a->number[0]);
}

static int64_t run_fchmodat(const struct ciod_args *a, struct ciod_reply *reply)
{
	(void)reply;
	return syscall(SYS_fchmodat, a->fd[0], a->path[0], (mode_t)a->number[0]);
}

static int64_t run_fchmod(const struct ciod_args *a, struct ciod_reply *reply)
{
	(void)reply;
	return fchmod(a->fd[0], (mode_t)a->number[0]);
}

static int64_t run_fchownat(const struct ciod_args *a, struct ciod_reply *reply)
{
	(void)reply;
	return fchownat(a->fd[0], a->path[0], (uid_t)a->number[0], (gid_t)a->number[1],
			(int)a->number[2]);
}

static int64_t run_fchown(const struct ciod_args *a, struct ciod_reply *reply)
{
	(void)reply;
	return fchown(a->fd[0], (uid_t)a->number[0], (gid_t)a->number[1]);
}

static int64_t run_utimensat(const struct ciod_args *a, struct ciod_reply *reply)
{
	const struct __kernel_timespec times[2] = {
		{ (int64_t)a->number[0], (int64_t)a->number[1] },
		{ (int64_t)a->number[2], (int64_t)a->number[3] },
	};

	(void)reply;
	return syscall(SYS_UTIMENSAT, a->fd[0], *a->path[0] ? a->path[0] : NULL, times,
		       (int)a->number[4]);
}

static int64_t run_ftruncate(const struct ciod_args *a, struct ciod_reply *reply)
{
	(void)reply;
	return ftruncate(a->fd[0], (off_t)a->number[0]);
}

static int64_t run_fsync(const struct ciod_args *a, struct ciod_reply *reply)
{
	(void)reply;
	return fsync(a->fd[0]);
}

static int64_t run_fdatasync(const struct ciod_args *a, struct ciod_reply *reply)
{
	(void)reply;
	return fdatasync(a->fd[0]);
}

static int64_t run_syncfs(const struct ciod_args *a, struct ciod_reply *reply)
{
	(void)reply;
	return syncfs(a->fd[0]);
}

static int64_t run_fallocate(const struct ciod_args *a, struct ciod_reply *reply)
{
	(void)reply;
	return fallocate(a->fd[0], (int)a->number[0], (off_t)a->number[1], (off_t)a->number[2]);
}

/* The current directory is the job's root. */
static int64_t run_truncate(const struct ciod_args *a, struct ciod_reply *reply)
{
	(void)reply;
	return truncate(a->path[0], (off_t)a->number[0]);
}

static int64_t keep_statfs(struct ciod_reply *reply, const struct statfs *fs)
{
	const uint64_t values[CIOD_NR_STATFS] = {
		[CIOD_FS_TYPE] = fs->f_type,
		[CIOD_FS_BSIZE] = fs->f_bsize,
		[CIOD_FS_BLOCKS] = fs->f_blocks,
		[CIOD_FS_BFREE] = fs->f_bfree,
		[CIOD_FS_BAVAIL] = fs->f_bavail,
		[CIOD_FS_FILES] = fs->f_files,
		[CIOD_FS_FFREE] = fs->f_ffree,
		[CIOD_FS_NAMELEN] = fs->f_namelen,
		[CIOD_FS_FRSIZE] = fs->f_frsize,
		[CIOD_FS_FLAGS] = fs->f_flags,
	};
	int i;

	for (i = 0; i < CIOD_NR_STATFS; i++)
		ciod_put64(reply->data + 8 * i, values[i]);
	reply->bytes = 8 * CIOD_NR_STATFS;
	return 0;
}

static int64_t run_statfs(const struct ciod_args *a, struct ciod_reply *reply)
{
	struct statfs fs;

	return statfs(a->path[0], &fs) ? -1 : keep_statfs(reply, &fs);
}

static int64_t run_fstatfs(const struct ciod_args *a, struct ciod_reply *reply)
{
	struct statfs fs;

	return fstatfs(a->fd[0], &fs) ? -1 : keep_statfs(reply, &fs);
}

static int64_t (*const runs[CIOD_NR_CALLS])(const struct ciod_args *, struct ciod_reply *) = {
#define RUN(call) [CIOD_NR_##call] = run_##call
	RUN(openat),
	RUN(close),
	RUN(read),
	RUN(write),
	RUN(pread64),
	RUN(pwrite64),
	RUN(lseek),
	RUN(statx),
	RUN(getdents64),
	RUN(mkdirat),
	RUN(unlinkat),
	RUN(renameat2),
	RUN(linkat),
	RUN(symlinkat),
	RUN(readlinkat),
	RUN(faccessat),
	RUN(fchmodat),
	RUN(fchmod),
	RUN(fchownat),
	RUN(fchown),
	RUN(utimensat),
	RUN(ftruncate),
	RUN(fsync),
	RUN(fdatasync),
	RUN(syncfs),
	RUN(fallocate),
	RUN(truncate),
	RUN(statfs),
	RUN(fstatfs),
};

/* The root counts as a descriptor only together with a path. */
static bool take_descriptors(uint32_t call, struct ciod_args *args)
{
	const char *kind = ciod_signature(call);
	int at = 0;

	for (; *kind; kind++) {
		if (*kind != 'f')
			continue;
		if (args->fd[at] == CIOD_ROOT && strchr(ciod_signature(call), 'p'))
			args->fd[at] = (uint32_t)AT_FDCWD;
		else if (!is_owned(args->fd[at]))
			return false;
		at++;
	}
	return true;
}

int64_t ciod_execute(uint32_t call, const struct ciod_args *args, struct ciod_reply *reply)
{
	struct ciod_args mine = *args;
	int64_t result;

	reply->bytes = 0;
	if (!runs[call])
		return -ENOSYS;
	if (!take_descriptors(call, &mine))
		return -EBADF;
	result = runs[call](&mine, reply);
	return result < 0 ? -errno : result;
}
