/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * KTAU: opening and closing frames; see profile.c for the model.
 */
#ifndef _KERNEL_KTAU_FRAME_H
#define _KERNEL_KTAU_FRAME_H

#include <linux/static_call_types.h>

#include "base/arch.h"
#include "base/types.h"
#include "times.h"

/* Whether neither @prev, which is not NULL, nor a frame around it has event @id. */
static __always_inline bool ktau_is_outermost_in(const struct ktau_frame *prev, u16 id)
{
	/* no other task writes it; without READ_ONCE() it is compared in memory */
	while ((u16)data_race(prev->info) != id) {
		prev = prev->prev;
		if (likely(!prev))
			return true;
	}
	return false;
}

static __always_inline bool ktau_is_outermost(const struct ktau_frame *frame)
{
	return !frame->prev || ktau_is_outermost_in(frame->prev, ktau_frame_id(frame));
}

/*
 * Read the clock, and @sum at the same moment: an interrupt between the two would be
 * counted on the wrong side.
 */
static __always_inline u64 ktau_moment(const u64 *sum, u64 *before)
{
	u64 now;

	do {
		*before = ktau_read(sum);
		barrier();
		now = ktau_ticks();
		barrier();
	} while (unlikely(ktau_read(sum) != *before));
	return now;
}

/*
 * The sum to which the duration of a frame is added: that of the enclosing frame, or that
 * of the outermost frames.
 */
static __always_inline u64 *ktau_outside(struct ktau_state *state,
					 struct ktau_frame *prev)
{
	return prev ? &prev->child : &state->outer_ticks;
}

/*
 * How long an open frame has lasted, and the frames inside it if it is not measured. @inner: how
 * long the open frame directly inside has lasted, 0 if there is none. Inline, because a reader
 * follows the stack of a task that may run.
 */
static __always_inline u64 ktau_frame_lasted(const struct ktau_frame *frame, u64 inner, u64 now)
{
	const u64 start = ktau_read(&frame->start);

	/* It has no start yet if the owner was interrupted while it opened the frame. */
	if (!start || ktau_is_unmeasured(frame))
		return ktau_child_ticks(ktau_read(&frame->child)) + inner;
	return (s64)(now - start) > 0 ? now - start : 0;
}

void ktau_frame_start(struct ktau_state *state, struct ktau_frame *frame,
		      u32 flag, u64 arg);
void ktau_frame_stop(struct ktau_frame *frame, struct ktau_state *state, u64 inner, u64 now);
void ktau_frames_stop(struct ktau_ref *ref, u64 now);
void ktau_enter_trace_only(struct task_struct *tsk, struct ktau_frame *frame,
			   u32 flag, u64 arg);
struct ktau_ended ktau_settle(struct ktau_frame *frame, struct ktau_state *state,
			      u64 incl);
struct ktau_ended ktau_finish(struct ktau_frame *frame, struct ktau_state *state,
			      u64 before);
struct ktau_ended ktau_leave(struct ktau_frame *frame, struct task_struct *tsk);
void ktau_enter_traced(struct task_struct *tsk, struct ktau_frame *frame);
void ktau_enter_traced_fault(struct task_struct *tsk, struct ktau_frame *frame,
			     unsigned long address);

void ktau_exit_slow(struct ktau_frame *frame, struct task_struct *tsk);
void __ktau_exit_function(struct ktau_frame *frame, struct task_struct *tsk);

/* Replaced while modules have handlers or programs have regions; see extend/divert.c. */
DECLARE_STATIC_CALL(ktau_divert_leave, ktau_leave);
DECLARE_STATIC_CALL(ktau_divert_exit, ktau_exit_slow);
DECLARE_STATIC_CALL(ktau_divert_enter, ktau_enter_traced);
DECLARE_STATIC_CALL(ktau_divert_fault, ktau_enter_traced_fault);

#endif /* _KERNEL_KTAU_FRAME_H */
