// SPDX-License-Identifier: GPL-2.0-only
/*
 * KTAU: the slow paths of frames. profile.c has the model and the fast paths, which end
 * up here if
 * - an interrupt hit between two steps
 * - the ring has no room
 * - the frame is not profiled, or its id has no chunk
 * - there was a wait or an interrupt inside
 * - the clock went backwards
 */
#include <linux/static_call.h>

#include "base/arch.h"
#include "base/core.h"
#include "frame.h"
#include "ring.h"
#include "table.h"
#include "times.h"
#include "trace.h"

/**
 * ktau_frame_start() - set the start time of a frame that is already on the stack
 * @frame: the innermost frame
 * @flag: KTAU_WHAT_ARG if @arg goes into the trace, else 0
 * @arg: address of a page fault
 *
 * Interrupts taken since it was pushed count as its children, so the start is earlier by
 * their time.
 *
 * Context: Any but NMI, on the CPU that runs the owner.
 */
void ktau_frame_start(struct ktau_state *state, struct ktau_frame *frame,
		      u32 flag, u64 arg)
{
	u32 what = KTAU_WHAT(ktau_frame_id(frame), KTAU_TRACE_ENTER, 0) | flag;
	u64 now = 0, inside;

	if (frame->info & KTAU_FRAME_TRACED)
		now = ktau_trace_frame(state, what, arg, &frame->child, &inside);
	if (!now)
		now = ktau_moment(&frame->child, &inside);
	ktau_write(&frame->start, now - ktau_child_ticks(inside));
}

/**
 * ktau_enter_trace_only() - open a frame that is traced but not profiled
 * @tsk: the current task
 * @frame: uninitialised frame, except for its id
 * @flag: KTAU_WHAT_ARG if @arg goes into the trace, else 0
 * @arg: address of a page fault
 *
 * Context: As ktau_frame_start().
 */
void ktau_enter_trace_only(struct task_struct *tsk, struct ktau_frame *frame,
			   u32 flag, u64 arg)
{
	frame->info |= KTAU_FRAME_TRACED | KTAU_FRAME_TRACE_ONLY;
	ktau_wmb();	/* interrupts find the frame complete from here on */
	tsk->ktau.top = frame;
	barrier();
	ktau_frame_start(tsk->ktau.state, frame, flag, arg);
}

/**
 * ktau_settle() - account a frame that has been unlinked
 * @frame: an unlinked frame of the owner
 * @incl: its duration, in ticks
 *
 * Context: As ktau_frame_start().
 * Return: Its times.
 */
struct ktau_ended ktau_settle(struct ktau_frame *frame, struct ktau_state *state,
			      u64 incl)
{
	struct ktau_ended e = {
		.incl = incl,
		.inside = ktau_child_ticks(frame->child),
		.outermost = ktau_is_outermost(frame),
	};
	bool measured = true;

	/* one test for both flags of @child */
	if (unlikely((frame->child >> KTAU_CHILD_STOPPED_BIT) ||
		     (frame->info & KTAU_FRAME_TRACE_ONLY)))
		measured = !ktau_is_unmeasured(frame);
	e.excl = e.incl - e.inside;
	if (unlikely(!measured)) {
		e.incl = e.inside;
		e.excl = 0;
	} else if (unlikely((s64)e.excl < 0)) {
		e.incl = e.inside;
		e.excl = 0;
		ktau_add(&state->clamped, 1);
		ktau_loss(KTAU_LOSS_CLAMPED);
	}
	ktau_add(ktau_outside(state, frame->prev), e.incl);
	if (likely(measured))
		static_call(ktau_divert_account)(state, ktau_frame_id(frame), e.incl,
						 e.excl, e.outermost);
	if (unlikely(frame->child & KTAU_CHILD_TIMED))
		ktau_times_settle(frame, state, &e);
	ktau_wmb();
	ktau_add(&state->end, 1);
	return e;
}

