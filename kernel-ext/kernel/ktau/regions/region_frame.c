// SPDX-License-Identifier: GPL-2.0-only
/*
 * KTAU: frames of threads that have regions; region.c has the model.
 *
 *  - Such a thread has KTAU_MASK_HANDLED in its mask, which diverts its entries (divert.c).
 *  - Its frames have KTAU_FRAME_REGION above their ids, which diverts their exits. So does
 *    the root frame, as soon as it has a name.
 *  - The slow paths of all tasks account through a static call.
 */
#include <linux/sched.h>

#include "base/arch.h"
#include "measure/close.h"
#include "measure/frame.h"
#include "measure/root.h"
#include "measure/table.h"
#include "extend/handler.h"
#include "region.h"
#include "region_frame.h"

/* The root frame has just got its name from an interrupt that hit user mode. */
static __always_inline void mark_root(struct ktau_frame *frame, struct ktau_state *state)
{
	if (frame->prev == &state->root && state->root.info == KTAU_ID_INTERRUPT_USER)
		WRITE_ONCE(state->root.info, KTAU_ID_INTERRUPT_USER | KTAU_FRAME_REGION);
}

/* Before a frame is opened: read the region if there is no frame around it. */
static __always_inline void read_outermost(struct ktau_frame *frame, struct ktau_state *state)
{
	if (!frame->prev && state->region_word)
		ktau_region_read(state);
}

/* After a frame was opened: mark it as part of the region. */
static __always_inline void mark(struct ktau_frame *frame, struct ktau_state *state)
{
	if (!state->region_word)
		return;
	frame->info |= KTAU_FRAME_REGION;
	mark_root(frame, state);
}

/* The functions for traces and handlers expect a frame without KTAU_FRAME_REGION. */
static noinline void enter_traced(struct task_struct *tsk, struct ktau_frame *frame)
{
	struct ktau_state *state = tsk->ktau.state;

	if (!frame->prev)
		ktau_region_read(state);
	ktau_enter_traced(tsk, frame);
	frame->info |= KTAU_FRAME_REGION;
	mark_root(frame, state);
}

/* Any entry. */
static noinline void enter_slow(struct task_struct *tsk, struct ktau_frame *frame)
{
	struct ktau_state *state = tsk->ktau.state;

	read_outermost(frame, state);
	if (static_branch_unlikely(&ktau_handlers_key))
		ktau_handled_enter(tsk, frame);
	else if (ktau_is_traced(tsk))
		ktau_enter_traced(tsk, frame);
	else
		ktau_open_untraced(tsk, frame);
	mark(frame, state);
}

/**
 * ktau_region_enter() - open a frame of a task that may have regions
 * @tsk: the current task
 * @frame: as for ktau_enter_traced()
 *
 * The usual case, a task that has regions and is neither traced nor handled, calls nothing.
 *
 * Context: As __ktau_enter_frame().
 */
void ktau_region_enter(struct task_struct *tsk, struct ktau_frame *frame)
{
	struct ktau_state *state = tsk->ktau.state;
	const u32 *word = state->region_word;

	if (static_branch_unlikely(&ktau_handlers_key) || unlikely(!word)) {
		enter_slow(tsk, frame);
		return;
	}
	if (unlikely(ktau_is_traced(tsk))) {
		enter_traced(tsk, frame);
		return;
	}
	if (frame->prev) {
		mark_root(frame, state);
	} else if (unlikely(READ_ONCE(*word) != state->region)) {
		enter_slow(tsk, frame);
		return;
	}
	frame->info += KTAU_FRAME_REGION;
	ktau_open_untraced(tsk, frame);
}

/**
 * ktau_region_fault() - the same for a page fault
 * @tsk: the current task
 * @frame: as for ktau_enter_traced()
 * @address: the faulting address
 *
 * Context: As __ktau_enter_frame().
 */
void ktau_region_fault(struct task_struct *tsk, struct ktau_frame *frame,
		       unsigned long address)
{
	struct ktau_state *state = tsk->ktau.state;

	read_outermost(frame, state);
	if (static_branch_unlikely(&ktau_handlers_key))
		ktau_handled_fault(tsk, frame, address);
	else if (unlikely(ktau_is_traced(tsk)))
		ktau_enter_traced_fault(tsk, frame, address);
	else
		ktau_open_untraced(tsk, frame);
	mark(frame, state);
}

/**
 * ktau_region_root() - name the root frame of a task that may have regions
 * @tsk: the current task, whose innermost frame is the unnamed root frame
 * @frame: uninitialised frame on the kernel stack, except for its id
 * @flag: KTAU_WHAT_ARG if @arg goes into the slot, else 0
 * @arg: address of a page fault
 *
 * Context: Task.
 */
