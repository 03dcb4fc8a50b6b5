// SPDX-License-Identifier: GPL-2.0-only
/*
 * KTAU: the trace, the writer's side. How a slot is written is said in ring.h; the
 * shortest way for the usual entry and exit is in profile.c.
 */
#include <linux/kprobes.h>
#include <linux/preempt.h>
#include <linux/smp.h>

#include "arch.h"
#include "core.h"
#include "defer.h"
#include "grow.h"
#include "poll.h"
#include "ring.h"
#include "trace.h"

static void wake_pollers(struct irq_work *work)
{
	ktau_poll_wake();
}

/**
 * ktau_ring_rearm() - wake pollers when there are slots enough again
 * @ring: one that has been read, its @tail set
 *
 * A writer who came by while it was read has woken nobody.
 *
 * Context: Task; the ktau_task's read_lock held.
 */
void ktau_ring_rearm(struct ktau_ring *ring)
{
	u64 poll_at = ring->tail + READ_ONCE(ktau_config.watermark_slots);

	WRITE_ONCE(ring->poll_at, poll_at);
	smp_mb();	/* pairs with ktau_ring_wake() */
	WRITE_ONCE(ring->wake_at, min(poll_at, READ_ONCE(ring->grow_at)));
	smp_mb();	/* the writer sees the mark, or its slots are seen here */
	if (ktau_read(&ring->head) < poll_at)
		return;
	WRITE_ONCE(ring->poll_at, U64_MAX);
	ktau_poll_wake();
}

static DEFINE_PER_CPU(struct irq_work, trace_wake_work) =
	IRQ_WORK_INIT(wake_pollers);

/* Whether places below slot @end were not ready, and more are now. */
static noinline bool was_not_ready(struct ktau_ring *ring, u64 end)
{
	unsigned long flags;
	bool was_not;

	raw_local_irq_save(flags);
	was_not = ring->ready < ring->first + ring->size && ring->ready < end;
	if (was_not)
		ktau_ring_make_ready(ring);
	raw_local_irq_restore(flags);
	return was_not;
}

/* Whether it is the turn of all @nr slots from @head on. */
static __always_inline bool has_room(struct ktau_ring *ring, u64 head,
				     unsigned int nr)
{
	unsigned int i;

	for (i = 0; i < nr; i++)
		if (unlikely(!ktau_place_is_free(ktau_place(ring, head + i),
						 head + i)))
			return false;
	return true;
}

/*
 * Take @nr slots, and the time, unless @ticks has one: then interrupts are off.
 * With a sum, @before gets what it was at that time.
 */
static __always_inline bool take(struct ktau_ring *ring, unsigned int nr,
				 const u64 *sum, u64 *before,
				 u64 *ticks, u64 *first)
{
	bool timed = *ticks;
	u64 head;

	for (;;) {
		head = ktau_read(&ring->head);
		if (unlikely(!has_room(ring, head, nr))) {
			/* Or an interrupt has taken them since: its turn is over. */
			if (!was_not_ready(ring, head + nr) &&
			    !ktau_differs(&ring->head, head))
				return false;
			continue;
		}
		*first = head;
		if (sum)
			*before = ktau_read(sum);
		barrier();
		if (!timed)
			*ticks = ktau_ticks();
		barrier();
		if (likely(!(sum && ktau_differs(sum, *before)) &&
			   ktau_advance(&ring->head, &head, nr)))
			break;
	}
	smp_wmb();	/* @head is moved before anything is overwritten */
	return true;
}

static noinline void lose(struct ktau_task *state, unsigned int nr)
{
	ktau_add(&state->lost, nr);
	ktau_loss_of(state->user, KTAU_LOSS_NO_RING, nr);
}

/**
 * ktau_ring_wake() - a ring has reached its mark: wake pollers, or let it grow
 * @ring: the ring
 *
 * Context: Any but NMI, on the CPU that runs the owner. Ends the writer's
 * preempt_disable_notrace(), so that it can be the last thing that one calls.
 */
void ktau_ring_wake(struct ktau_ring *ring)
{
	u64 head, poll_at, grow_at;
	unsigned long flags;

	raw_local_irq_save(flags);
	head = ktau_read(&ring->head);
	if (head >= READ_ONCE(ring->poll_at)) {
		WRITE_ONCE(ring->poll_at, U64_MAX);
		ktau_irq_work(this_cpu_ptr(&trace_wake_work));
	}
	if (head >= READ_ONCE(ring->grow_at))
		ktau_ring_ask(ring, head);
	do {
		poll_at = READ_ONCE(ring->poll_at);
		grow_at = READ_ONCE(ring->grow_at);
		WRITE_ONCE(ring->wake_at, min(poll_at, grow_at));
		smp_mb();	/* a mark set meanwhile is in @wake_at, or seen here */
	} while (READ_ONCE(ring->poll_at) != poll_at ||
		 READ_ONCE(ring->grow_at) != grow_at);
	raw_local_irq_restore(flags);
	preempt_enable_no_resched_notrace();
}

static __always_inline bool write(struct ktau_task *state, const u64 *sum,
				  u64 *before, u64 *ticks, u32 what, u64 arg)
{
	struct ktau_place *place;
	struct ktau_ring *ring;
	u64 nr;

	preempt_disable_notrace();	/* the ring stays, and so does the CPU */
	ring = READ_ONCE(state->ring);
	if (likely(ring && take(ring, 1, sum, before, ticks, &nr))) {
		place = ktau_place(ring, nr);
		ktau_place_fill(place, *ticks, what);
		place->arg = arg;
		ktau_place_done(ring, place);
		if (unlikely(ktau_ring_wakes(ring, nr + 1)))
			ktau_ring_wake(ring);
		else
			preempt_enable_no_resched_notrace();
		return true;
	}
	preempt_enable_no_resched_notrace();
	return false;
}

