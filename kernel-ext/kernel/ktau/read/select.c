// SPDX-License-Identifier: GPL-2.0-only
/* KTAU: what a reader requests with KTAU_IOC_SELECT. */
#include <linux/cred.h>
#include <linux/mm.h>
#include <linux/pid.h>
#include <linux/sched.h>
#include <linux/slab.h>
#include <linux/sort.h>
#include <linux/uaccess.h>
#include <linux/user_namespace.h>

#include "base/cgroup.h"
#include "select.h"
#include "stream.h"

/**
 * ktau_select_read() - copy the argument of KTAU_IOC_SELECT
 * @select: receives the argument
 * @arg: user address of the argument
 *
 * Context: May sleep.
 * Return: 0, -EFAULT, -EINVAL if it is too short, or -E2BIG if it sets fields that this
 * kernel does not know.
 */
int ktau_select_read(struct ktau_select *select, const void __user *arg)
{
	u32 size;

	if (get_user(size, (const u32 __user *)arg))
		return -EFAULT;
	if (size < KTAU_SELECT_SIZE_VER0)
		return -EINVAL;
	if (size > PAGE_SIZE)
		return -E2BIG;
	return copy_struct_from_user(select, sizeof(*select), arg, size);
}

/* The field of a filter must be 0 unless its flag is set. */
static bool has_stray_filter(const struct ktau_select *select)
{
	return (select->cgroup && !(select->flags & KTAU_SELECT_CGROUP)) ||
	       (select->uid && !(select->flags & KTAU_SELECT_UID)) ||
	       (select->tag && !(select->flags & KTAU_SELECT_TAG));
}

/**
 * ktau_select_check() - check a request
 * @content: KTAU_REC_PROFILE or KTAU_REC_TRACE
 *
 * Context: Any; the current credentials are those of the opener.
 * Return: 0, -EINVAL or -E2BIG.
 */
int ktau_select_check(const struct ktau_select *select, u32 content)
{
	u32 which = select->target & (KTAU_TARGETS_LISTED | KTAU_TARGETS_ALL);
	bool list = select->target & KTAU_TARGET_LIST;

	if (!select->target || (select->target & ~KTAU_TARGET_VALID) ||
	    (select->flags & ~KTAU_SELECT_VALID) || (which & (which - 1)))
		return -EINVAL;
	if ((select->flags & KTAU_SELECT_THREADS) &&
	    !(select->target & KTAU_TARGETS_LISTED))
		return -EINVAL;
	if ((select->flags & KTAU_SELECT_CONSUME) && content != KTAU_REC_TRACE)
		return -EINVAL;
	if (has_stray_filter(select))
		return -EINVAL;
	if ((select->flags & KTAU_SELECT_UID) &&
	    !uid_valid(make_kuid(current_user_ns(), select->uid)))
		return -EINVAL;
	if (select->nr_pids > KTAU_MAX_PIDS)
		return -E2BIG;
	if (list ? !select->nr_pids : select->nr_pids || select->pids)
		return -EINVAL;
	return 0;
}

static int compare(const void *a, const void *b)
{
	s32 x = *(const s32 *)a, y = *(const s32 *)b;

	return x < y ? -1 : x > y;
}

/* Sort @tids into @listed, without duplicates. Return: the number that is left. */
static u32 list_tids(struct ktau_listed *listed, s32 *tids, u32 nr)
{
	u32 from, to = 0;

	sort(tids, nr, sizeof(*tids), compare, NULL);
	for (from = 0; from < nr; from++)
		if (!to || listed[to - 1].tid != tids[from])
			listed[to++].tid = tids[from];
	return to;
}

/**
 * ktau_select_tids() - copy the requested list of tids
 * @select: the request; @nr_pids is reduced if there are duplicates
 * @listed: receives the list, NULL if there is none; for ktau_select_free()
 *
 * Context: May sleep.
 * Return: 0, -ENOMEM or -EFAULT.
 */