void ktau_region_root(struct task_struct *tsk, struct ktau_frame *frame, u32 flag,
		      u64 arg)
{
	struct ktau_state *state = tsk->ktau.state;
	struct ktau_frame *root = tsk->ktau.top;

	if (static_branch_unlikely(&ktau_handlers_key))
		ktau_handled_root(tsk, frame, flag, arg);
	else if (unlikely(ktau_is_traced(tsk)))
		ktau_root_trace(tsk, frame, flag, arg);
	else
		WRITE_ONCE(root->info, frame->info);
	if (state->region_word)
		WRITE_ONCE(root->info, root->info | KTAU_FRAME_REGION);
}

/**
 * ktau_region_leave() - close a frame that may be accounted to a region
 * @frame: the innermost frame of @tsk
 * @tsk: the current task
 *
 * Context: As its entry.
 * Return: Its times.
 */
struct ktau_ended ktau_region_leave(struct ktau_frame *frame, struct task_struct *tsk)
{
	const u32 flags = KTAU_FRAME_REGION | KTAU_FRAME_TRACED | KTAU_FRAME_TRACE_ONLY;
	struct ktau_state *state = tsk->ktau.state;
	struct ktau_cell *cell = ktau_cell_here(state, ktau_frame_id(frame));
	struct ktau_cell *second = NULL;

	if (static_branch_unlikely(&ktau_handlers_key))
		return ktau_handled_leave(frame, tsk);
	/* usually an interrupt, because most other frames end in ktau_region_exit() */
	if (likely((frame->info & flags) == KTAU_FRAME_REGION && ktau_region_in_interrupt()))
		second = ktau_region_other(state->region_table, ktau_frame_id(frame));
	if (unlikely(!second || ktau_cell_is_missing(cell)))
		return ktau_leave(frame, tsk);
	return ktau_close_fast(frame, tsk, cell, second);
}

/* These return nothing: their callers would need stack space for it. */
static noinline void exit_hit(struct ktau_frame *frame, struct task_struct *tsk, u64 before)
{
	ktau_finish(frame, tsk->ktau.state, before);
}

static noinline void exit_rare(struct ktau_frame *frame, struct task_struct *tsk, u64 incl)
{
	ktau_settle(frame, tsk->ktau.state, incl);
}

/*
 * As exit_fast() of profile.c, for two cells. What is in a region is also in the profile, so
 * an activation that is not the longest one of the region is not that of the event either.
 */
static __always_inline void exit_fast(struct ktau_frame *frame, struct task_struct *tsk,
				      const unsigned int id, const bool nested)
{
	struct ktau_state *state = tsk->ktau.state;
	struct ktau_cell *second = ktau_region_direct(state->region_table, id);
	struct ktau_frame *prev = nested ? frame->prev : NULL;
	u64 *sum = nested ? &prev->child : &state->outer_ticks;
	struct ktau_cell *cell;
	u64 before, incl, excl;

	OPTIMIZER_HIDE_VAR(second);	/* else gcc recomputes it at each use */
	ktau_add(&state->begin, 1);
	ktau_wmb();
	before = ktau_read(sum);
	barrier();
	WRITE_ONCE(tsk->ktau.top, prev);
	barrier();	/* from here on interrupts belong to the enclosing frame */
	incl = ktau_ticks();
	barrier();
	if (unlikely(ktau_differs(sum, before))) {
		exit_hit(frame, tsk, before);
		return;
	}
	incl -= frame->start;
	excl = incl - frame->child;
	if (unlikely((s64)excl < 0 || ktau_is_longest(second, incl) ||
		     (nested && !ktau_is_outermost_in(prev, id)))) {
		exit_rare(frame, tsk, incl);
		return;
	}
	ktau_add(sum, incl);
	cell = ktau_direct_cell(state, id);
	OPTIMIZER_HIDE_VAR(cell);
	ktau_cell_end(cell, incl, excl);
	ktau_cell_end(second, incl, excl);
	ktau_wmb();
	ktau_add(&state->end, 1);
}

static noinline void exit_nested(struct ktau_frame *frame, struct task_struct *tsk,
				 unsigned int id)
{
	exit_fast(frame, tsk, id, true);
}

/**
 * ktau_region_exit() - close a frame of the task alone, which may be accounted to a region
 * @frame: the innermost frame of @tsk
 * @tsk: the current task
 *
 * Handlers need the times of the frame, so this is not used while there are any.
 *
 * Context: As __ktau_exit().
 */
void ktau_region_exit(struct ktau_frame *frame, struct task_struct *tsk)
{
	const u32 id = frame->info - KTAU_FRAME_REGION;

	/* one comparison covers the id and other flags */
	if (unlikely(id >= KTAU_ID_INDIRECT ||
		     (preempt_count() & (NMI_MASK | HARDIRQ_MASK | SOFTIRQ_OFFSET))))
		ktau_exit_slow(frame, tsk);
	else if (frame->prev)
		exit_nested(frame, tsk, id);
	else
		exit_fast(frame, tsk, id, false);
}

