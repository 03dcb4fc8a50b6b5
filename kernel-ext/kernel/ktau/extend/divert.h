/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * KTAU: where unusual frames are diverted to.
 */
#ifndef _KERNEL_KTAU_DIVERT_H
#define _KERNEL_KTAU_DIVERT_H

#include <linux/ktau.h>
#include <linux/types.h>

#include "measure/times.h"

/**
 * struct ktau_region_targets - where the frames of threads with regions are diverted to
 * @enter: entry of a frame
 * @fault: entry of the frame of a page fault
 * @root: naming the root frame
 * @leave: end of a frame
 * @exit: exit of a frame, while there are no handlers
 * @sched_switch: leaving a CPU
 * @account: accounting an activation
 * @value: accounting the value of a counter
 * @user_exit: entry from user mode
 * @user_enter: return to user mode
 */
struct ktau_region_targets {
	void (*enter)(struct task_struct *tsk, struct ktau_frame *frame);
	void (*fault)(struct task_struct *tsk, struct ktau_frame *frame,
		      unsigned long address);
	void (*root)(struct task_struct *tsk, struct ktau_frame *frame, u32 flag, u64 arg);
	struct ktau_ended (*leave)(struct ktau_frame *frame, struct task_struct *tsk);
	void (*exit)(struct ktau_frame *frame, struct task_struct *tsk);
	void (*sched_switch)(bool vol, struct task_struct *prev, struct task_struct *next,
			     unsigned int prev_state);
	void (*account)(struct ktau_state *state, unsigned int id, u64 incl, u64 excl,
			bool outermost);
	void (*value)(struct ktau_ref *ref, unsigned int id, u64 value);
	void (*user_exit)(struct ktau_ref *ref);
	void (*user_enter)(struct ktau_frame *root, struct ktau_ref *ref);
};

void ktau_divert_to_handlers(bool on);
void ktau_divert_to_regions(const struct ktau_region_targets *targets);

#endif /* _KERNEL_KTAU_DIVERT_H */
