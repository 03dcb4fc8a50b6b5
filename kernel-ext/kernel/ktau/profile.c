// SPDX-License-Identifier: GPL-2.0-only
/*
 * KTAU: the model, and the hot path that keeps it.
 *
 * An event is a named instrumentation point. A frame is one activation of a
 * timer event. Frames lie on the kernel stack and are linked from the task,
 * innermost first:
 *
 *	duration  of a frame = ticks from its entry to its exit
 *	exclusive time       = duration - durations of the frames directly inside
 *	inclusive time       = durations of the outermost activations of an event
 *
 * Interrupts and softirqs are frames of the task that they hit. They, and only
 * they, are booked a second time, to the table of the CPU.
 *
 * Example: a task is in read() from tick 0 to tick 100. A timer interrupt hits
 * it from 20 to 30. From 40 to 90 it is off the CPU; it was woken at 85.
 *
 *	event		count	inclusive		exclusive
 *	sys_read	1	100			100 - 10 - 50 = 40
 *	local_timer	1	10			10
 *	schedule_vol_*	1	50			50 - 5 = 45
 *	schedule_wait	1	5 (85 to 90)		5
 *
 * Of the 100 ticks of sys_read 45 were asleep, 5 in the run queue and 10 in
 * interrupts: see times.c.
 *
 * The exclusive times sum up to 100, the duration of the outermost frame. That
 * holds at every moment:
 *
 *	sum of exclusive + refused_ticks
 *		= outer_ticks + sum of child over the open frames
 *
 * It would break if a duration were shorter than the frames inside it, as when
 * the counters of two CPUs are not in step. Such a duration is set to theirs,
 * and the case is counted as clamped. A frame entered without the profile (only
 * traced) has by definition the duration of the frames inside it.
 *
 * Who writes: only the CPU that runs the owner of a table, so there is no lock.
 * An interrupt may come between any two instructions, and works on the same
 * table; each addition is a single instruction (or as good as one, arch.h), and
 * the stack of frames is as before when it returns. Readers on other CPUs tell a
 * whole copy by struct ktau_task::begin and ::end.
 */
#include <linux/export.h>
#include <linux/kprobes.h>
#include <linux/preempt.h>

#include "arch.h"
#include "frame.h"
#include "ids.h"
#include "ring.h"
#include "root.h"
#include "table.h"
#include "trace.h"

/*
 * With a slot in the trace, written by as little as it can be; @arg goes into it if
 * @flag is KTAU_WHAT_ARG.
 */
static __always_inline void trace_enter(struct task_struct *tsk,
					struct ktau_frame *frame, u32 flag,
					u64 arg)
{
	struct ktau_task *state = tsk->ktau.state;
	struct ktau_place *place;
	struct ktau_ring *ring;
	u64 nr, now;

	/* One bit: read it as it comes. */
	if (unlikely(!(data_race(tsk->ktau.mask) & KTAU_MODE_PROFILE))) {
		ktau_enter_trace_only(tsk, frame, flag, arg);
		return;
	}
	frame->info += KTAU_FRAME_TRACED;
	barrier();	/* an interrupt from here on finds it whole */
	tsk->ktau.top = frame;
	OPTIMIZER_HIDE_VAR(frame);	/* else it is moved to another register */
	preempt_disable_notrace();	/* the ring stays, and so does the CPU */
	ring = READ_ONCE(state->ring);
	nr = ktau_read(&ring->head);
	place = ktau_place(ring, nr);
	OPTIMIZER_HIDE_VAR(place);	/* else it is made up in each use */
	barrier();
	now = ktau_ticks();
	OPTIMIZER_HIDE_VAR(now);	/* in one register, not two */
	barrier();
	if (unlikely(!ktau_place_is_free(place, nr) || frame->child ||
		     !ktau_advance(&ring->head, &nr, 1))) {
		preempt_enable_no_resched_notrace();
		ktau_start(state, frame, flag, arg);
		return;
	}
	ktau_write(&frame->start, now);
	smp_wmb();	/* @head is moved before anything is overwritten */
	ktau_place_fill(place, now, frame->info | flag);
	if (flag)
		place->arg = arg;
	ktau_place_done(ring, place);
	if (unlikely(ktau_ring_wakes(ring, nr)))
		ktau_ring_wake(ring);
	else
		preempt_enable_no_resched_notrace();
}

