// SPDX-License-Identifier: GPL-2.0-only
/*
 * KTAU: control groups of the default hierarchy (cgroup v2), named by their ids.
 *
 * KTAU keeps ids, never references: a removed group must not be pinned by a filter
 * that names it. Ids are not reused.
 */
#include <linux/cgroup.h>
#include <linux/err.h>
#include <linux/nsproxy.h>
#include <linux/rcupdate.h>
#include <linux/sched.h>

#include "cgroup.h"

/**
 * ktau_cgroup_find() - look up a control group by its path
 * @path: absolute path, as the current task's cgroup namespace has it
 * @id: where its id goes
 *
 * Context: May sleep.
 * Return: 0, or -ENOENT if there is no such group.
 */
int ktau_cgroup_find(const char *path, u64 *id)
{
	struct cgroup *cgroup = cgroup_get_from_path(path);

	if (IS_ERR(cgroup))
		return -ENOENT;
	*id = cgroup_id(cgroup);
	cgroup_put(cgroup);
	return 0;
}

/**
 * ktau_cgroup_path() - the path of a control group
 * @id: its id
 * @path: where the path goes, as the current task's cgroup namespace has it
 * @size: bytes of @path
 *
 * Context: May sleep.
 * Return: 0; -ENOENT if the group is gone or outside the namespace; -ENAMETOOLONG.
 */
int ktau_cgroup_path(u64 id, char *path, size_t size)
{
	struct cgroup *cgroup = cgroup_get_from_id(id);
	int length;

	if (IS_ERR(cgroup))
		return -ENOENT;
	length = cgroup_path_ns(cgroup, path, size, current->nsproxy->cgroup_ns);
	cgroup_put(cgroup);
	return length >= 0 && length < size ? 0 : -ENAMETOOLONG;
}

/**
 * ktau_cgroup_contains() - whether a task is in a control group or below it
 * @id: id of the group
 * @task: the task, held by the caller
 *
 * Context: Any.
 * Return: Whether it is.
 */
bool ktau_cgroup_contains(u64 id, struct task_struct *task)
{
	struct cgroup *cgroup;

	rcu_read_lock();
	cgroup = task_dfl_cgroup(task);
	while (cgroup && cgroup_id(cgroup) != id)
		cgroup = cgroup_parent(cgroup);
	rcu_read_unlock();
	return cgroup;
}
