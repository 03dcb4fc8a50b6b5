// SPDX-License-Identifier: GPL-2.0-only
/*
 * Which system calls take paths or descriptors, in which arguments, and what happens if these are
 * on the I/O node. Calls that are not listed here take neither; test_ciod.py compares the list
 * with the kernel's.
 */
#include <errno.h>
#include <fcntl.h>
#include <stdbool.h>
#include <string.h>
#include <sys/syscall.h>

#include "cnk/calls.h"
#include "cnk/data.h"
#include "cnk/files.h"
#include "cnk/memory.h"
#include "cnk/path.h"

const char *cnk_prefix;

/* The meaning of the arguments from @at on. */
enum form {
	FD,	/* a descriptor */
	PATH,	/* a path */
	AT,	/* a directory descriptor and a path */
	FDS,	/* two descriptors, the second one @gap arguments later */
	PATHS,	/* two paths */
	ATS,	/* two pairs like AT */
	IOCBS,	/* a count and an array of pointers to struct iocb */
};

/* A call without @ship fails with @error. */
struct rule {
	int nr;
	enum form form;
	int at;
	cnk_handler *ship;
	int error;
	int gap;
};

#define SHIP(call, form, at, handler) \
	{ \
		SYS_##call, form, at, handler, 0, 0 \
	}
#define FAIL(call, form, at, error) \
	{ \
		SYS_##call, form, at, NULL, error, 0 \
	}
#define FAIL_EITHER(call, at, gap, error) \
	{ \
		SYS_##call, FDS, at, NULL, error, gap \
	}

