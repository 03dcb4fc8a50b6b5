// SPDX-License-Identifier: GPL-2.0-only
/*
 * KTAU: which tasks a reader may see, while they live and afterwards. How much of a
 * task it may see is decided in access.c.
 */
#include <linux/capability.h>
#include <linux/preempt.h>
#include <linux/ptrace.h>
#include <linux/sched/signal.h>
#include <linux/user_namespace.h>

#include "base/arch.h"
#include "base/compat.h"
#include "base/origin.h"
#include "base/rights.h"
#include "permission.h"

/* The check of cap_capable(), in the namespace of a task that may have exited. */
static bool may_ptrace(const struct ktau_rights *rights)
{
	const struct cred *reader = current_cred();
	int level;

	if (rights->user_ns)
		return ns_capable_noaudit(rights->user_ns, CAP_SYS_PTRACE);
	level = ktau_origin_level(rights, reader->user_ns);
	if (level < 0)
		return false;
	/* The creator of a namespace has all capabilities in it. */
	if (level && uid_eq(rights->level[level - 1].owner, reader->euid))
		return true;
	return ns_capable_noaudit(reader->user_ns, CAP_SYS_PTRACE);
}

static bool in_same_user_ns(const struct ktau_rights *rights,
			    const struct user_namespace *ns)
{
	if (rights->user_ns)
		return rights->user_ns == ns;
	return !ktau_origin_level(rights, ns);
}

static bool ids_match(const struct ktau_rights *rights)
{
	const struct cred *reader = current_cred();

	return uid_eq(reader->fsuid, rights->uid) &&
	       uid_eq(reader->fsuid, rights->euid) &&
	       uid_eq(reader->fsuid, rights->suid) &&
	       gid_eq(reader->fsgid, rights->gid) &&
	       gid_eq(reader->fsgid, rights->egid) &&
	       gid_eq(reader->fsgid, rights->sgid) &&
	       in_same_user_ns(rights, reader->user_ns) &&
	       cap_issubset(rights->permitted, reader->cap_effective);
}

/**
 * ktau_may_read() - whether the current credentials may see a task
 *
 * Applies the rules of ptrace_may_access(), except its check of the address space. LSM
 * rules only cover live tasks. So where an LSM labels subjects, a reader without
 * capabilities sees only tasks with its own label.
 *
 * Context: Task.
 * Return: Whether they may.
 */
bool ktau_may_read(const struct ktau_rights *rights)
{
	if (may_ptrace(rights))
		return true;
	return ids_match(rights) && ktau_secid(current_cred()) == rights->secid;
}

/**
 * ktau_may_read_task() - whether a reader without KTAU_ACCESS_ALL may see a live task
 * @task: the task, held by the caller
 *
 * ptrace_may_access() always lets a process access itself, without looking at
 * credentials. That is wrong here, because the current credentials are those of the
 * file's opener: a set-uid program may have been given the file as its standard input,
 * and its opener must not see the program's profile.
 *
 * Context: May sleep.
 * Return: Whether they may.
 */
bool ktau_may_read_task(struct task_struct *task)
{
	struct ktau_rights rights;
	const struct cred *cred;
	bool may;

	if (!same_thread_group(task, current))
		return ptrace_may_access(task, PTRACE_MODE_READ_FSCREDS |
					 PTRACE_MODE_NOAUDIT);
	rcu_read_lock();
	cred = __task_cred(task);
	ktau_rights_of(&rights, cred);
	/* A task may see itself whatever capabilities are effective. */
	may = cred == current_cred() || ktau_may_read(&rights);
	rcu_read_unlock();
	return may;
}

/**
 * ktau_may_read_exited() - whether a reader without KTAU_ACCESS_ALL may see an exited
 * task
 *
 * Applies the same rules as to a live task. Landlock restricts a confined reader to tasks
 * of its own domain, but the domain of an exited task is unknown, so a confined reader
 * sees none.
 *
 * Context: Task.
 * Return: Whether they may.
 */
bool ktau_may_read_exited(const struct ktau_state *state)
{
	if (ktau_is_landlocked(current_cred()) ||
	    ktau_is_landlocked(current_real_cred()))
		return false;
	if (ns_capable_noaudit(&init_user_ns, CAP_SYS_PTRACE))
		return true;
	return state->dumpable && ktau_may_read(&state->rights);
}

/* Whether @task can be visible at all, checked before its lock is taken. */
static bool may_match(struct task_struct *task)
{
	struct ktau_rights rights;
	bool may;

	if (same_thread_group(task, current))
		return true;
	rcu_read_lock();
	ktau_rights_of(&rights, __task_cred(task));
	may = ids_match(&rights) ||
	      ns_capable_noaudit(rights.user_ns, CAP_SYS_PTRACE);
	rcu_read_unlock();
	return may;
}

/**
 * ktau_task_check() - check that a reader may see a live task
 * @task: the task, held by the caller
 * @access: KTAU_ACCESS_* of the reader
 *
 * An exec can change the credentials that access depends on, so it is blocked during the check.
 * The reader must not lose its CPU meanwhile. A reader without access never takes the lock, and
 * no reader waits for it.
 *
 * Context: Task.
 * Return: 0, -EACCES if the reader may not see the task, -EBUSY if the task is in an
 * exec.
 */
int ktau_task_check(struct task_struct *task, u32 access)
{
	int err = -EBUSY;

	if (access & KTAU_ACCESS_ALL)
		return 0;
	if (!may_match(task))
		return -EACCES;
	preempt_disable();
	if (down_read_trylock(&task->signal->exec_update_lock)) {
		err = ktau_may_read_task(task) ? 0 : -EACCES;
		up_read(&task->signal->exec_update_lock);
	}
	preempt_enable();
	return err;
}

/**
 * ktau_task_recheck() - check that a reader may see what it has copied of a live task
 * @task: the task, held by the caller
 * @state: its state when the copy began
 * @access: KTAU_ACCESS_* of the reader
 *
 * An exec during the copy may have given the task privileges. An exec that takes them away again
 * also gives the task a new state.
 *
 * Context: Task.
 * Return: As ktau_task_check(); -EBUSY if the task has a new state.
 */
int ktau_task_recheck(struct task_struct *task, const struct ktau_state *state, u32 access)
{
	const struct ktau_state *now;
	int err;

	if (access & KTAU_ACCESS_ALL)
		return 0;
	smp_mb();	/* the copy is complete before the check */
	err = ktau_task_check(task, access);
	if (err)
		return err;
	/* A task that exits has none, and keeps its serial. Pairs with __ktau_task_exec_begin(). */
	now = smp_load_acquire(&task->ktau.state);
	if (now == state || (!now && ktau_read(&task->ktau.serial) == state->serial))
		return 0;
	return -EBUSY;
}
