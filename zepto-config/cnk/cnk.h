/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * cnk takes the place of the compute node's kernel: it runs unmodified programs and ships their
 * system calls on files below a prefix to ciod. See cnk.8.
 *
 * A seccomp filter stops each system call that takes a path or a descriptor (filter.c)
 * until cnk has answered it (cnk.c). If the path or the descriptor is the I/O node's,
 * cnk ships the call and answers with the result; otherwise the program's own kernel executes it
 * (calls.c, data.c, path.c). cnk is one process with one thread, and handles
 * one call at a time.
 */
#ifndef CNK_H
#define CNK_H

#include <linux/seccomp.h>
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <sys/types.h>

#include "ciod/proto.h"

/* The last system call that this table of calls was made for. Later ones fail with ENOSYS. */
#define CNK_LAST_CALL 450

/* Results of a call, beside a value and -errno. */
#define CNK_LOCAL	INT64_MIN	/* the local kernel executes it */
#define CNK_ANSWERED	(INT64_MIN + 1)	/* the program has its answer already */

/*
 * An open file of the I/O node. In the programs that have it open, one end of a socket pair
 * takes its place: descriptors are then duplicated, inherited, passed on and closed by
 * the local kernel alone. The inode of that end says which file it is. When the last
 * descriptor is closed, the other end reports that its peer has gone.
 */
struct cnk_file {
	struct cnk_file *next;	/* in the same hash bucket */
	uint64_t inode;
	uint32_t remote;	/* ciod's descriptor */
	int flags;		/* for F_GETFL */
	int watch;		/* the end that cnk keeps */
};

/* A system call that a program waits for. */
struct cnk_call {
	uint64_t id;
	pid_t pid;			/* the thread */
	const uint64_t *args;
	const struct cnk_file *file;	/* if the call has a descriptor of the I/O node */
	uint32_t fd[2];			/* what to ship before path[] */
	const char *path[2];
};

/* filter.c. Installs the filter for this process; the listener, or -errno. */
int cnk_install_filter(void);

/* files.c */
int cnk_open_files(void);		/* an epoll descriptor for the watched ends; -errno */
struct cnk_file *cnk_find_file(pid_t pid, int fd);
int64_t cnk_add_file(const struct cnk_call *call, uint32_t remote, int flags);
void cnk_close_file(struct cnk_file *file);
void cnk_close_all_files(void);
extern int cnk_listener;

/* memory.c. Each returns 0 or -EFAULT; nothing is copied in part. */
int cnk_load(pid_t pid, uint64_t from, void *to, size_t bytes);
int cnk_store(pid_t pid, uint64_t to, const void *from, size_t bytes);
/* A path up to its zero byte; @to has room for CIOD_MAX_PATH. Also -ENAMETOOLONG. */
int cnk_load_path(pid_t pid, uint64_t from, char *to);
mode_t cnk_umask(pid_t pid);

/* link.c */
struct cnk_data {
	void *to;
	size_t room;
	size_t bytes;	/* received */
};

int cnk_connect(const char *address, const char *port, const char *token);
/*
 * Ship a call and wait for its reply. Returns its result or -errno; -EIO if the connection
 * is lost. Data in the reply goes to @data. The other arguments are those of the call's
 * signature, with the types that ciod_encode() takes.
 */
int64_t cnk_ship(enum ciod_call call, struct cnk_data *data, ...);
bool cnk_connected(void);
/* Say goodbye and write the counts of shipped calls to "@path.PID"; @path may be NULL. */
int cnk_disconnect(const char *path);

/* calls.c */
extern const char *cnk_prefix;
/* The numbers of the calls to stop. */
size_t cnk_nr_rules(void);
int cnk_rule_call(size_t i);
int64_t cnk_execute(const struct seccomp_notif *request);

/* data.c, path.c: what is shipped. */
typedef int64_t cnk_handler(struct cnk_call *call);
cnk_handler cnk_read, cnk_pread, cnk_readv, cnk_preadv, cnk_preadv2;
cnk_handler cnk_write, cnk_pwrite, cnk_writev, cnk_pwritev, cnk_pwritev2;
cnk_handler cnk_lseek, cnk_ftruncate, cnk_fallocate, cnk_fsync, cnk_fdatasync, cnk_syncfs;
cnk_handler cnk_fadvise, cnk_getdents64, cnk_fchmod, cnk_fchown, cnk_fstat, cnk_fstatfs;
cnk_handler cnk_fcntl;
cnk_handler cnk_open, cnk_openat, cnk_creat, cnk_stat, cnk_lstat, cnk_newfstatat, cnk_statx;
cnk_handler cnk_statfs, cnk_truncate, cnk_mkdir, cnk_mkdirat, cnk_rmdir, cnk_unlink;
cnk_handler cnk_unlinkat, cnk_rename, cnk_renameat2, cnk_link, cnk_linkat, cnk_symlink;
cnk_handler cnk_readlink, cnk_readlinkat, cnk_access, cnk_faccessat, cnk_faccessat2;
cnk_handler cnk_chmod, cnk_fchmodat, cnk_chown, cnk_lchown, cnk_fchownat;
cnk_handler cnk_utime, cnk_utimes, cnk_futimesat, cnk_utimensat;

#define CNK_N(value)	((uint64_t)(value))
#define CNK_I(value)	((uint32_t)(value))

static inline size_t cnk_at_most(uint64_t bytes)
{
	return bytes < CIOD_MAX_DATA ? bytes : CIOD_MAX_DATA;
}

#endif
