// SPDX-License-Identifier: GPL-2.0-only
/*
 * KTAU: writing to the trace. ring.h describes the protocol; the fast paths for entries
 * and exits are in profile.c.
 */
#include <linux/kprobes.h>
#include <linux/preempt.h>
#include <linux/smp.h>

#include "base/arch.h"
#include "base/core.h"
#include "base/defer.h"
#include "base/poll.h"
#include "grow.h"
#include "ring.h"
#include "trace.h"

static void wake_pollers(struct irq_work *work)
{
	ktau_poll_wake();
}

/**
 * ktau_ring_rearm() - set the mark for the next wakeup of pollers
 * @ring: a ring that has been read, with @tail set
 *
 * Writers that passed the mark during the read have not woken anybody.
 *
 * Context: Task; ring_lock of the state held.
 */
void ktau_ring_rearm(struct ktau_ring *ring)
{
	u64 poll_at = ring->tail + READ_ONCE(ktau_config.watermark_slots);

	WRITE_ONCE(ring->poll_at, poll_at);
	smp_mb();	/* pairs with ktau_ring_wake() */
	WRITE_ONCE(ring->wake_at, min(poll_at, READ_ONCE(ring->grow_at)));
	smp_mb();	/* either the writer sees the mark, or its slots are seen here */
	if (ktau_read(&ring->head) < poll_at)
		return;
	WRITE_ONCE(ring->poll_at, U64_MAX);
	ktau_poll_wake();
}

static DEFINE_PER_CPU(struct irq_work, trace_wake_work) =
	IRQ_WORK_INIT(wake_pollers);

/* Prepare more slots if those below @end are not ready. Return: whether any were. */
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

/* Whether all @nr slots from @head on may be written. */
static __always_inline bool has_room(struct ktau_ring *ring, u64 head,
				     unsigned int nr)
{
	unsigned int i;

	for (i = 0; i < nr; i++)
		if (unlikely(!ktau_slot_is_free(ktau_ring_slot(ring, head + i),
						head + i)))
			return false;
	return true;
}

/*
 * Reserve @nr slots and read the clock, unless @ticks is set: then interrupts are
 * disabled. If @sum is not NULL, @before receives its value at that time.
 */
