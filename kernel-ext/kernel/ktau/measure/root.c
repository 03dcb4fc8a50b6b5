// SPDX-License-Identifier: GPL-2.0-only
/*
 * KTAU: the root frame, which encloses everything that a task does in the kernel.
 *
 * With the group "account" a task is either in user mode or in a frame. Each entry from
 * user mode opens the root frame, which is part of the task's state, and the return to
 * user mode closes it. It is opened without a name ("kernel") and then becomes the event
 * that was entered, so a system call or exception needs no further frame. An interrupt
 * has a frame of its own inside, because its time is also accounted to the CPU and ends
 * before the return to user mode begins; the root frame is then called "interrupt_user".
 *
 * Tasks that have not been in user mode get their root frame when they get the CPU: new
 * tasks, kernel threads, whose root frame is named after their function, and io_uring
 * workers. A task that is in the kernel when the group is enabled gets it at that moment.
 *
 * In a trace, the slots of a system call or exception are where they are without the root
 * frame: they come from a frame that is traced only. The root frame itself has no slots.
 *
 * Entry and return run with interrupts disabled, so no interrupt comes between two steps.
 */
#include <linux/kprobes.h>
#include <linux/kthread.h>
#include <linux/static_call.h>

#include "base/arch.h"
#include "base/compat.h"
#include "base/core.h"
#include "base/ids.h"
#include "base/owner.h"
#include "frame.h"
#include "off.h"
#include "root.h"
#include "table.h"
#include "times.h"

/* A task in user mode leaves it at @now. ktau_account_copy() relies on the order. */
static __always_inline void begin_root(struct ktau_ref *ref, struct ktau_state *state,
				       unsigned int id, u64 now)
{
	ktau_write(&state->root.child, 0);
	state->root.info = id;
	ktau_write(&state->root.start, now);
	ktau_wmb();	/* it is complete before it is linked */
	WRITE_ONCE(ref->top, &state->root);
	smp_wmb();	/* a reader that finds @user_ticks positive finds it linked */
	if ((s64)ktau_read(&state->user_ticks) < 0)
		ktau_add(&state->user_ticks, now);
}

/*
 * KTAU_FRAME_OPENING is shown before the clock is read: a virtual CPU may lose its processor in
 * between, and a copy must not count that as user time, which would be missing in the next one.
 * All that precedes the clock is user time, so the state is not even looked up before.
 */
static __always_inline void open_root(struct ktau_ref *ref, unsigned int id)
{
	u64 now;

	WRITE_ONCE(ref->top, KTAU_FRAME_OPENING);
	barrier();
	now = ktau_ticks();
	barrier();
	begin_root(ref, ref->state, id, now);
}

/**
 * ktau_root_open_slow() - open the root frame of a task that is traced or handled
 * @ref: that of the current task
 *
 * There is no account without the profile.
 *
 * Context: As __ktau_user_exit().
 */
noinline void ktau_root_open_slow(struct ktau_ref *ref)
{
	if (READ_ONCE(ref->mask) & KTAU_MODE_PROFILE)
		open_root(ref, KTAU_ID_KERNEL | KTAU_FRAME_TRACE_NAME);
}

DEFINE_STATIC_CALL(ktau_divert_user_exit, ktau_root_open_slow);

/**
 * __ktau_user_exit() - the current task enters the kernel from user mode
 * @ref: that of the current task; the group "account" is enabled
 *
 * Context: Entry from user mode, interrupts disabled.
 */
void __ktau_user_exit(struct ktau_ref *ref)
{
	/* bits of one word cannot be torn */
	u32 modes = data_race(ref->mask) &
		    (KTAU_MODE_PROFILE | KTAU_MODE_TRACE | KTAU_MASK_HANDLED);

	if (likely(modes == KTAU_MODE_PROFILE))
		open_root(ref, KTAU_ID_KERNEL);
	else
		static_call(ktau_divert_user_exit)(ref);
}

NOKPROBE_SYMBOL(__ktau_user_exit);

