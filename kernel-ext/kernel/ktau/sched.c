// SPDX-License-Identifier: GPL-2.0-only
/*
 * KTAU: the scheduler.
 *
 * A task that leaves the CPU gets a frame that ends when it is back: what it
 * waits for is time spent in the kernel too. The frame lies in the task's state,
 * for the two hooks are in different functions. Which event it is depends on why
 * the task left:
 *
 *	schedule	preempted: it could have gone on
 *	schedule_vol	it gave up the CPU to wait for something
 *	schedule_yld	sched_yield()
 *
 * as the kernel has just decided for its own counts: nvcsw is the count of
 * schedule_vol, nivcsw that of schedule and schedule_yld together. The end of
 * a wait, from the wakeup to the CPU, is an activation of schedule_wait inside.
 *
 * All of it runs under the lock of a run queue: nothing here may allocate, wake
 * or print.
 */
#include <linux/sched.h>

#include "ktau.h"

/* As /proc/PID/stat and the kernel's own trace show it. */
static unsigned int shown_state(const struct task_struct *task,
				unsigned int state)
{
	unsigned int index = __task_state_index(state, task->exit_state);

	return index ? BIT(index - 1) : 0;
}

/**
 * __ktau_sched_switch() - the current task loses the CPU
 * @vol: whether the kernel counts it as voluntary, in nvcsw
 * @prev: the current task
 * @next: the one that gets the CPU
 * @prev_state: what @prev waits in, 0 if it could have gone on: for the trace
 *
 * Context: Under the lock of the run queue.
 */
void __ktau_sched_switch(bool vol, struct task_struct *prev,
			 struct task_struct *next, unsigned int prev_state)
{
	struct ktau_ref *ref = &prev->ktau;
	struct ktau_task *state = ref->state;
	unsigned int id = KTAU_ID_SCHEDULE;

	if (vol)
		id = KTAU_ID_SCHEDULE_VOL;
	else if (ref->flags & KTAU_REF_YIELD)
		id = KTAU_ID_SCHEDULE_YLD;
	ref->flags &= ~KTAU_REF_YIELD;
	ref->wake_ticks = 0;
	if (unlikely(ref->top == &state->sched)) {
		ktau_internal_error("a task left the CPU twice");
		return;
	}

	__ktau_enter(&state->sched, prev, id);
	if (state->sched.info & KTAU_FRAME_TRACED)
		ktau_trace(state, state->sched.start, KTAU_TRACE_SWITCH,
			   vol ? shown_state(prev, prev_state) : 0,
			   ktau_pack_serial(next->ktau.serial, prev->prio,
					    next->prio));
}

/* From the wakeup to now the task was runnable and had no CPU. */
static void end_wait(struct ktau_ref *ref, u64 now)
{
	struct ktau_task *state = ref->state;
	u64 since = ref->wake_ticks;
	u64 wait;

	if (!(ref->mask & KTAU_GROUP_SCHED))
		return;
	/* A waker on another CPU may be ahead of the clock here. */
	if (ref->top == &state->sched && (s64)(since - ref->top->start) < 0)
		since = ref->top->start;
	wait = (s64)(now - since) > 0 ? now - since : 0;

	if (ref->mask & KTAU_MODE_TRACE) {
		ktau_trace(state, now - wait, KTAU_TRACE_ENTER,
			   KTAU_ID_SCHEDULE_WAIT, 0);
		ktau_trace(state, now, KTAU_TRACE_EXIT, KTAU_ID_SCHEDULE_WAIT, 0);
	}
	if (!(ref->mask & KTAU_MODE_PROFILE))
		return;
	ktau_add(&state->begin, 1);
	barrier();
	ktau_book(state, KTAU_ID_SCHEDULE_WAIT, wait, wait, true);
	ktau_add(ref->top ? &ref->top->child : &state->outer_ticks, wait);
	barrier();
	ktau_add(&state->end, 1);
}

/**
 * __ktau_sched_resume() - the current task is back on a CPU, or new on it
 *
 * Context: At the end of the switch, interrupts off: none may hit the task
 * between its return and here, or its time would lie inside the wait.
 */
void __ktau_sched_resume(void)
{
	struct ktau_ref *ref = &current->ktau;
	struct ktau_task *state = ref->state;

	/* Set while it ran, with the group off, the time means nothing. */
	if (ref->wake_ticks &&
	    (ref->top == &state->sched || (ref->flags & KTAU_REF_NEW)))
		end_wait(ref, ktau_ticks());
	ref->wake_ticks = 0;
	ref->flags &= ~KTAU_REF_NEW;
	if (ref->top == &state->sched)
		__ktau_exit(&state->sched, current);
	ktau_root_resume(ref);
	if (unlikely(READ_ONCE(state->changed)))
		ktau_trace_changes(state);
}

/**
 * __ktau_sched_waking() - the current task, or what interrupts it, wakes a task
 * @p: the task
 * @target_cpu: CPU whose run queue it enters
 *
 * Context: Under @p's pi_lock. The current task has the scheduler's group on.
 */
void __ktau_sched_waking(struct task_struct *p, unsigned int target_cpu)
{
	struct ktau_ref *ref = &current->ktau;

	if (READ_ONCE(ref->mask) & KTAU_MODE_TRACE)
		ktau_trace(ref->state, 0, KTAU_TRACE_WAKING, target_cpu,
			   ktau_pack_serial(p->ktau.serial, p->prio, 0));
}

/**
 * __ktau_sched_wakeup() - a task is runnable
 * @p: the task
 *
 * Context: Under the lock of @p's run queue.
 */
void __ktau_sched_wakeup(struct task_struct *p)
{
	if (READ_ONCE(p->ktau.mask) & KTAU_GROUP_SCHED)
		p->ktau.wake_ticks = ktau_ticks();
}

/**
 * __ktau_sched_yield() - the current task gives way to others
 *
 * Context: Task.
 */
void __ktau_sched_yield(void)
{
	current->ktau.flags |= KTAU_REF_YIELD;
}