/**
 * ktau_finish() - end a frame that has been unlinked
 * @frame: an unlinked frame of the owner
 * @before: the sum of the enclosing frame when the frame was unlinked
 *
 * Interrupts since then are outside of the frame, so it ends earlier by their time.
 *
 * Context: As ktau_frame_start().
 * Return: Its times.
 */
struct ktau_ended ktau_finish(struct ktau_frame *frame, struct ktau_state *state,
			      u64 before)
{
	u32 what = KTAU_WHAT(ktau_frame_id(frame), KTAU_TRACE_EXIT, 0);
	u64 *sum = ktau_outside(state, frame->prev);
	u64 now = 0, outside, since;

	/* System calls that never return have no result. */
	if (!(READ_ONCE(current->ktau.mask) & KTAU_MASK_GONE))
		what |= KTAU_WHAT_ARG;
	if (frame->info & KTAU_FRAME_TRACED)
		now = ktau_trace_frame(state, what, ktau_syscall_result(), sum,
				       &outside);
	if (!now)
		now = ktau_moment(sum, &outside);
	since = ktau_child_ticks(outside - before);
	return ktau_settle(frame, state, now - since - frame->start);
}

/**
 * ktau_frame_stop() - measure an open frame no longer
 * @frame: an open frame, which stays linked
 * @inner: how long the open frame directly inside has lasted, 0 if there is none
 * @now: the moment, in ticks
 *
 * Its time until @now is accounted. It stays open, because its exit expects it.
 *
 * Context: As ktau_collect().
 */
void ktau_frame_stop(struct ktau_frame *frame, struct ktau_state *state, u64 inner, u64 now)
{
	const u64 child = frame->child;
	struct ktau_ended e = {
		.incl = ktau_frame_lasted(frame, inner, now),
		.inside = ktau_child_ticks(child) + inner,
		.outermost = ktau_is_outermost(frame),
	};

	e.incl = max(e.incl, e.inside);
	e.excl = e.incl - e.inside;
	if (frame->start && !ktau_is_unmeasured(frame)) {
		static_call(ktau_divert_account)(state, ktau_frame_id(frame), e.incl, e.excl,
						 e.outermost);
		if (child & KTAU_CHILD_TIMED)
			ktau_times_settle(frame, state, &e);
	}
	frame->base = ktau_times(state);	/* in case it is passed on at the exit */
	ktau_add(&state->outer_ticks, ktau_child_ticks(child) + e.excl);
	ktau_write(&frame->child, (child & KTAU_CHILD_TIMED) | KTAU_CHILD_STOPPED);
}

/**
 * ktau_frames_stop() - measure none of the open frames of a task any longer
 * @now: the moment, in ticks
 *
 * Context: As ktau_collect().
 */
void ktau_frames_stop(struct ktau_ref *ref, u64 now)
{
	struct ktau_frame *frame;
	u64 lasted, inner = 0;

	for (frame = ref->top; frame; frame = frame->prev) {
		lasted = ktau_frame_lasted(frame, inner, now);
		ktau_frame_stop(frame, ref->state, inner, now);
		inner = lasted;
	}
}

/**
 * ktau_leave() - close any frame
 * @frame: the innermost frame of @tsk
 * @tsk: the current task
 *
 * Context: As its entry.
 * Return: Its times.
 */
struct ktau_ended ktau_leave(struct ktau_frame *frame, struct task_struct *tsk)
{
	struct ktau_state *state = tsk->ktau.state;
	u64 before;

	ktau_add(&state->begin, 1);
	ktau_wmb();
	before = ktau_read(ktau_outside(state, frame->prev));
	barrier();
	WRITE_ONCE(tsk->ktau.top, frame->prev);
	barrier();	/* from here on interrupts belong to the enclosing frame */
	return ktau_finish(frame, state, before);
}

DEFINE_STATIC_CALL(ktau_divert_leave, ktau_leave);