static noinline void enter_traced(struct task_struct *tsk,
				  struct ktau_frame *frame)
{
	trace_enter(tsk, frame, 0, 0);
}

static noinline void enter_traced_fault(struct task_struct *tsk,
					struct ktau_frame *frame,
					unsigned long address)
{
	trace_enter(tsk, frame, KTAU_WHAT_ARG, address);
}

/* Of a page fault, @address is where. */
static __always_inline void enter(struct task_struct *tsk,
				  struct ktau_frame *frame, bool fault,
				  unsigned long address)
{
	frame->prev = tsk->ktau.top;
	frame->start = 0;
	frame->child = 0;
	/* Two bits are tested in memory, the uppermost alone in a register. */
	if (unlikely(data_race(tsk->ktau.mask) &
		     (KTAU_MODE_TRACE | KTAU_MASK_GONE))) {
		if (fault)
			enter_traced_fault(tsk, frame, address);
		else
			enter_traced(tsk, frame);
		return;
	}
	barrier();	/* an interrupt from here on finds it whole */
	tsk->ktau.top = frame;
	barrier();
	ktau_write(&frame->start, ktau_ticks());
	barrier();
	if (unlikely(frame->child))
		ktau_start(tsk->ktau.state, frame, 0, 0);
}

/**
 * __ktau_enter_frame() - open a frame on the current task
 * @tsk: the current task
 * @frame: room for it, on the kernel stack, with its id
 *
 * Context: Any but NMI. The current task has a group on, so it has a state.
 */
void __ktau_enter_frame(struct task_struct *tsk, struct ktau_frame *frame)
{
	enter(tsk, frame, false, 0);
}
EXPORT_SYMBOL_GPL(__ktau_enter_frame);
NOKPROBE_SYMBOL(__ktau_enter_frame);

/**
 * __ktau_enter_point() - open a frame of a static point on the current task
 * @frame: room for it, on the kernel stack
 * @point: the point
 *
 * Context: Any; in NMI and where no id is left, nothing is opened.
 */
void __ktau_enter_point(struct ktau_frame *frame, struct ktau_point *point)
{
	unsigned int id = READ_ONCE(point->id);

	if (unlikely(id == KTAU_ID_NONE))
		id = ktau_point_id(point);
	if (unlikely(id == KTAU_ID_NONE || in_nmi()))
		return;
	frame->info = id;
	enter(current, frame, false, 0);
}
EXPORT_SYMBOL_GPL(__ktau_enter_point);
NOKPROBE_SYMBOL(__ktau_enter_point);

/* A root frame that has no name yet, of a traced task. */
static __always_inline bool root_is_traced(struct task_struct *tsk)
{
	const struct ktau_frame *top = tsk->ktau.top;

	return top && top->info == (KTAU_ID_KERNEL | KTAU_FRAME_TRACE_NAME);
}

/**
 * __ktau_enter_from_user() - open a frame of what was entered from user mode
 * @tsk: the current task
 * @frame: room for it, on the kernel stack, with its id
 *
 * Context: Task, with a group on.
 */
void __ktau_enter_from_user(struct task_struct *tsk, struct ktau_frame *frame)
{
	if (root_is_traced(tsk))
		ktau_root_trace(tsk, frame, 0, 0);
	else
		enter(tsk, frame, false, 0);
}

/**
 * __ktau_enter_compat() - open a frame of a system call of another ABI
 * @frame: room for it, on the kernel stack
 * @nr: number of the call in that ABI
 *
 * Context: Task.
 */
void __ktau_enter_compat(struct ktau_frame *frame, unsigned int nr)
{
	ktau_enter_from_user(frame, ktau_compat_id(nr));
}

/**
 * __ktau_enter_trap() - open a frame of an exception from user mode
 * @frame: room for it, on the kernel stack
 * @point: the point
 *
 * Context: Task.
 */
void __ktau_enter_trap(struct ktau_frame *frame, struct ktau_point *point)
{
	unsigned int id = ktau_point_id(point);

	if (likely(id != KTAU_ID_NONE))
		ktau_enter_from_user(frame, id);
}

/**
 * __ktau_enter_call() - open a frame of a function that a thread calls
 * @frame: room for it, on the kernel stack
 * @call: what it is
 * @fn: the function
 *
 * Context: Task.
 */
void __ktau_enter_call(struct ktau_frame *frame, enum ktau_call call, void *fn)
{
	frame->info = ktau_call_id(call, fn);
	enter(current, frame, false, 0);
}
EXPORT_SYMBOL_GPL(__ktau_enter_call);

