// SPDX-License-Identifier: GPL-2.0-only
/*
 * KTAU: the frames of interrupts and softirqs, which are also accounted to the CPU.
 *
 * A task that is not selected, or that has reported its exit to its parent, takes no
 * frames. The CPU then has a frame of its own, so its table is complete.
 *
 * Frames nest differently for the CPU. There may be frames of the task between those of
 * the CPU (a softirq calls tcp_v4_rcv(), and an interrupt hits that), and the CPU
 * accounts no time to them. So exclusive time for the task is not exclusive time for the
 * CPU. Each frame of the CPU notes the CPU's sum when it begins. Each adds its exclusive
 * time to that sum when it ends, so the growth of the sum during a frame is the time of
 * all the CPU's frames inside.
 *
 * The sum must be read at the same moment as the clock, so interrupts are disabled from
 * one to the other.
 */
#include <linux/export.h>
#include <linux/irqflags.h>
#include <linux/preempt.h>

#include "arch.h"
#include "core.h"
#include "cpu.h"
#include "frame.h"
#include "ids.h"
#include "table.h"
#include "times.h"

DEFINE_PER_CPU(struct ktau_cpu, ktau_cpu);

static void enter_cpu(struct ktau_cpu *cpu, struct ktau_frame *frame,
		      unsigned int id)
{
	frame->prev = cpu->top;
	frame->child = 0;
	frame->info = id;
	WRITE_ONCE(cpu->top, frame);
	frame->start = ktau_ticks();
}

static __always_inline void cpu_enter(struct ktau_cpu_frame *frame,
				      unsigned int id, u32 group)
{
	struct task_struct *tsk = current;
	struct ktau_cpu *cpu;
	unsigned long flags;

	local_irq_save(flags);
	cpu = this_cpu_ptr(&ktau_cpu);
	frame->before = cpu->state->outer_ticks;
	if (likely(READ_ONCE(tsk->ktau.mask) & group))
		__ktau_enter(&frame->frame, tsk, id);
	else
		enter_cpu(cpu, &frame->frame, id);
	local_irq_restore(flags);
}

/* Name the root frame of a task that was interrupted in user mode, traced or not. */
static __always_inline void name_root(struct task_struct *tsk)
{
	struct ktau_frame *top;

	if (!KTAU_ON(ACCOUNT))
		return;
	top = tsk->ktau.top;
	if (top && ktau_frame_id(top) == KTAU_ID_KERNEL)
		WRITE_ONCE(top->info, KTAU_ID_INTERRUPT_USER);
}

/*
 * Open the frame of an interrupt, or of the softirqs at its end, with interrupts
 * disabled. Everything inside the outermost one is interrupt time.
 */
static __always_inline void irq_enter(struct ktau_cpu_frame *frame, unsigned int id,
				      u32 group)
{
	struct ktau_cpu *cpu = this_cpu_ptr(&ktau_cpu);

	if (likely(!cpu->irq))
		cpu->irq = &frame->frame;
	name_root(current);
	cpu_enter(frame, id, group);
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
	cpu_enter(frame, id, group);
}

/**
 * __ktau_cpu_enter_point() - open such a frame for a point
 * @frame: uninitialised frame on the kernel stack
 * @point: the point
 *
 * Context: Interrupt or softirq.
 */
void __ktau_cpu_enter_point(struct ktau_cpu_frame *frame,
			    struct ktau_point *point)
{
	unsigned int id = ktau_point_id(point);

	if (likely(id != KTAU_ID_NONE && !in_nmi()))
		irq_enter(frame, id, point->group);
}

/**
 * __ktau_cpu_enter_irq() - open such a frame for a device interrupt
 * @frame: uninitialised frame on the kernel stack
 * @irq: interrupt line
 *
 * Context: Interrupt.
 */
void __ktau_cpu_enter_irq(struct ktau_cpu_frame *frame, unsigned int irq)
{
	irq_enter(frame, ktau_irq_id(irq), KTAU_GROUP_IRQ);
}
EXPORT_SYMBOL_GPL(__ktau_cpu_enter_irq);

/**
 * __ktau_cpu_enter_call() - open such a frame for a callback
 * @frame: uninitialised frame on the kernel stack
 * @call: kind of the callback
 * @fn: its function
 *
 * Context: Interrupt or softirq.
 */
void __ktau_cpu_enter_call(struct ktau_cpu_frame *frame, enum ktau_call call,
			   void *fn)
{
	cpu_enter(frame, ktau_call_id(call, fn), KTAU_GROUP_BH);
}

