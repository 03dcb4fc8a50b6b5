// SPDX-License-Identifier: GPL-2.0-only
/*
 * KTAU: the model, and the hot path that implements it.
 *
 * An event is a named instrumentation point. A frame is one activation of a timer event.
 * Frames are on the kernel stack and linked from the task, innermost first:
 *
 *	duration  of a frame = ticks from its entry to its exit
 *	exclusive time       = duration - durations of the frames directly inside
 *	inclusive time       = durations of the outermost activations of an event
 *
 * Interrupts and softirqs are frames of the task that they interrupt. They, and only
 * they, are also accounted in the table of the CPU.
 *
 * Example: a task is in read() from tick 0 to tick 100. A timer interrupt hits it from 20
 * to 30. From 40 to 90 it is off the CPU; it was woken at 85.
 *
 *	event		count	inclusive		exclusive
 *	sys_read	1	100			100 - 10 - 50 = 40
 *	local_timer	1	10			10
 *	schedule_vol_*	1	50			50 - 5 = 45
 *	schedule_wait	1	5 (85 to 90)		5
 *
 * Of the 100 ticks of sys_read, 45 were spent asleep, 5 in the run queue and 10 in
 * interrupts: see times.c.
 *
 * The exclusive times add up to 100, the duration of the outermost frame. At every
 * moment:
 *
 *	sum of exclusive + refused_ticks
 *		= outer_ticks + sum of child over the open frames
 *
 * A duration that is shorter than the frames inside it, as when the counters of two CPUs
 * are out of step, would break this. It is set to their sum, and counted as clamped. A
 * frame that is traced but not profiled has by definition the duration of the frames
 * inside it.
 *
 * Only the CPU that runs the owner writes a table, so there is no lock. An interrupt may
 * come between any two instructions and update the same table. So each addition is a
 * single instruction, or equivalent to one (arch.h), and an interrupt leaves the stack of
 * frames as it found it. snapshot.c describes how readers on other CPUs detect an
 * inconsistent copy.
 */
#include <linux/export.h>
#include <linux/kprobes.h>
#include <linux/preempt.h>
#include <linux/static_call.h>

#include "base/arch.h"
#include "base/ids.h"
#include "close.h"
#include "frame.h"
#include "ring.h"
#include "root.h"
#include "table.h"
#include "trace.h"

/*
 * The frame is traced only; or its entry was diverted to a handler that has been unregistered
 * before it got here. Then the task may have no ring.
 */
static noinline void enter_rare(struct task_struct *tsk, struct ktau_frame *frame, u32 flag,
				u64 arg)
{
	if (READ_ONCE(tsk->ktau.mask) & KTAU_MODE_PROFILE)
		ktau_open_untraced(tsk, frame);
	else
		ktau_enter_trace_only(tsk, frame, flag, arg);
}

/*
 * Open a frame and write its slot, on an open-coded fast path. @arg goes into the slot if
 * @flag is KTAU_WHAT_ARG.
 */
static __always_inline void trace_enter(struct task_struct *tsk,
					struct ktau_frame *frame, u32 flag,
					u64 arg)
{
	struct ktau_state *state = tsk->ktau.state;
	struct ktau_ring_slot *slot;
	struct ktau_ring *ring;
	u64 nr, now;

	/* these are the uppermost bits, which cannot be torn */
	if (unlikely(data_race(tsk->ktau.mask) < (KTAU_MODE_TRACE | KTAU_MODE_PROFILE))) {
		enter_rare(tsk, frame, flag, arg);
		return;
	}
	frame->info += KTAU_FRAME_TRACED;
	ktau_wmb();	/* interrupts find the frame complete from here on */
	tsk->ktau.top = frame;
	OPTIMIZER_HIDE_VAR(frame);	/* else gcc moves it to another register */
	preempt_disable_notrace();	/* neither the ring nor the CPU changes */
	ring = READ_ONCE(state->ring);
	nr = ktau_read(&ring->head);
	slot = ktau_ring_slot(ring, nr);
	OPTIMIZER_HIDE_VAR(slot);	/* else gcc recomputes it at each use */
	barrier();
	now = ktau_ticks();
	OPTIMIZER_HIDE_VAR(now);	/* keep it in one register */
	barrier();
	if (unlikely(!ktau_slot_is_free(slot, nr) || frame->child ||
		     !ktau_advance(&ring->head, &nr, 1))) {
		preempt_enable_no_resched_notrace();
		ktau_frame_start(state, frame, flag, arg);
		return;
	}
	ktau_write(&frame->start, now);
	smp_wmb();	/* @head is advanced before anything is overwritten */
	ktau_slot_fill(slot, now, frame->info | flag);
	if (flag)
		slot->arg = arg;
	ktau_slot_commit(ring, slot);
	if (unlikely(ktau_ring_wakes(ring, nr)))
		ktau_ring_wake(ring);
	else
		preempt_enable_no_resched_notrace();
}

