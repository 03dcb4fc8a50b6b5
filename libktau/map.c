// SPDX-License-Identifier: LGPL-2.1-or-later
/* A hash table from a number to an index. Single entries cannot be removed. */
#include <stdlib.h>
#include <sys/random.h>

#include "map.h"

struct ktau__map_slot {
	uint64_t value;
	uint32_t index;
	uint32_t turn;	/* as in the map: used */
};

static bool is_used(const struct ktau__map *map, const struct ktau__map_slot *slot)
{
	return slot->turn == map->turn;
}

/* Finalizer of splitmix64. The seed is random, so that a file cannot choose collisions. */
static uint64_t mix(const struct ktau__map *map, uint64_t value)
{
	uint64_t x = value + map->seed;

	x = (x ^ (x >> 30)) * 0xbf58476d1ce4e5b9ULL;
	x = (x ^ (x >> 27)) * 0x94d049bb133111ebULL;
	return x ^ (x >> 31) ^ map->seed;
}

static struct ktau__map_slot *probe(const struct ktau__map *map, uint64_t value)
{
	size_t at = mix(map, value) & (map->nr_slots - 1);

	while (is_used(map, &map->slots[at]) && map->slots[at].value != value)
		at = (at + 1) & (map->nr_slots - 1);
	return &map->slots[at];
}

size_t ktau__map_get(const struct ktau__map *map, uint64_t value)
{
	const struct ktau__map_slot *slot;

	if (!map->nr_slots)
		return KTAU__MAP_NONE;
	slot = probe(map, value);
	return is_used(map, slot) ? slot->index : KTAU__MAP_NONE;
}

static int grow(struct ktau__map *map)
{
	/* A slot that was never used has turn 0. */
	struct ktau__map bigger = { .seed = map->seed, .turn = map->turn ? map->turn : 1 };
	size_t i;

	if (!map->nr_slots &&
	    getrandom(&bigger.seed, sizeof(bigger.seed), GRND_NONBLOCK) < 0)
		bigger.seed = (uintptr_t)map;
	bigger.nr_slots = map->nr_slots ? map->nr_slots * 2 : 64;
	bigger.slots = calloc(bigger.nr_slots, sizeof(*bigger.slots));
	if (!bigger.slots)
		return -ENOMEM;
	for (i = 0; i < map->nr_slots; i++) {
		if (is_used(map, &map->slots[i]))
			*probe(&bigger, map->slots[i].value) = map->slots[i];
	}
	bigger.used = map->used;
	free(map->slots);
	*map = bigger;
	return 0;
}

static bool is_full(const struct ktau__map *map)
{
	return map->used * 2 >= map->nr_slots;
}

int ktau__map_reserve(struct ktau__map *map)
{
	return is_full(map) ? grow(map) : 0;
}

int ktau__map_put(struct ktau__map *map, uint64_t value, size_t index)
{
	struct ktau__map_slot *slot = map->nr_slots ? probe(map, value) : NULL;
	int err;

	if (index > UINT32_MAX)
		return -ENOMEM;
	if (!slot || (!is_used(map, slot) && is_full(map))) {
		err = grow(map);
		if (err)
			return err;
		slot = probe(map, value);
	}
	map->used += !is_used(map, slot);
	*slot = (struct ktau__map_slot){ value, (uint32_t)index, map->turn };
	return 0;
}

void ktau__map_clear(struct ktau__map *map)
{
	/* Slots of earlier turns are free, so a large map costs nothing. */
	if (map->nr_slots && !++map->turn) {
		memset(map->slots, 0, map->nr_slots * sizeof(*map->slots));
		map->turn = 1;
	}
	map->used = 0;
}

void ktau__map_free(struct ktau__map *map)
{
	free(map->slots);
	memset(map, 0, sizeof(*map));
}
