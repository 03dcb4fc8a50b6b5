// SPDX-License-Identifier: GPL-2.0-only
/*
 * KTAU: the frames of interrupts and softirqs, which are also accounted to the CPU.
 *
 * A task that is not selected, or that has reported its exit to its parent, takes no
 * frames. Then only the CPU has the frame, so its table is complete.
 *
 * Frames nest differently for the CPU. There may be frames of the task between those of
 * the CPU (a softirq calls tcp_v4_rcv(), and an interrupt hits that), and the CPU
 * accounts no time to them. So exclusive time for the task is not exclusive time for the
 * CPU, and a frame has a child sum for each. The CPU's outer_ticks is the sum of the
 * exclusive times.
 *
 * Entry and exit run with interrupts disabled. An NMI in between only adds, each time by a
 * single instruction. The table of a CPU is one array, so there is always a cell, and
 * nothing to allocate.
 *
 * An update increments neither begin nor end of a state. Between its first addition (to
 * outer_ticks or a child sum) and its last one (of the exclusive time) the identity
 * (profile.c) does not hold. A reader on another CPU notices that; see snapshot.c.
 */
#include <linux/export.h>
#include <linux/irqflags.h>
#include <linux/lockdep.h>
#include <linux/static_call.h>

#include "base/arch.h"
#include "base/core.h"
#include "base/event.h"
#include "base/ids.h"
#include "cpu.h"
#include "frame.h"
#include "table.h"
#include "times.h"

DEFINE_PER_CPU(struct ktau_cpu, ktau_cpu);
DEFINE_PER_CPU(struct ktau_cpu_frame *, ktau_cpu_top);
EXPORT_PER_CPU_SYMBOL_GPL(ktau_cpu_top);

/* The points in interrupt handlers, and the one around softirqs at the end of an interrupt. */
static DECLARE_BITMAP(interrupts, KTAU_NR_POINTS);

/**
 * ktau_is_irq_time() - whether the time of a frame is time in interrupts
 * @id: event of the frame
 *
 * Context: Any.
 * Return: Whether it is.
 */
bool ktau_is_irq_time(unsigned int id)
{
	if (id >= KTAU_ID_POINT && id < KTAU_ID_POINT + KTAU_NR_POINTS)
		return test_bit(id - KTAU_ID_POINT, interrupts);
	return id == KTAU_ID_OTHER_IRQ ||
	       (id >= KTAU_ID_IRQ && id < KTAU_ID_IRQ + KTAU_NR_LINES);
}

/* Name the root frame of a task that was interrupted in user mode, traced or not. */
static __always_inline void name_root(struct task_struct *tsk)
{
	struct ktau_frame *top = tsk->ktau.top;

	if (top && (top->info & ~KTAU_FRAME_TRACE_NAME) == KTAU_ID_KERNEL)
		WRITE_ONCE(top->info, KTAU_ID_INTERRUPT_USER);
}

/*
 * Open a frame for the current task if it is selected, and for the CPU. Everything inside
 * the outermost frame of an interrupt is interrupt time.
 */
static __always_inline void open(struct ktau_cpu_frame *both, unsigned int id,
				 u32 group, const bool irq)
{
	struct ktau_cpu_frame *outer = raw_cpu_read(ktau_cpu_top);
	struct ktau_frame *frame = &both->frame;
	struct task_struct *tsk = current;
	u32 mask;

	if (irq && (likely(!outer) || !raw_cpu_read(ktau_cpu.irq)))
		raw_cpu_write(ktau_cpu.irq, frame);
	if (irq && KTAU_ON(ACCOUNT))
		name_root(tsk);
	both->outer = outer;
	both->child = 0;
	frame->info = id;
	barrier();	/* an NMI adds to @child */
	raw_cpu_write(ktau_cpu_top, both);
	mask = READ_ONCE(tsk->ktau.mask) &
	       (group | KTAU_MODE_TRACE | KTAU_MASK_HANDLED);
	if (mask && likely(mask == group)) {
		frame->prev = tsk->ktau.top;
		frame->child = 0;
		frame->start = ktau_ticks();
		ktau_wmb();	/* a reader finds the frame complete */
		WRITE_ONCE(tsk->ktau.top, frame);
	} else if (mask & group) {
		__ktau_enter_frame(tsk, frame);
	} else {
		frame->start = ktau_ticks();
	}
}

