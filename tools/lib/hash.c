// SPDX-License-Identifier: GPL-2.0-only
/* Open addressing; the table is at most half full. */
#include <stdlib.h>
#include <string.h>

#include "cli.h"
#include "hash.h"

/* Room at first; number of elements of a set in a value, a bit each. */
enum { FIRST_ROOM = 64, SET_BITS = 32 };

void hash_deinit(struct hash *h)
{
	free(h->entries);
	*h = (struct hash){ 0 };
}

void hash_clear(struct hash *h)
{
	if (h->nr)
		memset(h->entries, 0, h->room * sizeof(*h->entries));
	h->nr = 0;
}

/* The entry of @key, or the free entry where it would be stored. */
static struct hash_entry *place(const struct hash *h, uint64_t key)
{
	size_t mask = h->room - 1;
	size_t at = (size_t)((key * 0x9e3779b97f4a7c15ULL) >> 32) & mask;

	while (h->entries[at].value && h->entries[at].key != key)
		at = (at + 1) & mask;
	return &h->entries[at];
}

uintptr_t hash_get(const struct hash *h, uint64_t key)
{
	return h->nr ? place(h, key)->value : 0;
}

static void grow(struct hash *h)
{
	struct hash old = *h;
	size_t i;

	h->room = old.room ? old.room * 2 : FIRST_ROOM;
	h->entries = cli_alloc(NULL, h->room, sizeof(*h->entries));
	memset(h->entries, 0, h->room * sizeof(*h->entries));
	for (i = 0; i < old.room; i++)
		if (old.entries[i].value)
			*place(h, old.entries[i].key) = old.entries[i];
	free(old.entries);
}

void hash_put(struct hash *h, uint64_t key, uintptr_t value)
{
	struct hash_entry *entry;

	if (2 * (h->nr + 1) > h->room)
		grow(h);
	entry = place(h, key);
	h->nr += !entry->value;
	*entry = (struct hash_entry){ .key = key, .value = value };
}

bool hash_add(struct hash *h, uint64_t number)
{
	uintptr_t bits = hash_get(h, number / SET_BITS);
	uintptr_t bit = (uintptr_t)1 << number % SET_BITS;

	if (bits & bit)
		return false;
	hash_put(h, number / SET_BITS, bits | bit);
	return true;
}

bool hash_has(const struct hash *h, uint64_t number)
{
	return hash_get(h, number / SET_BITS) >> number % SET_BITS & 1;
}

uint64_t hash_bytes(uint64_t hash, const void *data, size_t bytes)
{
	const unsigned char *at = data, *end = at + bytes;

	for (; at < end; at++)
		hash = (hash ^ *at) * 0x100000001b3ULL;
	return hash;
}

uint64_t hash_text(const char *text)
{
	return hash_bytes(HASH_START, text, strlen(text));
}
