// SPDX-License-Identifier: GPL-2.0-only
/*
 * KTAU: the frames of interrupts and softirqs, which are booked to the CPU too.
 *
 * A task that is not selected, or that has told its parent of its end, takes no
 * frames; the CPU then holds them, so that its own table misses nothing.
 */
#include <linux/export.h>
#include <linux/preempt.h>

#include "frame.h"

DEFINE_PER_CPU(struct ktau_cpu, ktau_cpu);

/* A frame that no task takes. As in one of a task, what hits it once linked is inside. */
static void enter_cpu(struct ktau_cpu *cpu, struct ktau_frame *frame,
		      unsigned int id)
{
	u64 now, inside;

	frame->prev = cpu->top;
	frame->child = 0;
	frame->info = id;
	barrier();	/* an interrupt from here on finds it whole */
	WRITE_ONCE(cpu->top, frame);
	barrier();
	now = ktau_moment(&frame->child, &inside);
	frame->start = now - inside;
}

static __always_inline void cpu_enter(struct ktau_frame *frame,
				      unsigned int id, u32 group)
{
	struct task_struct *tsk = current;

	if (likely(READ_ONCE(tsk->ktau.mask) & group))
		__ktau_enter(frame, tsk, id);
	else
		enter_cpu(this_cpu_ptr(&ktau_cpu), frame, id);
}

/*
 * The same for an interrupt, or for the softirqs at its end: interrupts are off. What is
 * inside of the outermost one is the interrupt's time too.
 */
static __always_inline void irq_enter(struct ktau_frame *frame, unsigned int id,
				      u32 group)
{
	struct ktau_cpu *cpu = this_cpu_ptr(&ktau_cpu);

	if (likely(!cpu->irq))
		cpu->irq = frame;
	ktau_root_name(KTAU_ID_INTERRUPT_USER);
	cpu_enter(frame, id, group);
}

/**
 * __ktau_cpu_enter() - open a frame that is booked to the CPU too
 * @frame: room for it, on the kernel stack
 * @id: event
 * @group: KTAU_GROUP_* of the event
 *
 * Context: Interrupt or softirq.
 */
void __ktau_cpu_enter(struct ktau_frame *frame, unsigned int id, u32 group)
{
	cpu_enter(frame, id, group);
}

/**
 * __ktau_cpu_enter_point() - the same for a static point
 * @frame: room for it, on the kernel stack
 * @point: the point
 *
 * Context: Interrupt or softirq.
 */
void __ktau_cpu_enter_point(struct ktau_frame *frame, struct ktau_point *point)
{
	unsigned int id = ktau_point_id(point);

	if (likely(id != KTAU_ID_NONE && !in_nmi()))
		irq_enter(frame, id, point->group);
}

/**
 * __ktau_cpu_enter_irq() - the same for a device interrupt
 * @frame: room for it, on the kernel stack
 * @irq: its line
 *
 * Context: Interrupt.
 */
void __ktau_cpu_enter_irq(struct ktau_frame *frame, unsigned int irq)
{
	irq_enter(frame, ktau_irq_id(irq), KTAU_GROUP_IRQ);
}
EXPORT_SYMBOL_GPL(__ktau_cpu_enter_irq);

/**
 * __ktau_cpu_enter_call() - the same for a tasklet or a timer callback
 * @frame: room for it, on the kernel stack
 * @call: what it is
 * @fn: its function
 *
 * Context: Interrupt or softirq.
 */
void __ktau_cpu_enter_call(struct ktau_frame *frame, enum ktau_call call,
			   void *fn)
{
	cpu_enter(frame, ktau_call_id(call, fn), KTAU_GROUP_BH);
}

/* A frame that no task took. */
static struct ktau_ended leave_cpu(struct ktau_cpu *cpu, struct ktau_frame *frame)
{
	struct ktau_ended e = { .outermost = ktau_is_outermost(frame) };
	u64 inside;

	e.incl = ktau_moment(&frame->child, &inside) - frame->start;
	WRITE_ONCE(cpu->top, frame->prev);
	barrier();
	/* What has hit it since that moment is inside too. */
	e.inside = frame->child;
	e.incl += e.inside - inside;
	e.excl = e.incl - e.inside;
	if (unlikely((s64)e.excl < 0)) {
		e.incl = e.inside;
		e.excl = 0;
		ktau_add(&cpu->state->clamped, 1);
		ktau_loss(KTAU_LOSS_CLAMPED);
	}
	if (frame->prev)
		ktau_add(&frame->prev->child, e.incl);
	return e;
}

/* The outermost frame of an interrupt that hit the current task. */
static struct ktau_ended leave_irq(struct ktau_frame *frame)
{
	struct ktau_task *state = current->ktau.state;
	struct ktau_ended e;

	ktau_add(&state->begin, 1);
	barrier();
	e = ktau_leave(frame, current);
	ktau_add(&state->irq_ticks, e.incl);
	barrier();
	ktau_add(&state->end, 1);
	return e;
}

/**
 * __ktau_cpu_exit() - close a frame of __ktau_cpu_enter() and its like
 * @frame: a frame that may or may not have been entered
 *
 * Context: As its entry.
 */
void __ktau_cpu_exit(struct ktau_frame *frame)
{
	struct ktau_cpu *cpu = this_cpu_ptr(&ktau_cpu);
	struct ktau_task *state = cpu->state;
	bool irq = cpu->irq == frame;
	struct ktau_ended e;

	if (irq)
		cpu->irq = NULL;
	if (likely(current->ktau.top == frame))
		e = irq ? leave_irq(frame) : ktau_leave(frame, current);
	else if (cpu->top == frame)
		e = leave_cpu(cpu, frame);
	else
		return;

	if (frame->info & KTAU_FRAME_TRACE_ONLY)
		return;
	ktau_add(&state->begin, 1);
	barrier();
	if (irq)
		ktau_add(&state->irq_ticks, e.incl);
	/*
	 * Its frames nest in those of tasks, and theirs in its own: each adds its
	 * duration, but for what is inside and has been added, or is not the CPU's.
	 */
	ktau_add(&state->outer_ticks, e.incl - e.inside);
	ktau_book(state, ktau_frame_id(frame), e.incl, e.excl, e.outermost);
	barrier();
	ktau_add(&state->end, 1);
}
EXPORT_SYMBOL_GPL(__ktau_cpu_exit);