/**
 * ktau_enter_traced() - open a frame that is traced, profiled or not
 * @tsk: the current task
 * @frame: uninitialised frame, except for its id, @prev, @start and @child
 *
 * Context: As __ktau_enter_frame().
 */
noinline void ktau_enter_traced(struct task_struct *tsk, struct ktau_frame *frame)
{
	trace_enter(tsk, frame, 0, 0);
}

/**
 * ktau_enter_traced_fault() - the same for a page fault
 * @tsk: the current task
 * @frame: as for ktau_enter_traced()
 * @address: the faulting address
 *
 * Context: As __ktau_enter_frame().
 */
noinline void ktau_enter_traced_fault(struct task_struct *tsk,
				      struct ktau_frame *frame,
				      unsigned long address)
{
	trace_enter(tsk, frame, KTAU_WHAT_ARG, address);
}

DEFINE_STATIC_CALL(ktau_divert_enter, ktau_enter_traced);
DEFINE_STATIC_CALL(ktau_divert_fault, ktau_enter_traced_fault);

/* Open a frame; @address is that of a page fault. */
static __always_inline void enter(struct task_struct *tsk,
				  struct ktau_frame *frame, bool fault,
				  unsigned long address)
{
	frame->prev = tsk->ktau.top;
	frame->start = 0;
	frame->child = 0;
	/* gcc tests several bits in memory, but the uppermost alone in a register. */
	if (unlikely(data_race(tsk->ktau.mask) & KTAU_MASK_DIVERT)) {
		if (fault)
			static_call(ktau_divert_fault)(tsk, frame, address);
		else
			static_call(ktau_divert_enter)(tsk, frame);
		return;
	}
	ktau_wmb();	/* interrupts find the frame complete from here on */
	tsk->ktau.top = frame;
	barrier();
	ktau_write(&frame->start, ktau_ticks());
	barrier();
	if (unlikely(frame->child))
		ktau_frame_start(tsk->ktau.state, frame, 0, 0);
}

/**
 * __ktau_enter_hit() - set the start time of a frame that was interrupted while it was opened
 * @tsk: the current task
 * @frame: the innermost frame, neither traced nor with an argument
 *
 * Context: As ktau_frame_start().
 */
void __ktau_enter_hit(struct task_struct *tsk, struct ktau_frame *frame)
{
	ktau_frame_start(tsk->ktau.state, frame, 0, 0);
}

/**
 * __ktau_enter_frame() - open a frame on the current task
 * @tsk: the current task
 * @frame: uninitialised frame on the kernel stack, except for its id
 *
 * Context: Any but NMI. The current task has a group enabled, so it has a state.
 */
void __ktau_enter_frame(struct task_struct *tsk, struct ktau_frame *frame)
{
	enter(tsk, frame, false, 0);
}
EXPORT_SYMBOL_GPL(__ktau_enter_frame);
NOKPROBE_SYMBOL(__ktau_enter_frame);

/* The first execution of a point. */
static noinline void enter_first(struct ktau_frame *frame, struct ktau_point *point)
{
	frame->info = ktau_point_id(point);
	if (likely(frame->info != KTAU_ID_NONE))
		enter(current, frame, false, 0);
}

/**
 * __ktau_enter_point() - open a frame of a point on the current task
 * @frame: uninitialised frame on the kernel stack
 *
 * Context: Any. In NMI, or if no id is left, no frame is opened.
 */