static const struct rule rules[] = {
	/* Shipped calls */
	SHIP(read, FD, 0, cnk_read),
	SHIP(write, FD, 0, cnk_write),
	SHIP(pread64, FD, 0, cnk_pread),
	SHIP(pwrite64, FD, 0, cnk_pwrite),
	SHIP(readv, FD, 0, cnk_readv),
	SHIP(writev, FD, 0, cnk_writev),
	SHIP(preadv, FD, 0, cnk_preadv),
	SHIP(pwritev, FD, 0, cnk_pwritev),
	SHIP(preadv2, FD, 0, cnk_preadv2),
	SHIP(pwritev2, FD, 0, cnk_pwritev2),
	SHIP(lseek, FD, 0, cnk_lseek),
	SHIP(ftruncate, FD, 0, cnk_ftruncate),
	SHIP(fallocate, FD, 0, cnk_fallocate),
	SHIP(fsync, FD, 0, cnk_fsync),
	SHIP(fdatasync, FD, 0, cnk_fdatasync),
	SHIP(sync_file_range, FD, 0, cnk_fdatasync),
	SHIP(syncfs, FD, 0, cnk_syncfs),
	SHIP(fadvise64, FD, 0, cnk_fadvise),
	SHIP(getdents64, FD, 0, cnk_getdents64),
	SHIP(fchmod, FD, 0, cnk_fchmod),
	SHIP(fchown, FD, 0, cnk_fchown),
	SHIP(fstat, FD, 0, cnk_fstat),
	SHIP(fstatfs, FD, 0, cnk_fstatfs),
	SHIP(fcntl, FD, 0, cnk_fcntl),
	SHIP(open, PATH, 0, cnk_open),
	SHIP(openat, AT, 0, cnk_openat),
	SHIP(creat, PATH, 0, cnk_creat),
	SHIP(stat, PATH, 0, cnk_stat),
	SHIP(lstat, PATH, 0, cnk_lstat),
	SHIP(newfstatat, AT, 0, cnk_newfstatat),
	SHIP(statx, AT, 0, cnk_statx),
	SHIP(statfs, PATH, 0, cnk_statfs),
	SHIP(truncate, PATH, 0, cnk_truncate),
	SHIP(mkdir, PATH, 0, cnk_mkdir),
	SHIP(mkdirat, AT, 0, cnk_mkdirat),
	SHIP(rmdir, PATH, 0, cnk_rmdir),
	SHIP(unlink, PATH, 0, cnk_unlink),
	SHIP(unlinkat, AT, 0, cnk_unlinkat),
	SHIP(rename, PATHS, 0, cnk_rename),
	SHIP(renameat, ATS, 0, cnk_rename),
	SHIP(renameat2, ATS, 0, cnk_renameat2),
	SHIP(link, PATHS, 0, cnk_link),
	SHIP(linkat, ATS, 0, cnk_linkat),
	SHIP(symlink, PATH, 1, cnk_symlink),
	SHIP(symlinkat, AT, 1, cnk_symlink),
	SHIP(readlink, PATH, 0, cnk_readlink),
	SHIP(readlinkat, AT, 0, cnk_readlinkat),
	SHIP(access, PATH, 0, cnk_access),
	SHIP(faccessat, AT, 0, cnk_faccessat),
	SHIP(faccessat2, AT, 0, cnk_faccessat2),
	SHIP(chmod, PATH, 0, cnk_chmod),
	SHIP(fchmodat, AT, 0, cnk_fchmodat),
	SHIP(chown, PATH, 0, cnk_chown),
	SHIP(lchown, PATH, 0, cnk_lchown),
	SHIP(fchownat, AT, 0, cnk_fchownat),
	SHIP(utime, PATH, 0, cnk_utime),
	SHIP(utimes, PATH, 0, cnk_utimes),
	SHIP(futimesat, AT, 0, cnk_futimesat),
	SHIP(utimensat, AT, 0, cnk_utimensat),

	/* With these errors, programs fall back to read and write */
	FAIL_EITHER(copy_file_range, 0, 2, EXDEV),
	FAIL_EITHER(sendfile, 0, 1, EINVAL),
	FAIL_EITHER(splice, 0, 2, EINVAL),
	FAIL_EITHER(tee, 0, 1, EINVAL),
	FAIL(vmsplice, FD, 0, EINVAL),

	/* Same errors as for a regular file */
	FAIL(ioctl, FD, 0, ENOTTY),
	FAIL(epoll_ctl, FD, 2, EPERM),
	FAIL(connect, FD, 0, ENOTSOCK),
	FAIL(accept, FD, 0, ENOTSOCK),
	FAIL(accept4, FD, 0, ENOTSOCK),
	FAIL(sendto, FD, 0, ENOTSOCK),
	FAIL(recvfrom, FD, 0, ENOTSOCK),
	FAIL(sendmsg, FD, 0, ENOTSOCK),
	FAIL(recvmsg, FD, 0, ENOTSOCK),
	FAIL(sendmmsg, FD, 0, ENOTSOCK),
	FAIL(recvmmsg, FD, 0, ENOTSOCK),
	FAIL(shutdown, FD, 0, ENOTSOCK),
	FAIL(bind, FD, 0, ENOTSOCK),
	FAIL(listen, FD, 0, ENOTSOCK),
	FAIL(getsockname, FD, 0, ENOTSOCK),
	FAIL(getpeername, FD, 0, ENOTSOCK),
	FAIL(setsockopt, FD, 0, ENOTSOCK),
	FAIL(getsockopt, FD, 0, ENOTSOCK),

	/* Calls that are not shipped; listed in cnk.8 */
	FAIL(mmap, FD, 4, ENODEV),
	FAIL(flock, FD, 0, ENOLCK),
	FAIL(io_submit, IOCBS, 1, EINVAL),
	FAIL(readahead, FD, 0, EINVAL),
	FAIL(getdents, FD, 0, ENOSYS),
	FAIL(openat2, AT, 0, ENOSYS),
	FAIL(fchdir, FD, 0, EACCES),
	FAIL(chdir, PATH, 0, EACCES),
	FAIL(chroot, PATH, 0, EACCES),
	FAIL(execve, PATH, 0, EACCES),
	FAIL(execveat, AT, 0, EACCES),
	FAIL(uselib, PATH, 0, EACCES),
	FAIL(mknod, PATH, 0, EPERM),
	FAIL(mknodat, AT, 0, EPERM),
	FAIL(setxattr, PATH, 0, EOPNOTSUPP),
	FAIL(lsetxattr, PATH, 0, EOPNOTSUPP),
	FAIL(fsetxattr, FD, 0, EOPNOTSUPP),
	FAIL(getxattr, PATH, 0, EOPNOTSUPP),
	FAIL(lgetxattr, PATH, 0, EOPNOTSUPP),
	FAIL(fgetxattr, FD, 0, EOPNOTSUPP),
	FAIL(listxattr, PATH, 0, EOPNOTSUPP),
	FAIL(llistxattr, PATH, 0, EOPNOTSUPP),
	FAIL(flistxattr, FD, 0, EOPNOTSUPP),
	FAIL(removexattr, PATH, 0, EOPNOTSUPP),
	FAIL(lremovexattr, PATH, 0, EOPNOTSUPP),
	FAIL(fremovexattr, FD, 0, EOPNOTSUPP),
	FAIL(name_to_handle_at, AT, 0, EOPNOTSUPP),
	FAIL(inotify_add_watch, PATH, 1, ENOSYS),
	FAIL(fanotify_mark, AT, 3, ENODEV),
	FAIL(finit_module, FD, 0, EINVAL),
	FAIL_EITHER(kexec_file_load, 0, 1, EINVAL),
	FAIL(mount, PATHS, 0, EINVAL),
	FAIL(umount2, PATH, 0, EINVAL),
	FAIL(pivot_root, PATHS, 0, EINVAL),
	FAIL(open_tree, AT, 0, EINVAL),
	FAIL(move_mount, ATS, 0, EINVAL),
	FAIL(fspick, AT, 0, EINVAL),
	FAIL(mount_setattr, AT, 0, EINVAL),
	FAIL(fsconfig, FD, 4, EINVAL),
	FAIL(swapon, PATH, 0, EINVAL),
	FAIL(swapoff, PATH, 0, EINVAL),
	FAIL(acct, PATH, 0, EACCES),
	FAIL(quotactl, PATH, 1, ENOTBLK),
	FAIL(quotactl_fd, FD, 0, ENOSYS),
};

