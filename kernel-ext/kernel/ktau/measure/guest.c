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
#include "grow.h"
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

/*
 * Write how the counter of the guest follows from that of the host, then the entry. It is the last
 * call of __ktau_kvm_enter(), which therefore needs no stack.
 */
static noinline void enter_with_clock(struct ktau_state *state, u64 vcpu_and_bits,
				      u64 tsc_offset, u64 tsc_ratio)
{
	const struct ktau_slot_more clock = { .data = { tsc_offset, tsc_ratio } };
	struct ktau_ring *ring;

	state->tsc_offset = tsc_offset;
	WRITE_ONCE(state->tsc_ratio, tsc_ratio);
	barrier();	/* a slot that is consumed at once makes the next one due */
	ktau_trace_more(state, KTAU_WHAT(0, KTAU_TRACE_KVM_CLOCK, 0), vcpu_and_bits, &clock, 1);
	ring = READ_ONCE(state->ring);
	if (ring)
		ktau_ring_ask_early(ring);
	ktau_trace(state, 0, KTAU_TRACE_KVM_ENTER, 0, (u32)vcpu_and_bits);
}

/**
 * __ktau_kvm_enter() - trace that a virtual CPU enters its guest
 * @vcpu: number of the virtual CPU
 * @frac_bits: fractional bits of @tsc_ratio
 * @tsc_offset: the guest's counter less the scaled counter of the host
 * @tsc_ratio: ticks of the guest per tick of the host; 0 if KVM has no such clock
 *
 * Context: Task, interrupts disabled.
 */
void __ktau_kvm_enter(u32 vcpu, u32 frac_bits, u64 tsc_offset, u64 tsc_ratio)
{
	struct ktau_state *state = current->ktau.state;

	if (likely(state->tsc_offset == tsc_offset && READ_ONCE(state->tsc_ratio) == tsc_ratio))
		ktau_trace(state, 0, KTAU_TRACE_KVM_ENTER, 0, vcpu);
	else
		enter_with_clock(state, vcpu | (u64)frac_bits << 32, tsc_offset, tsc_ratio);
}
EXPORT_SYMBOL_GPL(__ktau_kvm_enter);

/**
 * __ktau_kvm_exit() - trace that a virtual CPU has left its guest
 * @vcpu: number of the virtual CPU
 * @reason: why it left, as the architecture numbers it
 *
 * Context: Task.
 */
void __ktau_kvm_exit(u32 vcpu, u32 reason)
{
	ktau_trace(current->ktau.state, 0, KTAU_TRACE_KVM_EXIT, 0, vcpu | (u64)reason << 32);
}
EXPORT_SYMBOL_GPL(__ktau_kvm_exit);
