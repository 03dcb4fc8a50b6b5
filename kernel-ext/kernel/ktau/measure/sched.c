// SPDX-License-Identifier: GPL-2.0-only
/*
 * KTAU: the scheduler.
 *
 * A task that leaves the CPU gets a frame that ends when it is back, because waiting is
 * time spent in the kernel too. The frame is part of the task's state, because the two
 * hooks are in different functions. Its event depends on why the task left:
 *
 *	schedule	preempted while runnable
 *	schedule_yld	sched_yield()
 *	schedule_vol_*	gave up the CPU to wait:
 *	  io		  for I/O, as the kernel counts iowait
 *	  interruptible	  interruptible by signals
 *	  uninterruptible
 *	  idle		  for work: uninterruptible, not part of the load average
 *	  stopped	  stopped, traced, parked or frozen
 *
 * The decision is the one that the kernel has just made for its own counters: nvcsw is
 * the count of all schedule_vol_*, nivcsw that of schedule and schedule_yld together. The
 * end of a wait, from the wakeup to the CPU, is an activation of schedule_wait inside. A
 * task with a pending signal is switched out as if it waited but stays runnable: all of
 * that time is schedule_wait.
 *
 * The frame begins and the wait of the next task ends at the same clock reading, after
 * the switch and before another CPU may run the task that was switched out. The cost of
 * the switch is accounted to the task that was switched out.
 *
 * A waker stores the details of a wakeup in the state of the woken task, which traces
 * them when it runs. So it makes no difference whether the waker is traced, or which CPU
 * enqueues the task.
 *
 * All of this runs under the lock of a run queue: nothing here may allocate memory, wake
 * tasks or print.
 */
#include <linux/preempt.h>
#include <linux/sched.h>
#include <linux/static_call.h>

#include "base/arch.h"
#include "base/compat.h"
#include "base/core.h"
#include "base/event.h"
#include "account.h"
#include "changes.h"
#include "frame.h"
#include "off.h"
#include "oops.h"
#include "ring.h"
#include "root.h"
#include "sched.h"
#include "table.h"
#include "times.h"
#include "trace.h"

/* The task state as /proc/PID/stat and the sched_switch tracepoint show it. */
static unsigned int shown_state(const struct task_struct *task,
				unsigned int state)
{
	unsigned int index = __task_state_index(state, task->exit_state);

	return index ? BIT(index - 1) : 0;
}

/*
 * The event of @task giving up the CPU in @state. A pending signal prevents an
 * interruptible sleep; from 6.12 on the state is 0 then.
 */
static unsigned int reason(const struct task_struct *task, unsigned int state)
{
	/* A waker may write the other bits of its byte. */
	if (data_race(!!task->in_iowait))
		return KTAU_ID_SCHEDULE_VOL_IO;
	if (likely(state == TASK_INTERRUPTIBLE))
		return KTAU_ID_SCHEDULE_VOL_INTERRUPTIBLE;
	if (state & (__TASK_STOPPED | __TASK_TRACED | TASK_PARKED | TASK_FROZEN))
		return KTAU_ID_SCHEDULE_VOL_STOPPED;
	if (!state || (state & TASK_INTERRUPTIBLE))
		return KTAU_ID_SCHEDULE_VOL_INTERRUPTIBLE;
	return state & TASK_NOLOAD ? KTAU_ID_SCHEDULE_VOL_IDLE :
				     KTAU_ID_SCHEDULE_VOL_UNINTERRUPTIBLE;
}

/* The event of a task that is preempted or yields, which applies to one switch only. */
static unsigned int reason_awake(struct ktau_ref *ref)
{
	if (likely(!(ref->flags & KTAU_REF_YIELD)))
		return KTAU_ID_SCHEDULE;
	ref->flags &= ~KTAU_REF_YIELD;
	return KTAU_ID_SCHEDULE_YLD;
}

