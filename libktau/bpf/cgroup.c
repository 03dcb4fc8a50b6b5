// SPDX-License-Identifier: LGPL-2.1-or-later
/*
 * Paths of control groups. The kernel finds a group by its id, given as a file handle, so this
 * works for groups of exited tasks too, and nothing has to be remembered.
 */
#include <errno.h>
#include <fcntl.h>
#include <limits.h>
#include <stdio.h>
#include <string.h>
#include <sys/vfs.h>
#include <unistd.h>

#include <linux/magic.h>

#include "cgroup.h"

#define FILEID_KERNFS	0xfe

/* The second one is that of a system that also has version 1. */
static const char *const mounts[] = { "/sys/fs/cgroup", "/sys/fs/cgroup/unified" };

int ktau__cgroup_open(void)
{
	struct statfs fs;
	size_t i;
	int fd;

	for (i = 0; i < sizeof(mounts) / sizeof(*mounts); i++) {
		fd = open(mounts[i], O_RDONLY | O_DIRECTORY | O_CLOEXEC);
		if (fd < 0)
			continue;
		if (!fstatfs(fd, &fs) && fs.f_type == CGROUP2_SUPER_MAGIC)
			return fd;
		close(fd);
	}
	return -ENOENT;
}

static int path_of(int fd, char *path, size_t size)
{
	char link[64];
	ssize_t bytes;

	snprintf(link, sizeof(link), "/proc/self/fd/%d", fd);
	bytes = readlink(link, path, size - 1);
	if (bytes < 0)
		return -errno;
	path[bytes] = 0;
	return 0;
}

/* Remove the path of the mount from that of a group. */
static void make_relative(int mount, char *path)
{
	char top[PATH_MAX];
	size_t length;

	if (path_of(mount, top, sizeof(top)))
		return;
	length = strlen(top);
	if (strncmp(path, top, length))
		return;
	if (path[length])
		memmove(path, path + length, strlen(path + length) + 1);
	else
		strcpy(path, "/");
}

int ktau__cgroup_path(int mount, uint64_t id, char *path, size_t size)
{
	struct {
		struct file_handle head;
		uint64_t id;
	} handle = {
		.head = { .handle_bytes = sizeof(id), .handle_type = FILEID_KERNFS },
		.id = id,
	};
	int fd, err;

	if (mount < 0)
		return mount;
	fd = open_by_handle_at(mount, &handle.head, O_RDONLY | O_DIRECTORY | O_CLOEXEC);
	if (fd < 0 && errno != ESTALE)
		return -errno;
	path[0] = 0;
	if (fd < 0)
		return 0;
	err = path_of(fd, path, size);
	close(fd);
	if (!err)
		make_relative(mount, path);
	return err;
}
