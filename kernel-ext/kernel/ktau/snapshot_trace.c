// SPDX-License-Identifier: GPL-2.0-only
/*
 * KTAU: copying the trace of one owner, and giving its slots their form in streams.
 *
 * The places of the ring are copied as they are to where the slots go. Then each
 * slot is encoded from the front on: it never takes more than its places did.
 */
#include <linux/delay.h>
#include <linux/preempt.h>
#include <linux/sched.h>

#include "ktau.h"

#define QUICK_TRIES	3
#define SLOW_TRIES	100

/* Wait until slot @nr is whole, or overwritten; false if it never is. */
static bool wait_written(const struct ktau_place *place, u64 nr)
{
	unsigned int i;

	for (i = 0; i < SLOW_TRIES; i++) {
		if ((s32)(READ_ONCE(place->turn) - (u32)nr) > 0)
			return true;
		if (i < QUICK_TRIES)
			cpu_relax();
		else
			usleep_range(20, 100);
	}
	return false;
}

static unsigned int context(u32 count)
{
	if (count & HARDIRQ_MASK)
		return KTAU_CTX_HARDIRQ;
	return count & SOFTIRQ_OFFSET ? KTAU_CTX_SOFTIRQ : KTAU_CTX_TASK;
}

static unsigned int type_of(const struct ktau_place *place)
{
	return (u8)(place->what >> 16);
}

/* How many places belong to the slot that begins with @place, but for that one. */
static unsigned int nr_more(const struct ktau_place *place)
{
	return place->what & KTAU_WHAT_FRAME ? 0 : place->what >> 24;
}

/* Payload of @slot from its first place and the further ones. Return: words. */
static unsigned int encode_payload(struct ktau_slot *slot,
				   const struct ktau_place *place)
{
	u64 *to = (u64 *)(slot + 1);
	u16 small = place->what;

	switch (slot->type) {
	case KTAU_TRACE_COUNT:
	case KTAU_TRACE_TASK_EXIT:
		*to = place->arg;
		return 1;
	case KTAU_TRACE_SWITCH:
		*(struct ktau_slot_switch *)to = (struct ktau_slot_switch) {
			.next_serial = place->arg, .state = small,
			.prio = -1, .next_prio = -1,
		};
		return 2;
	case KTAU_TRACE_WAKING:
		*(struct ktau_slot_waking *)to = (struct ktau_slot_waking) {
			.serial = place->arg, .target_cpu = small, .prio = -1,
		};
		return 2;
	case KTAU_TRACE_FORK:
		*(struct ktau_slot_fork *)to = (struct ktau_slot_fork) {
			.serial = place->arg,
			.leader_serial = small ? place->arg : 0,
		};
		return 2;
	case KTAU_TRACE_EXEC:
		to[0] = place[1].ticks;
		to[1] = place[1].arg;
		to[2] = place->arg;
		return 3;
	case KTAU_TRACE_NET_SEND:
	case KTAU_TRACE_NET_RECV: {
		struct ktau_slot_net *net = (struct ktau_slot_net *)to;

		*net = (struct ktau_slot_net) {
			.local_port = place[1].what, .remote_port = place[2].what,
			.seq = place->arg, .bytes = place->arg >> 32,
			.nr_segments = 1,
		};
		memcpy(net->local, &place[1].ticks, sizeof(net->local));
		memcpy(net->remote, &place[2].ticks, sizeof(net->remote));
		return sizeof(*net) / sizeof(u64);
	}
	}
	return 0;
}

/**
 * ktau_slot_encode() - give a slot its form in streams
 * @slot: where it goes, KTAU_SLOT_MAX_WORDS
 * @place: a copy of its first place, the further ones after it
 *
 * Context: Any.
 * Return: Its length in words.
 */
