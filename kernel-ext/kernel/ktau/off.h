/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * KTAU: a task that is off the CPU: whether it is, and since when it could run.
 */
#ifndef _KERNEL_KTAU_OFF_H
#define _KERNEL_KTAU_OFF_H

#include "arch.h"
#include "event.h"
#include "types.h"

static inline bool ktau_is_off(const struct ktau_task *state, const struct ktau_frame *top)
{
	return top == &state->sched;
}

/* Since when the task was runnable; 0 if it never was, or not apart from the frame. */
static inline u64 ktau_runnable_since(const struct ktau_task *state, u64 wake_ticks)
{
	const u64 start = ktau_read(&state->sched.start);

	if (!ktau_is_voluntary(ktau_frame_id(&state->sched)))
		return 0;
	if (!READ_ONCE(state->off.sleeps))
		return start;
	/* The switch may have taken longer than the waker. */
	return wake_ticks ? max(wake_ticks, start) : 0;
}

/* A waker on another CPU may be ahead of the clock here. */
static inline u64 ktau_ticks_between(u64 since, u64 now)
{
	return (s64)(now - since) > 0 ? now - since : 0;
}

#endif /* _KERNEL_KTAU_OFF_H */
