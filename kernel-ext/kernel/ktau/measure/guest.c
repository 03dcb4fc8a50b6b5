// SPDX-License-Identifier: GPL-2.0-only
/*
 * KTAU: guest mode.
 *
 * The frame of a thread that runs a virtual CPU is part of the task's state, because the
 * two hooks are in different functions. It lasts as long as the kernel accounts CPU time
 * to the guest. An interrupt of the host inside it is not guest time.
 */
#include <linux/export.h>

#include "base/arch.h"
#include "frame.h"
#include "times.h"
#include "trace.h"

/**
 * __ktau_guest_enter() - the current task is about to enter its guest
 *
 * Context: Task, interrupts disabled.
 */
void __ktau_guest_enter(void)
{
	struct ktau_frame *frame = &current->ktau.state->guest;

	__ktau_enter(frame, current, KTAU_ID_GUEST);
}
EXPORT_SYMBOL_GPL(__ktau_guest_enter);

/**
 * __ktau_guest_exit() - the current task has left its guest
 *
 * The exit of the frame adds its duration to the sum of the enclosing frame. Interrupts
 * are disabled, so nothing else does. The slow exit returns the duration, but it would
 * count some of its own instructions as guest time: it reads the clock later.
 *
 * Context: As __ktau_guest_enter(); the task has a state.
 */
void __ktau_guest_exit(void)
{
	struct task_struct *tsk = current;
	struct ktau_state *state = tsk->ktau.state;
	struct ktau_frame *frame = &state->guest;
	u64 *sum, before, incl;

	if (tsk->ktau.top != frame)
		return;
	sum = ktau_outside(state, frame->prev);
	before = ktau_read(sum);
	ktau_add(&state->begin, 1);
	ktau_wmb();
	__ktau_exit(frame, tsk);
	incl = ktau_child_ticks(ktau_read(sum) - before);
	ktau_add(&state->guest_ticks, incl - ktau_child_ticks(frame->child));
	ktau_wmb();
	ktau_add(&state->end, 1);
}
EXPORT_SYMBOL_GPL(__ktau_guest_exit);

/**
 * __ktau_kvm() - trace that a virtual CPU enters or has left its guest
 * @type: KTAU_TRACE_KVM_ENTER or KTAU_TRACE_KVM_EXIT
 * @reason: why it left
 *
 * Context: Task.
 */
void __ktau_kvm(unsigned int type, u32 vcpu, u32 reason)
{
	ktau_trace(current->ktau.state, 0, type, 0, vcpu | (u64)reason << 32);
}
EXPORT_SYMBOL_GPL(__ktau_kvm);
