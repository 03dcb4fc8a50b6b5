/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * KTAU: control groups of the default hierarchy (cgroup v2), named by their ids.
 */
#ifndef _KERNEL_KTAU_CGROUP_H
#define _KERNEL_KTAU_CGROUP_H

#include <linux/errno.h>
#include <linux/types.h>

struct task_struct;

#ifdef CONFIG_CGROUPS

int ktau_cgroup_find(const char *path, u64 *id);
int ktau_cgroup_path(u64 id, char *path, size_t size);
bool ktau_cgroup_contains(u64 id, struct task_struct *task);

#else /* !CONFIG_CGROUPS */

static inline int ktau_cgroup_find(const char *path, u64 *id)
{
	return -EOPNOTSUPP;
}

static inline int ktau_cgroup_path(u64 id, char *path, size_t size)
{
	return -EOPNOTSUPP;
}

static inline bool ktau_cgroup_contains(u64 id, struct task_struct *task)
{
	return false;
}

#endif /* CONFIG_CGROUPS */

#endif /* _KERNEL_KTAU_CGROUP_H */