/*
 * Close a frame of the current task. If it is the outermost frame of an interrupt, its
 * time is also the task's interrupt time.
 */
static struct ktau_ended leave_task(struct ktau_frame *frame, bool irq)
{
	struct ktau_state *state = current->ktau.state;
	struct ktau_ended e;

	ktau_add(&state->begin, 1);
	barrier();
	e = ktau_leave(frame, current);
	if (irq && !(frame->info & KTAU_FRAME_TRACE_ONLY))
		ktau_times_interrupt(frame, state, e.incl);
	barrier();
	ktau_add(&state->end, 1);
	return e;
}

/*
 * Close a frame that the CPU has instead of a task. The time inside follows from the
 * CPU's sum.
 */
static struct ktau_ended leave_cpu(struct ktau_cpu *cpu, struct ktau_frame *frame)
{
	struct ktau_ended e = {
		.incl = ktau_ticks() - frame->start,
		.outermost = ktau_is_outermost(frame),
	};

	WRITE_ONCE(cpu->top, frame->prev);
	return e;
}

/* Account an ended frame to the CPU. */
static void account(struct ktau_state *state, const struct ktau_cpu_frame *frame,
		    struct ktau_ended e, bool irq)
{
	e.inside = state->outer_ticks - frame->before;
	e.excl = e.incl - e.inside;
	if (unlikely((s64)e.excl < 0)) {
		e.incl = e.inside;
		e.excl = 0;
		ktau_add(&state->clamped, 1);
		ktau_loss(KTAU_LOSS_CLAMPED);
	}
	ktau_add(&state->begin, 1);
	barrier();
	ktau_add(&state->outer_ticks, e.excl);
	if (irq) {
		ktau_add(&state->irq_ticks, e.incl);
		ktau_add(&state->root.child, e.incl);
	}
	ktau_table_account(state, ktau_frame_id(&frame->frame), e.incl, e.excl, e.outermost);
	barrier();
	ktau_add(&state->end, 1);
}

/**
 * __ktau_cpu_exit() - close a frame that is also accounted to the CPU
 * @frame: a frame that may or may not have been entered
 *
 * Context: As its entry.
 */
void __ktau_cpu_exit(struct ktau_cpu_frame *frame)
{
	struct ktau_cpu *cpu = this_cpu_ptr(&ktau_cpu);
	const bool irq = cpu->irq == &frame->frame;
	struct ktau_ended e;
	unsigned long flags;

	if (current->ktau.top != &frame->frame && cpu->top != &frame->frame)
		return;
	local_irq_save(flags);
	if (irq)
		cpu->irq = NULL;
	if (likely(current->ktau.top == &frame->frame))
		e = leave_task(&frame->frame, irq);
	else
		e = leave_cpu(cpu, &frame->frame);
	if (!(frame->frame.info & KTAU_FRAME_TRACE_ONLY))
		account(cpu->state, frame, e, irq);
	local_irq_restore(flags);
}
EXPORT_SYMBOL_GPL(__ktau_cpu_exit);

/**
 * __ktau_nmi_enter() - an NMI, or an exception that is handled like one, begins
 *
 * Context: NMI.
 */
void __ktau_nmi_enter(void)
{
	struct ktau_cpu *cpu = this_cpu_ptr(&ktau_cpu);

	if (!cpu->nmi_depth++)
		cpu->nmi_ticks = ktau_ticks();
}

/**
 * __ktau_nmi_exit() - account an NMI to the CPU, if its beginning was seen
 *
 * The cell of NMIs was allocated before the group was enabled. The time is also part of
 * the interrupted frame, except for that of an interrupt in the table of the CPU.
 *
 * Context: NMI.
 */
void __ktau_nmi_exit(void)
{
	struct ktau_cpu *cpu = this_cpu_ptr(&ktau_cpu);
	struct ktau_state *state = cpu->state;
	struct ktau_chunk *chunk;
	u64 ticks;

	if (!cpu->nmi_depth || --cpu->nmi_depth)
		return;
	chunk = state->chunk[KTAU_ID_NMI >> KTAU_CHUNK_SHIFT];
	if (!chunk)
		return;
	ticks = ktau_ticks() - cpu->nmi_ticks;
	ktau_add(&state->begin, 1);
	barrier();
	ktau_add(&state->outer_ticks, ticks);
	ktau_cell_account(&chunk->cell[KTAU_ID_NMI & (KTAU_CHUNK_CELLS - 1)], ticks,
			  ticks, true);
	barrier();
	ktau_add(&state->end, 1);
}