void __ktau_enter_point(struct ktau_frame *frame, struct ktau_point *point)
{
	unsigned int id = READ_ONCE(point->id);

	if (unlikely(in_nmi()))
		return;
	if (unlikely(id == KTAU_ID_NONE)) {
		enter_first(frame, point);
		return;
	}
	frame->info = id;
	enter(current, frame, false, 0);
}
EXPORT_SYMBOL_GPL(__ktau_enter_point);
NOKPROBE_SYMBOL(__ktau_enter_point);

/* Whether the root frame of a traced task is open and has no name yet. */
static __always_inline bool root_is_traced(struct task_struct *tsk)
{
	const struct ktau_frame *top = tsk->ktau.top;

	return top && top->info == (KTAU_ID_KERNEL | KTAU_FRAME_TRACE_NAME);
}

/**
 * __ktau_enter_from_user() - open a frame of an entry from user mode
 * @tsk: the current task
 * @frame: uninitialised frame on the kernel stack, except for its id
 *
 * Context: Task, with a group enabled.
 */
void __ktau_enter_from_user(struct task_struct *tsk, struct ktau_frame *frame)
{
	if (root_is_traced(tsk))
		static_call(ktau_divert_root)(tsk, frame, 0, 0);
	else
		enter(tsk, frame, false, 0);
}

/**
 * __ktau_enter_compat() - open a frame of a system call of another ABI
 * @frame: uninitialised frame on the kernel stack
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
 * @frame: uninitialised frame on the kernel stack
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
 * __ktau_enter_call() - open a frame of a function that a task calls
 * @frame: uninitialised frame on the kernel stack
 * @call: kind of the call
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
 * @frame: uninitialised frame on the kernel stack
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
 * @frame: uninitialised frame on the kernel stack, except for its id
 * @address: the faulting address
 *
 * Context: Any but NMI. The current task has a group enabled, so it has a state.
 */
void __ktau_enter_fault(struct task_struct *tsk, struct ktau_frame *frame,
			unsigned long address)
{
	enter(tsk, frame, true, address);
}

/**
 * __ktau_enter_user_fault() - open a frame of a page fault that may name the root frame
 * @tsk: the current task
 * @frame: uninitialised frame on the kernel stack, except for its id
 * @address: the faulting address
 *
 * Context: Any but NMI. The current task has a group enabled, so it has a state.
 */
void __ktau_enter_user_fault(struct task_struct *tsk, struct ktau_frame *frame,
			     unsigned long address)
{
	if (root_is_traced(tsk))
		static_call(ktau_divert_root)(tsk, frame, KTAU_WHAT_ARG, address);
	else
		enter(tsk, frame, true, address);
}

/**
 * ktau_exit_slow() - close any frame of the current task
 * @frame: the innermost frame of @tsk
 * @tsk: the current task
 *
 * The slow paths return nothing, because their callers would need stack space for the result.
 * Their first arguments are in the registers in which __ktau_exit() has them.
 *
 * Context: As its entry.
 */
noinline void ktau_exit_slow(struct ktau_frame *frame, struct task_struct *tsk)
{
	static_call(ktau_divert_leave)(frame, tsk);
}

DEFINE_STATIC_CALL(ktau_divert_exit, ktau_exit_slow);

/* An interrupt hit after the frame was unlinked, or there is no room in the ring. */
static noinline void exit_hit(struct ktau_frame *frame, struct task_struct *tsk,
			      u64 before)
{
	ktau_finish(frame, tsk->ktau.state, before);
}

/*
 * The clock went backwards, the activation is the longest one of its event or is inside
 * another one, the chunk is missing, or the frame does not take the path of timed().
 */
static noinline void exit_rare(struct ktau_frame *frame, struct task_struct *tsk, u64 incl)
{
	ktau_settle(frame, tsk->ktau.state, incl);
}

/*
 * End a frame with a wait or interrupt inside, as that of each call that sleeps, after it
 * has been unlinked. It is the outermost one of its event, and the event has slept before.
 */
