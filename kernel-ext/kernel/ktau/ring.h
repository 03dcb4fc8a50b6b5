/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * KTAU: the ring of trace slots, and the writing of one.
 *
 * Only the CPU that runs the owner writes, without a lock; an interrupt may write
 * inside another write. Each place of the ring knows whose turn it is: the number
 * of the slot that may be written there next. A writer
 *
 *	looks at @head, and whether it is the turn of that slot,
 *	reads the clock,
 *	moves @head, which fails if an interrupt has written meanwhile,
 *	fills the place, and
 *	gives the turn to the slot that comes one round later.
 *
 * So slots are in the order of their times, and a slot is whole if and only if the
 * turn has gone on from it. An interrupt that writes as much as the whole ring
 * inside another write comes to a place whose turn has not come, and loses its
 * slots: a place is never written by two.
 *
 * A task that soon ends fills but a corner of its ring. So a new ring is memory as
 * it comes; places are made ready, that is, given their turns, a few ahead of the
 * head, by the first writer who finds that the turn of his place is not his. A ring
 * grows with its task, see ring.c.
 *
 * The oldest slots are overwritten: the reader knows from @head what it has missed,
 * and what it may have copied while it was written anew.
 */
#ifndef _KERNEL_KTAU_RING_H
#define _KERNEL_KTAU_RING_H

#include <linux/bits.h>
#include <linux/minmax.h>
#include <linux/preempt.h>
#include <linux/smp.h>
#include <uapi/linux/ktau.h>

#include "arch.h"
#include "types.h"

/**
 * struct ktau_place - a slot, or a part of one, as it is in the ring
 * @ticks: when; data in a place that continues a slot
 * @arg: by type; data in a place that continues a slot; not written by an entry
 *	without KTAU_WHAT_ARG
 * @what: KTAU_WHAT()
 * @count: preempt_count(), which gives the context; data in a place that
 *	continues a slot
 * @cpu: where; 0 in a place that continues a slot
 * @turn: lower half of the number of the slot to be written here next
 *
 * This layout is private: snapshot_trace.c makes struct ktau_slot of it.
 */
struct ktau_place {
	u64 ticks;
	u64 arg;
	u32 what;
	u32 count;
	u32 cpu;
	u32 turn;
};

/*
 * An id or 16 bits of data, the type, and how many places continue this one; in
 * those, which one it is.
 */
#define KTAU_WHAT(small, type, more)					\
	((u32)(small) | (u32)(type) << 16 | (u32)(more) << 24)
#define KTAU_WHAT_SMALL(what)	((u16)(what))
#define KTAU_WHAT_TYPE(what)	((u8)((what) >> 16))
#define KTAU_WHAT_MORE(what)	((what) >> 24 & 3)

/* ENTER and EXIT: @arg is written. Whether it means anything depends on the id. */
#define KTAU_WHAT_ARG		0x80000000U

/* Type of a place that continues a slot; never in a stream. */
#define KTAU_TRACE_MORE		255

/**
 * struct ktau_slot_more - what a place that continues a slot holds
 * @data: two words; their meaning is that of the slot's type
 * @small: 16 more bits
 * @small2: 32 more bits
 */
struct ktau_slot_more {
	u64 data[2];
	u16 small;
	u32 small2;
};

/* Places of the longest slot: a network segment. */
#define KTAU_SLOT_MAX_PLACES	3

/*
 * A serial and two priorities in one word. Serials count up from 1 and stay below
 * 2^48 for centuries; priorities are from -1 (deadline) to 140.
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

/* @shift: 48 or 56, for the first or the second priority. */
static inline int ktau_packed_prio(u64 arg, unsigned int shift)
{
	u8 prio = arg >> shift;

	return prio == (u8)-1 ? -1 : prio;
}

/* Which context a slot was written in, by preempt_count(). */
static inline unsigned int ktau_context(u32 count)
{
	if (count & HARDIRQ_MASK)
		return KTAU_CTX_HARDIRQ;
	return count & SOFTIRQ_OFFSET ? KTAU_CTX_SOFTIRQ : KTAU_CTX_TASK;
}

/**
 * struct ktau_ring - a trace, counted in slots since its first write
 * @head: slots given to writers; only the task's own CPU
 * @wake_at: a writer that gets there calls ktau_ring_wake(): the lower one of
 *	@poll_at and @grow_at, or less
 * @poll_at: wake pollers when @head gets there; U64_MAX when that is done.
 *	Set anew by a reader.
 * @grow_at: ask for a larger ring when @head gets there
 * @mask: @size - 1
 * @size: in slots, a power of two
 * @tail: slots read; guarded by the ktau_task's read_lock
 * @tail_ticks: time of the last slot read; guarded likewise
 * @serial: its own, never 0 and never given again
 * @first: number of the first slot that was put here; fixed once it is in use
 * @ready: slots below it have had places with their turns; the next place is
 *	nobody's turn, unless all @size have been made ready. Only the task's own CPU,
 *	interrupts off
 * @place: the slots, a memory of its own that is not zeroed
 * @user: who is charged for it
 * @next: of those that a writer may still be at, to be freed; see switch.c
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
	struct ktau_place *place;
	struct ktau_user *user;
	struct ktau_ring *next;
};

static __always_inline struct ktau_place *ktau_place(struct ktau_ring *ring,
						     u64 nr)
{
	return &ring->place[(u32)nr & ring->mask];
}

/* The oldest slot that a ring written up to @head has. */
static inline u64 ktau_ring_oldest(const struct ktau_ring *ring, u64 head)
{
	return max(head > ring->size ? head - ring->size : 0, ring->first);
}

/* Whether slot @nr may be written: the one a round before it is whole. */
static __always_inline bool ktau_place_is_free(const struct ktau_place *place,
					       u64 nr)
{
	return data_race(place->turn) == (u32)nr; /* only we write it */
}

static __always_inline void ktau_place_fill(struct ktau_place *place, u64 ticks,
					    u32 what)
{
	place->ticks = ticks;
	place->what = what;
	place->count = preempt_count();
	place->cpu = raw_smp_processor_id();
}

/* Its slot is whole, for other CPUs too: the turn is that of the next round. */
static __always_inline void ktau_place_done(const struct ktau_ring *ring,
					    struct ktau_place *place)
{
	smp_wmb();	/* pairs with the reader's in snapshot_trace.c */
	data_race(place->turn += ring->size);	/* only we write it */
}

static __always_inline bool ktau_ring_wakes(const struct ktau_ring *ring, u64 nr)
{
	return nr >= data_race(ring->wake_at);	/* a hint: late by a slot */
}

struct ktau_ring *ktau_ring_create(struct ktau_user *user, u32 slots, gfp_t gfp);
u32 ktau_ring_full_slots(const struct task_struct *task);
u32 ktau_ring_start_slots(const struct task_struct *task);
size_t ktau_ring_bytes(u32 slots);
void ktau_ring_make_ready(struct ktau_ring *ring);
void ktau_ring_lose(const struct ktau_ring *ring, enum ktau_loss reason);
void ktau_ring_free(struct ktau_ring *ring);
void ktau_ring_set_marks(struct ktau_ring *ring, u64 poll_at);

#endif /* _KERNEL_KTAU_RING_H */
