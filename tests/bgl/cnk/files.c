// SPDX-License-Identifier: GPL-2.0-only
/* Open files on the I/O node, and the sockets that represent them in programs. */
#include <errno.h>
#include <fcntl.h>
#include <linux/seccomp.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/epoll.h>
#include <sys/ioctl.h>
#include <sys/socket.h>
#include <sys/stat.h>
#include <unistd.h>

#include "cnk/files.h"
#include "cnk/link.h"

#define NR_BUCKETS 256

int cnk_listener = -1;

static struct cnk_file *buckets[NR_BUCKETS];
static unsigned int nr_files;
static int watched = -1;

int cnk_open_files(void)
{
	watched = epoll_create1(EPOLL_CLOEXEC);
	return watched < 0 ? -errno : watched;
}

struct cnk_file *cnk_find_file(pid_t pid, int fd)
{
	char path[64], target[64];
	unsigned long long inode;
	struct cnk_file *file;
	ssize_t bytes;

	if (!nr_files || fd < 0)
		return NULL;
	snprintf(path, sizeof(path), "/proc/%d/fd/%d", (int)pid, fd);
	bytes = readlink(path, target, sizeof(target) - 1);
	if (bytes < 0)
		return NULL;
	target[bytes] = '\0';
	if (sscanf(target, "socket:[%llu]", &inode) != 1)
		return NULL;
	for (file = buckets[inode % NR_BUCKETS]; file && file->inode != inode; file = file->next)
		;
	return file;
}

/* Like a regular file, the program's end is always readable and writable. */
static int make_pair(int pair[2], uint64_t *inode)
{
	struct stat st;

	if (socketpair(AF_UNIX, SOCK_STREAM | SOCK_CLOEXEC, 0, pair))
		return -errno;
	if (fstat(pair[0], &st) || write(pair[1], "", 1) != 1) {
		close(pair[0]);
		close(pair[1]);
		return -EIO;
	}
	*inode = st.st_ino;
	return 0;
}

/* Put @end into the program as the result of its call. */
static int give(const struct cnk_call *call, int end, int flags)
{
	struct seccomp_notif_addfd add = {
		.id = call->id,
		.flags = SECCOMP_ADDFD_FLAG_SEND,
		.srcfd = end,
		.newfd_flags = flags & O_CLOEXEC,
	};

	return ioctl(cnk_listener, SECCOMP_IOCTL_NOTIF_ADDFD, &add) < 0 ? -errno : 0;
}

/* Answer the call. If that fails, close the file on the I/O node again. */
int64_t cnk_add_file(const struct cnk_call *call, uint32_t remote, int flags)
{
	struct epoll_event event = { .events = EPOLLRDHUP };
	struct cnk_file *file = malloc(sizeof(*file));
	int pair[2], error = -ENFILE;

	if (!file || make_pair(pair, &file->inode)) {
		free(file);
		cnk_ship(CIOD_NR_close, NULL, remote);
		return error;
	}
	file->remote = remote;
	file->flags = flags & ~(O_CREAT | O_EXCL | O_TRUNC | O_NOCTTY | O_CLOEXEC);
	file->watch = pair[1];
	file->next = buckets[file->inode % NR_BUCKETS];
	buckets[file->inode % NR_BUCKETS] = file;
	nr_files++;
	event.data.ptr = file;
	if (!epoll_ctl(watched, EPOLL_CTL_ADD, file->watch, &event))
		error = give(call, pair[0], flags);
	close(pair[0]);
	if (!error)
		return CNK_ANSWERED;
	cnk_close_file(file);
	return error;
}

void cnk_close_file(struct cnk_file *file)
{
	struct cnk_file **link = &buckets[file->inode % NR_BUCKETS];

	while (*link != file)
		link = &(*link)->next;
	*link = file->next;
	nr_files--;
	close(file->watch);
	cnk_ship(CIOD_NR_close, NULL, file->remote);
	free(file);
}

void cnk_close_all_files(void)
{
	int i;

	for (i = 0; i < NR_BUCKETS; i++) {
		while (buckets[i])
			cnk_close_file(buckets[i]);
	}
}
