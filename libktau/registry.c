// SPDX-License-Identifier: LGPL-2.1-or-later
/* Copies of the newest record for each key: owners, control groups. */
#include <stdlib.h>

#include "registry.h"

struct ktau__registered {
	uint64_t key;
	void *record;
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

bool ktau__registry_has(const struct ktau__registry *r, uint64_t key, const void *record)
{
	const struct ktau_rec *old = ktau__registry_find(r, key);

	return old && old->size == ((const struct ktau_rec *)record)->size &&
	       !memcmp(old, record, old->size);
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
	r->entries = entries;
	r->room = room;
	return 0;
}

static int append(struct ktau__registry *r, uint64_t key, void *record)
{
	int err = make_room(r);

	if (!err)
		err = ktau__map_put(&r->map, key, r->nr);
	if (err)
		return err;
	r->entries[r->nr++] = (struct ktau__registered){ .key = key, .record = record };
	return 0;
}

int ktau__registry_put(struct ktau__registry *r, uint64_t key, const void *record)
{
	size_t at = ktau__map_get(&r->map, key);
	void *copy;
	int err;

	/* Files repeat records. An unchanged record keeps its address. */
	if (ktau__registry_has(r, key, record))
		return 0;
	copy = ktau_record_dup(record);
	if (!copy)
		return -ENOMEM;
	if (at != KTAU__MAP_NONE) {
		ktau_record_free(r->entries[at].record);
		r->entries[at].record = copy;
		return 0;
	}
	err = append(r, key, copy);
	if (err)
		ktau_record_free(copy);
	return err;
}

void ktau__registry_clear(struct ktau__registry *r)
{
	size_t i;

	for (i = 0; i < r->nr; i++)
		ktau_record_free(r->entries[i].record);
	r->nr = 0;
	ktau__map_clear(&r->map);
}

void ktau__registry_free(struct ktau__registry *r)
{
	ktau__registry_clear(r);
	ktau__map_free(&r->map);
	free(r->entries);
	memset(r, 0, sizeof(*r));
}