/* Whatever stands in the way of a slot by itself. */
static noinline void trace_slow(struct ktau_task *state, u64 ticks, u32 what,
				u64 arg)
{
	if (!write(state, NULL, NULL, &ticks, what, arg))
		lose(state, 1);
}

/**
 * ktau_trace() - write one slot
 * @state: the owner
 * @ticks: when it happened; 0: now. Interrupts are off if it is not 0.
 * @type: KTAU_TRACE_*
 * @small: event, or 16 bits of data
 * @arg: by type
 *
 * As write() does, but by as little as it can be, and calling nothing.
 *
 * Context: Any but NMI, on the CPU that runs the owner.
 */
void ktau_trace(struct ktau_task *state, u64 ticks, unsigned int type,
		unsigned int small, u64 arg)
{
	const u32 what = KTAU_WHAT(small, type, 0);
	struct ktau_place *place;
	struct ktau_ring *ring;
	u64 nr, now = ticks;

	preempt_disable_notrace();	/* the ring stays, and so does the CPU */
	ring = READ_ONCE(state->ring);
	if (unlikely(!ring))
		goto slow;
	nr = ktau_read(&ring->head);
	place = ktau_place(ring, nr);
	OPTIMIZER_HIDE_VAR(place);	/* else it is made up in each use */
	OPTIMIZER_HIDE_VAR(nr);		/* in one register, not two */
	barrier();
	if (!now)
		now = ktau_ticks();
	barrier();
	if (unlikely(!ktau_place_is_free(place, nr) ||
		     !ktau_advance(&ring->head, &nr, 1)))
		goto slow;
	smp_wmb();	/* @head is moved before anything is overwritten */
	ktau_place_fill(place, now, what);
	place->arg = arg;
	ktau_place_done(ring, place);
	if (unlikely(ktau_ring_wakes(ring, nr)))
		ktau_ring_wake(ring);
	else
		preempt_enable_no_resched_notrace();
	return;
slow:
	preempt_enable_no_resched_notrace();
	trace_slow(state, ticks, what, arg);
}

/**
 * ktau_trace_frame() - write the slot of an entry or exit
 * @state: the owner
 * @what: KTAU_WHAT() of it, with KTAU_WHAT_ARG if @arg says something
 * @arg: faulting address or result
 * @sum: what the durations of interrupts are added to meanwhile
 * @before: gets what it was at that time
 *
 * Context: Any but NMI, on the CPU that runs the owner.
 * Return: When it happened; 0 if the slot was lost.
 */
u64 ktau_trace_frame(struct ktau_task *state, u32 what, u64 arg,
		     const u64 *sum, u64 *before)
{
	u64 ticks = 0;

	if (likely(write(state, sum, before, &ticks, what, arg)))
		return ticks;
	lose(state, 1);
	return 0;
}

NOKPROBE_SYMBOL(ktau_trace_frame);

/* @what says how many further places there are; @ticks as for ktau_trace(). */
static void trace_more(struct ktau_task *state, u64 ticks, u32 what, u64 arg,
		       const struct ktau_slot_more *more)
{
	const unsigned int nr = KTAU_WHAT_MORE(what);
	struct ktau_place *place;
	struct ktau_ring *ring;
	unsigned int i;
	u64 first;

	preempt_disable_notrace();
	ring = READ_ONCE(state->ring);
	if (!ring || !take(ring, nr + 1, NULL, NULL, &ticks, &first)) {
		preempt_enable_no_resched_notrace();
		lose(state, nr + 1);
		return;
	}
	place = ktau_place(ring, first);
	ktau_place_fill(place, ticks, what);
	place->arg = arg;
	ktau_place_done(ring, place);
	for (i = 0; i < nr; i++) {
		place = ktau_place(ring, ++first);
		place->ticks = more[i].data[0];
		place->arg = more[i].data[1];
		place->what = KTAU_WHAT(more[i].small, KTAU_TRACE_MORE, i + 1);
		place->count = more[i].small2;
		place->cpu = 0;
		ktau_place_done(ring, place);
	}
	if (unlikely(ktau_ring_wakes(ring, first + 1)))
		ktau_ring_wake(ring);
	else
		preempt_enable_no_resched_notrace();
}

/**
 * ktau_trace_woken() - write that the owner runs after it was woken
 * @state: the owner
 * @ticks: when it got the CPU; interrupts are off
 * @waking_ticks: when it was woken
 *
 * Context: On the CPU that runs the owner.
 */
void ktau_trace_woken(struct ktau_task *state, u64 ticks, u64 waking_ticks)
{
	const struct ktau_slot_more more = { .data = { waking_ticks } };
	const struct ktau_waker *waker = &state->waker;

	trace_more(state, ticks, KTAU_WHAT(waker->cpu, KTAU_TRACE_WOKEN, 1),
		   ktau_pack_serial(waker->serial, waker->context, 0), &more);
}

/**
 * ktau_trace_more() - write a slot that takes several places
 * @state: the owner
 * @what: KTAU_WHAT() of the first place, without the number of further ones
 * @arg: by type
 * @more: what the further places hold
 * @nr: how many, less than KTAU_SLOT_MAX_PLACES
 *
 * Context: Any but NMI, on the CPU that runs the owner.
 */
void ktau_trace_more(struct ktau_task *state, u32 what, u64 arg,
		     const struct ktau_slot_more *more, unsigned int nr)
{
	trace_more(state, 0, what | KTAU_WHAT(0, 0, nr), arg, more);
}
