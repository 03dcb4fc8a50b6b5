/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * KTAU: the frames of functions hooked at run time.
 */
#ifndef _KERNEL_KTAU_HOOK_FRAME_H
#define _KERNEL_KTAU_HOOK_FRAME_H

#include <linux/ktau.h>

void ktau_hook_enter(struct task_struct *tsk, struct ktau_frame *frame);

#endif /* _KERNEL_KTAU_HOOK_FRAME_H */