/**
 * __ktau_cpu_enter() - open a frame that is also accounted to the CPU
 * @frame: uninitialised frame on the kernel stack
 * @id: event
 * @group: KTAU_GROUP_* of the event
 *
 * Context: Interrupt or softirq.
 */
void __ktau_cpu_enter(struct ktau_cpu_frame *frame, unsigned int id, u32 group)
{
	unsigned long flags;

	raw_local_irq_save(flags);
	open(frame, id, group, false);
	raw_local_irq_restore(flags);
}

/* The first execution of a point. */
static noinline void enter_first(struct ktau_cpu_frame *frame, struct ktau_point *point)
{
	unsigned int id = ktau_point_id(point);

	if (id == KTAU_ID_NONE)
		return;
	set_bit(id - KTAU_ID_POINT, interrupts);
	open(frame, id, point->group, true);
}

static __always_inline void enter_point(struct ktau_cpu_frame *frame,
					struct ktau_point *point, u32 group)
{
	unsigned int id = READ_ONCE(point->id);

	lockdep_assert_irqs_disabled();
	if (unlikely(id == KTAU_ID_NONE))
		enter_first(frame, point);
	else
		open(frame, id, group, true);
}

/**
 * __ktau_irq_enter_point() - open the frame of a point in an interrupt handler
 * @frame: uninitialised frame on the kernel stack
 *
 * Context: Interrupts disabled.
 */
void __ktau_irq_enter_point(struct ktau_cpu_frame *frame, struct ktau_point *point)
{
	enter_point(frame, point, KTAU_GROUP_IRQ);
}

/**
 * __ktau_bh_enter_point() - open the frame of the softirqs at the end of an interrupt
 * @frame: uninitialised frame on the kernel stack
 *
 * Context: Interrupts disabled.
 */
void __ktau_bh_enter_point(struct ktau_cpu_frame *frame, struct ktau_point *point)
{
	enter_point(frame, point, KTAU_GROUP_BH);
}

/**
 * __ktau_cpu_enter_irq() - open the frame of a device interrupt
 * @frame: uninitialised frame on the kernel stack
 * @irq: interrupt line
 *
 * Context: Interrupts disabled.
 */
void __ktau_cpu_enter_irq(struct ktau_cpu_frame *frame, unsigned int irq)
{
	lockdep_assert_irqs_disabled();
	open(frame, ktau_irq_id(irq), KTAU_GROUP_IRQ, true);
}
EXPORT_SYMBOL_GPL(__ktau_cpu_enter_irq);

/**
 * __ktau_cpu_enter_call() - open the frame of a callback that is also accounted to the CPU
 * @frame: uninitialised frame on the kernel stack
 * @call: kind of the callback
 *
 * Context: Interrupt or softirq.
 */
void __ktau_cpu_enter_call(struct ktau_cpu_frame *frame, enum ktau_call call,
			   void *fn)
{
	__ktau_cpu_enter(frame, ktau_call_id(call, fn), KTAU_GROUP_BH);
}

/* Whether no frame from @outer on has event @id. */
static __always_inline bool is_outermost(const struct ktau_cpu_frame *outer, u16 id)
{
	for (; outer; outer = outer->outer)
		/* no other CPU writes it; without READ_ONCE() it is compared in memory */
		if ((u16)data_race(outer->frame.info) == id)
			return false;
	return true;
}

/*
 * The rest of close_cpu(). It must end with a call, so that it need not save registers.
 */
static noinline void add_longest(struct ktau_state *state, unsigned int id, u64 incl,
				 u64 excl)
{
	ktau_table_longest(state, id, incl);
	ktau_wmb();	/* the exclusive time last */
	ktau_add(&state->cells[id].v[1], excl);
}

/*
 * Close a frame of event @id, with @outer around it, for the CPU. Only the outermost
 * activation of an event has inclusive time.
 */