/*
 * Account the root frame, unlinked at @now, on the slow path: the task has slept, there
 * is no chunk, the id is in the second level of the table, it is the longest activation, or
 * a clock went backwards. The time that this takes is still kernel time, not user time, which
 * has begun at @now.
 */
static noinline void settle_root(struct ktau_frame *root, struct ktau_ref *ref,
				 u64 now)
{
	struct ktau_state *state = ref->state;
	struct ktau_cell *cell;
	struct ktau_ended e;
	u64 more;

	if (unlikely(root->child & KTAU_CHILD_STOPPED)) {	/* so is the account */
		ktau_add(&state->user_ticks, now);
		ktau_settle(root, state, 0);
		return;
	}
	ktau_add(&state->begin, 1);	/* one ends in ktau_settle() */
	ktau_wmb();
	e = ktau_settle(root, state, now - root->start);
	cell = ktau_cell(state, ktau_frame_id(root));
	more = ktau_ticks() - now;	/* what follows is short */
	ktau_sub(&state->user_ticks, more);
	ktau_add(&state->outer_ticks, more);
	ktau_table_extend(state, cell, more, e.incl + more);
	ktau_wmb();
	ktau_add(&state->end, 1);
}

/*
 * The same, @incl after the frame began, after a call that has slept before, as most calls that
 * sleep have. See timed() in profile.c.
 */
static noinline void settle_timed(struct ktau_frame *root, struct ktau_ref *ref,
				  u64 incl, struct ktau_cell *cell)
{
	struct ktau_state *state = ref->state;
	const u64 inside = root->child - KTAU_CHILD_TIMED;
	struct ktau_times *times;
	u64 all;

	if (unlikely((s64)(inside | (incl - inside)) < 0 || ktau_is_longest(cell, incl) ||
		     !ktau_times_find(state, ktau_frame_id(root), &times))) {
		settle_root(root, ref, root->start + incl);
		return;
	}
	ktau_times_add(times, state, root, inside);
	all = ktau_ticks() - root->start;
	ktau_sub(&state->user_ticks, all - incl);
	ktau_add(&state->outer_ticks, all);
	ktau_cell_account(cell, all, all - inside, true);
	ktau_wmb();
	ktau_add(&state->end, 1);
}

/**
 * ktau_root_close_slow() - close the root frame on the slow path
 * @ref: that of the current task
 *
 * Context: As __ktau_user_enter().
 */
noinline void ktau_root_close_slow(struct ktau_frame *root, struct ktau_ref *ref)
{
	u64 now;

	ktau_add(&ref->state->begin, 1);
	ktau_wmb();
	WRITE_ONCE(ref->top, NULL);
	now = ktau_ticks();
	ktau_sub(&ref->state->user_ticks, now);
	settle_root(root, ref, now);
}

DEFINE_STATIC_CALL(ktau_divert_user_enter, ktau_root_close_slow);

static __always_inline void close_root(struct ktau_frame *root, struct ktau_ref *ref,
				       struct ktau_state *state,
				       struct ktau_cell *cell)
{
	u64 now, incl, excl;

	ktau_add(&state->begin, 1);
	ktau_wmb();
	WRITE_ONCE(ref->top, NULL);
	now = ktau_ticks();
	ktau_sub(&state->user_ticks, now);
	incl = now - root->start;
	OPTIMIZER_HIDE_VAR(incl);	/* else gcc keeps @now, and what follows it is user time */
	excl = incl - root->child;
	if (unlikely((s64)excl < 0 || ktau_is_longest(cell, incl))) {
		settle_timed(root, ref, incl, cell);
		return;
	}
	ktau_add(&state->outer_ticks, incl);
	ktau_cell_end(cell, incl, excl);
	ktau_wmb();
	ktau_add(&state->end, 1);
}

/* The innermost frame should have been closed before. */
static noinline void end_stray(struct ktau_frame *top, struct ktau_ref *ref)
{
	WRITE_ONCE(ref->top, NULL);
	ktau_internal_error("return to user mode inside a frame");
}

