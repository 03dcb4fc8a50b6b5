// SPDX-License-Identifier: GPL-2.0-only
/*
 * KTAU: control groups of the default hierarchy (cgroup v2), identified by their ids.
 *
 * KTAU keeps ids, never references, so that a filter cannot pin a removed group. Ids are
 * not reused.
 */
#include <linux/cgroup.h>
#include <linux/err.h>
#include <linux/nsproxy.h>
#include <linux/rcupdate.h>
#include <linux/sched.h>

#include "cgroup.h"

/**
 * ktau_cgroup_find() - look up a control group by its path
 * @path: absolute path in the current task's cgroup namespace
 * @id: receives its id
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
 * ktau_cgroup_format_path() - the path of a control group
 * @path: buffer for the path in the current task's cgroup namespace
 * @size: bytes of @path
 *
 * Context: May sleep.
 * Return: 0; -ENOENT if the group has been removed or is outside the namespace;
 * -ENAMETOOLONG.
 */
int ktau_cgroup_format_path(u64 id, char *path, size_t size)
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

/**
 * ktau_cgroup_of() - the control group of a task
 * @task: the task, held by the caller
 *
 * Context: Any.
 * Return: Its id.
 */
u64 ktau_cgroup_of(struct task_struct *task)
{
	u64 id;

	rcu_read_lock();
	id = cgroup_id(task_dfl_cgroup(task));
	rcu_read_unlock();
	return id;
}

/**
 * ktau_cgroup_below() - whether a control group is equal to another one or below it
 * @ancestor: id of the other one
 *
 * Context: May sleep.
 * Return: Whether it is. A removed group is only known to be in itself.
 */
bool ktau_cgroup_below(u64 id, u64 ancestor)
{
	struct cgroup *cgroup, *up;

	if (id == ancestor)
		return true;
	cgroup = cgroup_get_from_id(id);
	if (IS_ERR(cgroup))
		return false;
	for (up = cgroup; up && cgroup_id(up) != ancestor; up = cgroup_parent(up))
		;
	cgroup_put(cgroup);
	return up;
}

/**
 * ktau_cgroup_format_path_in() - the path of a control group in a namespace
 * @path: buffer for the path
 * @size: bytes of @path
 *
 * Context: May sleep.
 * Return: 0; -ENOENT if the group has been removed or is outside the current task's
 * namespace; -ENAMETOOLONG.
 */
int ktau_cgroup_format_path_in(struct cgroup_namespace *ns, u64 id, char *path,
			       size_t size)
{
	struct cgroup *cgroup = cgroup_get_from_id(id);
	int length;

	if (IS_ERR(cgroup))
		return -ENOENT;
	length = cgroup_path_ns(cgroup, path, size, ns);
	cgroup_put(cgroup);
	return length >= 0 && length < size ? 0 : -ENAMETOOLONG;
}

/**
 * ktau_cgroup_is_default() - whether a control group belongs to the default hierarchy
 * @cgroup: a group of any hierarchy
 *
 * Context: Any.
 * Return: Whether it is.
 */
bool ktau_cgroup_is_default(const struct cgroup *cgroup)
{
	return cgroup->root == &cgrp_dfl_root;
}