/* What else the frame of a task needs that is traced, or not profiled. */
static void note_modes(struct task_struct *prev, const struct task_struct *next, bool vol,
		       unsigned int prev_state)
{
	struct ktau_state *state = prev->ktau.state;
	const u32 mask = READ_ONCE(prev->ktau.mask);

	if (mask & KTAU_MODE_TRACE) {
		state->sched.info |= KTAU_FRAME_TRACED;
		state->off.next = ktau_pack_serial(next->ktau.serial, prev->prio,
						   next->prio);
		state->off.shown = vol ? shown_state(prev, prev_state) : 0;
	}
	if (!(mask & KTAU_MODE_PROFILE))
		state->sched.info |= KTAU_FRAME_TRACE_ONLY;
}

/**
 * __ktau_sched_switch() - the current task loses the CPU
 * @vol: whether the kernel counts the switch as voluntary, in nvcsw
 * @prev: the current task
 * @next: the task that gets the CPU
 * @prev_state: the state in which @prev waits, 0 if it is runnable
 *
 * This links the frame, whose time begins in __ktau_sched_switched().
 *
 * Context: Under the lock of the run queue.
 */
void __ktau_sched_switch(bool vol, struct task_struct *prev,
			 struct task_struct *next, unsigned int prev_state)
{
	struct ktau_ref *ref = &prev->ktau;
	struct ktau_state *state = ref->state;
	struct ktau_frame *frame = &state->sched;
	const u32 modes = KTAU_MODE_PROFILE | KTAU_MODE_TRACE;

	if (unlikely(ktau_is_off(state, ref->top))) {
		ktau_internal_error("a task left the CPU twice");
		return;
	}
	/* A waker waits for the end of the switch or for the run queue. */
	state->off.sleeps = vol && READ_ONCE(prev->__state) != TASK_RUNNING;
	frame->prev = ref->top;
	frame->child = 0;
	ktau_write(&frame->start, 0);
	frame->info = vol ? reason(prev, prev_state) : reason_awake(ref);
	/* bits of one word cannot be torn */
	if (unlikely((data_race(ref->mask) & modes) != KTAU_MODE_PROFILE))
		note_modes(prev, next, vol, prev_state);
	ref->flags |= KTAU_REF_OFF;
	ktau_wmb();	/* complete before a reader finds it */
	WRITE_ONCE(ref->top, frame);
}

/**
 * ktau_sched_dying() - end the frames of the current task, which is about to be switched out for
 * the last time
 *
 * No interrupt may come until the switch. The time until then is still the task's, so
 * extend_last() adds it to the outermost frame. To get there without a test in the usual
 * switch, the frame of the scheduler, which such a task does not enter, looks traced.
 *
 * Context: Task, interrupts disabled.
 */
void ktau_sched_dying(void)
{
	struct ktau_ref *ref = &current->ktau;
	struct ktau_state *state = ref->state;
	struct ktau_last last;

	ref->flags |= KTAU_REF_DYING;
	smp_wmb();	/* a reader that finds no frame finds the flag */
	last = ktau_end_frames();
	ktau_write(&state->root.start, last.end);
	ktau_write(&state->root.child, last.incl);
	state->sched.info = last.id | KTAU_FRAME_TRACED;
	ref->flags |= KTAU_REF_OFF;
}

/* @now: when the task of @state was switched out for the last time. */
static noinline void extend_last(struct ktau_state *state, u64 now)
{
	const unsigned int id = ktau_frame_id(&state->sched);
	const u64 more = ktau_ticks_between(state->root.start, now);

	ktau_add(&state->begin, 1);
	ktau_wmb();
	if (id != KTAU_ID_NONE) {
		ktau_table_extend(state, ktau_cell(state, id), more,
				  state->root.child + more);
		ktau_add(&state->outer_ticks, more);
	}
	ktau_write(&state->end_ticks, now);
	ktau_wmb();
	ktau_add(&state->end, 1);
}

/*
 * The rest of __ktau_sched_switched() if the frame of @prev is traced, or if it has none because
 * it was switched out for the last time. Like the other rare paths here it is called last, so
 * that the usual one need not save registers.
 */
