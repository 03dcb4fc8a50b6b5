// SPDX-License-Identifier: GPL-2.0-only
/*
 * KTAU: letting a ring grow.
 *
 * Most traced tasks write little, so a ring starts with half a page. When it is half full
 * it is replaced by one four times as large, up to the number of slots set by ring=. A
 * ring of that size, or one that cannot grow for lack of memory, overwrites its oldest
 * slots: it is a flight recorder of any size.
 *
 * The task replaces its own ring, on its way back to user mode:
 *
 *  1. A writer that reaches the mark calls ktau_ring_wake(). It may hold the lock of a
 *     run queue, so it only queues an irq_work.
 *  2. The irq_work finds the task still running and adds a task_work to it.
 *  3. The task_work allocates the new ring and copies the slots. With interrupts disabled
 *     it then copies the slots written meanwhile. No write can be unfinished: the task is
 *     not inside one, and its interrupts have returned. So no slot is lost, and the old
 *     ring can be freed at once. Slots keep their numbers, so readers see no difference.
 *
 * A kernel thread never returns to user mode. There are many, most of them idle, and full
 * rings for all of them could use up the memory limit. So their rings have KTHREAD_SLOTS
 * from the start, or as many as ring= allows if that is less.
 */
#include <linux/hash.h>
#include <linux/irqflags.h>
#include <linux/sched.h>
#include <linux/task_work.h>

#include "arch.h"
#include "core.h"
#include "defer.h"
#include "grow.h"
#include "ring.h"
#include "state.h"

#define GROWTH		4

/* A ring that cannot grow tries again after this many slots. */
#define RECHECK_SLOTS	4096

/* Copy slots, all of which are committed. */
static void copy_slots(struct ktau_ring *to, const struct ktau_ring *from,
		       u64 nr, u64 end)
{
	struct ktau_ring_slot *slot;

	for (; nr < end; nr++) {
		slot = ktau_ring_slot(to, nr);
		*slot = from->slot[(u32)nr & from->mask];
		slot->seq = (u32)nr + to->size;
	}
}

/* Replace the ring of the current task, which is not inside a write, by a larger one. */
static void replace(struct ktau_state *state, struct ktau_ring *ring,
		    struct ktau_ring *old)
{
	u64 begin, end = ktau_read(&old->head);
	unsigned long flags;

	ring->serial = old->serial;
	ring->first = ktau_ring_oldest(old, end);
	copy_slots(ring, old, ring->first, end);

	raw_local_irq_save(flags);
	/* Interrupts may have written since, and overwritten slots that were copied. */
	ring->first = max(ring->first, ktau_ring_oldest(old, old->head));
	begin = max(end, ring->first);
	copy_slots(ring, old, begin, old->head);
	ring->head = old->head;
	ring->ready = old->head;
	ktau_ring_make_ready(ring);
	ring->tail = old->tail;
	ring->tail_ticks = old->tail_ticks;
	ktau_ring_set_marks(ring, old->poll_at);
	smp_store_release(&state->ring, ring); /* pairs with readers of its slots */
	raw_local_irq_restore(flags);
}

/**
 * ktau_ring_grow() - replace the current task's ring by a larger one with the same slots
 * @state: its state
 *
 * Context: Task, on its way to user mode, outside of any write. May sleep.
 * Return: 0; -ENODATA without a ring, -ENOSPC if the ring has its full size, -ENOMEM.
 */
int ktau_ring_grow(struct ktau_state *state)
{
	struct ktau_ring *old, *ring;
	int err = -ENODATA;
	u32 slots;

	mutex_lock(&state->read_lock);
	old = state->ring;
	if (!old)
		goto out;
	err = -ENOSPC;
	slots = min_t(u64, (u64)old->size * GROWTH,
		      READ_ONCE(ktau_config.ring_slots));
	if (slots <= old->size)
		goto out;
	err = -ENOMEM;
	ring = ktau_ring_create(state->user, slots, GFP_KERNEL_ACCOUNT);
	if (!ring) {
		WRITE_ONCE(old->grow_at, ktau_read(&old->head) + RECHECK_SLOTS);
		goto out;
	}
	atomic_long_add(ktau_ring_bytes(slots) - ktau_ring_bytes(old->size),
			&state->bytes);
	replace(state, ring, old);
	ktau_ring_free(old);
	err = 0;
out:
	mutex_unlock(&state->read_lock);
	return err;
}

static void grow_work(struct callback_head *work)
{
	struct ktau_state *state = container_of(work, struct ktau_state, grow);

	if (current->ktau.state == state && !(current->flags & PF_EXITING))
		ktau_ring_grow(state);
	WRITE_ONCE(state->growing, false);
	ktau_state_put(state);
}

/* Whether the current task's ring may grow, and no task work for that is queued. */
static bool may_grow(const struct ktau_state *state)
{
	const struct ktau_ring *ring = state ? READ_ONCE(state->ring) : NULL;

	return ring && !READ_ONCE(state->growing) &&
	       !(current->flags & (PF_KTHREAD | PF_EXITING)) &&
	       ring->size < ktau_ring_full_slots(current);
}

/* Usually this interrupts the task that queued it. If not, that task queues it again. */
static void want_growth(struct irq_work *want)
{
	struct ktau_state *state = READ_ONCE(current->ktau.state);

	if (!may_grow(state))
		return;
	WRITE_ONCE(state->growing, true);
	refcount_inc(&state->ref);
	init_task_work(&state->grow, grow_work);
	if (!task_work_add(current, &state->grow, TWA_RESUME))
		return;
	WRITE_ONCE(state->growing, false);
	ktau_state_put(state);
}

static DEFINE_PER_CPU(struct irq_work, growth_work) =
	IRQ_WORK_INIT(want_growth);

/**
 * ktau_ring_ask() - request a larger ring for the current task
 * @ring: the ring
 * @head: number of slots written
 *
 * The request is an irq_work, that is, an interrupt whose own slots may reach the next
 * mark. So there must be no further request before the task has returned to user mode, or
 * the interrupts would never end.
 *
 * A request inside a context switch is lost, because the interrupt meets the next task. The
 * task makes another one some slots later.
 *
 * Context: Any but NMI, on the CPU that runs the owner, interrupts off.
 */
void ktau_ring_ask(struct ktau_ring *ring, u64 head)
{
	u32 wait = RECHECK_SLOTS;

	if (ring->size < ktau_ring_full_slots(current)) {
		if (may_grow(READ_ONCE(current->ktau.state)))
			ktau_irq_work(this_cpu_ptr(&growth_work));
		/* Not a constant: a loop of as many slots would ask at the same point. */
		wait = max(ring->size / 8, 4U) + hash_32((u32)head, 3);
	}
	WRITE_ONCE(ring->grow_at, head + wait);
}

/**
 * ktau_ring_nudge() - let a ring check at its next write whether it may grow
 * @ring: the ring
 *
 * Context: Task; read_lock of the state held.
 */
void ktau_ring_nudge(struct ktau_ring *ring)
{
	WRITE_ONCE(ring->grow_at, 0);
	smp_mb();	/* pairs with ktau_ring_wake() */
	WRITE_ONCE(ring->wake_at, 0);
}
