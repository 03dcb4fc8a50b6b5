// SPDX-License-Identifier: GPL-2.0-only
/* KTAU: the frames of functions hooked at run time. hook_entry.S calls this. */
#include "base/compat.h"
#include "base/core.h"
#include "hook_frame.h"

/* The task is off the CPU, or new, or inside KTAU. */
#define REF_CLOSED	(KTAU_REF_OFF | KTAU_REF_NEW | KTAU_REF_INSIDE)

/* Whether the account still has the task in user mode, as early in an entry from there. */
static __always_inline bool is_in_user_mode(const struct task_struct *tsk)
{
	return !tsk->ktau.top && (READ_ONCE(tsk->ktau.mask) & KTAU_GROUP_ACCOUNT);
}

/**
 * ktau_hook_enter() - open a frame of a hooked function
 * @tsk: the current task, which has the group func enabled
 * @frame: uninitialised frame on the kernel stack, except for its id
 *
 * Some functions also run in NMIs, while the scheduler switches tasks, on the way between
 * kernel and user mode, or on behalf of KTAU itself. Such activations get no frame and are
 * only counted.
 *
 * Context: Any.
 */
void ktau_hook_enter(struct task_struct *tsk, struct ktau_frame *frame)
{
	if (unlikely((tsk->ktau.flags & REF_CLOSED) || (ktau_preempt_count() & NMI_MASK) ||
		     is_in_user_mode(tsk))) {
		ktau_loss(KTAU_LOSS_FUNCTION);
		return;
	}
	__ktau_enter_frame(tsk, frame);
}
