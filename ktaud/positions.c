// SPDX-License-Identifier: GPL-2.0-only
#include <errno.h>
#include <stdlib.h>
#include <string.h>

#include "positions.h"

#define ROOM_MIN	1024

/* Up to this size, positions of tasks that do not write are kept. Most of those have exited. */
#define ROOM_IDLE	(1 << 17)

void positions_clear(struct positions *p)
{
	free(p->table);
	*p = (struct positions){ 0 };
}

/* The entry of @serial, or the free one where it belongs. There is always a free entry. */
static struct position *entry(struct position *table, size_t room, uint64_t serial)
{
	size_t i = (serial * 0x9e3779b97f4a7c15ULL) >> 32;

	for (;; i++) {
		struct position *at = &table[i & (room - 1)];

		if (!at->serial || at->serial == serial)
			return at;
	}
}

static struct position *find(const struct positions *p, uint64_t serial)
{
	struct position *at = p->room ? entry(p->table, p->room, serial) : NULL;

	return at && at->serial ? at : NULL;
}

/* Move the entries to a table of @room; with @sweep, only those used since the last sweep. */
static int move(struct positions *p, size_t room, bool sweep)
{
	struct position *table = calloc(room, sizeof(*table)), *to;
	size_t i, nr = 0;

	if (!table)
		return -ENOMEM;
	for (i = 0; i < p->room; i++) {
		if (!p->table[i].serial || (sweep && !p->table[i].used))
			continue;
		to = entry(table, room, p->table[i].serial);
		*to = p->table[i];
		to->used &= !sweep;
		nr++;
	}
	free(p->table);
	p->table = table;
	p->room = room;
	p->nr = nr;
	return 0;
}

/* Keep at least half of the table free. */
static int make_room(struct positions *p)
{
	int err = 0;

	if (p->nr < p->room / 2)
		return 0;
	if (p->room >= ROOM_IDLE)
		err = move(p, p->room, true);
	if (!err && p->nr >= p->room / 8 * 3)
		err = move(p, p->room ? 2 * p->room : ROOM_MIN, false);
	return err;
}

static uint64_t last_ticks(const struct ktau_rec_trace *trace)
{
	const uint64_t *slot = (const uint64_t *)ktau_trace_slots(trace);
	uint64_t ticks = trace->lost_to_ticks;
	uint32_t i;

	for (i = 0; i < trace->nr_slots; i++) {
		ticks = ((const struct ktau_slot *)slot)->ticks;
		slot += ((const struct ktau_slot *)slot)->words;
	}
	return ticks;
}

int positions_note(struct positions *p, const struct ktau_rec_trace *trace)
{
	struct position *at;
	int err;

	if (!trace->serial)
		return 0;
	err = make_room(p);
	if (err)
		return err;
	at = entry(p->table, p->room, trace->serial);
	p->nr += !at->serial;
	*at = (struct position){ trace->serial, trace->next, last_ticks(trace), true };
	return 0;
}

/* The number of positions that a slot takes in its ring. */
static unsigned int slot_units(const struct ktau_slot *slot)
{
	switch (slot->type) {
	case KTAU_TRACE_WOKEN:
	case KTAU_TRACE_FORK:
	case KTAU_TRACE_EXEC:
	case KTAU_TRACE_COMM:
		return 2;
	case KTAU_TRACE_NET_SEND:
	case KTAU_TRACE_NET_RECV:
		return 3;
	default:
		return 1;
	}
}

/* Remove the slots before @slot, or all if that is NULL. */
static void remove_before(struct ktau_rec_trace *trace, const struct ktau_slot *slot)
{
	const char *begin = (const char *)ktau_trace_slots(trace);
	const struct ktau_slot *old = NULL;
	uint32_t bytes, nr = 0;

	while ((old = ktau_trace_next(trace, old)) != slot) {
		trace->first += slot_units(old);
		nr++;
	}
	if (!nr)
		return;
	bytes = slot ? (uint32_t)((const char *)slot - begin) : trace->slots_bytes;
	trace->nr_slots -= nr;
	trace->slots_bytes -= bytes;
	trace->rec.size -= bytes;
	memmove((char *)trace + trace->rec.head, begin + bytes, trace->slots_bytes);
	trace->lost = trace->lost_from_ticks = trace->lost_to_ticks = 0;
}

