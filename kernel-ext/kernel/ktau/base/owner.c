// SPDX-License-Identifier: GPL-2.0-only
/* KTAU: the identity of an owner, now and when it exited. */
#include <linux/cred.h>
#include <linux/dcache.h>
#include <linux/file.h>
#include <linux/fs.h>
#include <linux/pid_namespace.h>
#include <linux/sched.h>
#include <linux/sched/cputime.h>
#include <linux/sched/signal.h>
#include <linux/sched/task.h>
#include <linux/user_namespace.h>
#include <net/net_namespace.h>

#include "cgroup.h"
#include "memory.h"
#include "owner.h"

#define SHORT_PATH	256

/*
 * Identify the task's parent, leader and pid namespace. A task that is being released loses
 * its pid on another CPU at any moment, so the pid is looked up once: if the task still has
 * it, RCU keeps the parent and the leader, which are released later. Otherwise all of these
 * ids are 0.
 */
static void identify_family(struct ktau_owner *owner, struct task_struct *task)
{
	struct pid_namespace *pid_ns;
	struct task_struct *parent;

	rcu_read_lock();
	pid_ns = task_active_pid_ns(task);
	if (pid_ns) {
		owner->pid_ns = pid_ns->ns.inum;
		owner->leader_serial = READ_ONCE(task->group_leader)->ktau.serial;
		parent = rcu_dereference(task->real_parent);
		owner->ppid = task_tgid_nr(parent);
		owner->parent_serial =
			READ_ONCE(parent->group_leader)->ktau.serial;
		owner->has_own_parent = uid_eq(task_uid(parent), task_uid(task));
	}
	owner->uid = from_kuid_munged(&init_user_ns, task_uid(task));
	owner->gid = from_kgid_munged(&init_user_ns, __task_cred(task)->gid);
	rcu_read_unlock();
}

/**
 * ktau_net_ns_of() - the network namespace of a task
 * @task: the task, held by the caller
 *
 * Context: Task.
 * Return: Its inode number, 0 if the task has left its namespaces.
 */
u32 ktau_net_ns_of(struct task_struct *task)
{
	u32 inum = 0;

	task_lock(task);
	if (IS_ENABLED(CONFIG_NET) && task->nsproxy)
		inum = task->nsproxy->net_ns->ns.inum;
	task_unlock(task);
	return inum;
}

/**
 * ktau_task_usage() - describe what grows while a task lives
 * @owner: receives the CPU times, as /proc/PID/task/TID/stat shows them, and the switches
 * @task: the task, held by the caller
 *
 * Context: Task, without the lock of a run queue.
 */
void ktau_task_usage(struct ktau_owner *owner, struct task_struct *task)
{
	u64 utime, stime;

	owner->nvcsw = READ_ONCE(task->nvcsw);
	owner->nivcsw = READ_ONCE(task->nivcsw);
	owner->migrations = READ_ONCE(task->se.nr_migrations);
	/* They may grow meanwhile. */
	data_race((task_cputime_adjusted(task, &utime, &stime), 0));
	owner->utime_ns = utime;
	owner->stime_ns = stime;
}

/**
 * ktau_task_identify() - describe a task
 * @owner: receives the description, except for the network namespace: an exiting task
 *	gives that up before it is described for the last time
 * @task: the task, held by the caller
 *
 * Context: Task.
 */
void ktau_task_identify(struct ktau_owner *owner, struct task_struct *task)
{
	unsigned int flags = data_race(task->flags); /* this flag never changes */

	owner->kind = KTAU_OWNER_TASK;
	owner->serial = READ_ONCE(task->ktau.serial);
	owner->flags = (ktau_is_idle(task) ? KTAU_OWNER_IDLE : 0) |
		       (flags & PF_KTHREAD ? KTAU_OWNER_KTHREAD : 0);
	owner->tid = task->pid;
	owner->tgid = task->tgid;
	owner->cpu = task_cpu(task);
	owner->prio = READ_ONCE(task->prio);
	owner->policy = READ_ONCE(task->policy);
	owner->tag = READ_ONCE(task->ktau.tag);
	owner->nr_tasks = 1;
	owner->start_ns = task->start_boottime;
	owner->cgroup = ktau_cgroup_of(task);
	ktau_task_usage(owner, task);
	identify_family(owner, task);
	get_task_comm(owner->comm, task);
}

/* The path of a task's program in @buffer, or an error, -ENAMETOOLONG if it does not fit. */
static char *path_of(struct task_struct *task, char *buffer, int bytes)
{
	struct file *file = get_task_exe_file(task);
	char *path;

	if (!file)
		return ERR_PTR(-ENOENT);
	path = file_path(file, buffer, bytes);
	fput(file);
	return path;
}

/**
 * ktau_path_of() - the path of a task's program
 * @task: the task, held by the caller
 * @buffer: memory of PATH_MAX bytes
 *
 * Context: May sleep.
 * Return: The path in @buffer as seen by the current task, or NULL.
 */
char *ktau_path_of(struct task_struct *task, char *buffer)
{
	char *path = path_of(task, buffer, PATH_MAX);

	return IS_ERR(path) ? NULL : path;
}

static void keep_path(struct ktau_state *state, const char *path)
{
	if (IS_ERR(path))
		return;
	state->path_bytes = strlen(path) + 1;
	state->path = ktau_alloc(state->user, state->path_bytes, GFP_KERNEL_ACCOUNT);
	if (!state->path)
		return;
	memcpy(state->path, path, state->path_bytes);
	atomic_long_add(state->path_bytes, &state->bytes);
}

static noinline void keep_long_path(struct ktau_state *state)
{
	char *buffer = __getname();

	if (!buffer)
		return;
	keep_path(state, path_of(current, buffer, PATH_MAX));
	__putname(buffer);
}

/**
 * ktau_path_keep() - keep the path of the current task's program
 *
 * Called just before the task gives up its address space, so fork and exec need not keep
 * track of the path. The path is relative to the task's root. Nearly all paths fit on the
 * stack; memory from __getname() is zeroed if the kernel zeroes what it allocates.
 *
 * Context: May sleep.
 */
void ktau_path_keep(struct ktau_state *state)
{
	char buffer[SHORT_PATH] __uninitialized, *path;

	if (state->path)
		return;
	path = path_of(current, buffer, sizeof(buffer));
	if (path == ERR_PTR(-ENAMETOOLONG))
		keep_long_path(state);
	else
		keep_path(state, path);
}

/**
 * ktau_path_drop() - free what ktau_path_keep() has kept
 * @state: a state without references
 *
 * Context: Any but NMI and not under a run-queue lock.
 */
void ktau_path_drop(struct ktau_state *state)
{
	ktau_free(state->user, state->path, state->path_bytes);
}
