// SPDX-License-Identifier: GPL-2.0-only
/*
 * KTAU: the account of a task: how it has spent the time since its profile began.
 *
 *	user	from the end of the root frame to its next beginning
 *	kernel	in frames, except for the parts below
 *	irq	in interrupts of the task, and in softirqs at the end of one
 *	runq	runnable without a CPU
 *	asleep	waiting
 *	guest	in guest mode
 *
 * Each is a sum over what has ended; the part in progress is added to a copy.
 *
 * A CPU is idle, runs tasks, or is in an interrupt. Its root frame, which is linked to no
 * other, is what the CPU does between interrupts; its child sum is the CPU's time in
 * interrupts when it began.
 */
#include <linux/sched.h>

#include "account.h"
#include "arch.h"
#include "cpu.h"
#include "off.h"
#include "times.h"

/*
 * Whether the account of a CPU has been enabled since its root frame began. The hooks are
 * enabled before @group_since is set, and disabled before it becomes U64_MAX.
 */
static bool is_accounted(const struct ktau_state *state, u64 start)
{
	return start && start >= ktau_read(&state->start_ticks) &&
	       start >= ktau_read(&state->group_since[KTAU_BIT_ACCOUNT]);
}

/**
 * ktau_account_switch() - account the time of this CPU when it becomes idle or busy
 * @prev: the task that has lost the CPU to the current one
 * @now: when
 *
 * Context: At the end of a context switch, interrupts disabled.
 */
void ktau_account_switch(const struct task_struct *prev, u64 now)
{
	struct ktau_state *state = this_cpu_read(ktau_cpu.state);
	struct ktau_frame *root = &state->root;
	const u64 irq = state->irq_ticks;

	if (is_idle_task(prev) == is_idle_task(current))
		return;
	ktau_add(&state->begin, 1);
	ktau_wmb();
	if (is_accounted(state, root->start))
		ktau_add(is_idle_task(prev) ? &state->asleep_ticks :
					      &state->kernel_ticks,
			 now - root->start - (irq - root->child));
	ktau_write(&root->child, irq);
	ktau_write(&root->start, now);
	root->info = is_idle_task(current) ? KTAU_ID_IDLE : KTAU_ID_KERNEL;
	ktau_wmb();
	ktau_add(&state->end, 1);
}

static void copy_cpu(struct ktau_rec_profile *rec, const struct ktau_state *state)
{
	u64 start = ktau_read(&state->root.start), now = 0;
	const u64 irq = ktau_read(&state->irq_ticks);

	if ((READ_ONCE(state->profiled) & KTAU_GROUP_ACCOUNT) && is_accounted(state, start))
		now = rec->ticks - start - (irq - ktau_read(&state->root.child));
	rec->irq_ticks = irq;
	rec->kernel_ticks = ktau_read(&state->kernel_ticks);
	rec->asleep_ticks = ktau_read(&state->asleep_ticks);
	if ((s64)now <= 0)
		return;
	if (READ_ONCE(state->root.info) == KTAU_ID_IDLE)
		rec->asleep_ticks += now;
	else
		rec->kernel_ticks += now;
}

/* Add the interrupt in progress, if the reader copies from inside one. */
static void add_interrupt(struct ktau_rec_profile *rec,
			  const struct task_struct *task)
{
	const struct ktau_frame *irq = this_cpu_read(ktau_cpu.irq);

	if (irq && (READ_ONCE(task->ktau.mask) & KTAU_GROUP_IRQ))
		rec->irq_ticks += rec->ticks - irq->start;
}

/* Time in user mode, up to the last time at which the account was enabled. */
static u64 user_until(const struct ktau_rec_profile *rec,
		      const struct ktau_state *state, u64 user)
{
	u64 until = rec->ticks;

	if (!(READ_ONCE(state->profiled) & KTAU_GROUP_ACCOUNT))
		until = ktau_read(&state->account_until);
	return max_t(s64, user + until, 0);
}

/**
 * ktau_times_at() - the sums of a task, including the wait in progress
 * @state: its state
 * @task: the task, or NULL if it has exited
 * @ticks: the moment
 *
 * Context: Any. The task may run: the caller detects that afterwards.
 * Return: The sums at that moment, without an interrupt in progress.
 */
struct ktau_times ktau_times_at(const struct ktau_state *state,
				const struct task_struct *task, u64 ticks)
{
	struct ktau_times times = ktau_times(state);
	const struct ktau_ref *ref = task ? &task->ktau : NULL;
	u64 woken = ref ? ktau_read(&ref->wake_ticks) : 0;
	u64 off, wait;

	if (!ref)
		return times;
	if (ktau_is_off(state, READ_ONCE(ref->top))) {
		off = ktau_ticks_between(ktau_read(&state->sched.start), ticks);
		wait = off;
		if (READ_ONCE(state->off.sleeps)) {
			woken = ktau_runnable_since(state, ktau_frame_id(&state->sched),
						    woken);
			wait = woken ? min(off, ktau_ticks_between(woken, ticks)) : 0;
		}
		times.runq += wait;
		times.asleep += off - wait;
	} else if (woken && (READ_ONCE(ref->flags) & KTAU_REF_NEW)) {
		times.runq += ktau_ticks_between(woken, ticks);
	}
	return times;
}

/**
 * ktau_account_copy() - add the account to the copy of a profile
 * @rec: the copy, complete except for the account; for a task, @irq_ticks, @runq_ticks
 *	and @asleep_ticks are already set
 * @state: the owner
 * @task: the live task that the state belongs to, or NULL
 * @outermost: the outermost open frame, or NULL
 * @outermost_ticks: when it was entered
 *
 * Context: Any. @state may be in use: the caller detects that afterwards.
 * Return: Whether the account matches the open frames; if not, a transition between user
 * mode and kernel is in progress.
 */
bool ktau_account_copy(struct ktau_rec_profile *rec, const struct ktau_state *state,
		       const struct task_struct *task,
		       const struct ktau_frame *outermost, u64 outermost_ticks)
{
	u64 user = ktau_read(&state->user_ticks);
	u64 frames = rec->outer_ticks, parts;

	if (state->is_cpu) {
		copy_cpu(rec, state);
		return true;
	}
	if ((s64)user < 0 && outermost == &state->root)
		return false;
	rec->user_ticks = (s64)user < 0 ? user_until(rec, state, user) : user;
	rec->guest_ticks += ktau_read(&state->guest_ticks);
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
