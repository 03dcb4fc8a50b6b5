// SPDX-License-Identifier: GPL-2.0-only
/*
 * KTAU: which tasks have run since a reader saw them.
 *
 * A profile changes only while its task runs, and a task that ran and sleeps has
 * been switched meanwhile. So who still has as many switches as when he was last
 * looked at is as he was; nothing of the hot path is needed to tell.
 *
 * Streams have numbers, given when they begin. A state remembers the last number
 * of those that looked at it, and one for when it was last found changed: above
 * all numbers that had looked before. A reader has missed that change if the
 * number of its stream before is lower. What several readers remember does not
 * grow with their number; one may be shown an unchanged profile once more where
 * another has looked at the same time, and never misses a changed one.
 */
#include <linux/sched.h>

#include "arch.h"
#include "look.h"

#define AWAKE	U64_MAX

/**
 * ktau_look_number() - number of a stream that begins
 *
 * Context: Any.
 * Return: The number, above 0.
 */
u64 ktau_look_number(void)
{
	static atomic64_t last;

	return atomic64_inc_return(&last);
}

/* How often @task has left the CPU, or AWAKE if it can change at once. */
static u64 switches(struct task_struct *task)
{
	if (task_is_running(task) || ktau_on_cpu(task))
		return AWAKE;
	return READ_ONCE(task->nvcsw) + READ_ONCE(task->nivcsw);
}

/**
 * ktau_look() - a reader looks at a live task
 * @state: its state
 * @task: the task, held by the caller
 * @number: number of the reader's stream
 * @since: number of its stream before, 0 to see all
 *
 * To be called before the profile is copied: what changes in between is in the
 * copy, and comes once more.
 *
 * Context: May sleep.
 * Return: Whether the profile may have changed since.
 */
bool ktau_look(struct ktau_task *state, struct task_struct *task, u64 number,
	       u64 since)
{
	struct ktau_look *look = &state->look;
	bool changed;
	u64 now;

	mutex_lock(&state->read_lock);
	now = switches(task);
	if (now == AWAKE || now != look->switches) {
		look->switches = now;
		look->changed = max(number, look->last + 1);
	}
	look->last = max(look->last, number);
	changed = look->changed > since;
	mutex_unlock(&state->read_lock);
	return changed;
}

/**
 * ktau_look_again() - what was looked at has not been shown
 * @state: whose
 *
 * Context: May sleep.
 */
void ktau_look_again(struct ktau_task *state)
{
	mutex_lock(&state->read_lock);
	state->look.switches = AWAKE;
	mutex_unlock(&state->read_lock);
}
