// SPDX-License-Identifier: GPL-2.0-only
/*
 * KTAU: which tasks have run since a reader saw them.
 *
 * A profile changes only while its task runs, and a task that has run and is asleep again
 * has been switched out. So a sleeping task whose switch count is unchanged has an
 * unchanged profile, and detecting this costs the hot path nothing.
 *
 * Streams are numbered when they begin. A state remembers the highest number of the
 * streams that have looked at it. When it is found changed, it also remembers a number
 * above those of all streams that had looked before. A reader has missed that change if
 * the number of its previous stream is lower. So the memory does not grow with the number
 * of readers. A reader may be shown an unchanged profile again if another one looked at
 * the same time, but never misses a change.
 */
#include <linux/sched.h>

#include "base/compat.h"
#include "look.h"

#define AWAKE	U64_MAX

/**
 * ktau_look_number() - allocate the number of a stream
 *
 * Context: Any.
 * Return: The number, above 0.
 */
u64 ktau_look_number(void)
{
	static atomic64_t last;

	return atomic64_inc_return(&last);
}

/* How often @task has been switched out, or AWAKE if its profile may be changing. */
static u64 switches(struct task_struct *task)
{
	if (task_is_running(task) || ktau_on_cpu(task))
		return AWAKE;
	return READ_ONCE(task->nvcsw) + READ_ONCE(task->nivcsw);
}

/**
 * ktau_look() - check whether a live task's profile may have changed
 * @task: the task, held by the caller
 * @number: number of the reader's stream
 * @since: number of its previous stream, 0 to see all
 *
 * Must be called before the profile is copied: a change in between is in the copy, and is
 * shown once more.
 *
 * Context: Task.
 * Return: Whether the profile may have changed since stream @since.
 */
bool ktau_look(struct ktau_state *state, struct task_struct *task, u64 number,
	       u64 since)
{
	struct ktau_look *look = &state->look;
	bool changed;
	u64 now;

	spin_lock(&state->mask_lock);
	now = switches(task);
	if (now == AWAKE || now != look->switches) {
		look->switches = now;
		look->changed = max(number, look->last + 1);
	}
	look->last = max(look->last, number);
	changed = look->changed > since;
	spin_unlock(&state->mask_lock);
	return changed;
}

/**
 * ktau_look_again() - take back a ktau_look() whose profile was not shown
 *
 * Context: Task.
 */
void ktau_look_again(struct ktau_state *state)
{
	spin_lock(&state->mask_lock);
	state->look.switches = AWAKE;
	spin_unlock(&state->mask_lock);
}
