// SPDX-License-Identifier: GPL-2.0-only
/*
 * KTAU: the namespaces of an exited task, as numbers.
 *
 * A reference would keep a namespace alive until the task is evicted, and a user that
 * creates one namespace after another would soon reach its limit. So an exited task has
 * numbers instead:
 *
 *  - For each pid namespace below the initial one, the ids of the task there. The
 *    namespace is identified by its inode number and the creation time of its init
 *    process. Inode numbers are reused, but by a namespace with a new init process, so
 *    the pair is unique. No reader has that pair once the namespace is empty; readers
 *    outside it still get the task.
 *  - For each user namespace from that of the task up to the initial one, its inode
 *    number and owner. A later namespace with the same numbers was created by the same
 *    user inside the same ancestors, and that user may read the task from outside anyway.
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
 * ktau_ns_id() - identify a pid namespace uniquely within this boot
 * @ns: the namespace; at least one task in it is not yet released
 *
 * Context: Any.
 * Return: The id.
 */
struct ktau_ns_id ktau_ns_id(const struct pid_namespace *ns)
{
	struct ktau_ns_id id = { .inum = ns->ns.inum };
	const struct task_struct *reaper;

	rcu_read_lock();
	/* Another thread may take over as reaper; the group leader is the same. */
	reaper = READ_ONCE(ns->child_reaper);
	if (reaper)
		id.start_ns = READ_ONCE(reaper->group_leader)->start_boottime;
	rcu_read_unlock();
	return id;
}

static void record_pids(struct ktau_state *state)
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
 * ktau_origin_record() - record the namespaces of the current task, which is exiting
 *
 * Without memory for that, only readers in the initial namespaces will see the task.
 *
 * Context: May sleep.
 */
void ktau_origin_record(struct ktau_state *state)
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
		return;		/* the initial namespace never goes away */
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
 *
 * Context: Any but NMI and not under a run-queue lock.
 */
void ktau_origin_free(struct ktau_state *state)
{
	struct ktau_rights *rights = &state->rights;

	ktau_free(state->user, state->ids, state->nr_ids * sizeof(*state->ids));
	ktau_free(state->user, rights->level,
		  rights->nr_levels * sizeof(*rights->level));
}

/**
 * ktau_origin_ids() - the ids of an exited task in a pid namespace
 * @owner: receives the ids, unless NULL
 * @ns: the namespace, other than the initial one
 *
 * Context: Any.
 * Return: Whether the task had ids there.
 */
bool ktau_origin_ids(struct ktau_owner *owner, const struct ktau_state *state,
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

/* Whether @ns and its ancestors match the levels of @rights from @i on. */
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
 * ktau_origin_level() - how far a user namespace is above that of an exited task
 * @rights: rights of the exited task
 *
 * Context: Any.
 * Return: 0 for the same namespace, 1 for its parent and so on; -1 if it is no ancestor.
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
