/* SPDX-License-Identifier: GPL-2.0-only */
/* Strings by number, so that equal strings are equal numbers. */
#ifndef KTAU_TOOLS_VIEW_STRINGS_H
#define KTAU_TOOLS_VIEW_STRINGS_H

#include <stddef.h>
#include <stdint.h>

#include "lib/hash.h"

/**
 * struct strings - the strings; all zero: empty
 * @texts: the strings
 * @next: for each string, the next one of the same hash, plus 1
 * @nr: number of strings
 * @room: allocated number of strings
 * @by_hash: the first string of a hash, plus 1
 */
struct strings {
	char **texts;
	uint32_t *next;
	uint32_t nr, room;
	struct hash by_hash;
};

void strings_deinit(struct strings *t);

/* The number of the first @bytes of @text; it is valid as long as @t. */
uint32_t strings_add_bytes(struct strings *t, const char *text, size_t bytes);
uint32_t strings_add(struct strings *t, const char *text);

/* The number of changes of a character that make one of two words the other, up to 63 letters. */
unsigned int view_distance(const char *a, const char *b);

#endif
