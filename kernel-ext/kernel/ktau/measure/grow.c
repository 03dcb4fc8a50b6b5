// SPDX-License-Identifier: GPL-2.0-only
/*
 * KTAU: letting a ring grow.
 *
 * Most traced tasks write little, so a ring starts with half a page; that of a task with a
 * tag starts larger, because somebody records it. When it is half full it is replaced by
 * one four times as large, up to the number of slots set by ring=. A ring of that size, or
 * one that cannot grow for lack of memory, overwrites its oldest slots: it is a flight
 * recorder of any size.
 *
 * The task replaces its own ring, on its way back to user mode:
 *
 *  1. A writer that reaches the mark calls ktau_ring_wake(). It may hold the lock of a
 *     run queue, so it only queues an irq_work for the task.
 *  2. The irq_work adds a task_work to that task, which need not be running any more: a
 *     request inside a context switch interrupts the next task.
 *  3. The task_work allocates the new ring and copies the slots. With interrupts disabled
 *     it then copies the slots written meanwhile. No write can be unfinished: the task is
 *     not inside one, and its interrupts have returned. So no slot is lost. Slots keep their
 *     numbers, so readers see no difference; one that is reading keeps the old ring until it
 *     is done.
 *
 * A task may write more before it returns to user mode than its ring holds. So an exec, which is
 * long, lets the ring grow where it may sleep. And a ring that is about to overwrite slots is
 * replaced at once, in any context, by one that this CPU has in reserve (spare.c):
 *
 *  1. All slots that have been reserved are committed; otherwise a write has been interrupted, and
 *     the next slot tries again.
 *  2. The slots are copied, and the old ring is closed: its @head becomes a number that no writer
 *     can have read, and for which no slot is free. So a write that has been interrupted before it
 *     has reserved a slot fails, and begins again with the new ring.
 *
 * A kernel thread never returns to user mode. There are many, most of them idle, and full
 * rings for all of them could use up the memory limit. So their rings have KTHREAD_SLOTS
 * from the start, or as many as ring= allows if that is less. So have those of vhost threads,
 * which do not return to user mode either. io_uring threads do not, but they run their task
 * work, so their rings grow. The rings of idle tasks and of ksoftirqd have CPU_SLOTS.
 *
 * The area of a thread with regions (area.c) gets more pages in the same way.
 */
#include <linux/irqflags.h>
#include <linux/percpu.h>
#include <linux/sched.h>
#include <linux/sched/task.h>
#include <linux/spinlock.h>
#include <linux/task_work.h>

#include "base/arch.h"
#include "base/core.h"
#include "base/defer.h"
#include "area.h"
#include "grow.h"
#include "ring.h"
#include "spare.h"
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

/* Let @ring take over from @old, whose slots below @from have been copied; ring_lock held. */
static void take_over(struct ktau_state *state, struct ktau_ring *ring, struct ktau_ring *old,
		      u64 from)
{
	copy_slots(ring, old, from, old->head);
	ring->head = old->head;
	ring->ready = old->head;
	ktau_ring_make_ready(ring);
	ring->tail = old->tail;
	ring->tail_ticks = old->tail_ticks;
	ktau_ring_set_marks(ring, old->poll_at);
	smp_store_release(&state->ring, ring); /* pairs with readers of its slots */
	atomic_long_add(ktau_ring_bytes(ring->size) - ktau_ring_bytes(old->size),
			&state->bytes);
}

/*
 * Replace the ring @old of the current task, which is not inside a write, by a larger one.
 * Return: false if a write to control has replaced it, or wants smaller ones.
 */
static bool replace(struct ktau_state *state, struct ktau_ring *ring,
		    struct ktau_ring *old)
{
	u64 begin, end = ktau_ring_head(old);
	unsigned long flags;
	bool wanted;

	ring->serial = old->serial;
	ring->first = ktau_ring_oldest(old, end);
	copy_slots(ring, old, ring->first, end);

	raw_spin_lock_irqsave(&state->ring_lock, flags);
	wanted = state->ring == old && ring->size <= READ_ONCE(ktau_config.ring_slots);
	if (!wanted)
		goto out;
	/* Interrupts may have written since, and overwritten slots that were copied. */
	ring->first = max(ring->first, ktau_ring_oldest(old, old->head));
	begin = max(end, ring->first);
	take_over(state, ring, old, begin);
out:
	raw_spin_unlock_irqrestore(&state->ring_lock, flags);
	return wanted;
}

