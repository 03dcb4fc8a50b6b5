/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * KTAU: the ring of trace slots, and how a slot is written.
 *
 * Slots are numbered from the first write on; the position of a slot in the ring is its
 * number modulo the size. Each position has a sequence number: the number of the slot
 * that may be written there next. Only the CPU that runs the owner writes, without a
 * lock; an interrupt may write inside another write. A writer
 *
 *	reads @head, and checks that the sequence number there is the same,
 *	reads the clock,
 *	reserves the slot by advancing @head, which fails if an interrupt has written meanwhile,
 *	fills the slot, and
 *	commits it by advancing the sequence number by the size of the ring.
 *
 * So slots are in the order of their times, and a slot is committed once its sequence
 * number has advanced. An interrupt that writes more than the whole ring inside another
 * write reaches the uncommitted slot and loses its own slots: a slot is never written by
 * two writers at once.
 *
 * Short-lived tasks use only a small part of their ring, so ring memory is not zeroed.
 * Sequence numbers are initialised a page at a time, by the first writer that finds a
 * slot not ready. grow.c describes how a ring grows.
 *
 * The oldest slots are overwritten. From @head a reader can tell which slots it has
 * missed, and which of its copies may be torn.
 */
#ifndef _KERNEL_KTAU_RING_H
#define _KERNEL_KTAU_RING_H

#include <linux/bits.h>
#include <linux/minmax.h>
#include <linux/preempt.h>
#include <linux/rcupdate.h>
#include <linux/refcount.h>
#include <linux/smp.h>
#include <uapi/linux/ktau.h>

#include "base/arch.h"
#include "base/compat.h"
#include "base/types.h"

/**
 * struct ktau_ring_slot - a slot as it is in the ring
 * @ticks: when; data in a continuation slot
 * @arg: depends on the type; data in a continuation slot; not written by an entry
 *	without KTAU_WHAT_ARG
 * @what: KTAU_WHAT()
 * @count: ktau_preempt_count(), which contains the context; data in a continuation slot
 * @cpu: CPU; data in a continuation slot
 * @seq: sequence number: the lower half of the number of the slot to be written here
 *	next
 *
 * This layout is private: snapshot_trace.c converts it to struct ktau_slot.
 */
struct ktau_ring_slot {
	u64 ticks;
	u64 arg;
	u32 what;
	u32 count;
	u32 cpu;
	u32 seq;
};

/*
 * An id or 16 bits of data, the type, and the number of continuation slots that follow.
 * In a continuation slot, its index.
 */
#define KTAU_WHAT(small, type, more)					\
	((u32)(small) | (u32)(type) << 16 | (u32)(more) << 24)
#define KTAU_WHAT_SMALL(what)	((u16)(what))
#define KTAU_WHAT_TYPE(what)	((u8)((what) >> 16))
#define KTAU_WHAT_MORE(what)	((what) >> 24 & 3)

/* ENTER and EXIT: @arg has been written. Whether it is meaningful depends on the id. */
#define KTAU_WHAT_ARG		0x80000000U

/* Type of a continuation slot; never in a stream. */
#define KTAU_TRACE_MORE		255

/**
 * struct ktau_slot_more - contents of a continuation slot
 * @data: two words, whose meaning depends on the type of the first slot
 * @small: 16 more bits
 * @small2: 32 more bits
 * @small3: and again
 */
struct ktau_slot_more {
	u64 data[2];
	u16 small;
	u32 small2;
	u32 small3;
};

/* Slots that the longest trace entry takes: a network segment. */
#define KTAU_ENTRY_MAX_SLOTS	3

/*
 * A serial and two priorities in one word. Serials count up from 1 and stay below 2^48
 * for centuries; priorities range from -1 (deadline) to 140.
 */
#define KTAU_SERIAL_BITS	48

static inline u64 ktau_pack_serial(u64 serial, int prio, int next_prio)
{
	return (serial & (BIT_ULL(KTAU_SERIAL_BITS) - 1)) |
	       (u64)(u8)prio << 48 | (u64)(u8)next_prio << 56;
}

static inline u64 ktau_packed_serial(u64 arg)
{
	return arg & (BIT_ULL(KTAU_SERIAL_BITS) - 1);
}

/*
 * @shift: 48 for the first priority, 56 for the second.
 */
static inline int ktau_packed_prio(u64 arg, unsigned int shift)
{
	u8 prio = arg >> shift;

	return prio == (u8)-1 ? -1 : prio;
}

/* The context in which a slot was written, from its preempt_count(). */
static inline unsigned int ktau_context(u32 count)
{
	if (count & HARDIRQ_MASK)
		return KTAU_CTX_HARDIRQ;
	return count & SOFTIRQ_OFFSET ? KTAU_CTX_SOFTIRQ : KTAU_CTX_TASK;
}

