// SPDX-License-Identifier: GPL-2.0-only
/*
 * KTAU: which namespaces an exited task was in, as numbers.
 *
 * A reference to a namespace would keep it until the task is evicted: a user who creates
 * namespaces one after the other would soon be refused one. So an exited task has
 * numbers instead:
 *
 *  - For each pid namespace below the initial one its ids there. The namespace is told
 *    by its inode number and the time when its init process was created. The former is
 *    given again, to a namespace with an init process of its own, so both together are
 *    not. Once the namespace has no task left nobody has the pair any more: the ids are
 *    as good as forgotten, while readers outside still get the task.
 *  - For each user namespace below the initial one its inode number and its owner, up
 *    to the initial one. A namespace that has been given the same numbers is one that
 *    the same user has created inside the same others, and that user may read the task
 *    from outside anyway.
 */
#include <linux/cred.h>
#include <linux/pid_namespace.h>
#include <linux/rcupdate.h>
#include <linux/sched/signal.h>
#include <linux/user_namespace.h>

#include "memory.h"
#include "origin.h"
#include "rights.h"

/**
 * ktau_ns_id() - what tells a pid namespace from all others of this boot
 * @ns: the namespace; some task in it is not yet released
 *
 * Context: Any.
 * Return: The id.
 */
struct ktau_ns_id ktau_ns_id(const struct pid_namespace *ns)
{
	struct ktau_ns_id id = { .inum = ns->ns.inum };
	const struct task_struct *reaper;

	rcu_read_lock();
	/* Another thread of its process may just become it: the leader is the same. */
	reaper = READ_ONCE(ns->child_reaper);
	if (reaper)
		id.start_ns = READ_ONCE(reaper->group_leader)->start_boottime;
	rcu_read_unlock();
	return id;
}

static void record_pids(struct ktau_task *state)
{
	struct pid *pid = task_pid(current), *tgid = task_tgid(current);
	struct ktau_ids *ids = state->ids;
	struct pid_namespace *ns;
	struct pid *parent;
	unsigned int i;

	rcu_read_lock();
	parent = task_tgid(rcu_dereference(current->real_parent));
	for (i = 0; i < state->nr_ids; i++) {
		ns = pid->numbers[i + 1].ns;
		ids[i] = (struct ktau_ids) {
			.ns = ktau_ns_id(ns),
			.tid = pid_nr_ns(pid, ns),
			.tgid = pid_nr_ns(tgid, ns),
			.ppid = pid_nr_ns(parent, ns),
		};
	}
	rcu_read_unlock();
}

static void record_users(struct ktau_rights *rights)
{
	const struct user_namespace *ns = current_cred()->user_ns;
	unsigned int i;

	for (i = 0; i < rights->nr_levels; i++, ns = ns->parent)
		rights->level[i] = (struct ktau_user_level) {
			.inum = ns->ns.inum,
			.owner = ns->owner,
		};
}

/**
 * ktau_origin_record() - note where the current task, which exits, is known by which ids
 * @state: its state
 *
 * Without memory, only readers in the initial namespaces will see it.
 *
 * Context: May sleep.
 */
void ktau_origin_record(struct ktau_task *state)
{
	unsigned int nr_ids = task_pid(current)->level;
	unsigned int nr_levels = current_cred()->user_ns->level;
	struct ktau_rights *rights = &state->rights;

	ktau_rights_of(rights, current_cred());
	if (nr_ids)
		state->ids = ktau_alloc(state->user, nr_ids * sizeof(*state->ids),
					GFP_KERNEL_ACCOUNT);
	if (state->ids) {
		atomic_long_add(nr_ids * sizeof(*state->ids), &state->bytes);
		state->nr_ids = nr_ids;
		record_pids(state);
	}
	if (!nr_levels)
		return;		/* it is the initial one, which stays */
	rights->user_ns = NULL;
	rights->level = ktau_alloc(state->user,
				   nr_levels * sizeof(*rights->level),
				   GFP_KERNEL_ACCOUNT);
	if (rights->level) {
		atomic_long_add(nr_levels * sizeof(*rights->level),
				&state->bytes);
		rights->nr_levels = nr_levels;
		record_users(rights);
	}
}

/**
 * ktau_origin_free() - free what ktau_origin_record() has allocated
 * @state: the state
 *
 * Context: Any but NMI and not under a run-queue lock.
 */
void ktau_origin_free(struct ktau_task *state)
{
	struct ktau_rights *rights = &state->rights;

	ktau_free(state->user, state->ids, state->nr_ids * sizeof(*state->ids));
	ktau_free(state->user, rights->level,
		  rights->nr_levels * sizeof(*rights->level));
}

/**
 * ktau_origin_ids() - the ids of an exited task in a pid namespace
 * @owner: gets the ids, if not NULL
 * @state: its state
 * @ns: the namespace, which is not the initial one
 *
 * Context: Any.
 * Return: Whether it had ids there.
 */
bool ktau_origin_ids(struct ktau_owner *owner, const struct ktau_task *state,
		     const struct ktau_ns_id *ns)
{
	unsigned int i;

	for (i = 0; i < state->nr_ids; i++) {
		const struct ktau_ids *ids = &state->ids[i];

		if (ids->ns.inum != ns->inum || ids->ns.start_ns != ns->start_ns)
			continue;
		if (owner) {
			owner->tid = ids->tid;
			owner->tgid = ids->tgid;
			owner->ppid = ids->ppid;
		}
		return true;
	}
	return false;
}

/* Whether @ns and all above it are the levels of @rights from @i on. */
static bool is_level(const struct ktau_rights *rights, unsigned int i,
		     const struct user_namespace *ns)
{
	for (; i < rights->nr_levels; i++, ns = ns->parent)
		if (ns == &init_user_ns ||
		    rights->level[i].inum != ns->ns.inum ||
		    !uid_eq(rights->level[i].owner, ns->owner))
			return false;
	return ns == &init_user_ns;
}

/**
 * ktau_origin_level() - where a user namespace is above that of an exited task
 * @rights: those of the task, without a reference to its namespace
 * @ns: the namespace
 *
 * Context: Any.
 * Return: 0 if it is the same one, 1 for its parent, and so on; -1 if it is neither.
 */
int ktau_origin_level(const struct ktau_rights *rights,
		      const struct user_namespace *ns)
{
	unsigned int i;

	for (i = 0; rights->nr_levels && i <= rights->nr_levels; i++)
		if (is_level(rights, i, ns))
			return i;
	return -1;
}
