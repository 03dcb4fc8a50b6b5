// SPDX-License-Identifier: GPL-2.0-only
/*
 * KTAU: the life of a ring. How a slot is written is said in ring.h.
 *
 * Most tasks that are traced write little. So a ring starts with a page's half, and
 * is replaced by one four times as large when it is half full, until it has the
 * slots set by ring=. A ring that has become full before overwrites its oldest slots,
 * as does one for which there is no memory: it is a flight recorder of any size.
 *
 * The task itself makes the change, on its way back to user mode:
 *
 *  1. A slot that reaches the mark takes the slow path, ktau_ring_wake(). It may be
 *     written under the lock of a run queue, so it asks with an irq_work.
 *  2. The irq_work finds the task still running and gives it a task_work.
 *  3. The task_work allocates the ring, copies the slots, and, with interrupts off,
 *     those written meanwhile. No write can be unfinished then: the task is not in
 *     one, and its interrupts have returned. So nothing is lost, and the old ring can
 *     be freed at once. Slots keep their numbers, so no reader sees the difference.
 *
 * A kernel thread never gets there. There are many of them, most of them idle, so with
 * a ring of full size each they could take all the memory that there is: they have
 * KTHREAD_SLOTS from the beginning, or what ring= says if that is less.
 */
#include <linux/irqflags.h>
#include <linux/mm.h>
#include <linux/sched.h>
#include <linux/task_work.h>

#include "ktau.h"

/* Slots at first: half a page, with what kmalloc() puts beside it a page's worth. */
#define START_SLOTS	64

#define GROWTH		4

/* Slots of a kernel thread or an idle task, if ring= does not say less. */
#define KTHREAD_SLOTS	1024

/* Slots after which one that cannot grow looks whether it can now. */
#define RECHECK_SLOTS	4096

/* Places made ready at a time: a page. */
#define READY_STEP	(4096 / sizeof(struct ktau_place))

/**
 * ktau_ring_make_ready() - give the next places their sequence numbers
 * @ring: the ring
 *
 * Context: On the CPU that runs the owner, interrupts off; or a ring that nobody
 * writes yet.
 */
void ktau_ring_make_ready(struct ktau_ring *ring)
{
	u64 last = ring->first + ring->size;
	u64 nr, end = min_t(u64, ring->ready + READY_STEP, last);

#pragma GCC unroll 8
	for (nr = ring->ready; nr < end; nr++)
		ktau_place(ring, nr)->turn = nr;
	if (end < last)
		ktau_place(ring, end)->turn = ~(u32)end;
	ring->ready = end;
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

/* Is the ring of @task always of the same size? */
static bool is_fixed(const struct task_struct *task)
{
	return data_race(task->flags) & (PF_KTHREAD | PF_IDLE); /* these stay */
}

/**
 * ktau_ring_full_slots() - size that the ring of a task may get to
 * @task: the task
 *
 * Context: Any.
 * Return: Slots.
 */
u32 ktau_ring_full_slots(const struct task_struct *task)
{
	u32 slots = READ_ONCE(ktau_config.ring_slots);

	return is_fixed(task) ? min_t(u32, slots, KTHREAD_SLOTS) : slots;
}

/**
 * ktau_ring_start_slots() - size of the first ring of a task
 * @task: the task
 *
 * Context: Any.
 * Return: Slots.
 */
u32 ktau_ring_start_slots(const struct task_struct *task)
{
	u32 slots = ktau_ring_full_slots(task);

	return is_fixed(task) ? slots : min_t(u32, slots, START_SLOTS);
}

/* Set the marks of a ring that nobody writes yet. */
static void set_marks(struct ktau_ring *ring, u64 poll_at)
{
	ring->poll_at = poll_at;
	ring->grow_at = ring->first + ring->size / 2;
	ring->wake_at = min(ring->poll_at, ring->grow_at);
}

/**
 * ktau_ring_create() - create an empty ring
 * @user: whom to charge for it
 * @slots: size, a power of two
 * @gfp: GFP_KERNEL_ACCOUNT on behalf of the current task, else GFP_KERNEL
 *
 * Context: May sleep.
 * Return: The ring, or NULL: no memory, counted.
 */
struct ktau_ring *ktau_ring_create(struct ktau_user *user, u32 slots, gfp_t gfp)
{
	static atomic64_t last_serial;
	struct ktau_ring *ring = ktau_alloc(user, sizeof(*ring), gfp);
	struct ktau_place *place = NULL;

	if (ring)
		place = ktau_alloc(user, place_bytes(slots), gfp);
	if (!place) {
		ktau_free(user, ring, sizeof(*ring));
		return NULL;
	}
	*ring = (struct ktau_ring) {
		.user = ktau_user_get(user),
		.serial = atomic64_inc_return(&last_serial),
		.mask = slots - 1,
		.size = slots,
		.place = place,
	};
	set_marks(ring, READ_ONCE(ktau_config.watermark_slots));
	ktau_ring_make_ready(ring);
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
	ktau_loss_of(ring->user, reason, ring->head - ring->tail);
}

/**
 * ktau_ring_free() - free a ring that nobody writes or reads any more
 * @ring: the ring, or NULL
 *
 * Context: Any but NMI and not under a run-queue lock.
 */
void ktau_ring_free(struct ktau_ring *ring)
{
	struct ktau_user *user;

	if (!ring)
		return;
	user = ring->user;
	ktau_free(user, ring->place, place_bytes(ring->size));
	ktau_free(user, ring, sizeof(*ring));
	ktau_user_put(user);
}

/* Copy slots, all of them committed. */
static void copy_slots(struct ktau_ring *to, const struct ktau_ring *from,
		       u64 nr, u64 end)
{
	struct ktau_place *place;

	for (; nr < end; nr++) {
		place = ktau_place(to, nr);
		*place = from->place[(u32)nr & from->mask];
		place->turn = (u32)nr + to->size;
	}
}

/* Replace the ring of the current task, which is in no write, by a larger one. */
static void replace(struct ktau_task *state, struct ktau_ring *ring,
		    struct ktau_ring *old)
{
	u64 begin, end = ktau_read(&old->head);
	unsigned long flags;

	ring->serial = old->serial;
	ring->first = ktau_ring_oldest(old, end);
	copy_slots(ring, old, ring->first, end);

	raw_local_irq_save(flags);
	/* Interrupts have written since, and perhaps over what was copied. */
	ring->first = max(ring->first, ktau_ring_oldest(old, old->head));
	begin = max(end, ring->first);
	copy_slots(ring, old, begin, old->head);
	ring->head = old->head;
	ring->ready = old->head;
	ktau_ring_make_ready(ring);
	ring->tail = old->tail;
	ring->tail_ticks = old->tail_ticks;
	set_marks(ring, old->poll_at);
	smp_store_release(&state->ring, ring); /* to readers of its slots */
	raw_local_irq_restore(flags);
}

/**
 * ktau_ring_grow() - give the current task a larger ring, with what is in its own
 * @state: its state
 *
 * Context: Task, in no frame of which an interrupt is a part: user mode is next. May
 * sleep.
 * Return: 0; -ENODATA without a ring, -ENOSPC if it has the size set, -ENOMEM.
 */
int ktau_ring_grow(struct ktau_task *state)
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
	struct ktau_task *state = container_of(work, struct ktau_task, grow);

	if (current->ktau.state == state && !(current->flags & PF_EXITING))
		ktau_ring_grow(state);
	WRITE_ONCE(state->growing, false);
	ktau_task_put(state);
}