static __always_inline bool reserve(struct ktau_ring *ring, unsigned int nr,
				    const u64 *sum, u64 *before,
				    u64 *ticks, u64 *first)
{
	bool timed = *ticks;
	u64 head;

	for (;;) {
		head = ktau_read(&ring->head);
		if (unlikely(!has_room(ring, head, nr))) {
			/*
			 * They are free if an interrupt has reserved them since @head was
			 * read.
			 */
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
	smp_wmb();	/* @head is advanced before anything is overwritten */
	return true;
}

/*
 * Reserve slots in the ring of @state, also if an interrupt replaces it meanwhile. Return: the
 * ring, or NULL.
 */
static __always_inline struct ktau_ring *
reserve_in(struct ktau_state *state, unsigned int nr, const u64 *sum, u64 *before, u64 *ticks,
	   u64 *first)
{
	const u64 given = *ticks;
	struct ktau_ring *ring;

	while ((ring = READ_ONCE(state->ring))) {
		if (likely(reserve(ring, nr, sum, before, ticks, first)))
			break;
		if (READ_ONCE(state->ring) == ring)
			return NULL;
		*ticks = given;
	}
	return ring;
}

static noinline void lose(struct ktau_state *state, unsigned int nr)
{
	if (!READ_ONCE(state->ring)) {
		ktau_loss_of(state->user, KTAU_LOSS_NO_RING, nr);
		return;
	}
	ktau_add(&state->no_room, nr);
	ktau_loss_of(state->user, KTAU_LOSS_NO_ROOM, nr);
}

/**
 * ktau_ring_wake() - wake pollers or let the ring grow when its mark is reached
 *
 * Context: Any but NMI, on the CPU that runs the owner. Ends the writer's
 * preempt_disable_notrace() section, so that the writer can end with a tail call.
 */
void ktau_ring_wake(struct ktau_ring *ring)
{
	u64 head, poll_at, grow_at;
	unsigned long flags;

	raw_local_irq_save(flags);
	head = ktau_ring_head(ring);
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
		smp_mb();	/* either @wake_at has a mark set meanwhile, or it is seen here */
	} while (READ_ONCE(ring->poll_at) != poll_at ||
		 READ_ONCE(ring->grow_at) != grow_at);
	raw_local_irq_restore(flags);
	preempt_enable_no_resched_notrace();
}

static __always_inline bool write(struct ktau_state *state, const u64 *sum,
				  u64 *before, u64 *ticks, u32 what, u64 arg)
{
	struct ktau_ring_slot *slot;
	struct ktau_ring *ring;
	u64 nr;

	preempt_disable_notrace();	/* neither the ring nor the CPU changes */
	ring = reserve_in(state, 1, sum, before, ticks, &nr);
	if (likely(ring)) {
		slot = ktau_ring_slot(ring, nr);
		ktau_slot_fill(slot, *ticks, what);
		slot->arg = arg;
		ktau_slot_commit(ring, slot);
		if (unlikely(ktau_ring_wakes(ring, nr + 1)))
			ktau_ring_wake(ring);
		else
			preempt_enable_no_resched_notrace();
		return true;
	}
	preempt_enable_no_resched_notrace();
	return false;
}

/*
 * Slow path of ktau_trace(): there is no ring, the slot is not free, or an interrupt has
 * reserved it.
 */
static noinline void trace_slow(struct ktau_state *state, u64 ticks, u32 what,
				u64 arg)
{
	if (!write(state, NULL, NULL, &ticks, what, arg))
		lose(state, 1);
}

/**
 * ktau_trace() - write one slot
 * @ticks: when it happened; 0 for now. If not 0, interrupts are disabled.
 * @type: KTAU_TRACE_*
 * @small: event id, or 16 bits of data
 * @arg: depends on the type
 *
 * Open-coded leaf fast path of write().
 *
 * Context: Any but NMI, on the CPU that runs the owner.
 */
void ktau_trace(struct ktau_state *state, u64 ticks, unsigned int type,
		unsigned int small, u64 arg)
{
	const u32 what = KTAU_WHAT(small, type, 0);
	struct ktau_ring_slot *slot;
	struct ktau_ring *ring;
	u64 nr, now = ticks;

	preempt_disable_notrace();	/* neither the ring nor the CPU changes */
	ring = READ_ONCE(state->ring);
	if (unlikely(!ring))
		goto slow;
	nr = ktau_read(&ring->head);
	slot = ktau_ring_slot(ring, nr);
	OPTIMIZER_HIDE_VAR(slot);	/* else gcc recomputes it at each use */
	OPTIMIZER_HIDE_VAR(nr);		/* keep it in one register */
	barrier();
	if (!now)
		now = ktau_ticks();
	barrier();
	if (unlikely(!ktau_slot_is_free(slot, nr) ||
		     !ktau_advance(&ring->head, &nr, 1)))
		goto slow;
	smp_wmb();	/* @head is advanced before anything is overwritten */
	ktau_slot_fill(slot, now, what);
	slot->arg = arg;
	ktau_slot_commit(ring, slot);
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
 * ktau_trace_frame() - write the slot of a frame's entry or exit
 * @what: KTAU_WHAT() of the slot, with KTAU_WHAT_ARG if @arg is valid
 * @arg: faulting address or result
 * @sum: the sum to which interrupts add their durations
 * @before: receives its value at the time of the slot
 *
 * Context: Any but NMI, on the CPU that runs the owner.
 * Return: The time in the slot, 0 if the slot was lost.
 */
u64 ktau_trace_frame(struct ktau_state *state, u32 what, u64 arg,
		     const u64 *sum, u64 *before)
{
	u64 ticks = 0;

	if (likely(write(state, sum, before, &ticks, what, arg)))
		return ticks;
	lose(state, 1);
	return 0;
}

NOKPROBE_SYMBOL(ktau_trace_frame);

/* @what contains the number of continuation slots; @ticks as for ktau_trace(). */
static void trace_more(struct ktau_state *state, u64 ticks, u32 what, u64 arg,
		       const struct ktau_slot_more *more)
{
	const unsigned int nr = KTAU_WHAT_MORE(what);
	struct ktau_ring_slot *slot;
	struct ktau_ring *ring;
	unsigned int i;
	u64 first;

	preempt_disable_notrace();
	ring = reserve_in(state, nr + 1, NULL, NULL, &ticks, &first);
	if (!ring) {
		preempt_enable_no_resched_notrace();
		lose(state, nr + 1);
		return;
	}
	slot = ktau_ring_slot(ring, first);
	ktau_slot_fill(slot, ticks, what);
	slot->arg = arg;
	ktau_slot_commit(ring, slot);
	for (i = 0; i < nr; i++) {
		slot = ktau_ring_slot(ring, ++first);
		slot->ticks = more[i].data[0];
		slot->arg = more[i].data[1];
		slot->what = KTAU_WHAT(more[i].small, KTAU_TRACE_MORE, i + 1);
		slot->count = more[i].small2;
		slot->cpu = more[i].small3;
		ktau_slot_commit(ring, slot);
	}
	if (unlikely(ktau_ring_wakes(ring, first + 1)))
		ktau_ring_wake(ring);
	else
		preempt_enable_no_resched_notrace();
}

/**
 * ktau_trace_groups() - trace that the groups of a task change
 * @task: the current one, or any while all other CPUs are stopped: then none is inside a write
 * @ticks: when
 * @groups: those that are traced from now on
 *
 * Without older slots nothing can be mistaken for what goes on until the next one.
 *
 * Context: Interrupts disabled.
 */
void ktau_trace_groups(const struct task_struct *task, struct ktau_state *state, u64 ticks,
		       u32 groups)
{
	struct ktau_ring *ring = READ_ONCE(state->ring);
	struct ktau_ring_slot *slot;
	u64 nr;

	if (!ring || !ktau_ring_head(ring))
		return;
	if (!reserve(ring, 1, NULL, NULL, &ticks, &nr)) {
		lose(state, 1);
		return;
	}
	slot = ktau_ring_slot(ring, nr);
	slot->ticks = ticks;
	slot->what = KTAU_WHAT(0, KTAU_TRACE_GROUPS, 0);
	slot->arg = groups;
	slot->count = 0;
	slot->cpu = task_cpu(task);
	ktau_slot_commit(ring, slot);
}

/**
 * ktau_trace_woken() - trace that the owner runs after a wakeup
 * @ticks: when it got the CPU; interrupts are disabled
 * @waking_ticks: when it was woken
 *
 * Context: On the CPU that runs the owner.
 */
void ktau_trace_woken(struct ktau_state *state, u64 ticks, u64 waking_ticks)
{
	const struct ktau_slot_more more = { .data = { waking_ticks } };
	const struct ktau_waker *waker = &state->waker;

	trace_more(state, ticks, KTAU_WHAT(waker->cpu, KTAU_TRACE_WOKEN, 1),
		   ktau_pack_serial(waker->serial, ktau_context(waker->count), 0), &more);
}

/**
 * ktau_trace_more() - write a slot with continuation slots
 * @what: KTAU_WHAT() of the first slot, without the number of continuation slots
 * @arg: depends on the type
 * @more: the contents of the continuation slots
 * @nr: how many, less than KTAU_ENTRY_MAX_SLOTS
 *
 * Context: Any but NMI, on the CPU that runs the owner.
 */
void ktau_trace_more(struct ktau_state *state, u32 what, u64 arg,
		     const struct ktau_slot_more *more, unsigned int nr)
{
	trace_more(state, 0, what | KTAU_WHAT(0, 0, nr), arg, more);
}