int ktau_select_tids(struct ktau_select *select, struct ktau_listed **listed)
{
	const u32 nr = select->nr_pids;
	s32 *tids;
	int err = -ENOMEM;

	*listed = NULL;
	if (!nr)
		return 0;
	tids = kvmalloc_array(nr, sizeof(*tids), GFP_KERNEL_ACCOUNT);
	*listed = kvcalloc(nr, sizeof(**listed), GFP_KERNEL_ACCOUNT);
	if (tids && *listed)
		err = copy_from_user(tids, u64_to_user_ptr(select->pids), nr * sizeof(*tids)) ?
		      -EFAULT : 0;
	if (err) {
		kvfree(*listed);
		*listed = NULL;
	} else {
		select->nr_pids = list_tids(*listed, tids, nr);
	}
	kvfree(tids);
	return err;
}

/* The task that @tid meant in the previous request, if it was in that. */
static struct pid *find_bound(const struct ktau_stream *stream, s32 tid)
{
	u32 low = 0, high = stream->listed ? stream->select.nr_pids : 0, i;

	while (low < high) {
		i = low + (high - low) / 2;
		if (stream->listed[i].tid == tid)
			return stream->listed[i].pid;
		if (stream->listed[i].tid < tid)
			low = i + 1;
		else
			high = i;
	}
	return NULL;
}

/**
 * ktau_select_bind() - find the tasks that a new request lists
 * @stream: the stream, locked, with its previous request
 * @listed: the list of the new request
 *
 * A tid may be reused at any time. So that a reader that repeats its request does not go on with
 * another task, a tid means the same task as in the previous request.
 *
 * Context: Task.
 */
void ktau_select_bind(const struct ktau_stream *stream, struct ktau_listed *listed, u32 nr)
{
	struct pid *pid;
	u32 i;

	for (i = 0; i < nr; i++) {
		pid = find_bound(stream, listed[i].tid);
		rcu_read_lock();
		listed[i].pid = get_pid(pid ?: find_pid_ns(listed[i].tid, stream->ns));
		rcu_read_unlock();
		cond_resched();
	}
}

/**
 * ktau_select_free() - free a list of tasks
 * @listed: the list, or NULL
 *
 * Context: May sleep.
 */
void ktau_select_free(struct ktau_listed *listed, u32 nr)
{
	u32 i;

	for (i = 0; listed && i < nr; i++)
		put_pid(listed[i].pid);
	kvfree(listed);
}

static bool matches(const struct ktau_select *select, kuid_t uid, u32 tag)
{
	if ((select->flags & KTAU_SELECT_UID) &&
	    !uid_eq(uid, make_kuid(current_user_ns(), select->uid)))
		return false;
	return !(select->flags & KTAU_SELECT_TAG) || tag == select->tag;
}

/**
 * ktau_select_task() - whether a live task passes the filters
 * @task: the task, held by the caller
 *
 * Context: Task; the current credentials are those of the opener.
 * Return: Whether it does.
 */
bool ktau_select_task(const struct ktau_select *select, struct task_struct *task)
{
	if (!matches(select, task_uid(task), READ_ONCE(task->ktau.tag)))
		return false;
	return !(select->flags & KTAU_SELECT_CGROUP) ||
	       ktau_cgroup_contains(select->cgroup, task);
}

/**
 * ktau_select_exited() - whether an exited task passes the filters
 *
 * The ancestors of a removed control group are unknown.
 *
 * Context: May sleep; the current credentials are those of the opener.
 * Return: Whether it does.
 */
bool ktau_select_exited(const struct ktau_select *select,
			const struct ktau_state *state)
{
	if (!matches(select, state->rights.uid, state->owner.tag))
		return false;
	return !(select->flags & KTAU_SELECT_CGROUP) ||
	       ktau_cgroup_below(state->owner.cgroup, select->cgroup);
}