static noinline void switched_traced(struct task_struct *prev, u64 now)
{
	struct ktau_state *state = prev->ktau.state;

	if (unlikely(prev->ktau.flags & KTAU_REF_DYING)) {
		extend_last(state, now);
	} else {
		ktau_trace(state, now, KTAU_TRACE_ENTER, ktau_frame_id(&state->sched), 0);
		ktau_trace(state, now, KTAU_TRACE_SWITCH, state->off.shown, state->off.next);
	}
	if (KTAU_ON(ACCOUNT))
		ktau_account_switch(prev, now);
}

/**
 * __ktau_sched_switched() - the current task has got the CPU from another one
 * @prev: that task, which no other CPU can run yet
 *
 * Context: Under the lock of the run queue, interrupts disabled.
 */
void __ktau_sched_switched(struct task_struct *prev)
{
	struct ktau_state *state = current->ktau.state;
	const u64 now = ktau_ticks();

	if (state)
		ktau_write(&state->switched_ticks, now);
	if (prev->ktau.flags & KTAU_REF_OFF) {
		state = prev->ktau.state;
		ktau_write(&state->sched.start, now);
		if (unlikely(state->sched.info & KTAU_FRAME_TRACED)) {
			switched_traced(prev, now);
			return;
		}
	}
	if (KTAU_ON(ACCOUNT))
		ktau_account_switch(prev, now);
}

/* Trace that the task waited for a CPU from its wakeup, @wait ticks before @now. */
static void trace_wait(struct ktau_ref *ref, u64 wait, u64 now)
{
	struct ktau_state *state = ref->state;

	ktau_trace(state, now - wait, KTAU_TRACE_ENTER, KTAU_ID_SCHEDULE_WAIT, 0);
	ktau_trace(state, now, KTAU_TRACE_EXIT, KTAU_ID_SCHEDULE_WAIT, 0);
	if (ref->wake_ticks)
		ktau_trace_woken(state, now, ref->wake_ticks);
}

/*
 * Account the frame of a task that was off the CPU until @now, and that has been runnable
 * since @since unless that is 0. This ends an update.
 */
static __always_inline void account_off(struct ktau_state *state, u64 since, u64 now)
{
	struct ktau_frame *frame = &state->sched;
	u64 wait = since ? ktau_ticks_between(since, now) : 0;
	const struct ktau_times base = ktau_times(state);
	const bool profiled = !(frame->info & KTAU_FRAME_TRACE_ONLY);
	struct ktau_ended e;

	if (profiled && since) {
		static_call(ktau_divert_account)(state, KTAU_ID_SCHEDULE_WAIT, wait,
						 wait, true);
		frame->child = wait;
	}
	e = ktau_settle(frame, state, now - frame->start);
	if (!profiled)
		return;
	wait = ktau_is_voluntary(ktau_frame_id(frame)) ? e.inside : e.incl;
	ktau_add(&state->runq_ticks, wait);
	ktau_add(&state->asleep_ticks, e.incl - wait);
	ktau_times_mark(frame->prev, &base);
}

/*
 * End the frame of a task that is back on a CPU, in the cases that end_off() does not handle:
 * the frame is traced, or not profiled, a chunk is missing, or a clock went backwards.
 */
static void end_off_slow(struct ktau_ref *ref)
{
	struct ktau_state *state = ref->state;
	struct ktau_frame *frame = &state->sched;
	const u64 now = state->switched_ticks;
	const u64 since = ktau_runnable_since(state, ktau_frame_id(frame),
					      ref->wake_ticks);

	if ((frame->info & KTAU_FRAME_TRACED) && since)
		trace_wait(ref, ktau_ticks_between(since, now), now);
	ktau_add(&state->begin, 2);	/* one ends in account_off() */
	ktau_wmb();
	WRITE_ONCE(ref->top, frame->prev);
	if (frame->info & KTAU_FRAME_TRACED)
		ktau_trace(state, now, KTAU_TRACE_EXIT, ktau_frame_id(frame), 0);
	account_off(state, since, now);
	ktau_wmb();
	ktau_add(&state->end, 1);
}

