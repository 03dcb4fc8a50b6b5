// SPDX-License-Identifier: GPL-2.0-only
/*
 * KTAU: creating and freeing rings. ring.h describes how a slot is written, and grow.c how
 * a ring grows.
 */
#include <linux/interrupt.h>
#include <linux/mm.h>
#include <linux/percpu.h>
#include <linux/sched.h>

#include "base/compat.h"
#include "base/core.h"
#include "base/memory.h"
#include "base/user.h"
#include "ring.h"

/* Initial size of a ring. */
#define START_SLOTS	(KTAU_NEW_RING_BYTES / sizeof(struct ktau_ring_slot))

/*
 * The same for a task with a tag, which is being recorded: more than it writes from fork() to the
 * end of its first execve(), where its ring cannot grow.
 */
#define TAGGED_SLOTS	1024

/* Size of the ring of a kernel thread or vhost thread, unless ring= is less. */
#define KTHREAD_SLOTS	1024

/* The same of the idle task and ksoftirqd of a CPU, which have its interrupts and wakeups. */
#define CPU_SLOTS	16384

/* Number of slots prepared at a time: a page. */
#define READY_STEP	(4096 / sizeof(struct ktau_ring_slot))

/**
 * ktau_ring_make_ready() - initialise the sequence numbers of the next slots
 *
 * Context: On the CPU that runs the owner, interrupts disabled; or the ring is not in use
 * yet.
 */
void ktau_ring_make_ready(struct ktau_ring *ring)
{
	u64 last = ring->first + ring->size;
	u64 nr, end = min_t(u64, ring->ready + READY_STEP, last);

#pragma GCC unroll 8
	for (nr = ring->ready; nr < end; nr++)
		ktau_ring_slot(ring, nr)->seq = nr;
	if (end < last)
		ktau_ring_slot(ring, end)->seq = ~(u32)end;
	ring->ready = end;
	smp_wmb();	/* before @head is advanced; pairs with the reader in snapshot_trace.c */
}

static size_t slots_bytes(u32 slots)
{
	return array_size(slots, sizeof(struct ktau_ring_slot));
}

/**
 * ktau_ring_bytes() - memory of a ring
 *
 * Context: Any.
 * Return: Bytes.
 */
size_t ktau_ring_bytes(u32 slots)
{
	return sizeof(struct ktau_ring) + slots_bytes(slots);
}

/* Whether the ring of @task never changes its size. */
static bool is_fixed(const struct task_struct *task)
{
	const u32 flags = data_race(task->flags); /* these never change */

	return (flags & (PF_KTHREAD | PF_IDLE)) || ktau_skips_task_work(flags);
}

/* Whether @task runs the interrupts of a CPU, of which each CPU has one or two. */
static bool runs_interrupts(const struct task_struct *task)
{
	return !task->pid || task == per_cpu(ksoftirqd, task_cpu(task));
}

/**
 * ktau_ring_full_slots() - the size up to which a task's ring may grow
 *
 * Context: Any.
 * Return: Slots.
 */
u32 ktau_ring_full_slots(const struct task_struct *task)
{
	u32 slots = READ_ONCE(ktau_config.ring_slots);

	if (!is_fixed(task))
		return slots;
	return min_t(u32, slots, runs_interrupts(task) ? CPU_SLOTS : KTHREAD_SLOTS);
}

/**
 * ktau_ring_start_slots() - the initial size of a task's ring
 *
 * Context: Any.
 * Return: Slots.
 */
u32 ktau_ring_start_slots(const struct task_struct *task)
{
	u32 slots = ktau_ring_full_slots(task);
	u32 start = READ_ONCE(task->ktau.tag) ? TAGGED_SLOTS : START_SLOTS;

	return is_fixed(task) ? slots : min(slots, start);
}

/**
 * ktau_ring_grows() - whether a smaller ring of a task grows instead of being replaced
 *
 * Context: Any.
 * Return: Whether it does.
 */
bool ktau_ring_grows(const struct task_struct *task)
{
	return !is_fixed(task) && ktau_ring_full_slots(task) > START_SLOTS;
}

/**
 * ktau_ring_set_marks() - set the marks of a ring that is not yet in use
 * @poll_at: where the writer wakes pollers
 *
 * Context: Any.
 */