/**
 * __ktau_user_enter() - the current task returns to user mode
 * @top: its innermost frame
 *
 * Context: Return to user mode, interrupts disabled.
 */
void __ktau_user_enter(struct ktau_frame *top, struct ktau_ref *ref)
{
	struct ktau_state *state = ref->state;
	unsigned int id = top->info;
	struct ktau_cell *cell;

	if (unlikely(top != &state->root)) {
		end_stray(top, ref);
		return;
	}
	if (unlikely(id >= KTAU_ID_INDIRECT)) {
		static_call(ktau_divert_user_enter)(top, ref);
		return;
	}
	cell = ktau_direct_cell(state, id);
	OPTIMIZER_HIDE_VAR(cell);	/* else gcc recomputes it at each use */
	close_root(top, ref, state, cell);
}

NOKPROBE_SYMBOL(__ktau_user_enter);

/*
 * Account the root frame that ktau_root_start() has linked if the task has lost it: it was
 * preempted after it had read that there is no enclosing frame, and before it opened or
 * unlinked one. So later frames have been outermost ones.
 */
static void settle_lost(struct ktau_state *state, u64 now)
{
	struct ktau_frame *root = &state->root;
	u64 incl, inside, child;

	if (!state->root_since || root->start != state->root_since)
		return;
	state->root_since = 0;
	child = ktau_child_ticks(root->child);
	inside = child + state->outer_ticks - state->root_outer;
	incl = max(now - root->start, inside);
	ktau_table_account(state, ktau_frame_id(root), incl, incl - inside, true);
	ktau_add(&state->outer_ticks, child + incl - inside);
}

/**
 * __ktau_user_begin() - a task without a root frame returns to user mode
 * @ref: that of the current task, which has the account
 *
 * Context: Return to user mode, interrupts disabled.
 */
void __ktau_user_begin(struct ktau_ref *ref)
{
	struct ktau_state *state = ref->state;
	u64 now;

	if (!(READ_ONCE(ref->mask) & KTAU_MODE_PROFILE) ||
	    (s64)ktau_read(&state->user_ticks) < 0)
		return;
	ktau_add(&state->begin, 1);
	ktau_wmb();
	now = ktau_ticks();
	settle_lost(state, now);
	ktau_sub(&state->user_ticks, now);
	ktau_wmb();
	ktau_add(&state->end, 1);
}

/*
 * The event of the root frame of a task that is in the kernel, with flags. What follows there does
 * not name it: the task had entered the kernel before.
 */
static unsigned int root_id(struct task_struct *tsk)
{
	void *fn;

	if (ktau_is_idle(tsk))
		return KTAU_ID_IDLE;
	if (tsk->flags & PF_KTHREAD) {
		fn = kthread_func(tsk);	/* set once the thread has run */
		return fn ? ktau_call_id(KTAU_CALL_KTHREAD, fn) :
			    KTAU_ID_RET_FROM_FORK;
	}
	if (tsk->flags & KTAU_PF_USER_WORKER)
		return KTAU_ID_USER_WORKER;
	return tsk->nvcsw + tsk->nivcsw ? KTAU_ID_KERNEL | KTAU_FRAME_KEEPS_NAME :
					  KTAU_ID_RET_FROM_FORK;
}

static void resume(struct ktau_ref *ref, u64 now)
{
	struct ktau_state *state = ref->state;

	if (unlikely(state->root_since)) {
		ktau_add(&state->begin, 1);
		ktau_wmb();
		settle_lost(state, now);
		ktau_wmb();
		ktau_add(&state->end, 1);
	}
	begin_root(ref, state, root_id(current), now);	/* from user mode after an internal error */
}

/*
 * The frames from @frame on are not measured, but have the time of frames inside them that have
 * ended: move it out of the root frame, which begins later.
 */
static void pass_by(struct ktau_frame *frame, struct ktau_state *state, u64 now)
{
	for (; frame && frame != &state->root; frame = frame->prev)
		if (ktau_is_unmeasured(frame))
			ktau_frame_stop(frame, state, 0, now);
}