/*
 * End the frame of a task that is back on a CPU, for which it has waited for @wait ticks
 * since its wakeup. Unless it has @slept, it was preempted. No frame is inside this one,
 * and no other frame has its event. To a reader this looks like the exit of an interrupt;
 * see snapshot.c. Return: false if nothing was done, because end_off_slow() is needed.
 */
static __always_inline bool end_off(struct ktau_ref *ref, struct ktau_state *state,
				    unsigned int id, u64 wait, const bool slept)
{
	const u64 excl = state->switched_ticks - state->sched.start - wait;
	const u64 incl = excl + wait;
	struct ktau_cell *waited = ktau_direct_cell(state, KTAU_ID_SCHEDULE_WAIT);
	struct ktau_cell *cell = ktau_direct_cell(state, id);
	struct ktau_frame *prev = state->sched.prev;

	OPTIMIZER_HIDE_VAR(cell);	/* else gcc recomputes it at each use */
	if (unlikely((s64)excl < 0 || ktau_is_longest(cell, incl) ||
		     (slept && ktau_is_longest(waited, wait))))
		return false;
	if (prev) {
		ktau_add(&prev->child, incl);
		ktau_wmb();	/* before anything else that a reader sees */
		ktau_times_note(prev, state);
	} else {
		ktau_add(&state->outer_ticks, incl);
		ktau_wmb();	/* before anything else that a reader sees */
	}
	ktau_add(&cell->count, 1);
	ktau_add(&cell->v[0], incl);
	if (slept) {
		ktau_add(&waited->count, 1);
		ktau_add(&waited->v[0], wait);
		ktau_add(&state->asleep_ticks, excl);
	}
	ktau_add(&state->runq_ticks, slept ? wait : incl);
	barrier();
	WRITE_ONCE(ref->top, prev);
	ktau_wmb();	/* the exclusive times last */
	if (slept)
		ktau_add(&waited->v[1], wait);
	ktau_add(&cell->v[1], excl);
	return true;
}

/* Account the wait of a new task for its first CPU, until @now. */
static void account_first(struct ktau_ref *ref, u64 now)
{
	const u64 wait = ktau_ticks_between(ref->wake_ticks, now);
	struct ktau_state *state = ref->state;

	ktau_add(&state->begin, 1);
	ktau_wmb();
	ktau_write(&state->start_ticks, ktau_birth_ticks(state, ref->wake_ticks));
	ktau_table_account(state, KTAU_ID_SCHEDULE_WAIT, wait, wait, true);
	ktau_add(ktau_outside(state, ref->top), wait);
	ktau_add(&state->runq_ticks, wait);
	ktau_wmb();
	ktau_add(&state->end, 1);
}

/* The task runs for the first time. */
static void begin_on(struct ktau_ref *ref)
{
	const u64 now = ref->state->switched_ticks;

	if (!(ref->mask & KTAU_GROUP_SCHED))
		return;
	if (ref->mask & KTAU_MODE_TRACE)
		trace_wait(ref, ktau_ticks_between(ref->wake_ticks, now), now);
	if (ref->mask & KTAU_MODE_PROFILE)
		account_first(ref, now);
}

static noinline void resumed_slow(void)
{
	struct ktau_ref *ref = &current->ktau;

	ktau_root_resume(ref);
	if (READ_ONCE(ref->state->changed))
		ktau_trace_changes(ref->state);
}

/* The end of a resume. */
static __always_inline void resumed(struct ktau_ref *ref, struct ktau_state *state,
				    const struct ktau_frame *top)
{
	ktau_write(&ref->wake_ticks, 0);
	ref->flags &= ~(KTAU_REF_NEW | KTAU_REF_OFF);
	if (unlikely(ktau_root_needed(ref, top) || READ_ONCE(state->changed)))
		resumed_slow();
}

/*
 * The first resume of a new task. For a reader its wait for the CPU ends when its root frame
 * begins: the time in between would be missing.
 */
