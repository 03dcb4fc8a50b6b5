/* SPDX-License-Identifier: GPL-2.0-only */
/* KTAU: control groups of the default hierarchy (cgroup v2), identified by their ids. */
#ifndef _KERNEL_KTAU_CGROUP_H
#define _KERNEL_KTAU_CGROUP_H

#include <linux/errno.h>
#include <linux/types.h>

struct cgroup;
struct cgroup_namespace;
struct task_struct;

#ifdef CONFIG_CGROUPS

int ktau_cgroup_find(const char *path, u64 *id);
int ktau_cgroup_format_path(u64 id, char *path, size_t size);
bool ktau_cgroup_contains(u64 id, struct task_struct *task);
u64 ktau_cgroup_of(struct task_struct *task);
bool ktau_cgroup_is_default(const struct cgroup *cgroup);
bool ktau_cgroup_below(u64 id, u64 ancestor);
int ktau_cgroup_format_path_in(struct cgroup_namespace *ns, u64 id, char *path,
			       size_t size);

#else /* !CONFIG_CGROUPS */

static inline int ktau_cgroup_find(const char *path, u64 *id)
{
	return -EOPNOTSUPP;
}

static inline int ktau_cgroup_format_path(u64 id, char *path, size_t size)
{
	return -EOPNOTSUPP;
}

static inline bool ktau_cgroup_contains(u64 id, struct task_struct *task)
{
	return false;
}

static inline u64 ktau_cgroup_of(struct task_struct *task)
{
	return 0;
}

static inline bool ktau_cgroup_is_default(const struct cgroup *cgroup)
{
	return false;
}

static inline bool ktau_cgroup_below(u64 id, u64 ancestor)
{
	return id == ancestor;
}

static inline int ktau_cgroup_format_path_in(struct cgroup_namespace *ns, u64 id,
					     char *path, size_t size)
{
	return -EOPNOTSUPP;
}

#endif /* CONFIG_CGROUPS */

#endif /* _KERNEL_KTAU_CGROUP_H */