static __always_inline void timed(struct ktau_frame *frame, struct task_struct *tsk, u64 incl,
				  struct ktau_cell *cell, const bool nested)
{
	/* negative without KTAU_CHILD_TIMED */
	const u64 inside = frame->child - KTAU_CHILD_TIMED, excl = incl - inside;
	struct ktau_state *state = tsk->ktau.state;
	const unsigned int id = ktau_frame_id(frame);
	struct ktau_frame *prev = nested ? frame->prev : NULL;
	struct ktau_times *times;

	if (unlikely((s64)(inside | excl) < 0 || ktau_is_longest(cell, incl) ||
		     !ktau_times_find(state, id, &times) ||
		     (nested && !ktau_is_outermost_in(prev, id)))) {
		exit_rare(frame, tsk, incl);
		return;
	}
	if (nested)
		ktau_times_pass(prev, &frame->base);
	ktau_add(nested ? &prev->child : &state->outer_ticks, incl);
	ktau_times_add(times, state, frame, inside);
	ktau_cell_end(cell, incl, excl);
	ktau_wmb();
	ktau_add(&state->end, 1);
}

static noinline void exit_timed(struct ktau_frame *frame, struct task_struct *tsk, u64 incl,
				struct ktau_cell *cell)
{
	timed(frame, tsk, incl, cell, false);
}

static noinline void exit_nested_timed(struct ktau_frame *frame, struct task_struct *tsk,
				       u64 incl, struct ktau_cell *cell)
{
	timed(frame, tsk, incl, cell, true);
}

/*
 * The usual exit: profiled, not traced, and no interrupt in the middle. It calls nothing,
 * so it need not save registers.
 */
static __always_inline void exit_fast(struct ktau_frame *frame, struct task_struct *tsk,
				      struct ktau_state *state, struct ktau_cell *cell,
				      const bool nested)
{
	struct ktau_frame *prev = nested ? frame->prev : NULL;
	u64 *sum = nested ? &prev->child : &state->outer_ticks;
	u64 before, incl, excl;

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
	if (unlikely((s64)excl < 0)) {
		if (nested)
			exit_nested_timed(frame, tsk, incl, cell);
		else
			exit_timed(frame, tsk, incl, cell);
		return;
	}
	if (unlikely(ktau_is_longest(cell, incl) ||
		     (nested && !ktau_is_outermost_in(prev, ktau_frame_id(frame))))) {
		exit_rare(frame, tsk, incl);
		return;
	}
	ktau_add(sum, incl);
	ktau_cell_end(cell, incl, excl);
	ktau_wmb();
	ktau_add(&state->end, 1);
}

/* The same for a frame that is also traced. */
static __always_inline void trace_fast(struct ktau_frame *frame,
				       struct task_struct *tsk,
				       struct ktau_state *state,
				       struct ktau_cell *cell, bool nested)
{
	struct ktau_frame *prev = nested ? frame->prev : NULL;
	u64 *sum = nested ? &prev->child : &state->outer_ticks;
	struct ktau_ring *ring;
	struct ktau_ring_slot *slot;
	u64 before, incl, excl, nr;

	ktau_add(&state->begin, 1);
	ktau_wmb();
	before = ktau_read(sum);
	barrier();
	WRITE_ONCE(tsk->ktau.top, prev);
	preempt_disable_notrace();	/* neither the ring nor the CPU changes */
	ring = READ_ONCE(state->ring);
	nr = ktau_read(&ring->head);
	slot = ktau_ring_slot(ring, nr);
	OPTIMIZER_HIDE_VAR(slot);
	barrier();
	incl = ktau_ticks();
	OPTIMIZER_HIDE_VAR(incl);
	barrier();
	if (unlikely(!ktau_slot_is_free(slot, nr) || ktau_differs(sum, before) ||
		     !ktau_advance(&ring->head, &nr, 1))) {
		preempt_enable_no_resched_notrace();
		exit_hit(frame, current, before); /* @tsk would need a register */
		return;
	}
	smp_wmb();	/* @head is advanced before anything is overwritten */
	ktau_slot_fill(slot, incl, frame->info + KTAU_WHAT_ARG +
			KTAU_WHAT(0, KTAU_TRACE_EXIT - KTAU_TRACE_ENTER, 0));
	/* For any exit: testing for a system call costs more than storing. */
	slot->arg = ktau_syscall_result();
	ktau_slot_commit(ring, slot);
	incl -= frame->start;
	excl = incl - frame->child;
	if (unlikely((s64)excl < 0 || ktau_is_longest(cell, incl) ||
		     (nested && !ktau_is_outermost_in(prev, ktau_frame_id(frame))))) {
		preempt_enable_no_resched_notrace();
		if (nested)
			exit_nested_timed(frame, current, incl, cell);
		else
			exit_timed(frame, current, incl, cell);
		return;
	}
	ktau_add(sum, incl);
	ktau_cell_end(cell, incl, excl);
	ktau_wmb();
	ktau_add(&state->end, 1);
	if (unlikely(ktau_ring_wakes(ring, nr)))
		ktau_ring_wake(ring);
	else
		preempt_enable_no_resched_notrace();
}

