/* SPDX-License-Identifier: GPL-2.0-only */
/* A table from 64-bit keys to numbers or pointers: ids and serials are sparse. */
#ifndef KTAU_TOOLS_HASH_H
#define KTAU_TOOLS_HASH_H

#include <stddef.h>
#include <stdint.h>

struct hash_entry {
	uint64_t key;
	uintptr_t value;	/* 0: free */
};

/* All zero is an empty table. */
struct hash {
	struct hash_entry *entries;
	size_t nr, room;
};

void hash_deinit(struct hash *h);
void hash_clear(struct hash *h);

/* 0 if @key is not in it. */
uintptr_t hash_get(const struct hash *h, uint64_t key);

/* @value is not 0; it replaces an earlier one. */
void hash_put(struct hash *h, uint64_t key, uintptr_t value);

#endif
