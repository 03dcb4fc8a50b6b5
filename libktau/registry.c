// SPDX-License-Identifier: LGPL-2.1-or-later
/* Copies of the newest record for each key: owners, control groups. */
#include <stdlib.h>

#include "registry.h"

struct ktau__registered {
	uint64_t key;
	void *record;
	size_t room;	/* allocated length of @record, also of one that was cleared */
};

const void *ktau__registry_find(const struct ktau__registry *r, uint64_t key)
{
	size_t at = ktau__map_get(&r->map, key);

	return at == KTAU__MAP_NONE ? NULL : r->entries[at].record;
}

const void *ktau__registry_first(const struct ktau__registry *r)
{
	return r->nr ? r->entries[0].record : NULL;
}

const void *ktau__registry_next(const struct ktau__registry *r, uint64_t key)
{
	size_t at = ktau__map_get(&r->map, key);

	return at == KTAU__MAP_NONE || at + 1 == r->nr ? NULL : r->entries[at + 1].record;
}

static bool is_equal(const struct ktau_rec *old, const void *record)
{
	return old->size == ((const struct ktau_rec *)record)->size &&
	       !memcmp(old, record, old->size);
}

bool ktau__registry_has(const struct ktau__registry *r, uint64_t key, const void *record)
{
	const struct ktau_rec *old = ktau__registry_find(r, key);

	return old && is_equal(old, record);
}

static int make_room(struct ktau__registry *r)
{
	size_t room = r->room ? r->room * 2 : 64;
	struct ktau__registered *entries;

	if (r->nr < r->room)
		return 0;
	entries = reallocarray(r->entries, room, sizeof(*entries));
	if (!entries)
		return -ENOMEM;
	memset(entries + r->room, 0, (room - r->room) * sizeof(*entries));
	r->entries = entries;
	r->room = room;
	return 0;
}

/* Copy a record to an entry, into the memory of the one before it if that is large enough. */
static int copy_to(struct ktau__registered *entry, const struct ktau_rec *record)
{
	void *memory = entry->record;

	if (record->size > entry->room) {
		memory = malloc(record->size);
		if (!memory)
			return -ENOMEM;
		free(entry->record);
		entry->room = record->size;
	}
	entry->record = memcpy(memory, record, record->size);
	return 0;
}

static int append(struct ktau__registry *r, uint64_t key, const void *record)
{
	int err = make_room(r);

	if (!err)
		err = copy_to(&r->entries[r->nr], record);
	if (!err)
		err = ktau__map_put(&r->map, key, r->nr);
	if (err)
		return err;
	r->entries[r->nr++].key = key;
	return 0;
}

int ktau__registry_put(struct ktau__registry *r, uint64_t key, const void *record)
{
	size_t at = ktau__map_get(&r->map, key);

	if (at == KTAU__MAP_NONE)
		return append(r, key, record);
	/* Files repeat records. An unchanged record keeps its address. */
	if (is_equal(r->entries[at].record, record))
		return 0;
	return copy_to(&r->entries[at], record);
}

void ktau__registry_clear(struct ktau__registry *r)
{
	r->nr = 0;
	ktau__map_clear(&r->map);
}

void ktau__registry_free(struct ktau__registry *r)
{
	size_t i;

	for (i = 0; i < r->room; i++)
		free(r->entries[i].record);
	ktau__map_free(&r->map);
	free(r->entries);
	memset(r, 0, sizeof(*r));
}