static noinline void exit_nested_traced(struct ktau_frame *frame,
					struct task_struct *tsk,
					struct ktau_state *state,
					struct ktau_cell *cell)
{
	trace_fast(frame, tsk, state, cell, true);
}

/* Bits of @info: traced only, for handlers, of a region, or an id of the second level. */
#define EXIT_SLOW	(KTAU_FRAME_TRACE_ONLY | KTAU_FRAME_HANDLED |	\
			 KTAU_FRAME_REGION | (U16_MAX & -KTAU_ID_INDIRECT))

/*
 * Close a frame that is traced, or whose id is in the second level of the table. @id is
 * that in @info. The order of the arguments is that of the registers in which
 * __ktau_exit() has them.
 */
static noinline void exit_unusual(struct ktau_frame *frame,
				  struct task_struct *tsk, unsigned int info,
				  unsigned int id, struct ktau_state *state)
{
	struct ktau_cell *cell;

	BUILD_BUG_ON(KTAU_FRAME_TRACED ^ KTAU_WHAT(0, KTAU_TRACE_ENTER, 0));
	if (unlikely(info & EXIT_SLOW)) {
		static_call(ktau_divert_exit)(frame, tsk);
		return;
	}
	cell = ktau_direct_cell(state, id);
	OPTIMIZER_HIDE_VAR(cell);
	if (frame->prev)
		exit_nested_traced(frame, tsk, state, cell);
	else
		trace_fast(frame, tsk, state, cell, false);
}

/**
 * __ktau_exit() - close the innermost frame of the current task
 * @tsk: the current task
 *
 * Context: As its entry.
 */
void __ktau_exit(struct ktau_frame *frame, struct task_struct *tsk)
{
	struct ktau_state *state = tsk->ktau.state;
	unsigned int id = frame->info;
	struct ktau_cell *cell;

	/* one comparison covers the id and the flags above it */
	if (unlikely(id >= KTAU_ID_INDIRECT)) {
		exit_unusual(frame, tsk, id, (u16)id, state);
		return;
	}
	cell = ktau_direct_cell(state, id);
	OPTIMIZER_HIDE_VAR(cell);	/* else gcc recomputes it at each use */
	if (frame->prev)
		exit_fast(frame, tsk, state, cell, true);
	else
		exit_fast(frame, tsk, state, cell, false);
}
EXPORT_SYMBOL_GPL(__ktau_exit);
NOKPROBE_SYMBOL(__ktau_exit);

/**
 * __ktau_exit_function() - close the innermost frame of the current task, of a hooked function
 * @tsk: the current task
 *
 * Unlike __ktau_exit(), it has a fast path for these ids, which are in the second level of
 * the table.
 *
 * Context: As its entry.
 */
void __ktau_exit_function(struct ktau_frame *frame, struct task_struct *tsk)
{
	struct ktau_state *state = tsk->ktau.state;
	unsigned int id = frame->info;
	struct ktau_cell *cell;

	if (unlikely(id > U16_MAX)) {	/* flags */
		static_call(ktau_divert_exit)(frame, tsk);
		return;
	}
	cell = ktau_function_cell(state, id);
	OPTIMIZER_HIDE_VAR(cell);	/* else gcc recomputes it at each use */
	if (frame->prev)
		exit_fast(frame, tsk, state, cell, true);
	else
		exit_fast(frame, tsk, state, cell, false);
}
