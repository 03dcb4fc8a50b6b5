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
 * An account begins when a new task first becomes runnable or, for a task that exists, when
 * its groups are enabled. All groups are enabled and disabled for all tasks at one moment,
 * at which each task's condition is known (collect.c): a task that is asleep then is
 * asleep from then on, not from its next sleep on. An account ends when its groups are
 * disabled, and continues when they are enabled again. In between nothing is added to any
 * part, so the parts of a life add up to it, less the time for which a group was off:
 *
 *	tick	0	task enters user mode
 *		100	all groups are enabled: it has been interrupted, and is off the CPU
 *		110	runs, and returns to user mode
 *		200	all groups are disabled: interrupted again
 *		900	all groups are enabled
 *		930	runs
 *
 * At 930, the profile, which began at 100, shows 90 ticks in user mode and 40 of waiting for
 * a CPU; 700 of its 830 ticks were not measured.
 *
 * A CPU is idle, runs tasks, or is in an interrupt. Its root frame, which is linked to no
 * other, is what the CPU does between interrupts; its child sum is the CPU's time in
 * interrupts when it began.
 */
#include <linux/sched.h>

#include "base/arch.h"
#include "base/owner.h"
#include "account.h"
#include "cpu.h"
#include "off.h"
#include "times.h"

/*
 * Whether the account of a CPU has been enabled since its root frame began. The hook may run
 * before the account begins and after it has ended.
 */
static bool is_accounted(const struct ktau_state *state, u64 start)
{
	return start && (READ_ONCE(state->profiled) & KTAU_GROUP_ACCOUNT) &&
	       start >= ktau_read(&state->start_ticks) &&
	       start >= ktau_read(&state->group_since[KTAU_BIT_ACCOUNT]);
}

/**
 * ktau_account_switch() - account the time of this CPU when it becomes idle or busy
 * @prev: the task that has lost the CPU to the current one
 * @now: the end of the switch, in ticks
 *
 * Context: At the end of a context switch, interrupts disabled.
 */
void ktau_account_switch(const struct task_struct *prev, u64 now)
{
	struct ktau_state *state = this_cpu_read(ktau_cpu.state);
	struct ktau_frame *root = &state->root;
	const u64 irq = state->irq_ticks;

	if (ktau_is_idle(prev) == ktau_is_idle(current))
		return;
	ktau_add(&state->begin, 1);
	ktau_wmb();
	if (is_accounted(state, root->start))
		ktau_add(ktau_is_idle(prev) ? &state->asleep_ticks :
					      &state->kernel_ticks,
			 now - root->start - (irq - root->child));
	ktau_write(&root->child, irq);
	ktau_write(&root->start, now);
	root->info = ktau_is_idle(current) ? KTAU_ID_IDLE : KTAU_ID_KERNEL;
	ktau_wmb();
	ktau_add(&state->end, 1);
}

/**
 * ktau_account_switching() - whether a CPU becomes idle or busy, which is not accounted yet
 *
 * Which task is the current one changes before the clock is read for the account. What a copy
 * made in between counts as the time that ends would be missing in the next one.
 *
 * Context: Any, after the copy.
 * Return: Whether it does.
 */
bool ktau_account_switching(const struct ktau_state *state)
{
	return is_accounted(state, ktau_read(&state->root.start)) &&
	       task_curr(idle_task(state->owner.cpu)) !=
			(READ_ONCE(state->root.info) == KTAU_ID_IDLE);
}

static void copy_cpu(struct ktau_rec_profile *rec, const struct ktau_state *state)
{
	u64 start = ktau_read(&state->root.start), now = 0, own;
	const u64 irq = ktau_read(&state->irq_ticks);
	const u32 groups = READ_ONCE(state->profiled);

	if ((groups & KTAU_GROUP_ACCOUNT) && is_accounted(state, start))
		now = rec->ticks - start - (irq - ktau_read(&state->root.child));
	rec->irq_ticks = (groups & (KTAU_GROUP_IRQ | KTAU_GROUP_BH) ? irq : state->irq_until) -
			 state->irq_skipped;
	/* The interrupt in which this copy is made. */
	if (in_hardirq() && this_cpu_read(ktau_cpu.irq)) {
		own = rec->ticks - this_cpu_read(ktau_cpu.irq)->start;
		rec->irq_ticks += own;
		now -= own;
	}
	rec->kernel_ticks = ktau_read(&state->kernel_ticks);
	rec->asleep_ticks = ktau_read(&state->asleep_ticks);
	if ((s64)now <= 0)
		return;
	if (READ_ONCE(state->root.info) == KTAU_ID_IDLE)
		rec->asleep_ticks += now;
	else
		rec->kernel_ticks += now;
}

