// SPDX-License-Identifier: GPL-2.0-only
/*
 * KTAU: who may see a task, while it lives and afterwards.
 */
#include <linux/capability.h>
#include <linux/ptrace.h>
#include <linux/sched/signal.h>
#include <linux/user_namespace.h>

#include "ktau.h"

/**
 * ktau_rights_of() - what of credentials says who may see their task
 * @rights: where it goes; the namespace is not held
 * @cred: the credentials
 *
 * Context: Any.
 */
void ktau_rights_of(struct ktau_rights *rights, const struct cred *cred)
{
	*rights = (struct ktau_rights) {
		.uid = cred->uid,
		.euid = cred->euid,
		.suid = cred->suid,
		.gid = cred->gid,
		.egid = cred->egid,
		.sgid = cred->sgid,
		.permitted = cred->cap_permitted,
		.user_ns = cred->user_ns,
	};
}

/**
 * ktau_may_read() - whether the current credentials may see a task
 * @rights: the task's
 *
 * As ptrace_may_access() has it, but for what the address space says.
 *
 * Context: Task.
 * Return: Whether.
 */
bool ktau_may_read(const struct ktau_rights *rights)
{
	const struct cred *reader = current_cred();

	if (ns_capable_noaudit(rights->user_ns, CAP_SYS_PTRACE))
		return true;
	return uid_eq(reader->fsuid, rights->uid) &&
	       uid_eq(reader->fsuid, rights->euid) &&
	       uid_eq(reader->fsuid, rights->suid) &&
	       gid_eq(reader->fsgid, rights->gid) &&
	       gid_eq(reader->fsgid, rights->egid) &&
	       gid_eq(reader->fsgid, rights->sgid) &&
	       reader->user_ns == rights->user_ns &&
	       cap_issubset(rights->permitted, reader->cap_effective);
}

/**
 * ktau_may_read_task() - whether the current credentials may see a live task
 * @task: the task, held by the caller
 *
 * ptrace_may_access() opens a process to itself before it looks at credentials.
 * Here they are not its own where it reads a file that another program has
 * opened: what a set-uid program finds as its standard input must not show it.
 *
 * Context: May sleep.
 * Return: Whether.
 */
bool ktau_may_read_task(struct task_struct *task)
{
	struct ktau_rights rights;
	const struct cred *cred;
	bool may;

	if (perfmon_capable())
		return true;
	if (!same_thread_group(task, current))
		return ptrace_may_access(task, PTRACE_MODE_READ_FSCREDS);
	rcu_read_lock();
	cred = __task_cred(task);
	ktau_rights_of(&rights, cred);
	/* Its own are enough, whatever of them is in effect. */
	may = cred == current_cred() || ktau_may_read(&rights);
	rcu_read_unlock();
	return may;
}