/**
 * ktau_root_start() - open the root frame of a task that is in the kernel
 * @now: the moment at which its account begins, in ticks
 *
 * Frames that are open already are inside. If they are measured, the root frame begins with
 * the outermost of them: their time has been kernel time all along.
 *
 * Context: As ktau_collect().
 */
void ktau_root_start(struct task_struct *task, u64 now)
{
	struct ktau_ref *ref = &task->ktau;
	struct ktau_state *state = ref->state;
	struct ktau_frame *root = &state->root, *outside = ref->top, **link;
	u64 start = now;

	if (ktau_is_new(task))
		return;		/* it gets the frame when it first runs */
	for (link = &ref->top; *link && *link != root; link = &(*link)->prev)
		if (ktau_read(&(*link)->start) && !ktau_is_unmeasured(*link)) {
			start = ktau_read(&(*link)->start);
			outside = (*link)->prev;
		}
	pass_by(outside, state, now);
	if (!*link) {
		root->prev = NULL;
		root->child = 0;
	}
	if (!*link || ktau_frame_id(root) == KTAU_ID_KERNEL)
		root->info = root_id(task);
	ktau_add(&state->outer_ticks, ktau_child_ticks(root->child));
	ktau_write(&root->child, 0);
	ktau_write(&root->start, start);
	state->root_since = *link ? 0 : start;
	state->root_outer = state->outer_ticks;
	ktau_wmb();	/* it is complete before it is linked */
	WRITE_ONCE(*link, root);
}

/**
 * ktau_root_stop() - end the account of a task that is in the kernel
 * @now: when it ends
 *
 * Context: As ktau_collect().
 */
void ktau_root_stop(struct ktau_ref *ref, u64 now)
{
	struct ktau_state *state = ref->state;
	struct ktau_frame *frame;
	u64 inner = 0;

	for (frame = ref->top; frame && frame != &state->root; frame = frame->prev)
		inner = ktau_frame_lasted(frame, inner, now);
	if (frame)
		ktau_frame_stop(frame, state, inner, now);
	/* After an internal error, the task may be in user mode as far as is known. */
	if ((s64)ktau_read(&state->user_ticks) < 0)
		ktau_add(&state->user_ticks, now);
}

/**
 * ktau_root_resume() - open the root frame of a task that has got the CPU
 *
 * Only the root frame of a kernel thread is renamed, once the thread's function is known.
 * Any other task keeps the name if it is switched out before it first returns to user mode.
 *
 * Context: At the end of a context switch, interrupts disabled.
 */
void ktau_root_resume(struct ktau_ref *ref)
{
	const u32 account = KTAU_GROUP_ACCOUNT | KTAU_MODE_PROFILE;
	struct ktau_state *state = ref->state;
	struct ktau_frame *top = ref->top;

	if (!top && (READ_ONCE(ref->mask) & account) == account)
		resume(ref, state->switched_ticks ?: ktau_ticks());
	else if (top && top->info == KTAU_ID_RET_FROM_FORK &&
		 (current->flags & PF_KTHREAD))
		WRITE_ONCE(top->info, root_id(current));
}

/**
 * ktau_root_trace() - name the root frame, and trace the event that it has become
 * @tsk: the current task, whose innermost frame is the unnamed root frame
 * @frame: uninitialised frame on the kernel stack, except for its id
 * @flag: KTAU_WHAT_ARG if @arg goes into the slot, else 0
 * @arg: address of a page fault
 *
 * The slots are those of a frame that is traced only: the root frame has the time.
 *
 * Context: Task.
 */
void ktau_root_trace(struct task_struct *tsk, struct ktau_frame *frame, u32 flag,
		     u64 arg)
{
	struct ktau_frame *root = tsk->ktau.top;

	WRITE_ONCE(root->info, frame->info);
	frame->prev = root;
	frame->start = 0;
	frame->child = 0;
	ktau_enter_trace_only(tsk, frame, flag, arg);
}

DEFINE_STATIC_CALL(ktau_divert_root, ktau_root_trace);
