/* SPDX-License-Identifier: LGPL-2.1-or-later */
/* Copies of the newest record of each key, in the order in which the keys first appeared. */
#ifndef KTAU_INTERNAL_REGISTRY_H
#define KTAU_INTERNAL_REGISTRY_H

#include "map.h"

struct ktau__registry {
	struct ktau__map map;
	struct ktau__registered *entries;
	size_t nr;
	size_t room;
};

/* The record of @key, the first record, the record after that of @key; NULL if none. */
const void *ktau__registry_find(const struct ktau__registry *registry, uint64_t key);
const void *ktau__registry_first(const struct ktau__registry *registry);
const void *ktau__registry_next(const struct ktau__registry *registry, uint64_t key);

/* Keep a copy of @record. 0, -ENOMEM. */
int ktau__registry_put(struct ktau__registry *registry, uint64_t key, const void *record);

/* True if the record of @key is equal to @record. */
bool ktau__registry_has(const struct ktau__registry *registry, uint64_t key,
			const void *record);

/* Forget all records. Their memory is kept for those to come: most streams are alike. */
void ktau__registry_clear(struct ktau__registry *registry);
void ktau__registry_free(struct ktau__registry *registry);

#endif /* KTAU_INTERNAL_REGISTRY_H */
