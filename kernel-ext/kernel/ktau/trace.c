// SPDX-License-Identifier: GPL-2.0-only
/*
 * KTAU: the trace, the writer's side. How a slot is written is said in ring.h; the
 * shortest way for the usual entry and exit is in profile.c.
 */
#include <linux/kprobes.h>
#include <linux/log2.h>
#include <linux/mm.h>
#include <linux/preempt.h>
#include <linux/smp.h>

#include "ktau.h"

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
	u64 wake_at = ring->tail + READ_ONCE(ktau_config.wake_slots);

	WRITE_ONCE(ring->wake_at, wake_at);
	smp_mb();	/* either he sees the mark, or his slots are seen here */
	if (ktau_read(&ring->head) < wake_at)
		return;
	WRITE_ONCE(ring->wake_at, U64_MAX);
	ktau_poll_wake();
}

static DEFINE_PER_CPU(struct irq_work, trace_wake_work) =
	IRQ_WORK_INIT(wake_pollers);

/* Places made ready at a time: a page. */
#define READY_STEP	(4096 / sizeof(struct ktau_place))

static void make_ready(struct ktau_ring *ring)
{
	u32 i, end = min_t(u32, ring->ready + READY_STEP, ring->size);

#pragma GCC unroll 8
	for (i = ring->ready; i < end; i++)
		ring->place[i].turn = i;
	if (end < ring->size)
		ring->place[end].turn = ~end;
	ring->ready = end;
}

/* Whether places below slot @end were not ready, and more are now. */
static noinline bool was_not_ready(struct ktau_ring *ring, u64 end)
{
	unsigned long flags;
	bool was_not;

	raw_local_irq_save(flags);
	was_not = ring->ready < ring->size && ring->ready < end;
	if (was_not)
		make_ready(ring);
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
	this_cpu_add(ktau_losses[KTAU_LOSS_NO_RING], nr);
}

/**
 * ktau_ring_wake() - wake those who wait for a ring to fill
 * @ring: one that has reached its mark
 *
 * Context: Any but NMI, on the CPU that runs the owner. Ends the writer's
 * preempt_disable_notrace(), so that it can be the last thing that one calls.
 */
void ktau_ring_wake(struct ktau_ring *ring)
{
	WRITE_ONCE(ring->wake_at, U64_MAX);
	ktau_irq_work(this_cpu_ptr(&trace_wake_work));
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
 * @id: event, or 0
 * @arg: by type
 *
 * As write() does, but by as little as it can be, and calling nothing.
 *
 * Context: Any but NMI, on the CPU that runs the owner.
 */
void ktau_trace(struct ktau_task *state, u64 ticks, unsigned int type,
		unsigned int id, u64 arg)
{
	const u32 what = KTAU_WHAT(id, type, 0);
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
 * @frame: the frame, the innermost one
 * @type: KTAU_TRACE_ENTER or KTAU_TRACE_EXIT
 * @sum: what the durations of interrupts are added to meanwhile
 * @before: gets what it was at that time
 *
 * Context: Any but NMI, on the CPU that runs the owner.
 * Return: When it happened; 0 if the slot was lost.
 */
u64 ktau_trace_frame(struct ktau_task *state, const struct ktau_frame *frame,
		     unsigned int type, const u64 *sum, u64 *before)
{
	u64 ticks = 0;

	if (likely(write(state, sum, before, &ticks,
			 KTAU_WHAT(ktau_frame_id(frame), type, 0), 0)))
		return ticks;
	lose(state, 1);
	return 0;
}

NOKPROBE_SYMBOL(ktau_trace_frame);

/**
 * ktau_trace_more() - write a slot that others belong to
 * @state: the owner
 * @type: KTAU_TRACE_*
 * @arg: by type
 * @more: the further slots; type and index need not be filled in
 * @nr: how many
 *
 * Context: Any but NMI, on the CPU that runs the owner.
 */
void ktau_trace_more(struct ktau_task *state, unsigned int type, u64 arg,
		     struct ktau_slot_more *more, unsigned int nr)
{
	struct ktau_place *place;
	struct ktau_ring *ring;
	u64 ticks = 0, first;
	unsigned int i;

	preempt_disable_notrace();
	ring = READ_ONCE(state->ring);
	if (!ring || !take(ring, nr + 1, NULL, NULL, &ticks, &first)) {
		preempt_enable_no_resched_notrace();
		lose(state, nr + 1);
		return;
	}
	place = ktau_place(ring, first);
	ktau_place_fill(place, ticks, KTAU_WHAT(0, type, nr));
	place->arg = arg;
	ktau_place_done(ring, place);
	for (i = 0; i < nr; i++) {
		place = ktau_place(ring, ++first);
		place->ticks = more[i].data[0];
		place->arg = more[i].data[1];
		place->what = KTAU_WHAT(more[i].small, KTAU_TRACE_MORE, i + 1);
		place->count = more[i].small2;
		ktau_place_done(ring, place);
	}
	if (unlikely(ktau_ring_wakes(ring, first + 1)))
		ktau_ring_wake(ring);
	else
		preempt_enable_no_resched_notrace();
}

static size_t place_bytes(u32 slots)
{
	return array_size(slots, sizeof(struct ktau_place));
}

/**
 * ktau_ring_bytes() - memory of a ring
 * @slots: its size
 *
 * Context: Any.
 * Return: Bytes.
 */
size_t ktau_ring_bytes(u32 slots)
{
	return sizeof(struct ktau_ring) + place_bytes(slots);
}

/**
 * ktau_ring_create() - make an empty ring
 * @slots: size, a power of two
 *
 * Context: May sleep.
 * Return: The ring, or NULL: no memory, counted.
 */
struct ktau_ring *ktau_ring_create(u32 slots)
{
	static atomic64_t last_serial;
	struct ktau_ring *ring = ktau_alloc(sizeof(*ring));
	struct ktau_place *place = ktau_alloc(place_bytes(slots));

	if (!ring || !place) {
		ktau_free(ring, sizeof(*ring));
		ktau_free(place, place_bytes(slots));
		return NULL;
	}
	*ring = (struct ktau_ring) {
		.wake_at = READ_ONCE(ktau_config.wake_slots),
		.serial = atomic64_inc_return(&last_serial),
		.mask = slots - 1,
		.size = slots,
		.place = place,
	};
	make_ready(ring);
	return ring;
}

/**
 * ktau_ring_lose() - count the slots that no reader has taken
 * @ring: one that nobody writes or reads any more
 * @reason: why none will
 *
 * Context: Any.
 */
void ktau_ring_lose(const struct ktau_ring *ring, enum ktau_loss reason)
{
	this_cpu_add(ktau_losses[reason], ring->head - ring->tail);
}

/**
 * ktau_ring_free() - free a ring that nobody writes or reads any more
 * @ring: the ring, or NULL
 *
 * Context: Any but NMI and not under a run-queue lock.
 */
void ktau_ring_free(struct ktau_ring *ring)
{
	if (!ring)
		return;
	ktau_free(ring->place, place_bytes(ring->size));
	ktau_free(ring, sizeof(*ring));
}
