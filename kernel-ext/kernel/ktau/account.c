// SPDX-License-Identifier: GPL-2.0-only
/*
 * KTAU: the account of a task: where its life went.
 *
 *	user	between the root frame's end and its next beginning
 *	kernel	in frames, but for
 *	irq	in interrupts that hit it, and in softirqs at the end of one
 *	runq	runnable without a CPU
 *	asleep	waiting
 *	guest	in guest mode
 *
 * Each is a sum of what has ended; what is in progress is added to the copy.
 */
#include <linux/sched.h>

#include "ktau.h"

/* A reader that has interrupted the task, to copy it. */
static void add_interrupt(struct ktau_rec_profile *rec,
			  const struct task_struct *task)
{
	const struct ktau_frame *irq = this_cpu_read(ktau_cpu.irq);

	if (irq && (READ_ONCE(task->ktau.mask) & KTAU_GROUP_IRQ))
		rec->irq_ticks += rec->ticks - irq->start;
}

/* In user mode, as far as it is known: the account may have been disabled there. */
static u64 user_until(const struct ktau_rec_profile *rec,
		      const struct ktau_task *state, u64 user)
{
	u64 until = rec->ticks;

	if (!(READ_ONCE(state->profiled) & KTAU_GROUP_ACCOUNT))
		until = ktau_read(&state->account_until);
	return max_t(s64, user + until, 0);
}

/**
 * ktau_account_copy() - add the account to a copy of a profile
 * @rec: the copy, with all that comes before the account, and the number of open frames
 * @state: whose
 * @task: the live task that it belongs to, or NULL
 * @outermost: the outermost open frame, if there is any
 * @outermost_ticks: when it was entered
 *
 * Context: Any; as the rest of the copy.
 * Return: Whether it fits the open frames; if not, a transition is going on.
 */
bool ktau_account_copy(struct ktau_rec_profile *rec, const struct ktau_task *state,
		       const struct task_struct *task,
		       const struct ktau_frame *outermost, u64 outermost_ticks)
{
	u64 user = ktau_read(&state->user_ticks);
	u64 frames = rec->outer_ticks, parts;
	struct ktau_times times;

	if ((s64)user < 0 && outermost == &state->root)
		return false;
	rec->user_ticks = (s64)user < 0 ? user_until(rec, state, user) : user;
	times = ktau_times_at(state, task, rec->ticks);
	rec->irq_ticks = times.irq;
	rec->runq_ticks = times.runq;
	rec->asleep_ticks = times.asleep;
	rec->guest_ticks = ktau_read(&state->guest_ticks);
	if (outermost) {
		if ((s64)(rec->ticks - outermost_ticks) > 0)
			frames += rec->ticks - outermost_ticks;
		add_interrupt(rec, task);
	}
	parts = rec->irq_ticks + rec->runq_ticks + rec->asleep_ticks +
		rec->guest_ticks;
	rec->kernel_ticks = frames > parts ? frames - parts : 0;
	return true;
}
