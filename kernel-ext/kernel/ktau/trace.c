// SPDX-License-Identifier: GPL-2.0-only
/*
 * KTAU: the ring of trace slots, the writer's side.
 *
 * Like the profile, a ring is written only by the CPU that runs its owner, and
 * an interrupt may write inside another write. A write takes its slots by
 * moving @head, fills them, and adds them to @done: when both are equal,
 * everything below them is whole. The oldest slots are overwritten; the reader
 * knows from @head what it has missed.
 *
 * The clock is read between a look at @head and its move, which fails if an
 * interrupt has written meanwhile: so slots are in the order of their times.
 *
 * An interrupt that wrote as much as the whole ring inside another write would
 * leave that one to finish in a slot that is no longer its own. @floor keeps the
 * inner writes from getting there.
 */
#include <linux/kprobes.h>
#include <linux/log2.h>
#include <linux/mm.h>
#include <linux/preempt.h>
#include <linux/smp.h>
#include <linux/wait.h>

#include "ktau.h"

DECLARE_WAIT_QUEUE_HEAD(ktau_trace_wait);
/* How often some ring has reached its mark. Each reader compares with its own. */
atomic_t ktau_trace_fills;

static void wake_pollers(struct irq_work *work)
{
	atomic_inc(&ktau_trace_fills);
	wake_up_all(&ktau_trace_wait);
}

static DEFINE_PER_CPU(struct irq_work, trace_wake_work) =
	IRQ_WORK_INIT(wake_pollers);

static unsigned int context(void)
{
	unsigned int count = preempt_count();

	if (count & HARDIRQ_MASK)
		return KTAU_CTX_HARDIRQ;
	return count & SOFTIRQ_OFFSET ? KTAU_CTX_SOFTIRQ : KTAU_CTX_TASK;
}

/* Whether there is room for @nr slots behind @head. */
static __always_inline bool has_room(struct ktau_ring *ring, u64 head,
				     unsigned int nr)
{
	if (likely(head == ktau_read(&ring->done))) {
		WRITE_ONCE(ring->floor, head);
		return true;
	}
	return head + nr - ring->floor <= ring->mask + 1ULL;
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

	do {
		head = ktau_read(&ring->head);
		if (unlikely(!has_room(ring, head, nr)))
			return false;
		if (sum)
			*before = ktau_read(sum);
		barrier();
		if (!timed)
			*ticks = ktau_ticks();
		barrier();
	} while (unlikely(cmpxchg64_local(&ring->head, head, head + nr) != head));
	*first = head;
	return true;
}

static noinline void lose(struct ktau_task *state, unsigned int nr)
{
	ktau_add(&state->lost, nr);
	ktau_loss(KTAU_LOSS_NO_RING);
}

static __always_inline void finish(struct ktau_ring *ring, unsigned int nr)
{
	/* What is below @done has to be seen whole by other CPUs. */
	smp_wmb();
	ktau_add(&ring->done, nr);
	if (unlikely(ring->head >= READ_ONCE(ring->wake_at))) {
		WRITE_ONCE(ring->wake_at, U64_MAX);
		ktau_irq_work(this_cpu_ptr(&trace_wake_work));
	}
}

static __always_inline bool write(struct ktau_task *state,
				  const u64 *sum, u64 *before,
				  u64 *ticks, unsigned int type,
				  unsigned int id, u64 arg)
{
	struct ktau_ring *ring;
	struct ktau_slot *slot;
	bool written = false;
	u64 first;

	preempt_disable_notrace();	/* the ring stays, and so does the CPU */
	ring = READ_ONCE(state->ring);
	if (likely(ring && take(ring, 1, sum, before, ticks, &first))) {
		slot = &ring->slot[first & ring->mask];
		slot->ticks = *ticks;
		slot->arg = arg;
		slot->id = id;
		slot->type = type;
		slot->ctx = context();
		slot->cpu = raw_smp_processor_id();
		slot->more = 0;
		finish(ring, 1);
		written = true;
	}
	preempt_enable_no_resched_notrace();
	return written;
}

/**
 * ktau_trace() - write one slot
 * @state: the owner
 * @ticks: when it happened; 0: now. Interrupts are off if it is not 0.
 * @type: KTAU_TRACE_*
 * @id: event, or 0
 * @arg: by type
 *
 * Context: Any but NMI, on the CPU that runs the owner.
 */
void ktau_trace(struct ktau_task *state, u64 ticks, unsigned int type,
		unsigned int id, u64 arg)
{
	if (unlikely(!write(state, NULL, NULL, &ticks, type, id, arg)))
		lose(state, 1);
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

	if (likely(write(state, sum, before, &ticks, type,
			 ktau_frame_id(frame), 0)))
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
 * @more: the further slots; type and index are filled in here
 * @nr: how many
 *
 * Context: Any but NMI, on the CPU that runs the owner.
 */
void ktau_trace_more(struct ktau_task *state, unsigned int type, u64 arg,
		     struct ktau_slot_more *more, unsigned int nr)
{
	struct ktau_slot *leading;
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
	leading = &ring->slot[first & ring->mask];
	*leading = (struct ktau_slot) {
		.ticks = ticks,
		.arg = arg,
		.type = type,
		.ctx = context(),
		.cpu = raw_smp_processor_id(),
		.more = nr,
	};
	for (i = 0; i < nr; i++) {
		more[i].type = KTAU_TRACE_MORE;
		more[i].index = i + 1;
		memcpy(&ring->slot[(first + 1 + i) & ring->mask], &more[i],
		       sizeof(more[i]));
	}
	finish(ring, nr + 1);
	preempt_enable_no_resched_notrace();
}

static size_t ring_bytes(u32 slots)
{
	return struct_size_t(struct ktau_ring, slot, slots);
}

/**
 * ktau_ring_bytes() - memory of a ring
 * @ring: the ring
 *
 * Context: Any.
 * Return: Bytes.
 */
size_t ktau_ring_bytes(const struct ktau_ring *ring)
{
	return ring_bytes(ring->mask + 1);
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
	struct ktau_ring *ring = ktau_alloc_pages(ring_bytes(slots));

	if (ring) {
		ring->mask = slots - 1;
		ring->wake_at = READ_ONCE(ktau_config.wake_slots);
	}
	return ring;
}

/**
 * ktau_ring_free() - free a ring that nobody writes or reads any more
 * @ring: the ring, or NULL
 *
 * Context: May sleep.
 */
void ktau_ring_free(struct ktau_ring *ring)
{
	if (ring)
		ktau_free(ring, ktau_ring_bytes(ring));
}