/* Replace @old by a larger ring. Return: as ktau_ring_grow(). */
static int grow(struct ktau_state *state, struct ktau_ring *old)
{
	/* A tag may have been set since the ring was created. */
	const u32 start = ktau_ring_grows(current) ? ktau_ring_start_slots(current) : 0;
	u32 slots = min_t(u64, max_t(u64, (u64)old->size * GROWTH, start),
			  READ_ONCE(ktau_config.ring_slots));
	struct ktau_ring *ring;

	if (slots <= old->size)
		return -ENOSPC;
	ring = ktau_ring_create(state->user, slots, GFP_KERNEL_ACCOUNT);
	if (!ring) {
		WRITE_ONCE(old->grow_at, ktau_ring_head(old) + RECHECK_SLOTS);
		return -ENOMEM;
	}
	if (!replace(state, ring, old)) {
		ktau_ring_put(ring);
		return -ENOSPC;
	}
	ktau_ring_retire(old);
	return 0;
}

/**
 * ktau_ring_grow() - replace the current task's ring by a larger one with the same slots
 *
 * Neither waits for the other: readers keep the old ring until they are done.
 *
 * Context: Task, on its way to user mode, outside of any write. May sleep.
 * Return: 0; -ENODATA without a ring, -ENOSPC if the ring has its full size, -ENOMEM.
 */
int ktau_ring_grow(struct ktau_state *state)
{
	struct ktau_ring *old = ktau_ring_get(state);
	int err = old ? grow(state, old) : -ENODATA;

	ktau_ring_put(old);
	return err;
}

/**
 * ktau_ring_relieve() - let the current task's ring grow if it is a quarter full
 *
 * Before it does what writes many slots while it cannot return to user mode.
 *
 * Context: As ktau_ring_grow().
 */
void ktau_ring_relieve(struct ktau_state *state)
{
	struct ktau_ring *ring = ktau_ring_get(state);

	if (ring && ring->size < ktau_ring_full_slots(current) &&
	    ktau_ring_head(ring) - ring->first >= ring->size / 4)
		grow(state, ring);
	ktau_ring_put(ring);
}

static void grow_work(struct callback_head *work)
{
	struct ktau_state *state = container_of(work, struct ktau_state, grow);

	if (current->ktau.state == state && !(current->flags & PF_EXITING) &&
	    !ktau_area_grow(state))
		ktau_ring_grow(state);
	WRITE_ONCE(state->growing, false);
	ktau_state_put(state);
}

/**
 * struct growth - the request for more memory that a CPU passes on
 * @work: adds the task_work
 * @task: the task, with a reference; NULL without a request
 * @state: its state, with a reference
 */
struct growth {
	struct irq_work work;
	struct task_struct *task;
	struct ktau_state *state;
};

static void drop_request(struct growth *growth)
{
	WRITE_ONCE(growth->state->growing, false);
	ktau_state_put(growth->state);
}

static void pass_request(struct irq_work *work)
{
	struct growth *growth = container_of(work, struct growth, work);
	struct task_struct *task = growth->task;

	init_task_work(&growth->state->grow, grow_work);
	if (task_work_add(task, &growth->state->grow, TWA_RESUME))
		drop_request(growth);
	growth->task = NULL;
	put_task_struct(task);
}

static DEFINE_PER_CPU(struct growth, growth) = {
	.work = IRQ_WORK_INIT(pass_request),
};

/**
 * ktau_grow_request() - request more memory for the current task
 *
 * Context: Any but NMI, interrupts off.
 * Return: Whether the request was made; the task then allocates the memory before it returns
 * to user mode. Not while there is another request of this task or of this CPU, and not for
 * kernel threads and exiting tasks.
 */
bool ktau_grow_request(struct ktau_state *state)
{
	struct growth *mine = this_cpu_ptr(&growth);

	if (mine->task || READ_ONCE(state->growing) ||
	    (current->flags & (PF_KTHREAD | PF_EXITING)))
		return false;
	WRITE_ONCE(state->growing, true);
	refcount_inc(&state->ref);
	mine->state = state;
	mine->task = get_task_struct(current);
	if (ktau_irq_work(&mine->work))
		return true;
	drop_request(mine);
	put_task_struct(mine->task);
	mine->task = NULL;
	return false;
}