static __always_inline void close_cpu(struct ktau_cpu_frame *outer, unsigned int id,
				      u64 incl, u64 excl, bool irq, bool outermost)
{
	struct ktau_state *state = raw_cpu_read(ktau_cpu.state);
	struct ktau_cell *cell = &state->cells[id];

	raw_cpu_write(ktau_cpu_top, outer);
	if (outer)
		ktau_add(&outer->child, incl);
	ktau_add(&state->outer_ticks, excl);
	ktau_wmb();	/* before anything else that a reader sees */
	if (irq) {
		raw_cpu_write(ktau_cpu.irq, NULL);
		ktau_add(&state->irq_ticks, incl);
	}
	ktau_add(&cell->count, 1);
	if (outermost) {
		ktau_add(&cell->v[0], incl);
		/* no other CPU writes it */
		if (unlikely(data_race(cell->v[2]) < incl)) {
			add_longest(state, id, incl, excl);
			return;
		}
	}
	ktau_wmb();	/* the exclusive time last */
	ktau_add(&cell->v[1], excl);
}

/*
 * The same for any frame. A duration that is shorter than the frames inside it is set to
 * their sum.
 */
static noinline void close_cpu_slow(struct ktau_cpu_frame *both, u64 incl, bool irq)
{
	unsigned int id = ktau_frame_id(&both->frame);
	u64 excl = incl - both->child;

	if (unlikely((s64)excl < 0)) {
		incl = both->child;
		excl = 0;
		ktau_add(&raw_cpu_read(ktau_cpu.state)->clamped, 1);
		ktau_loss(KTAU_LOSS_CLAMPED);
	}
	close_cpu(both->outer, id, incl, excl, irq, is_outermost(both->outer, id));
}

/* Close a frame that was opened for the CPU only. */
static __always_inline void untaken(struct ktau_cpu_frame *both,
				    struct ktau_cpu_frame *outer, bool irq)
{
	unsigned int id = both->frame.info;
	u64 incl = ktau_ticks() - both->frame.start;
	u64 excl = incl - both->child;

	if (unlikely((s64)excl < 0 || !is_outermost(outer, id)))
		close_cpu_slow(both, incl, irq);
	else
		close_cpu(outer, id, incl, excl, irq, true);
}

static noinline void close_untaken(struct ktau_cpu_frame *both, bool irq)
{
	untaken(both, both->outer, irq);
}

/* The same for an interrupt that hit no other one and no softirq. */
static noinline void close_untaken_irq(struct ktau_cpu_frame *both)
{
	untaken(both, NULL, true);
}

/*
 * Close any frame. The duration of the outermost frame of an interrupt is also the task's
 * interrupt time. The fast path leaves these frames to this function:
 * - the clock went backwards
 * - it is traced or reported to handlers
 * - it has no cell yet
 * - it contains an interrupt
 * - it is inside another frame of the same event
 * - it is the longest activation of its event
 */
static noinline void close_slow(struct ktau_cpu_frame *both, bool irq)
{
	struct ktau_state *state = current->ktau.state;
	struct ktau_frame *frame = &both->frame;
	struct ktau_ended e;

	ktau_add(&state->begin, 1);
	ktau_wmb();
	e = static_call(ktau_divert_leave)(frame, current);
	if (irq && !(frame->info & KTAU_FRAME_TRACE_ONLY))
		ktau_times_interrupt(frame, state, e.incl);
	ktau_wmb();
	ktau_add(&state->end, 1);
	if (!(frame->info & KTAU_FRAME_TRACE_ONLY)) {
		close_cpu_slow(both, e.incl, irq);
		return;
	}
	raw_cpu_write(ktau_cpu_top, both->outer);
	if (irq)
		raw_cpu_write(ktau_cpu.irq, NULL);
}

/*
 * Close a frame for the task and for the CPU. @prev is the frame around it for the task,
 * @outer that for the CPU.
 */
static __always_inline void close(struct ktau_cpu_frame *both, struct ktau_ref *ref,
				  struct ktau_frame *prev,
				  struct ktau_cpu_frame *outer, bool irq)
{
	struct ktau_frame *frame = &both->frame;
	struct ktau_state *state = ref->state;
	const unsigned int id = frame->info;
	struct ktau_cell *cell;
	u64 incl, excl, own;

