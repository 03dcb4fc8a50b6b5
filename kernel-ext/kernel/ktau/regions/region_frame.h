/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * KTAU: frames of threads that have regions.
 */
#ifndef _KERNEL_KTAU_REGION_FRAME_H
#define _KERNEL_KTAU_REGION_FRAME_H

#include "base/types.h"
#include "measure/times.h"

void ktau_region_enter(struct task_struct *tsk, struct ktau_frame *frame);
void ktau_region_fault(struct task_struct *tsk, struct ktau_frame *frame,
		       unsigned long address);
void ktau_region_root(struct task_struct *tsk, struct ktau_frame *frame, u32 flag,
		      u64 arg);
struct ktau_ended ktau_region_leave(struct ktau_frame *frame, struct task_struct *tsk);
void ktau_region_exit(struct ktau_frame *frame, struct task_struct *tsk);
void ktau_region_switch(bool vol, struct task_struct *prev, struct task_struct *next,
			unsigned int prev_state);
void ktau_region_user_exit(struct ktau_ref *ref);
void ktau_region_user_enter(struct ktau_frame *root, struct ktau_ref *ref);

#endif /* _KERNEL_KTAU_REGION_FRAME_H */