/* Whether no write to @ring has been interrupted between the reservation of a slot and its end. */
static bool is_committed(struct ktau_ring *ring)
{
	u64 nr;

	/* Slot @nr is committed once the next one in its position is free. */
	for (nr = ktau_ring_oldest(ring, ring->head); nr < ring->head; nr++)
		if (!ktau_slot_is_free(ktau_ring_slot(ring, nr), nr + ring->size))
			return false;
	return true;
}

/*
 * Replace the ring @old of the current task by a larger one in reserve. A write that has been
 * interrupted before it has reserved a slot finds that @old is closed, and begins again.
 * Return: 0, -EAGAIN in the middle of a write or of a change of the ring, -ENOMEM if the user may
 * not have more memory.
 */
static int replace_at_once(struct ktau_state *state, struct ktau_ring *old)
{
	struct ktau_ring *ring = NULL;

	/* The interrupted code may hold the lock. */
	if (!is_committed(old) || !raw_spin_trylock(&state->ring_lock))
		return -EAGAIN;
	if (state->ring == old)
		ring = ktau_spare_take(state->user);
	if (ring) {
		ring->serial = old->serial;
		ring->first = ktau_ring_oldest(old, old->head);
		take_over(state, ring, old, ring->first);
		ktau_write(&old->head, old->head ^ KTAU_RING_CLOSED);
	}
	raw_spin_unlock(&state->ring_lock);
	if (!ring)
		return -ENOMEM;
	ktau_spare_retire(old);
	return 0;
}

/*
 * The same if @old is about to overwrite slots. If a function that this calls is hooked, it must
 * not open a frame. Return: slots until the next try.
 */
static u32 replace_if_full(struct ktau_state *state, struct ktau_ring *old, u64 head)
{
	const u32 flags = current->ktau.flags;
	int err;

	if (head - old->first < old->size / 4 * 3 || !ktau_spare_fits(old))
		return max(old->size / 8, 4U);
	current->ktau.flags = flags | KTAU_REF_INSIDE;
	barrier();
	err = replace_at_once(state, old);
	barrier();
	current->ktau.flags = flags;
	return err == -EAGAIN ? 1 : max(old->size / 8, 4U);
}

/**
 * ktau_ring_ask() - request a larger ring for its owner
 * @head: number of slots written
 *
 * The request is an irq_work, that is, an interrupt whose own slots may reach the next
 * mark. So there must be no further request before the task has returned to user mode, or
 * the interrupts would never end.
 *
 * The slots of a switch are written after it, when the owner is no longer the current task.
 * Then the request is left to the owner's next slot.
 *
 * Context: Any but NMI, on the CPU that runs the owner, interrupts off.
 */
void ktau_ring_ask(struct ktau_ring *ring, u64 head)
{
	u32 wait = RECHECK_SLOTS;
	struct ktau_state *state = READ_ONCE(current->ktau.state);

	if (!state || READ_ONCE(state->ring) != ring) {
		wait = 1;
	} else {
		ktau_kvm_clock_due(state);
		if (ring->size < ktau_ring_full_slots(current)) {
			ktau_grow_request(state);
			wait = replace_if_full(state, ring, head);
		}
	}
	WRITE_ONCE(ring->grow_at, head + wait);
}

/**
 * ktau_ring_nudge() - let a ring check at its next write whether it may grow
 *
 * Context: Task; ring_lock of the state held.
 */
void ktau_ring_nudge(struct ktau_ring *ring)
{
	WRITE_ONCE(ring->grow_at, 0);
	smp_mb();	/* pairs with ktau_ring_wake() */
	WRITE_ONCE(ring->wake_at, 0);
}

/**
 * ktau_ring_ask_early() - have ktau_ring_ask() called before the slots of now are overwritten
 *
 * A reader that consumes may set the old mark again. It has made the clock of a guest due then.
 *
 * Context: The owner, interrupts disabled.
 */
void ktau_ring_ask_early(struct ktau_ring *ring)
{
	const u64 at = ktau_ring_head(ring) + ring->size / 2;

	if (READ_ONCE(ring->grow_at) <= at)
		return;
	WRITE_ONCE(ring->grow_at, at);
	WRITE_ONCE(ring->wake_at, min(READ_ONCE(ring->wake_at), at));
}
