// SPDX-License-Identifier: LGPL-2.1-or-later
/*
 * The open frames of a task: those of its state, and inside them the interrupts in progress on its
 * CPU. Without the latter, an interrupt during a snapshot would wholly belong to the next period.
 */
#include "../util.h"
#include "account.h"
#include "exited.h"
#include "frames.h"
#include "trace.h"

/*
 * The time spent in interrupts before the frame began: the task's clock stops during interrupts, so
 * this is its distance from the real clock.
 */
static uint64_t stolen_at(const struct kb_frame *f)
{
	return f->start - f->own_start;
}

static void put(struct ktau__open *open, const struct ktau_open *frame)
{
	open->frames[open->nr++] = *frame;
	open->child_ticks += frame->child_ticks;
}

/* The ids are those of the cells in the CPU's table. */
static void put_irqs(struct ktau__open *open, const struct kb_in_progress *irqs, uint64_t now)
{
	uint64_t in_hard = irqs->hard_start ? ktau__less(now, irqs->hard_start) : 0;
	struct ktau_open hard = { .id = irqs->hard_cell, .start_ticks = irqs->hard_start };
	struct ktau_open soft = { .id = irqs->soft_cell, .start_ticks = irqs->soft_start };

	soft.child_ticks = ktau__less(irqs->hard_ns, irqs->soft_start - irqs->soft_own_start);
	soft.irq_ticks = soft.child_ticks + in_hard;
	*open = (struct ktau__open){ .nr = 0 };
	if (irqs->hard_start)
		put(open, &hard);
	if (irqs->soft_start)
		put(open, &soft);
	open->nr_irqs = open->nr;
	open->irq_child_ticks = open->child_ticks;
}

void ktau__open_of_cpu(const struct kb_in_progress *irqs, uint64_t now, struct ktau__open *open)
{
	uint32_t i;

	put_irqs(open, irqs, now);
	for (i = 0; i < open->nr; i++)
		open->frames[i].id = ktau__irq_id(open->frames[i].id);
}

/* The interrupts may have begun before the profile of the task. */
static void put_task_irqs(struct ktau__open *open, const struct kb_state *st)
{
	struct ktau_open *f;

	put_irqs(open, &st->irqs_now, st->now);
	open->child_ticks = 0;
	for (f = open->frames; f < open->frames + open->nr; f++) {
		f->id = ktau__irq_id(ktau__irq_of_task(st, f->id));
		if (f->start_ticks < st->start)
			f->start_ticks = st->start;
		f->child_ticks = ktau__min(f->child_ticks, st->stolen_ns);
		open->child_ticks += f->child_ticks;
	}
	open->irq_child_ticks = open->child_ticks;
}

void ktau__open_of_task(const struct kb_state *st, struct ktau__open *open)
{
	const struct ktau__frames frames = ktau__frames_of(st);
	uint64_t irq = st->stolen_ns + ktau__irq_now(st), inside, asleep, runq;
	const struct kb_frame *f;
	uint32_t i;

	put_task_irqs(open, st);
	inside = st->stolen_ns - open->irq_child_ticks;
	ktau__wait_of(st, &asleep, &runq);
	for (i = 0; i < frames.depth; i++) {
		f = &frames.first[frames.depth - 1 - i];
		if (f->was_off) {
			asleep += f->asleep;
			runq += f->runq;
		}
		put(open, &(struct ktau_open){
				  .id = f->id,
				  .start_ticks = f->start,
				  /* by the task's clock: add the interrupts before the next inner frame */
				  .child_ticks = f->child + inside - stolen_at(f),
				  .asleep_ticks = asleep,
				  .runq_ticks = runq,
				  .irq_ticks = irq - stolen_at(f),
			  });
		inside = stolen_at(f);
	}
}

uint64_t ktau__outer_of_task(const struct kb_state *st, const struct ktau__open *open)
{
	const struct ktau__frames frames = ktau__frames_of(st);
	uint64_t outer = st->outer_ns;

	/* Interrupts outside of frames are outermost frames themselves. */
	if (frames.depth)
		outer += stolen_at(frames.first);
	else
		outer += st->stolen_ns - open->irq_child_ticks;
	if (frames.first > st->frames)
		outer += st->frames[0].child;
	return outer;
}
