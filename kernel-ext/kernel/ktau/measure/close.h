/* SPDX-License-Identifier: GPL-2.0-only */
/* KTAU: what the targets of diverted frames have in common: opening and closing a frame. */
#ifndef _KERNEL_KTAU_CLOSE_H
#define _KERNEL_KTAU_CLOSE_H

#include "base/arch.h"
#include "frame.h"
#include "table.h"
#include "times.h"

static inline bool ktau_is_traced(const struct task_struct *tsk)
{
	const u32 modes = KTAU_MODE_PROFILE | KTAU_MODE_TRACE | KTAU_MASK_GONE;

	return (READ_ONCE(tsk->ktau.mask) & modes) != KTAU_MODE_PROFILE;
}

/* Open a frame that is not traced. */
static __always_inline void ktau_open_untraced(struct task_struct *tsk,
					       struct ktau_frame *frame)
{
	ktau_wmb();	/* interrupts find the frame complete from here on */
	tsk->ktau.top = frame;
	barrier();
	ktau_write(&frame->start, ktau_ticks());
	barrier();
	if (unlikely(frame->child))
		ktau_frame_start(tsk->ktau.state, frame, 0, 0);
}

/*
 * Close a frame as the fast path of __ktau_exit() does. It is accounted in @cell and,
 * unless that is NULL, in @second. Anything unusual ends in the functions that know it.
 */
static __always_inline struct ktau_ended ktau_close_fast(struct ktau_frame *frame,
							 struct task_struct *tsk,
							 struct ktau_cell *cell,
							 struct ktau_cell *second)
{
	struct ktau_state *state = tsk->ktau.state;
	u64 *sum = ktau_outside(state, frame->prev);
	struct ktau_ended e;
	u64 before;

	ktau_add(&state->begin, 1);
	ktau_wmb();
	before = ktau_read(sum);
	barrier();
	WRITE_ONCE(tsk->ktau.top, frame->prev);
	barrier();	/* from here on interrupts belong to the enclosing frame */
	e.incl = ktau_ticks();
	barrier();
	if (unlikely(ktau_differs(sum, before)))
		return ktau_finish(frame, state, before);
	e.incl -= frame->start;
	e.inside = frame->child;
	e.excl = e.incl - e.inside;
	if (unlikely((s64)e.excl < 0))
		return ktau_settle(frame, state, e.incl);
	e.outermost = ktau_is_outermost(frame);
	ktau_add(sum, e.incl);
	ktau_cell_account(cell, e.incl, e.excl, e.outermost);
	if (second)
		ktau_cell_account(second, e.incl, e.excl, e.outermost);
	ktau_wmb();
	ktau_add(&state->end, 1);
	return e;
}

#endif /* _KERNEL_KTAU_CLOSE_H */
