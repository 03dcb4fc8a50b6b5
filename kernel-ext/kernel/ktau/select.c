// SPDX-License-Identifier: GPL-2.0-only
/* KTAU: what a reader requests with KTAU_IOC_SELECT. */
#include <linux/cred.h>
#include <linux/mm.h>
#include <linux/sched.h>
#include <linux/slab.h>
#include <linux/sort.h>
#include <linux/uaccess.h>
#include <linux/user_namespace.h>

#include "cgroup.h"
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
 * @select: the request
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

/* Remove duplicate tids. Return: the number that is left. */
static u32 sort_pids(s32 *pids, u32 nr)
{
	u32 from, to = 0;

	sort(pids, nr, sizeof(*pids), compare, NULL);
	for (from = 0; from < nr; from++)
		if (!to || pids[to - 1] != pids[from])
			pids[to++] = pids[from];
	return to;
}

/**
 * ktau_select_pids() - copy the requested list of tids
 * @select: the request; @nr_pids is reduced if there are duplicates
 * @pids: receives the list, NULL if there is none; the caller frees it
 *
 * Context: May sleep.
 * Return: 0, -ENOMEM or -EFAULT.
 */
int ktau_select_pids(struct ktau_select *select, s32 **pids)
{
	size_t bytes = array_size(select->nr_pids, sizeof(**pids));

	*pids = NULL;
	if (!select->nr_pids)
		return 0;
	*pids = kvmalloc(bytes, GFP_KERNEL_ACCOUNT);
	if (!*pids)
		return -ENOMEM;
	if (copy_from_user(*pids, u64_to_user_ptr(select->pids), bytes)) {
		kvfree(*pids);
		return -EFAULT;
	}
	select->nr_pids = sort_pids(*pids, select->nr_pids);
	return 0;
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
 * @select: the request
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
 * @select: the request
 * @state: its state
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
