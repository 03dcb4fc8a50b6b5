/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * KTAU: the root frame.
 */
#ifndef _KERNEL_KTAU_ROOT_H
#define _KERNEL_KTAU_ROOT_H

#include <linux/static_call_types.h>

#include <linux/ktau.h>

/* Whether the current task, whose innermost frame is @top, needs ktau_root_resume(). */
static __always_inline bool ktau_root_needed(const struct ktau_ref *ref,
					     const struct ktau_frame *top)
{
	if (top)
		return top->info == KTAU_ID_RET_FROM_FORK;
	return data_race(ref->mask) & KTAU_GROUP_ACCOUNT; /* one bit */
}

void ktau_root_resume(struct ktau_ref *ref);
void ktau_root_start(struct task_struct *task, u64 now);
void ktau_root_stop(struct ktau_ref *ref, u64 now);
void ktau_root_trace(struct task_struct *tsk, struct ktau_frame *frame, u32 flag,
		     u64 arg);

void ktau_root_open_slow(struct ktau_ref *ref);
void ktau_root_close_slow(struct ktau_frame *root, struct ktau_ref *ref);

/* Replaced while modules have handlers or programs have regions; see extend/divert.c. */
DECLARE_STATIC_CALL(ktau_divert_root, ktau_root_trace);
DECLARE_STATIC_CALL(ktau_divert_user_exit, ktau_root_open_slow);
DECLARE_STATIC_CALL(ktau_divert_user_enter, ktau_root_close_slow);

#endif /* _KERNEL_KTAU_ROOT_H */