static noinline void resume_first(struct ktau_ref *ref, struct ktau_state *state)
{
	ktau_add(&state->begin, 1);
	ktau_wmb();
	if (ref->wake_ticks)
		begin_on(ref);
	resumed(ref, state, ref->top);
	ktau_wmb();
	ktau_add(&state->end, 1);
}

/* All resumes that end_off() does not handle. */
static noinline void resume_slow(void)
{
	struct ktau_ref *ref = &current->ktau;
	struct ktau_state *state = ref->state;

	if (!state)
		return;
	if (ktau_is_off(state, ref->top)) {
		end_off_slow(ref);
	} else if (ref->flags & KTAU_REF_NEW) {
		resume_first(ref, state);
		return;
	}
	resumed(ref, state, ref->top);
}

/* The resume of a task that has not slept. */
static noinline void resume_awake(void)
{
	struct ktau_ref *ref = &current->ktau;
	struct ktau_state *state = ref->state;
	const unsigned int id = state->sched.info;

	if (likely((id == KTAU_ID_SCHEDULE || id == KTAU_ID_SCHEDULE_YLD) &&
		   end_off(ref, state, id, 0, false)))
		resumed(ref, state, state->sched.prev);
	else
		resume_slow();
}

/**
 * __ktau_sched_resume() - the current task is back on a CPU, or runs for the first time
 *
 * Context: At the end of a context switch, interrupts disabled: the time of an interrupt
 * that hits before this would be counted as part of the wait.
 */
void __ktau_sched_resume(void)
{
	struct ktau_ref *ref = &current->ktau;
	struct ktau_state *state = ref->state;
	unsigned int id;
	s64 wait;

	if (unlikely(!state || !ktau_is_off(state, ref->top))) {
		resume_slow();
		return;
	}
	id = state->sched.info;	/* flags make it another number */
	if (unlikely(!ktau_is_voluntary(id) || !state->off.sleeps || !ref->wake_ticks)) {
		resume_awake();
		return;
	}
	/* The task may have been woken before the switch ended. */
	wait = state->switched_ticks - max(ref->wake_ticks, state->sched.start);
	if (likely(wait >= 0 && end_off(ref, state, id, wait, true)))
		resumed(ref, state, state->sched.prev);
	else
		resume_slow();
}

DEFINE_STATIC_CALL(ktau_divert_switch, __ktau_sched_switch);
DEFINE_STATIC_CALL(ktau_divert_resume, __ktau_sched_resume);

/* Whether @task, which is not on a CPU, can run. It may be on its way to a run queue. */
static bool is_runnable(const struct task_struct *task)
{
	return (READ_ONCE(task->on_rq) && !ktau_dequeue_is_delayed(task)) ||
	       READ_ONCE(task->__state) == TASK_WAKING;
}

/**
 * ktau_sched_start() - begin to measure how a task spends its time off the CPU
 * @now: the moment at which that begins, in ticks
 *
 * A task that is off the CPU gets its frame as if it had been switched out at @now.
 *
 * Context: As ktau_collect().
 */
void ktau_sched_start(struct task_struct *task, u64 now)
{
	struct ktau_ref *ref = &task->ktau;
	struct ktau_state *state = ref->state;
	struct ktau_frame *frame = &state->sched;
	const bool runnable = is_runnable(task);

	if (task_curr(task))
		return;
	if (ktau_is_new(task)) {
		ref->flags |= KTAU_REF_NEW;
		ktau_write(&ref->wake_ticks, runnable ? now : 0);
		return;
	}
	if (!ktau_is_off(state, ref->top)) {
		state->off.sleeps = !runnable;
		frame->prev = ref->top;
		frame->info = runnable ? KTAU_ID_SCHEDULE :
					 reason(task, READ_ONCE(task->__state));
	}
	frame->info &= ~KTAU_FRAME_TRACE_ONLY;
	frame->child = 0;
	ktau_write(&frame->start, now);
	ktau_write(&ref->wake_ticks, runnable && state->off.sleeps ? now : 0);
	ref->flags |= KTAU_REF_OFF;
	ktau_wmb();	/* complete before a reader finds it */
	WRITE_ONCE(ref->top, frame);
}

