// SPDX-License-Identifier: LGPL-2.1-or-later
/* EVENT records by id: an array that grows to the highest id. */
#include <stdlib.h>

#include "events.h"

#define WORD_BITS	64

struct ktau_events {
	struct ktau_rec_event **table;	/* NULL: no event */
	uint64_t *used;			/* a bit for each element: most are unused */
	uint32_t room;			/* elements, a multiple of WORD_BITS */
	unsigned int count;
};

int ktau_events_create(struct ktau_events **events)
{
	*events = calloc(1, sizeof(**events));
	return *events ? 0 : -ENOMEM;
}

/* The first element in use from @id on; the room if there is none. */
static uint32_t next_used(const struct ktau_events *events, uint32_t id)
{
	uint64_t word;

	for (; id < events->room; id = (id / WORD_BITS + 1) * WORD_BITS) {
		word = events->used[id / WORD_BITS] >> id % WORD_BITS;
		if (word)
			return id + (uint32_t)__builtin_ctzll(word);
	}
	return events->room;
}

void ktau__events_clear(struct ktau_events *events)
{
	uint32_t id;

	for (id = next_used(events, 0); id < events->room; id = next_used(events, id + 1)) {
		ktau_record_free(events->table[id]);
		events->table[id] = NULL;
	}
	if (events->room)
		memset(events->used, 0, events->room / 8);
	events->count = 0;
}

void ktau_events_destroy(struct ktau_events *events)
{
	if (!events)
		return;
	ktau__events_clear(events);
	free(events->table);
	free(events->used);
	free(events);
}

const char *ktau__bad_event(const struct ktau_rec_event *event)
{
	if (event->id == KTAU_ID_NONE)
		return "event record without an id";
	return *ktau_event_name(event) ? NULL : "event record without a name";
}

bool ktau__events_has(const struct ktau_events *events, const struct ktau_rec_event *event)
{
	const struct ktau_rec_event *old = ktau_events_find(events, event->id);

	return old && old->rec.size == event->rec.size && !memcmp(old, event, old->rec.size);
}

static int make_room(struct ktau_events *events, uint32_t id)
{
	uint32_t room = events->room ? events->room : 1024;
	struct ktau_rec_event **table;
	uint64_t *used;

	if (id < events->room)
		return 0;
	while (room <= id)
		room *= 2;
	table = reallocarray(events->table, room, sizeof(*table));
	if (!table)
		return -ENOMEM;
	events->table = table;
	used = realloc(events->used, room / 8);
	if (!used)
		return -ENOMEM;
	events->used = used;
	memset(table + events->room, 0, (room - events->room) * sizeof(*table));
	memset(used + events->room / WORD_BITS, 0, (room - events->room) / 8);
	events->room = room;
	return 0;
}

int ktau_events_put(struct ktau_events *events, const struct ktau_rec_event *event)
{
	struct ktau_rec_event *copy;
	int err;

	if (event->rec.type != KTAU_REC_EVENT || ktau__bad_event(event))
		return -EINVAL;
	/* Files repeat events: an unchanged one keeps its address. */
	if (ktau__events_has(events, event))
		return 0;
	err = make_room(events, event->id);
	if (err)
		return err;
	copy = ktau_record_dup(event);
	if (!copy)
		return -ENOMEM;
	events->count += !events->table[event->id];
	ktau_record_free(events->table[event->id]);
	events->table[event->id] = copy;
	events->used[event->id / WORD_BITS] |= 1ULL << event->id % WORD_BITS;
	return 0;
}

const struct ktau_rec_event *ktau_events_find(const struct ktau_events *events, uint32_t id)
{
	return id < events->room ? events->table[id] : NULL;
}

const struct ktau_rec_event *ktau_events_next(const struct ktau_events *events,
					      const struct ktau_rec_event *event)
{
	uint32_t id = next_used(events, event ? event->id + 1U : 0);

	return id < events->room ? events->table[id] : NULL;
}

unsigned int ktau_events_count(const struct ktau_events *events)
{
	return events->count;
}
