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

/* The interrupts, which may have begun before the profile of the task. */
static void put_irq(struct ktau__open *open, const struct kb_state *st, uint32_t cell,
		    struct ktau_open frame)
{
	frame.id = ktau__irq_id(ktau__irq_of_task(st, cell));
	if (frame.start_ticks < st->start)
		frame.start_ticks = st->start;
	frame.child_ticks = ktau__min(frame.child_ticks, st->stolen_ns);
	put(open, &frame);
}

static void put_irqs(struct ktau__open *open, const struct kb_state *st)
{
	const struct kb_in_progress *irqs = &st->irqs_now;
	uint64_t in_hard = irqs->hard_start ? ktau__less(st->now, irqs->hard_start) : 0;
	uint64_t ended = ktau__less(irqs->hard_ns, irqs->soft_start - irqs->soft_own_start);

	if (irqs->hard_start)
		put_irq(open, st, irqs->hard_cell,
			(struct ktau_open){ .start_ticks = irqs->hard_start });
	if (irqs->soft_start)
		put_irq(open, st, irqs->soft_cell,
			(struct ktau_open){ .start_ticks = irqs->soft_start,
					    .child_ticks = ended,
					    .irq_ticks = ended + in_hard });
	open->irq_child_ticks = open->child_ticks;
}

void ktau__open_of_task(const struct kb_state *st, struct ktau__open *open)
{
	const struct ktau__frames frames = ktau__frames_of(st);
	uint64_t irq = st->stolen_ns + ktau__irq_now(st), inside, asleep, runq;
	const struct kb_frame *f;
	uint32_t i;

	*open = (struct ktau__open){ .nr = 0 };
	put_irqs(open, st);
	inside = st->stolen_ns - open->irq_child_ticks;
	ktau__wait_of(st, &asleep, &runq);
	for (i = 0; i < frames.depth; i++) {
		f = &frames.first[frames.depth - 1 - i];
		if (f->was_off) {
			asleep += f->asleep;
			runq += f->runq;
		}
		/* By the task's clock: the interrupts before the next inner frame are added. */
		put(open, &(struct ktau_open){
				  .id = f->id,
				  .start_ticks = f->start,
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