/*
 * Remove the slots before @at. In a new ring of the same task, positions start at 0 again, but all
 * slots are later.
 */
static void trim(struct ktau_rec_trace *trace, const struct position *at)
{
	const struct ktau_slot *slot = ktau_trace_next(trace, NULL);
	uint64_t position = trace->first;

	while (slot && position < at->next && slot->ticks <= at->ticks) {
		position += slot_units(slot);
		slot = ktau_trace_next(trace, slot);
	}
	remove_before(trace, slot);
}

/*
 * Remove the slots before @since_ticks. A task writes the ENTER of its time in the run queue, with
 * the time of its wakeup, together with the EXIT.
 */
static void trim_older(struct ktau_rec_trace *trace, uint64_t since_ticks)
{
	const struct ktau_slot *slot = ktau_trace_next(trace, NULL), *before = NULL;

	while (slot && slot->ticks < since_ticks) {
		before = slot;
		slot = ktau_trace_next(trace, slot);
	}
	if (slot && before && before->type == KTAU_TRACE_ENTER &&
	    slot->type == KTAU_TRACE_EXIT && slot->id == before->id)
		slot = before;
	remove_before(trace, slot);
}

/* Let the loss before the first slot be all that is missing since @at. */
static void state_loss(struct ktau_rec_trace *trace, const struct position *at,
		       uint64_t now_ticks)
{
	const struct ktau_slot *slot = ktau_trace_next(trace, NULL);

	trace->lost = trace->first - at->next;
	if (!trace->lost) {
		trace->lost_from_ticks = trace->lost_to_ticks = 0;
		return;
	}
	trace->lost_from_ticks = at->ticks;
	trace->lost_to_ticks = slot ? slot->ticks : now_ticks;
	if (trace->lost_to_ticks < trace->lost_from_ticks)
		trace->lost_to_ticks = trace->lost_from_ticks;
}

/*
 * Return: true if @trace may differ from what must be written after @at, or for a ring that is not
 * known if that is NULL.
 */
static bool must_correct(const struct positions *p, const struct ktau_rec_trace *trace,
			 const struct position *at)
{
	uint64_t begin = trace->first - trace->lost;

	if (!at)
		return p->repeats;
	/* A lower position is that of a new ring, unless slots can be read again. */
	return begin > at->next || (begin < at->next && p->repeats);
}

static int correct(struct positions *p, const struct ktau_rec_trace *trace,
		   const struct position *at, uint64_t now_ticks, struct ktau_rec_trace **own)
{
	uint64_t begin = trace->first - trace->lost;
	struct ktau_rec_trace *copy = ktau_record_dup(trace);

	if (!copy)
		return -ENOMEM;
	*own = copy;
	if (at && begin > at->next)
		p->missing += begin - at->next;
	if (!at)
		trim_older(copy, p->since_ticks);
	else if (copy->first < at->next)
		trim(copy, at);
	else
		state_loss(copy, at, now_ticks);
	if (copy->nr_slots || copy->lost)
		return 1;
	ktau_record_free(copy);
	*own = NULL;
	return 0;
}

int positions_follow(struct positions *p, const struct ktau_rec_trace *trace,
		     uint64_t now_ticks, struct ktau_rec_trace **own)
{
	const struct position *at = find(p, trace->serial);
	int ret = 1, err;

	*own = NULL;
	if (must_correct(p, trace, at))
		ret = correct(p, trace, at, now_ticks, own);
	if (ret <= 0)
		return ret;
	err = positions_note(p, *own ? *own : trace);
	if (err) {
		ktau_record_free(*own);
		*own = NULL;
		return err;
	}
	return 1;
}
