/* SPDX-License-Identifier: LGPL-2.1-or-later */
/* Paths of control groups in the default hierarchy. */
#ifndef KTAU_BPF_CGROUP_H
#define KTAU_BPF_CGROUP_H

#include <stddef.h>
#include <stdint.h>

/* The mounted default hierarchy. @fd is -errno if there is none. */
struct ktau__cgroup_mount {
	int fd;
	const char *path;
};

struct ktau__cgroup_mount ktau__cgroup_open(void);

/*
 * The path of a group by its id, relative to the mount; empty if the group was removed. @size is at
 * least 2. Return: 0, -ENOENT without a hierarchy, -EPERM without CAP_DAC_READ_SEARCH, other errors
 * of open_by_handle_at(2).
 */
int ktau__cgroup_path(const struct ktau__cgroup_mount *mount, uint64_t id, char *path, size_t size);

#endif /* KTAU_BPF_CGROUP_H */