unsigned int ktau_slot_encode(struct ktau_slot *slot,
			      const struct ktau_place *place)
{
	*slot = (struct ktau_slot) {
		.ticks = place->ticks,
		.id = KTAU_ID_NONE,
		.type = type_of(place),
		.cpu = place->cpu,
		.ctx = context(place->count),
	};
	if (slot->type == KTAU_TRACE_ENTER || slot->type == KTAU_TRACE_EXIT ||
	    slot->type == KTAU_TRACE_COUNT)
		slot->id = (u16)place->what;
	slot->words = sizeof(*slot) / sizeof(u64) + encode_payload(slot, place);
	return slot->words;
}

/* Drop @nr places from the front; until encoded, @nr_slots counts places. */
static void drop_front(struct ktau_rec_trace *rec, u32 nr)
{
	struct ktau_place *place = (struct ktau_place *)(rec + 1);

	nr = min(nr, rec->nr_slots);
	rec->nr_slots -= nr;
	rec->first += nr;
	memmove(place, place + nr, rec->nr_slots * sizeof(*place));
}

/* A slot whose leading one is gone says nothing; nor does a half at the end. */
static void trim_halves(struct ktau_rec_trace *rec, bool at_end)
{
	struct ktau_place *place = (struct ktau_place *)(rec + 1);
	u32 i;

	for (i = 0; i < rec->nr_slots && type_of(&place[i]) == KTAU_TRACE_MORE; i++)
		;
	drop_front(rec, i);
	if (at_end || !rec->nr_slots)
		return;
	for (i = rec->nr_slots - 1; i && type_of(&place[i]) == KTAU_TRACE_MORE; i--)
		;
	if (i + nr_more(&place[i]) >= rec->nr_slots)
		rec->nr_slots = i;
}

/* False if the owner never ended a write. */
static bool copy_slots(struct ktau_rec_trace *rec, const struct ktau_ring *ring,
		       u64 from, u32 max_slots)
{
	struct ktau_place *to = (struct ktau_place *)(rec + 1);
	const struct ktau_place *place;
	u64 end = ktau_read(&ring->head), gone;
	u32 i;

	rec->written = end;
	rec->first = max(from, ktau_ring_oldest(ring, end));
	rec->nr_slots = min_t(u64, end - rec->first, max_slots);
	for (i = 0; i < rec->nr_slots; i++) {
		place = &ring->place[(rec->first + i) & ring->mask];
		if (!wait_written(place, rec->first + i))
			return false;
		smp_rmb();	/* pairs with ktau_place_done() */
		to[i] = data_race(*place);	/* torn ones are dropped below */
	}
	smp_rmb();	/* what the writer has reached meanwhile may be torn */
	gone = ktau_ring_oldest(ring, ktau_read(&ring->head));
	if (gone > rec->first)
		drop_front(rec, min_t(u64, gone - rec->first, U32_MAX));
	trim_halves(rec, rec->first + rec->nr_slots == end);
	if (rec->nr_slots)
		return true;
	/* All of it has been overwritten, and perhaps what came after it too. */
	rec->first = max(rec->first, gone);
	rec->written = max(rec->written, rec->first);
	return true;
}

/* Time of the last slot; a place that continues another has none. */
static u64 last_ticks(const struct ktau_rec_trace *rec)
{
	const struct ktau_place *place = (const struct ktau_place *)(rec + 1);
	u32 i = rec->nr_slots - 1;

	while (i && type_of(&place[i]) == KTAU_TRACE_MORE)
		i--;
	return place[i].ticks;
}

/* Encode the places that were copied, from the front on. */
static void encode(struct ktau_rec_trace *rec)
{
	const struct ktau_place *from = (const struct ktau_place *)(rec + 1);
	u32 nr_places = rec->nr_slots, nr_slots = 0, i, more;
	u64 *to = (u64 *)(rec + 1);

	for (i = 0; i < nr_places; i += 1 + more) {
		struct ktau_place place[KTAU_SLOT_MAX_PLACES] = { };

		more = min_t(u32, nr_more(&from[i]), nr_places - i - 1);
		memcpy(place, &from[i],
		       min_t(u32, 1 + more, KTAU_SLOT_MAX_PLACES) * sizeof(*place));
		to += ktau_slot_encode((struct ktau_slot *)to, place);
		nr_slots++;
	}
	rec->nr_slots = nr_slots;
	rec->slots_bytes = (u8 *)to - (u8 *)(rec + 1);
}

