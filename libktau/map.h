/* SPDX-License-Identifier: LGPL-2.1-or-later */
/* A hash table from a number to an index, with open addressing. */
#ifndef KTAU_INTERNAL_MAP_H
#define KTAU_INTERNAL_MAP_H

#include "util.h"

struct ktau__map {
	struct ktau__map_slot *slots;
	size_t nr_slots;	/* power of two, or 0 */
	size_t used;
	uint64_t seed;
	uint32_t turn;		/* number of times that it was cleared, from 1 on; 0: no slots */
};

#define KTAU__MAP_NONE	SIZE_MAX

/* The index of @value, KTAU__MAP_NONE if it has none. */
size_t ktau__map_get(const struct ktau__map *map, uint64_t value);

/* Make room for one more value, so that the next put cannot fail. 0, -ENOMEM. */
int ktau__map_reserve(struct ktau__map *map);

/* Set the index of @value, at most UINT32_MAX. 0, -ENOMEM. */
int ktau__map_put(struct ktau__map *map, uint64_t value, size_t index);
void ktau__map_clear(struct ktau__map *map);
void ktau__map_free(struct ktau__map *map);

#endif /* KTAU_INTERNAL_MAP_H */
