/* SPDX-License-Identifier: GPL-2.0-only */
/* KTAU: tasks off the CPU: whether a task is, and since when it has been runnable. */
#ifndef _KERNEL_KTAU_OFF_H
#define _KERNEL_KTAU_OFF_H

#include "base/arch.h"
#include "base/event.h"
#include "base/types.h"

/* Whether @task has never been on a CPU. It has no frames, and its account begins by itself. */
static inline bool ktau_is_new(const struct task_struct *task)
{
	return !(task->nvcsw + task->nivcsw) && !task_curr(task);
}

static inline bool ktau_is_off(const struct ktau_state *state, const struct ktau_frame *top)
{
	return top == &state->sched;
}

/*
 * Since when the task has been runnable; 0 if it has not been, or if the whole frame
 * counts. @id is the event of the frame.
 */
static inline u64 ktau_runnable_since(const struct ktau_state *state, unsigned int id,
				      u64 wake_ticks)
{
	const u64 start = ktau_read(&state->sched.start);

	if (!ktau_is_voluntary(id))
		return 0;
	if (!READ_ONCE(state->off.sleeps))
		return start;
	/* The task may have been woken before the switch ended. */
	return wake_ticks ? max(wake_ticks, start) : 0;
}

/* The clock of the waker's CPU may be ahead of this one. */
static inline u64 ktau_ticks_between(u64 since, u64 now)
{
	return (s64)(now - since) > 0 ? now - since : 0;
}

/*
 * When the account of a new task begins that is woken for the first time at @woken: only then has
 * its parent created it. With the group "sched" off, that is not known.
 */
static inline u64 ktau_birth_ticks(const struct ktau_state *state, u64 woken)
{
	const u64 start = ktau_read(&state->start_ticks);

	if (!(READ_ONCE(state->profiled) & KTAU_GROUP_SCHED) || ktau_read(&state->runq_ticks))
		return start;
	return max(start, woken);
}

#endif /* _KERNEL_KTAU_OFF_H */
