// SPDX-License-Identifier: LGPL-2.1-or-later
/*
 * The account of a task. The task is in the kernel while it has a frame, and in user mode
 * otherwise; all times off the CPU are inside frames. So user time is what is left of its life: it
 * includes what the programs do not see of the kernel, such as the entry code.
 */
#include "../util.h"
#include "account.h"

static bool is_before(const struct kb_frame *f)
{
	return f->id == KB_ID_BEFORE || f->id == KB_ID_BEFORE_KERNEL;
}

struct ktau__frames ktau__frames_of(const struct kb_state *st)
{
	struct ktau__frames frames = { st->frames, ktau__min(st->depth, KB_NR_FRAMES) };

	if (frames.depth && is_before(frames.first)) {
		frames.first++;
		frames.depth--;
	}
	return frames;
}

uint64_t ktau__irqs_ns(const struct kb_in_progress *irqs, uint64_t now)
{
	/* Interrupts that have ended during the softirq were counted when they ended. */
	if (irqs->soft_start)
		return ktau__less(now, irqs->hard_ns + irqs->soft_own_start);
	return irqs->hard_start ? ktau__less(now, irqs->hard_start) : 0;
}

uint64_t ktau__irq_now(const struct kb_state *st)
{
	return ktau__min(ktau__irqs_ns(&st->irqs_now, st->now), ktau__less(st->now, st->start));
}

void ktau__wait_of(const struct kb_state *st, uint64_t *asleep, uint64_t *runq)
{
	uint64_t took;

	*asleep = *runq = 0;
	if (st->off_since <= KB_ON_CPU || st->now <= st->off_since)
		return;
	/* By the task's clock; see get_cpu() of ktau.bpf.c. */
	took = ktau__less(st->now - st->stolen_ns - ktau__irq_now(st), st->off_own);
	if (st->off_asleep)
		*asleep = st->woken >= st->off_since && st->woken <= st->now ?
				  st->woken - st->off_since :
				  took;
	*asleep = ktau__min(*asleep, took);
	*runq = took - *asleep;
}

/*
 * The time in frames since the first one that is not that of the time before the first event. If
 * this is one of a task in an unknown mode, *@unknown is the rest of it.
 */
static uint64_t in_flight(const struct kb_state *st, uint64_t own, uint64_t *unknown)
{
	const struct ktau__frames frames = ktau__frames_of(st);
	uint64_t inside;

	*unknown = 0;
	if (!st->depth)
		return 0;
	if (st->frames[0].id != KB_ID_BEFORE)
		return ktau__less(own, st->frames[0].own_start);
	inside = st->frames[0].child;
	if (frames.depth)
		inside += ktau__less(own, frames.first->own_start);
	*unknown = ktau__less(ktau__less(own, st->frames[0].own_start), inside);
	return inside;
}

/* The time in the guest by the task's clock, without frames inside, such as a switch. */
static uint64_t guest_of(const struct kb_state *st, uint64_t own)
{
	const struct kb_frame *f = st->frames, *end = f + ktau__min(st->depth, KB_NR_FRAMES);
	uint64_t guest = st->guest_ns;

	for (; f < end; f++)
		if (f->id == KB_ID_GUEST)
			guest += ktau__less(f + 1 < end ? f[1].own_start : own,
					    f->own_start + f->child);
	return guest;
}

void ktau__parts_of(const struct kb_state *st, struct ktau__parts *parts)
{
	uint64_t own, kernel, asleep, runq, unknown;

	ktau__wait_of(st, &asleep, &runq);
	parts->irq = st->stolen_ns + ktau__irq_now(st);
	parts->asleep = st->asleep_ns + asleep;
	parts->runq = st->runq_ns + runq;
	/* By the task's clock, which stops during interrupts. */
	own = st->now - parts->irq;
	kernel = st->outer_ns + st->before_ns + in_flight(st, own, &unknown);
	/* Clamped durations may be longer than they were. */
	kernel = ktau__min(kernel, ktau__less(own, st->start));
	parts->kernel = ktau__less(kernel, parts->asleep + parts->runq);
	parts->guest = ktau__min(guest_of(st, own), parts->kernel);
	parts->kernel -= parts->guest;
	parts->user = ktau__less(ktau__less(own, st->start), kernel + unknown);
	parts->unknown = st->depth && st->frames[0].id == KB_ID_BEFORE;
}