/**
 * __ktau_enter_work() - open a frame of a work item on its worker
 * @frame: room for it, on the kernel stack
 * @fn: its function
 *
 * Context: Task.
 */
void __ktau_enter_work(struct ktau_frame *frame, void *fn)
{
	__ktau_enter_call(frame, KTAU_CALL_WORK, fn);
}

/**
 * __ktau_enter_fault() - open a frame of a page fault on the current task
 * @tsk: the current task
 * @frame: room for it, on the kernel stack, with its id
 * @address: the address that was not there
 *
 * Context: Any but NMI. The current task has a group on, so it has a state.
 */
void __ktau_enter_fault(struct task_struct *tsk, struct ktau_frame *frame,
			unsigned long address)
{
	enter(tsk, frame, true, address);
}

/**
 * __ktau_enter_user_fault() - the same where the fault may name the root frame
 * @tsk: the current task
 * @frame: room for it, on the kernel stack, with its id
 * @address: the address that was not there
 *
 * Context: Any but NMI. The current task has a group on, so it has a state.
 */
void __ktau_enter_user_fault(struct task_struct *tsk, struct ktau_frame *frame,
			     unsigned long address)
{
	if (root_is_traced(tsk))
		ktau_root_trace(tsk, frame, KTAU_WHAT_ARG, address);
	else
		enter(tsk, frame, true, address);
}

/* These give nothing back: the usual ways would have to make room for it. */
static noinline void exit_slow(struct ktau_frame *frame, struct task_struct *tsk)
{
	ktau_leave(frame, tsk);
}

/* An interrupt hit between the unlinking and the clock; or no place in the ring. */
static noinline void exit_hit(struct ktau_frame *frame, struct ktau_task *state,
			      u64 before)
{
	ktau_finish(frame, state, before);
}

/* The clock went back, or a wait or an interrupt was inside. */
static noinline void exit_clamped(struct ktau_frame *frame,
				  struct ktau_task *state, u64 incl)
{
	ktau_settle(frame, state, incl);
}

/*
 * The exit as it nearly always is: with the profile, without a trace, no interrupt
 * in the middle. Calls nothing, and so needs to save no register.
 */
static __always_inline void exit_fast(struct ktau_frame *frame,
				      struct ktau_ref *ref,
				      struct ktau_task *state,
				      struct ktau_cell *cell, bool nested)
{
	struct ktau_frame *prev = nested ? frame->prev : NULL;
	u64 *sum = nested ? &prev->child : &state->outer_ticks;
	u64 before, incl, excl;

	ktau_add(&state->begin, 1);
	barrier();
	before = ktau_read(sum);
	barrier();
	WRITE_ONCE(ref->top, prev);
	barrier();	/* interrupts belong to the frame around it now */
	incl = ktau_ticks();
	barrier();
	if (unlikely(ktau_differs(sum, before))) {
		exit_hit(frame, state, before);
		return;
	}
	incl -= frame->start;
	excl = incl - frame->child;
	if (unlikely((s64)excl < 0)) {
		exit_clamped(frame, state, incl);
		return;
	}
	ktau_add(sum, incl);
	ktau_book_cell(cell, incl, excl, !nested || ktau_is_outermost(frame));
	barrier();
	ktau_add(&state->end, 1);
}

static noinline void exit_nested(struct ktau_frame *frame, struct ktau_ref *ref,
				 struct ktau_task *state, struct ktau_cell *cell)
{
	exit_fast(frame, ref, state, cell, true);
}

/* The same with a slot in the trace. */
static __always_inline void trace_fast(struct ktau_frame *frame,
				       struct ktau_ref *ref,
				       struct ktau_task *state,
				       struct ktau_cell *cell, bool nested)
{
	struct ktau_frame *prev = nested ? frame->prev : NULL;
	u64 *sum = nested ? &prev->child : &state->outer_ticks;
	struct ktau_ring *ring;
	struct ktau_place *place;
	u64 before, incl, excl, nr;

