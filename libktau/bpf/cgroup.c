// SPDX-License-Identifier: LGPL-2.1-or-later
/*
 * Paths of control groups. The kernel finds a group by its id, given as a file handle, so this
 * works for groups of exited tasks too, and nothing has to be remembered.
 */
#include <errno.h>
#include <fcntl.h>
#include <stdio.h>
#include <string.h>
#include <sys/vfs.h>
#include <unistd.h>

#include <linux/magic.h>

#include "cgroup.h"

#define FILEID_KERNFS	0xfe

/* The second one is that of a system that also has version 1. */
static const char *const mounts[] = { "/sys/fs/cgroup", "/sys/fs/cgroup/unified" };

struct ktau__cgroup_mount ktau__cgroup_open(void)
{
	struct ktau__cgroup_mount mount;
	struct statfs fs;
	size_t i;

	for (i = 0; i < sizeof(mounts) / sizeof(*mounts); i++) {
		mount.path = mounts[i];
		mount.fd = open(mounts[i], O_RDONLY | O_DIRECTORY | O_CLOEXEC);
		if (mount.fd < 0)
			continue;
		if (!fstatfs(mount.fd, &fs) && fs.f_type == CGROUP2_SUPER_MAGIC)
			return mount;
		close(mount.fd);
	}
	mount.fd = -ENOENT;
	return mount;
}

/* The path of an open group, without that of the mount. */
static int path_of(const struct ktau__cgroup_mount *mount, int fd, char *path, size_t size)
{
	size_t length = strlen(mount->path);
	char link[64];
	ssize_t bytes;

	snprintf(link, sizeof(link), "/proc/self/fd/%d", fd);
	bytes = readlink(link, path, size - 1);
	if (bytes < 0)
		return -errno;
	path[bytes] = 0;
	if (strncmp(path, mount->path, length))
		return 0;
	if (path[length])
		memmove(path, path + length, strlen(path + length) + 1);
	else
		strcpy(path, "/");
	return 0;
}

int ktau__cgroup_path(const struct ktau__cgroup_mount *mount, uint64_t id, char *path, size_t size)
{
	struct {
		struct file_handle head;
		uint64_t id;
	} handle = {
		.head = { .handle_bytes = sizeof(id), .handle_type = FILEID_KERNFS },
		.id = id,
	};
	int fd, err;

	if (mount->fd < 0)
		return mount->fd;
	fd = open_by_handle_at(mount->fd, &handle.head, O_RDONLY | O_DIRECTORY | O_CLOEXEC);
	if (fd < 0 && errno != ESTALE)
		return -errno;
	path[0] = 0;
	if (fd < 0)
		return 0;
	err = path_of(mount, fd, path, size);
	close(fd);
	return err;
}