void ktau_ring_set_marks(struct ktau_ring *ring, u64 poll_at)
{
	ring->poll_at = poll_at;
	ring->grow_at = ring->first + ring->size / 2;
	ring->wake_at = min(ring->poll_at, ring->grow_at);
}

/**
 * ktau_ring_create() - create an empty ring
 * @user: the user to charge
 * @slots: size, a power of two
 * @gfp: GFP_KERNEL_ACCOUNT on behalf of the current task, else GFP_KERNEL
 *
 * Context: May sleep.
 * Return: The ring. NULL if there is no memory; this is counted.
 */
struct ktau_ring *ktau_ring_create(struct ktau_user *user, u32 slots, gfp_t gfp)
{
	static atomic64_t last_serial;
	struct ktau_ring *ring = ktau_alloc(user, sizeof(*ring), gfp);
	struct ktau_ring_slot *slot = NULL;

	if (ring)
		slot = ktau_slots_alloc(user, slots_bytes(slots), gfp);
	if (!slot) {
		ktau_free(user, ring, sizeof(*ring));
		return NULL;
	}
	*ring = (struct ktau_ring) {
		.user = ktau_user_get(user),
		.serial = atomic64_inc_return(&last_serial),
		.mask = slots - 1,
		.size = slots,
		.slot = slot,
		.ref = REFCOUNT_INIT(1),
	};
	ktau_ring_set_marks(ring, READ_ONCE(ktau_config.watermark_slots));
	ktau_ring_make_ready(ring);
	return ring;
}

/**
 * ktau_ring_lose() - count the slots that no reader has consumed
 * @ring: a ring without writer and readers
 * @reason: why none will consume them
 *
 * Context: Any.
 */
void ktau_ring_lose(const struct ktau_ring *ring, enum ktau_loss reason)
{
	ktau_loss_of(ring->user, reason, ring->head - ring->tail);
}

/**
 * ktau_ring_get() - take a reference to the ring of a state
 * @state: the state, held by the caller
 *
 * Context: Any.
 * Return: The ring, or NULL if there is none.
 */
struct ktau_ring *ktau_ring_get(struct ktau_state *state)
{
	struct ktau_ring *ring;

	rcu_read_lock();
	/* Pairs with ktau_ring_grow() and others that replace the ring. */
	ring = smp_load_acquire(&state->ring);
	if (ring)
		refcount_inc(&ring->ref);
	rcu_read_unlock();
	return ring;
}

/**
 * ktau_ring_put() - drop a reference to a ring
 * @ring: the ring, or NULL
 *
 * Context: Any but NMI and not under a run-queue lock.
 */
void ktau_ring_put(struct ktau_ring *ring)
{
	struct ktau_user *user;

	if (!ring || !refcount_dec_and_test(&ring->ref))
		return;
	user = ring->user;
	ktau_slots_free(user, ring->slot, slots_bytes(ring->size));
	ktau_free(user, ring, sizeof(*ring));
	ktau_user_put(user);
}

/**
 * ktau_ring_has_unread() - whether a ring has slots that have not been consumed
 * @state: the state, held by the caller or found under RCU
 *
 * Context: Any.
 * Return: Whether there are some. A slot that is being written may not be seen yet.
 */
bool ktau_ring_has_unread(const struct ktau_state *state)
{
	const struct ktau_ring *ring;
	bool has;

	rcu_read_lock();
	ring = smp_load_acquire(&state->ring);	/* see ktau_ring_get() */
	has = ring && ktau_ring_head(ring) != ktau_read(&ring->tail);
	rcu_read_unlock();
	return has;
}

static void put_retired(struct rcu_head *rcu)
{
	ktau_ring_put(container_of(rcu, struct ktau_ring, rcu));
}

/**
 * ktau_ring_retire() - drop the reference of the state to a ring that has been replaced
 * @ring: the ring, which has no writer
 *
 * Context: Any but NMI and not under a run-queue lock.
 */
void ktau_ring_retire(struct ktau_ring *ring)
{
	call_rcu(&ring->rcu, put_retired);	/* ktau_ring_get() may still find it */
}