static void change_root(struct ktau_state *state, int cpu, u32 from, u32 to, u64 now)
{
	struct ktau_frame *root = &state->root;

	if ((from & KTAU_GROUP_ACCOUNT) && is_accounted(state, root->start))
		ktau_add(root->info == KTAU_ID_IDLE ? &state->asleep_ticks :
						      &state->kernel_ticks,
			 now - root->start - (state->irq_ticks - root->child));
	ktau_write(&root->child, state->irq_ticks);
	ktau_write(&root->start, to & KTAU_GROUP_ACCOUNT ? now : 0);
	root->info = cpu_online(cpu) ? KTAU_ID_KERNEL : KTAU_ID_IDLE;
}

/**
 * ktau_account_change() - begin or end the account of a CPU
 * @from: its groups until now
 * @to: its groups from now on
 * @now: the moment of the change, in ticks
 *
 * Context: The CPU is in a stopper thread, or offline.
 */
void ktau_account_change(struct ktau_state *state, int cpu, u32 from, u32 to, u64 now)
{
	const u32 irq = KTAU_GROUP_IRQ | KTAU_GROUP_BH;

	ktau_add(&state->begin, 1);
	ktau_wmb();
	if ((from & irq) && !(to & irq))
		state->irq_until = state->irq_ticks;
	else if ((to & irq) && !(from & irq))
		ktau_add(&state->irq_skipped, state->irq_ticks - state->irq_until);
	if ((from ^ to) & KTAU_GROUP_ACCOUNT)
		change_root(state, cpu, from, to, now);
	ktau_wmb();
	ktau_add(&state->end, 1);
}

/**
 * ktau_start_at() - when the account of an owner began
 * @task: the task, or NULL if it is not a live one
 * @woken: its @wake_ticks
 * @ticks: the time of the copy
 *
 * Context: Any. The task may run: the caller detects that afterwards.
 * Return: The time; @ticks for a task that has not been woken yet.
 */
u64 ktau_start_at(const struct ktau_state *state, const struct task_struct *task, u64 woken,
		  u64 ticks)
{
	if (!task || !(READ_ONCE(task->ktau.flags) & KTAU_REF_NEW))
		return ktau_read(&state->start_ticks);
	return ktau_birth_ticks(state, woken ? min(woken, ticks) : ticks);
}

/**
 * ktau_times_at() - the sums of a task, including the wait in progress
 * @task: the task, or NULL if it has exited
 * @woken: its @wake_ticks
 * @ticks: the moment, in ticks
 *
 * Context: Any. The task may run: the caller detects that afterwards.
 * Return: The sums at that moment, without an interrupt in progress.
 */
struct ktau_times ktau_times_at(const struct ktau_state *state,
				const struct task_struct *task, u64 woken, u64 ticks)
{
	struct ktau_times times = ktau_times(state);
	const struct ktau_ref *ref = task ? &task->ktau : NULL;
	u64 off, wait;

	if (!ref)
		return times;
	if (ktau_is_off(state, READ_ONCE(ref->top))) {
		if (ktau_is_unmeasured(&state->sched))
			return times;
		off = ktau_ticks_between(ktau_read(&state->sched.start), ticks);
		wait = off;
		if (READ_ONCE(state->off.sleeps)) {
			woken = ktau_runnable_since(state, ktau_frame_id(&state->sched),
						    woken);
			wait = woken ? min(off, ktau_ticks_between(woken, ticks)) : 0;
		}
		times.runq += wait;
		times.asleep += off - wait;
	} else if (woken && (READ_ONCE(ref->flags) & KTAU_REF_NEW) &&
		   (READ_ONCE(ref->mask) & KTAU_MODE_PROFILE)) {
		times.runq += ktau_ticks_between(woken, ticks);
	}
	return times;
}

/**
 * ktau_account_copy() - add the account to the copy of a profile
 * @rec: the copy, complete except for the account; for a task, @irq_ticks, @runq_ticks
 *	and @asleep_ticks are already set
 * @outermost: the outermost open frame, or NULL
 * @open_ticks: how long it has lasted
 *
 * Context: Any. @state may be in use: the caller detects that afterwards.
 * Return: Whether the account matches the open frames; if not, a transition between user
 * mode and kernel is in progress.
 */
bool ktau_account_copy(struct ktau_rec_profile *rec, const struct ktau_state *state,
		       const struct ktau_frame *outermost, u64 open_ticks)
{
	u64 user = ktau_read(&state->user_ticks);
	u64 frames = rec->outer_ticks + open_ticks, parts;

	if (state->is_cpu) {
		copy_cpu(rec, state);
		return true;
	}
	if ((s64)user < 0 && outermost == &state->root)
		return false;
	rec->user_ticks = (s64)user < 0 ? max_t(s64, user + rec->ticks, 0) : user;
	rec->guest_ticks += ktau_read(&state->guest_ticks);
	parts = rec->irq_ticks + rec->runq_ticks + rec->asleep_ticks +
		rec->guest_ticks;
	rec->kernel_ticks = frames > parts ? frames - parts : 0;
	return true;
}