/**
 * ktau_sched_stop() - measure no longer how a task spends its time off the CPU
 * @now: when that ends
 *
 * The time until @now is accounted. The frame of a task that is off the CPU stays.
 *
 * Context: As ktau_collect().
 */
void ktau_sched_stop(struct ktau_ref *ref, u64 now)
{
	struct ktau_state *state = ref->state;
	struct ktau_frame *frame = &state->sched;

	if (!ktau_is_off(state, ref->top)) {
		if ((ref->flags & KTAU_REF_NEW) && ref->wake_ticks)
			account_first(ref, now);
	} else if (!ktau_is_unmeasured(frame)) {
		ktau_add(&state->begin, 1);	/* ends in account_off() */
		ktau_wmb();
		account_off(state, ktau_runnable_since(state, ktau_frame_id(frame),
						       ref->wake_ticks), now);
		frame->child = 0;
		frame->info |= KTAU_FRAME_TRACE_ONLY;
	}
	ktau_write(&ref->wake_ticks, 0);
}

/*
 * Whether @p has slept: it was dequeued, or its dequeue has been delayed, as 6.12 does.
 * Otherwise it is woken before it sleeps, and keeps running.
 */
static bool has_slept(const struct task_struct *p, const struct ktau_state *state)
{
	if (!READ_ONCE(p->on_rq))
		return true;
	return ktau_is_off(state, READ_ONCE(p->ktau.top)) && state->off.sleeps;
}

/* Record the waker of @p, and the time of the wakeup. */
static __always_inline void note_waker(struct task_struct *p, struct ktau_state *state,
				       unsigned int target_cpu, u64 now)
{
	state->waker.serial = current->ktau.serial;
	state->waker.cpu = target_cpu;
	state->waker.count = preempt_count();
	ktau_write(&p->ktau.wake_ticks, now);
}

/* A wakeup by a traced task. */
static noinline void waking_traced(struct task_struct *p, struct ktau_state *state,
				   unsigned int target_cpu, bool times)
{
	const u64 now = ktau_ticks();

	ktau_trace(current->ktau.state, now, KTAU_TRACE_WAKING, target_cpu,
		   ktau_pack_serial(p->ktau.serial, p->prio, 0));
	if (times)
		note_waker(p, state, target_cpu, now);
}

/**
 * __ktau_sched_waking() - the current task, or an interrupt of it, wakes a task
 * @target_cpu: CPU whose run queue it enters
 *
 * Context: Under @p's pi_lock, interrupts disabled; if @p is in a run queue, under the
 * lock of that queue too.
 */
void __ktau_sched_waking(struct task_struct *p, unsigned int target_cpu)
{
	const u32 traced = KTAU_GROUP_SCHED | KTAU_MODE_TRACE;
	struct ktau_state *state = READ_ONCE(p->ktau.state);
	const bool times = state && (READ_ONCE(p->ktau.mask) & KTAU_GROUP_SCHED) &&
			   has_slept(p, state);

	if (unlikely((READ_ONCE(current->ktau.mask) & traced) == traced))
		waking_traced(p, state, target_cpu, times);
	else if (times)
		note_waker(p, state, target_cpu, ktau_ticks());
}

/**
 * __ktau_sched_yield() - the current task calls sched_yield()
 * @yields: it is about to yield; if not, it has yielded, perhaps without a switch
 *
 * Context: Task.
 */
void __ktau_sched_yield(bool yields)
{
	struct ktau_ref *ref = &current->ktau;
	unsigned long flags;

	raw_local_irq_save(flags);	/* a preemption changes other flags */
	if (yields)
		ref->flags |= KTAU_REF_YIELD;
	else
		ref->flags &= ~KTAU_REF_YIELD;
	raw_local_irq_restore(flags);
}