	ktau_add(&state->begin, 1);
	barrier();
	before = ktau_read(sum);
	barrier();
	WRITE_ONCE(ref->top, prev);
	preempt_disable_notrace();	/* the ring stays, and so does the CPU */
	ring = READ_ONCE(state->ring);
	nr = ktau_read(&ring->head);
	place = ktau_place(ring, nr);
	OPTIMIZER_HIDE_VAR(place);
	barrier();
	incl = ktau_ticks();
	OPTIMIZER_HIDE_VAR(incl);
	barrier();
	if (unlikely(!ktau_place_is_free(place, nr) || ktau_differs(sum, before) ||
		     !ktau_advance(&ring->head, &nr, 1))) {
		preempt_enable_no_resched_notrace();
		exit_hit(frame, state, before);
		return;
	}
	smp_wmb();	/* @head is moved before anything is overwritten */
	ktau_place_fill(place, incl, frame->info + KTAU_WHAT_ARG +
			KTAU_WHAT(0, KTAU_TRACE_EXIT - KTAU_TRACE_ENTER, 0));
	/* Of any exit: to ask whether it is a system call's costs more. */
	place->arg = ktau_syscall_result();
	ktau_place_done(ring, place);
	incl -= frame->start;
	excl = incl - frame->child;
	if (unlikely((s64)excl < 0)) {
		preempt_enable_no_resched_notrace();
		exit_clamped(frame, state, incl);
		return;
	}
	ktau_add(sum, incl);
	ktau_book_cell(cell, incl, excl, !nested || ktau_is_outermost(frame));
	barrier();
	ktau_add(&state->end, 1);
	if (unlikely(ktau_ring_wakes(ring, nr)))
		ktau_ring_wake(ring);
	else
		preempt_enable_no_resched_notrace();
}

static noinline void exit_nested_traced(struct ktau_frame *frame,
					struct ktau_ref *ref,
					struct ktau_task *state,
					struct ktau_cell *cell)
{
	trace_fast(frame, ref, state, cell, true);
}

/* Bits of @info: traced without the profile, or an id of the second level. */
#define EXIT_SLOW	(KTAU_FRAME_TRACE_ONLY | (U16_MAX & -KTAU_ID_INDIRECT))

/*
 * A frame with a trace, or with an id that takes the second level of the table. @id is
 * that of @info. The arguments are where __ktau_exit() has them.
 */
static noinline void exit_unusual(struct ktau_frame *frame,
				  struct task_struct *tsk, unsigned int info,
				  unsigned int id, struct ktau_task *state)
{
	struct ktau_ref *ref = &tsk->ktau;
	struct ktau_chunk *chunk;
	struct ktau_cell *cell;

	BUILD_BUG_ON(KTAU_FRAME_TRACED ^ KTAU_WHAT(0, KTAU_TRACE_ENTER, 0));
	if (unlikely(info & EXIT_SLOW)) {
		exit_slow(frame, tsk);
		return;
	}
	chunk = state->chunk[id >> KTAU_CHUNK_SHIFT];
	if (unlikely(!chunk)) {
		exit_slow(frame, tsk);
		return;
	}
	cell = &chunk->cell[id & (KTAU_CHUNK_CELLS - 1)];
	OPTIMIZER_HIDE_VAR(cell);
	if (frame->prev)
		exit_nested_traced(frame, ref, state, cell);
	else
		trace_fast(frame, ref, state, cell, false);
}

/**
 * __ktau_exit() - close the innermost frame of the current task
 * @frame: that frame
 * @tsk: the current task
 *
 * Context: As its entry.
 */
void __ktau_exit(struct ktau_frame *frame, struct task_struct *tsk)
{
	struct ktau_ref *ref = &tsk->ktau;
	struct ktau_task *state = ref->state;
	unsigned int id = frame->info;
	struct ktau_chunk *chunk;
	struct ktau_cell *cell;

	/* Of the id and the bits above it, one comparison. */
	if (unlikely(id >= KTAU_ID_INDIRECT)) {
		exit_unusual(frame, tsk, id, (u16)id, state);
		return;
	}
	chunk = state->chunk[id >> KTAU_CHUNK_SHIFT];
	if (unlikely(!chunk)) {
		exit_slow(frame, tsk);
		return;
	}
	cell = &chunk->cell[id & (KTAU_CHUNK_CELLS - 1)];
	OPTIMIZER_HIDE_VAR(cell);	/* else it is made up in each use */
	if (frame->prev)
		exit_nested(frame, ref, state, cell);
	else
		exit_fast(frame, ref, state, cell, false);
}
EXPORT_SYMBOL_GPL(__ktau_exit);
NOKPROBE_SYMBOL(__ktau_exit);
