// SPDX-License-Identifier: GPL-2.0-only
#include <stdlib.h>
#include <string.h>

#include "lib/cli.h"
#include "strings.h"

void strings_deinit(struct strings *t)
{
	uint32_t i;

	for (i = 0; i < t->nr; i++)
		free(t->texts[i]);
	free(t->texts);
	free(t->next);
	hash_deinit(&t->by_hash);
	*t = (struct strings){ 0 };
}

/* FNV-1a. */
static uint64_t hash_of(const char *text, size_t bytes)
{
	uint64_t hash = 0xcbf29ce484222325ULL;

	while (bytes--)
		hash = (hash ^ (unsigned char)*text++) * 0x100000001b3ULL;
	return hash;
}

static uint32_t append(struct strings *t, const char *text, size_t bytes)
{
	if (t->nr == t->room) {
		t->room = t->room ? 2 * t->room : 64;
		t->texts = cli_alloc(t->texts, t->room, sizeof(*t->texts));
		t->next = cli_alloc(t->next, t->room, sizeof(*t->next));
	}
	t->texts[t->nr] = cli_alloc(NULL, bytes + 1, 1);
	memcpy(t->texts[t->nr], text, bytes);
	t->texts[t->nr][bytes] = 0;
	return t->nr++;
}

uint32_t strings_add_bytes(struct strings *t, const char *text, size_t bytes)
{
	const uint64_t hash = hash_of(text, bytes);
	const uint32_t first = (uint32_t)hash_get(&t->by_hash, hash);
	uint32_t i;

	for (i = first; i; i = t->next[i - 1])
		if (!strncmp(t->texts[i - 1], text, bytes) && !t->texts[i - 1][bytes])
			return i - 1;
	i = append(t, text, bytes);
	t->next[i] = first;
	hash_put(&t->by_hash, hash, i + 1);
	return i;
}

uint32_t strings_add(struct strings *t, const char *text)
{
	return strings_add_bytes(t, text, strlen(text));
}

enum { LONGEST = 63 };

unsigned int view_distance(const char *a, const char *b)
{
	const size_t nr_a = strnlen(a, LONGEST), nr_b = strnlen(b, LONGEST);
	unsigned int row[LONGEST + 1], above, left, changed;
	size_t i, k;

	for (k = 0; k <= nr_b; k++)
		row[k] = (unsigned int)k;
	for (i = 1; i <= nr_a; i++) {
		above = row[0];
		row[0] = (unsigned int)i;
		for (k = 1; k <= nr_b; k++) {
			changed = above + (a[i - 1] != b[k - 1]);
			above = row[k];
			left = row[k - 1] < row[k] ? row[k - 1] : row[k];
			row[k] = left + 1 < changed ? left + 1 : changed;
		}
	}
	return row[nr_b];
}