/**
 * ktau_region_switch() - the current task, which may have regions, loses the CPU
 * @vol: whether the kernel counts the switch as voluntary, in nvcsw
 * @prev: the current task
 * @next: the task that gets the CPU
 * @prev_state: the state in which @prev waits, 0 if it is runnable
 *
 * Context: Under the lock of the run queue.
 */
void ktau_region_switch(bool vol, struct task_struct *prev, struct task_struct *next,
			unsigned int prev_state)
{
	struct ktau_ref *ref = &prev->ktau;
	struct ktau_state *state = ref->state;

	if (static_branch_unlikely(&ktau_handlers_key))
		ktau_handled_switch(vol, prev, next, prev_state);
	else
		__ktau_sched_switch(vol, prev, next, prev_state);
	if (likely(!state->region_word) || ref->top != &state->sched)
		return;
	if (!state->sched.prev)
		ktau_region_read(state);
	mark(&state->sched, state);
}

/**
 * ktau_region_user_exit() - a task that may have regions enters the kernel from user mode
 * @ref: that of the current task; the group "account" is enabled
 *
 * Context: As __ktau_user_exit().
 */
void ktau_region_user_exit(struct ktau_ref *ref)
{
	if (ref->state->region_word)
		ktau_region_read(ref->state);
	ktau_root_open_slow(ref);
}

/*
 * The slow path accounts its own time to the event, but not to the region; add it there too.
 * @before: by how much the event's exclusive time exceeded the region's before the slow path.
 * @incl: the region's inclusive time then. Interrupts are disabled.
 */
static void catch_up(struct ktau_state *state, unsigned int id, u64 before, u64 incl)
{
	struct ktau_cell *cell = ktau_cell(state, id);
	struct ktau_cell *second = ktau_region_find(state->region_table, id);
	u64 more;

	if (!cell || !second)
		return;
	more = cell->v[1] - second->v[1] - before;
	ktau_add(&state->begin, 1);
	ktau_wmb();
	ktau_cell_extend(second, more, second->v[0] + more - incl);
	ktau_wmb();
	ktau_add(&state->end, 1);
}

static noinline void close_slow(struct ktau_frame *root, struct ktau_ref *ref)
{
	const unsigned int id = ktau_frame_id(root);
	struct ktau_state *state = ref->state;
	const bool is_region = state->region_word && (root->info & KTAU_FRAME_REGION);
	struct ktau_cell *second = is_region ? ktau_region_cell(state, id) : NULL;
	struct ktau_cell *cell = second ? ktau_cell(state, id) : NULL;
	const u64 before = cell ? cell->v[1] - second->v[1] : 0;
	const u64 incl = cell ? second->v[0] : 0;

	ktau_root_close_slow(root, ref);
	if (cell)
		catch_up(state, id, before, incl);
}

/* A clock went backwards, there was a wait inside, or it is the longest one: start over. */
static noinline void close_again(struct ktau_frame *root, struct ktau_ref *ref)
{
	WRITE_ONCE(ref->top, root);
	ktau_wmb();
	ktau_add(&ref->state->end, 1);
	close_slow(root, ref);
}

/**
 * ktau_region_user_enter() - a task that may have regions returns to user mode
 * @root: its root frame, which has flags above its id, or whose cell does not exist yet
 *
 * Context: As __ktau_user_enter().
 */
void ktau_region_user_enter(struct ktau_frame *root, struct ktau_ref *ref)
{
	const u32 id = root->info - KTAU_FRAME_REGION;
	struct ktau_state *state = ref->state;
	struct ktau_cell *cell, *second;
	u64 now, incl, excl;

	/* one comparison covers the id and other flags */
	if (unlikely(id >= KTAU_ID_INDIRECT)) {
		close_slow(root, ref);
		return;
	}
	second = ktau_region_direct(state->region_table, id);
	OPTIMIZER_HIDE_VAR(second);	/* else gcc recomputes it at each use */
	ktau_add(&state->begin, 1);
	ktau_wmb();
	WRITE_ONCE(ref->top, NULL);
	now = ktau_ticks();
	incl = now - root->start;
	excl = incl - root->child;
	if (unlikely((s64)excl < 0 || ktau_is_longest(second, incl))) {
		close_again(root, ref);
		return;
	}
	ktau_sub(&state->user_ticks, now);
	ktau_add(&state->outer_ticks, incl);
	cell = ktau_direct_cell(state, id);
	OPTIMIZER_HIDE_VAR(cell);
	ktau_cell_end(cell, incl, excl);
	ktau_cell_end(second, incl, excl);
	ktau_wmb();
	ktau_add(&state->end, 1);
}
