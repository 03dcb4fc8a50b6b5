// SPDX-License-Identifier: GPL-2.0-only
/*
 * KTAU: the ring of trace slots, the writer's side.
 *
 * Like the profile, a ring is written only by the CPU that runs its owner, and
 * an interrupt may write inside another write. A write takes its slots by one
 * addition to @head, fills them, and adds them to @done: when both are equal,
 * everything below them is whole. The oldest slots are overwritten; the reader
 * knows from @head what it has missed.
 *
 * An interrupt that wrote as much as the whole ring inside another write would
 * leave that one to finish in a slot that is no longer its own. @floor keeps the
 * inner writes from getting there.
 */
#include <linux/irq_work.h>
#include <linux/kprobes.h>
#include <linux/log2.h>
#include <linux/mm.h>
#include <linux/preempt.h>
#include <linux/smp.h>
#include <linux/wait.h>

#include "ktau.h"

DECLARE_WAIT_QUEUE_HEAD(ktau_trace_wait);
/* Some ring has reached its mark since a reader last began a stream. */
bool ktau_trace_filled;

static void wake_pollers(struct irq_work *work)
{
	WRITE_ONCE(ktau_trace_filled, true);
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

/* Take @nr slots; false where there is no room. */
static __always_inline bool take(struct ktau_ring *ring, unsigned int nr,
				 u64 *first)
{
	u64 head = ring->head;

	if (likely(head == ring->done))
		WRITE_ONCE(ring->floor, head);
	else if (head + nr - ring->floor > ring->mask + 1ULL)
		return false;
	*first = ktau_fetch_add(&ring->head, nr);
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
		irq_work_queue(this_cpu_ptr(&trace_wake_work));
	}
}

/**
 * ktau_trace() - write one slot
 * @state: the owner
 * @ticks: when it happened
 * @type: KTAU_TRACE_*
 * @id: event, or 0
 * @arg: by type
 *
 * Context: Any but NMI, on the CPU that runs the owner.
 */
void ktau_trace(struct ktau_task *state, u64 ticks, unsigned int type,
		unsigned int id, u64 arg)
{
	struct ktau_ring *ring;
	struct ktau_slot *slot;
	u64 first;

	preempt_disable_notrace();	/* the ring stays, and so does the CPU */
	ring = READ_ONCE(state->ring);
	if (likely(ring && take(ring, 1, &first))) {
		slot = &ring->slot[first & ring->mask];
		slot->ticks = ticks;
		slot->arg = arg;
		slot->id = id;
		slot->type = type;
		slot->ctx = context();
		slot->cpu = raw_smp_processor_id();
		slot->more = 0;
		finish(ring, 1);
	} else {
		lose(state, 1);
	}
	preempt_enable_no_resched_notrace();
}
NOKPROBE_SYMBOL(ktau_trace);

/**
 * ktau_trace_more() - write a slot that others belong to
 * @state: the owner
 * @ticks: when it happened
 * @type: KTAU_TRACE_*
 * @arg: by type
 * @more: the further slots; type and index are filled in here
 * @nr: how many
 *
 * Context: Any but NMI, on the CPU that runs the owner.
 */
void ktau_trace_more(struct ktau_task *state, u64 ticks, unsigned int type,
		     u64 arg, const struct ktau_slot_more *more,
		     unsigned int nr)
{
	struct ktau_ring *ring;
	unsigned int i;
	u64 first;

	preempt_disable_notrace();
	ring = READ_ONCE(state->ring);
	if (ring && take(ring, nr + 1, &first)) {
		ring->slot[first & ring->mask] = (struct ktau_slot) {
			.ticks = ticks,
			.arg = arg,
			.type = type,
			.ctx = context(),
			.cpu = raw_smp_processor_id(),
			.more = nr,
		};
		for (i = 0; i < nr; i++) {
			struct ktau_slot_more *to = (struct ktau_slot_more *)
				&ring->slot[(first + 1 + i) & ring->mask];

			*to = more[i];
			to->type = KTAU_TRACE_MORE;
			to->index = i + 1;
		}
		finish(ring, nr + 1);
	} else {
		lose(state, nr + 1);
	}
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
