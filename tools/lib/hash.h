/* SPDX-License-Identifier: GPL-2.0-only */
/* Maps 64-bit keys to numbers or pointers; ids and serials are sparse. */
#ifndef KTAU_TOOLS_HASH_H
#define KTAU_TOOLS_HASH_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

struct hash_entry {
	uint64_t key;
	uintptr_t value;	/* 0: free */
};

/* An all-zero structure is an empty table. */
struct hash {
	struct hash_entry *entries;
	size_t nr, room;
};

void hash_deinit(struct hash *h);
void hash_clear(struct hash *h);

/* Return: the value of @key, or 0 if it is not in the table. */
uintptr_t hash_get(const struct hash *h, uint64_t key);

/* @value must not be 0; it replaces an earlier value. */
void hash_put(struct hash *h, uint64_t key, uintptr_t value);

/*
 * Add @number to a set, in which neighbours share an entry. The table has no other keys.
 * Return: false if it was already there.
 */
bool hash_add(struct hash *h, uint64_t number);
bool hash_has(const struct hash *h, uint64_t number);

/* Keys for data, by FNV-1a: what has one key may still differ. */
#define HASH_START	0xcbf29ce484222325ULL
uint64_t hash_bytes(uint64_t hash, const void *data, size_t bytes);
uint64_t hash_text(const char *text);

#endif