#define NR_RULES (sizeof(rules) / sizeof(rules[0]))

size_t cnk_nr_rules(void)
{
	return NR_RULES;
}

int cnk_rule_call(size_t i)
{
	return rules[i].nr;
}

static const char *skip_slashes(const char *path)
{
	while (path[0] == '/' || (path[0] == '.' && (path[1] == '/' || !path[1])))
		path++;
	return path;
}

/* The part of a path below the prefix, "." for the prefix itself; NULL if it is not below it. */
static const char *below(const char *path)
{
	const char *prefix = skip_slashes(cnk_prefix);
	size_t bytes;

	for (path = skip_slashes(path); *prefix; prefix = skip_slashes(prefix + bytes)) {
		bytes = strcspn(prefix, "/");
		if (strncmp(path, prefix, bytes) || (path[bytes] && path[bytes] != '/'))
			return NULL;
		path = skip_slashes(path + bytes);
	}
	return *path ? path : ".";
}

static bool is_remote_fd(struct cnk_call *call, int fd, int which)
{
	const struct cnk_file *file = cnk_find_file(call->pid, fd);

	if (!file)
		return false;
	call->file = file;
	call->fd[which] = file->remote;
	return true;
}

/* A path that cannot be read is left to the local kernel, which returns the error. */
static bool is_remote_path(struct cnk_call *call, int at, uint64_t address, int which)
{
	static char paths[2][CIOD_MAX_PATH];
	char *path = paths[which];

	*path = '\0';
	if (address && cnk_load_path(call->pid, address, path))
		return false;
	call->path[which] = path;
	if (*path != '/')
		return at != AT_FDCWD && is_remote_fd(call, at, which);
	call->path[which] = below(path);
	call->fd[which] = CIOD_ROOT;
	return call->path[which];
}

/* The descriptor in struct iocb is at byte 20. */
static bool has_remote_iocb(struct cnk_call *call, uint64_t count, uint64_t array)
{
	uint64_t iocb, i;
	uint32_t fd;

	for (i = 0; i < count && i < 65536; i++) {
		if (cnk_load(call->pid, array + 8 * i, &iocb, 8) ||
		    cnk_load(call->pid, iocb + 20, &fd, 4))
			return false;
		if (is_remote_fd(call, fd, 0))
			return true;
	}
	return false;
}

/*
 * Return: how many of the call's paths or descriptors are on the I/O node. @of: how many it has.
 */
static int count_remote(struct cnk_call *call, const struct rule *rule, int *of)
{
	const uint64_t *arg = call->args + rule->at;

	*of = 1;
	switch (rule->form) {
	case FD:
		return is_remote_fd(call, arg[0], 0);
	case PATH:
		return is_remote_path(call, AT_FDCWD, arg[0], 0);
	case AT:
		return is_remote_path(call, arg[0], arg[1], 0);
	case IOCBS:
		return has_remote_iocb(call, arg[0], arg[1]);
	case FDS:
		return is_remote_fd(call, arg[0], 0) || is_remote_fd(call, arg[rule->gap], 1);
	case PATHS:
		*of = 2;
		return is_remote_path(call, AT_FDCWD, arg[0], 0) +
		       is_remote_path(call, AT_FDCWD, arg[1], 1);
	case ATS:
		*of = 2;
		return is_remote_path(call, arg[0], arg[1], 0) +
		       is_remote_path(call, arg[2], arg[3], 1);
	}
	return 0;
}

int64_t cnk_execute(const struct seccomp_notif *request)
{
	uint64_t args[8] = { 0 };
	struct cnk_call call = { .id = request->id, .pid = request->pid, .args = args };
	const struct rule *rule = rules;
	int remote, of;

	memcpy(args, request->data.args, sizeof(request->data.args));
	while (rule < rules + NR_RULES && rule->nr != request->data.nr)
		rule++;
	if (rule == rules + NR_RULES)
		return CNK_LOCAL;
	remote = count_remote(&call, rule, &of);
	if (!remote)
		return CNK_LOCAL;
	if (!rule->ship)
		return -rule->error;
	return remote == of ? rule->ship(&call) : -EXDEV;
}