/* Whether the current task's ring may get larger, and has not been promised to. */
static bool may_grow(const struct ktau_task *state)
{
	const struct ktau_ring *ring = state ? READ_ONCE(state->ring) : NULL;

	return ring && !READ_ONCE(state->growing) &&
	       !(current->flags & (PF_KTHREAD | PF_EXITING)) &&
	       ring->size < ktau_ring_full_slots(current);
}

/* In an interrupt of the task that has asked, or of another one: then it asks again. */
static void want_growth(struct irq_work *want)
{
	struct ktau_task *state = READ_ONCE(current->ktau.state);

	if (!may_grow(state))
		return;
	WRITE_ONCE(state->growing, true);
	refcount_inc(&state->ref);
	init_task_work(&state->grow, grow_work);
	if (!task_work_add(current, &state->grow, TWA_RESUME))
		return;
	WRITE_ONCE(state->growing, false);
	ktau_task_put(state);
}

static DEFINE_PER_CPU(struct irq_work, growth_work) =
	IRQ_WORK_INIT(want_growth);

/**
 * ktau_ring_ask() - a ring has reached the mark where it should grow
 * @ring: the ring
 * @head: how far it has been written
 *
 * It asks by an interrupt, whose own slots may reach the next mark. So it must not ask
 * again before the task has been back in user mode, or the interrupts would not end.
 *
 * Context: Any but NMI, on the CPU that runs the owner, interrupts off.
 */
void ktau_ring_ask(struct ktau_ring *ring, u64 head)
{
	u32 wait = RECHECK_SLOTS;

	if (ring->size < ktau_ring_full_slots(current)) {
		if (may_grow(READ_ONCE(current->ktau.state)))
			ktau_irq_work(this_cpu_ptr(&growth_work));
		wait = max(ring->size / 8, 4U);
	}
	WRITE_ONCE(ring->grow_at, head + wait);
}

/**
 * ktau_ring_nudge() - have a ring look at once whether it may grow
 * @ring: the ring
 *
 * Context: Task; the ktau_task's read_lock held.
 */
void ktau_ring_nudge(struct ktau_ring *ring)
{
	WRITE_ONCE(ring->grow_at, 0);
	smp_mb();	/* pairs with ktau_ring_wake() */
	WRITE_ONCE(ring->wake_at, 0);
}