	if (likely(id < KTAU_ID_INDIRECT)) {
		cell = ktau_direct_cell(state, id);
	} else if (likely(id < KTAU_NR_IDS)) {
		cell = ktau_indirect_cell(state, id);
	} else {
		close_slow(both, irq);	/* traced or handled */
		return;
	}
	OPTIMIZER_HIDE_VAR(cell);	/* else gcc recomputes it at each use */
	incl = ktau_ticks() - frame->start;
	excl = incl - frame->child;
	own = incl - data_race(both->child);	/* an NMI may add to it */
	if (unlikely((s64)excl < 0 || ktau_is_longest(cell, incl) || (s64)own < 0 ||
		     !is_outermost(outer, id))) {
		close_slow(both, irq);
		return;
	}
	ktau_add(ktau_outside(state, prev), incl);
	ktau_wmb();	/* before anything else that a reader sees */
	ktau_add(&cell->count, 1);
	ktau_add(&cell->v[0], incl);
	if (irq) {
		ktau_times_note(prev, state);
		ktau_add(&state->irq_ticks, incl);
	}
	ktau_wmb();
	WRITE_ONCE(ref->top, prev);
	ktau_wmb();	/* the exclusive time last */
	ktau_add(&cell->v[1], excl);
	close_cpu(outer, id, incl, own, irq, true);
}

static __always_inline void close_any(struct ktau_cpu_frame *both, bool irq)
{
	struct ktau_ref *ref = &current->ktau;

	if (unlikely(ref->top != &both->frame))
		close_untaken(both, irq);
	else
		close(both, ref, both->frame.prev, both->outer, irq);
}

/**
 * __ktau_cpu_exit() - close a frame that is also accounted to the CPU
 * @frame: the CPU's innermost frame
 *
 * Context: Interrupt or softirq, as __ktau_cpu_enter().
 */
void __ktau_cpu_exit(struct ktau_cpu_frame *frame)
{
	unsigned long flags;

	raw_local_irq_save(flags);
	close_any(frame, false);
	raw_local_irq_restore(flags);
}
EXPORT_SYMBOL_GPL(__ktau_cpu_exit);

/* Close the frame of an interrupt that hit another interrupt or a softirq. */
static noinline void close_irq_inner(struct ktau_cpu_frame *both)
{
	close_any(both, raw_cpu_read(ktau_cpu.irq) == &both->frame);
}

/* Close the frame of an interrupt that hit the kernel. */
static noinline void close_irq_nested(struct ktau_cpu_frame *both, struct ktau_ref *ref)
{
	close(both, ref, both->frame.prev, NULL, true);
}

/**
 * __ktau_irq_exit() - close the frame of an interrupt
 * @frame: the CPU's innermost frame
 *
 * Context: Interrupts disabled.
 */
void __ktau_irq_exit(struct ktau_cpu_frame *frame)
{
	struct ktau_ref *ref = &current->ktau;

	lockdep_assert_irqs_disabled();
	if (unlikely(frame->outer)) {
		close_irq_inner(frame);
		return;
	}
	if (unlikely(ref->top != &frame->frame))
		close_untaken_irq(frame);
	else if (frame->frame.prev)
		close_irq_nested(frame, ref);
	else
		close(frame, ref, NULL, NULL, true);
}
EXPORT_SYMBOL_GPL(__ktau_irq_exit);

/**
 * __ktau_nmi_enter() - an NMI, or an exception that is handled like one, begins
 *
 * Context: NMI.
 */
void __ktau_nmi_enter(void)
{
	struct ktau_cpu *cpu = raw_cpu_ptr(&ktau_cpu);

	if (ktau_nmi_may_add() && !cpu->nmi_depth++)
		cpu->nmi_ticks = ktau_ticks();
}

/**
 * __ktau_nmi_exit() - account an NMI to the CPU, if its beginning was seen
 *
 * The time is also part of the frame of the task that was interrupted. For the CPU it is
 * inside its innermost frame.
 *
 * Context: NMI.
 */
void __ktau_nmi_exit(void)
{
	struct ktau_cpu *cpu = raw_cpu_ptr(&ktau_cpu);
	struct ktau_cpu_frame *top = raw_cpu_read(ktau_cpu_top);
	struct ktau_state *state = cpu->state;
	u64 ticks;

	if (!cpu->nmi_depth || --cpu->nmi_depth)
		return;
	ticks = ktau_ticks() - cpu->nmi_ticks;
	if (top)
		ktau_add(&top->child, ticks);
	ktau_add(&state->outer_ticks, ticks);
	ktau_wmb();	/* the exclusive time last */
	ktau_cell_account(&state->cells[KTAU_ID_NMI], ticks, ticks, true);
}