static void note_loss(struct ktau_rec_trace *rec, u64 from, u64 from_ticks)
{
	const struct ktau_place *place = (struct ktau_place *)(rec + 1);

	rec->lost = rec->first - from;
	if (!rec->lost)
		return;
	rec->lost_from_ticks = from_ticks;
	rec->lost_to_ticks = rec->nr_slots ? place->ticks : ktau_ticks();
}

/* Leave out what is older than @since: that is neither asked for nor lost. */
static void trim_old(struct ktau_rec_trace *rec, u64 since)
{
	const struct ktau_place *place = (const struct ktau_place *)(rec + 1);
	u32 i = 0;

	while (i < rec->nr_slots && place[i].ticks < since)
		i += 1 + nr_more(&place[i]);
	if (!i)
		return;
	rec->lost = 0;
	rec->lost_from_ticks = 0;
	rec->lost_to_ticks = 0;
	drop_front(rec, i);
}

/**
 * ktau_snapshot_trace() - copy what a ring holds
 * @rec: where it goes, with room for @max_places of struct ktau_place after it
 * @max_places: at least KTAU_SLOT_MAX_PLACES
 * @state: whose
 * @task: the live task that it belongs to, or NULL
 * @reach: zero for a new owner, and kept from one call for it to the next. With
 *	@consume what no other reader has consumed, which is consumed by this one;
 *	without, all that the ring holds
 *
 * With @since_ticks, slots older than that are left out.
 *
 * A ring of another size is another ring, which begins with slot 0 again.
 *
 * Context: May sleep.
 * Return: 1 if there are more slots to copy, 0 if not, -ENODATA without a ring,
 * -EAGAIN if the owner never ended a write.
 */
int ktau_snapshot_trace(struct ktau_rec_trace *rec, u32 max_places,
			struct ktau_task *state, struct task_struct *task,
			struct ktau_reach *reach)
{
	struct ktau_ring *ring;
	int ret = -ENODATA;
	u64 begin, next;

	memset(rec, 0, sizeof(*rec));
	mutex_lock(&state->read_lock);
	ring = READ_ONCE(state->ring);
	if (!ring)
		goto out;
	ret = -EAGAIN;
	if (reach->ring != ring->serial) {
		reach->ring = ring->serial;
		reach->next = 0;
		reach->until = ktau_read(&ring->head);
	}
	begin = reach->consume ? ring->tail : reach->next;
	if (!copy_slots(rec, ring, begin, max_places))
		goto out;
	note_loss(rec, begin, reach->consume ? ring->tail_ticks : 0);
	trim_old(rec, reach->since_ticks);
	next = rec->first + rec->nr_slots;
	if (reach->consume) {
		ring->tail = next;
		if (rec->nr_slots)
			ring->tail_ticks = last_ticks(rec);
	} else {
		reach->next = next;
	}
	encode(rec);

	rec->rec.type = KTAU_REC_TRACE;
	rec->rec.head = sizeof(*rec);
	rec->rec.size = sizeof(*rec) + rec->slots_bytes;
	rec->serial = state->serial;
	rec->next = next;
	rec->ring_slots = ring->size;
	if (task)
		rec->groups = READ_ONCE(task->ktau.mask) & ~KTAU_MASK_GONE;
	ret = next < reach->until;
	if (!ret && reach->consume)
		ktau_ring_rearm(ring);
out:
	mutex_unlock(&state->read_lock);
	return ret;
}