/**
 * struct ktau_ring - a trace, counted in slots since its first write
 * @head: slots reserved by writers; written only by the CPU that runs the task
 * @wake_at: a writer that reaches this mark calls ktau_ring_wake(): the lower of
 *	@poll_at and @grow_at, or less
 * @poll_at: pollers are woken when @head reaches this mark; U64_MAX after that, until a
 *	reader sets it again
 * @grow_at: a larger ring is requested when @head reaches this mark
 * @mask: @size - 1
 * @size: number of slots, a power of two
 * @tail: slots consumed; guarded by ring_lock of the state
 * @tail_ticks: time of the last slot read; guarded by ring_lock of the state
 * @serial: unique serial of the ring, never 0
 * @first: number of the first slot in this ring; constant once the ring is in use
 * @ready: sequence numbers of slots below this one have been initialised; that of the
 *	next one is invalid, unless all @size are initialised. Written only by the CPU
 *	that runs the task, interrupts disabled
 * @slot: the slots, allocated separately and not zeroed
 * @user: the user charged for the ring
 * @ref: counts readers, and the state. The state's reference is dropped a grace period after the
 *	ring has been replaced
 * @next: in a list of rings to be freed once no writer can use them; see switch.c
 * @rcu: drops the reference of the state
 */
struct ktau_ring {
	u64 head;
	u64 wake_at;
	u32 mask;
	u32 size;
	u64 poll_at;
	u64 grow_at;
	u64 tail;
	u64 tail_ticks;
	u64 serial;
	u64 first;
	u64 ready;
	struct ktau_ring_slot *slot;
	struct ktau_user *user;
	refcount_t ref;
	union {
		struct ktau_ring *next;
		struct rcu_head rcu;
	};
};

static __always_inline struct ktau_ring_slot *ktau_ring_slot(struct ktau_ring *ring,
							     u64 nr)
{
	return &ring->slot[(u32)nr & ring->mask];
}

/* The oldest slot in a ring that has been written up to @head. */
static inline u64 ktau_ring_oldest(const struct ktau_ring *ring, u64 head)
{
	return max(head > ring->size ? head - ring->size : 0, ring->first);
}

/*
 * Bits that are inverted in @head of a ring that has been replaced, perhaps inside a write: whoever
 * has read @head cannot reserve a slot any more, and whoever reads it now finds no slot free.
 */
#define KTAU_RING_CLOSED	(BIT_ULL(63) | BIT_ULL(31))

/* Slots reserved by writers, also of a ring that has been closed. */
static inline u64 ktau_ring_head(const struct ktau_ring *ring)
{
	const u64 head = ktau_read(&ring->head);

	return head & BIT_ULL(63) ? head ^ KTAU_RING_CLOSED : head;
}

/*
 * Whether slot @nr may be written, that is, the slot before it in that position is
 * committed.
 */
static __always_inline bool ktau_slot_is_free(const struct ktau_ring_slot *slot,
					      u64 nr)
{
	return data_race(slot->seq) == (u32)nr; /* no other CPU writes it */
}

static __always_inline void ktau_slot_fill(struct ktau_ring_slot *slot, u64 ticks,
					   u32 what)
{
	slot->ticks = ticks;
	slot->what = what;
	slot->count = ktau_preempt_count();
	slot->cpu = raw_smp_processor_id();
}

/* Commit a slot by advancing its sequence number to the next round. */
static __always_inline void ktau_slot_commit(const struct ktau_ring *ring,
					     struct ktau_ring_slot *slot)
{
	smp_wmb();	/* pairs with the reader's barrier in snapshot_trace.c */
	data_race(slot->seq += ring->size);	/* no other CPU writes it */
}

static __always_inline bool ktau_ring_wakes(const struct ktau_ring *ring, u64 nr)
{
	return nr >= data_race(ring->wake_at);	/* a hint: a slot late at worst */
}

/*
 * The next KVM_ENTER slot of @state needs a KVM_CLOCK slot before it: the last one has been
 * consumed, or will be overwritten soon. Any context.
 */
static inline void ktau_kvm_clock_due(struct ktau_state *state)
{
	WRITE_ONCE(state->tsc_ratio, 0);
}

struct ktau_ring *ktau_ring_create(struct ktau_user *user, u32 slots, gfp_t gfp);
u32 ktau_ring_full_slots(const struct task_struct *task);
u32 ktau_ring_start_slots(const struct task_struct *task);
bool ktau_ring_grows(const struct task_struct *task);
size_t ktau_ring_bytes(u32 slots);
void ktau_ring_make_ready(struct ktau_ring *ring);
void ktau_ring_lose(const struct ktau_ring *ring, enum ktau_loss reason);
struct ktau_ring *ktau_ring_get(struct ktau_state *state);
void ktau_ring_put(struct ktau_ring *ring);
bool ktau_ring_has_unread(const struct ktau_state *state);
void ktau_ring_retire(struct ktau_ring *ring);
void ktau_ring_set_marks(struct ktau_ring *ring, u64 poll_at);

#endif /* _KERNEL_KTAU_RING_H */
