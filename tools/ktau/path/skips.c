// SPDX-License-Identifier: GPL-2.0-only
#include <stdlib.h>
#include <string.h>

#include "lib/cli.h"
#include "skips.h"

enum { LEVEL_BITS = 4, KEY_BITS = 3 };

void skips_init(struct path_skips *skips, struct likes *likes)
{
	const struct path_graph *g = likes->g;
	uint64_t nr = 0;
	size_t i;

	*skips = (struct path_skips){ .likes = likes };
	skips->edges = cli_alloc(NULL, g->nr_tasks + 1, sizeof(*skips->edges));
	for (i = 0; i < g->nr_tasks; i++) {
		skips->edges[i] = nr;
		nr += g->tasks[i].nr;
	}
}

void skips_deinit(struct path_skips *skips)
{
	hash_deinit(&skips->by_edge);
	free(skips->edges);
	free(skips->all);
	free(skips->sums);
	free(skips->place);
	*skips = (struct path_skips){ 0 };
}

unsigned int skips_level(const struct path_skips *skips, uint32_t task, size_t edge)
{
	/* The high bits of a product depend on all bits of the number. */
	uint64_t hash = (skips->edges[task] + edge + 1) * 0x9e3779b97f4a7c15ULL >> 32;
	unsigned int level = 0;

	while (level < SKIP_LEVELS && !(hash & ((1 << LEVEL_BITS) - 1))) {
		hash >>= LEVEL_BITS;
		level++;
	}
	return level;
}

static uint64_t key_of(const struct path_skips *skips, uint32_t task, size_t edge,
		       unsigned int level)
{
	return (skips->edges[task] + edge) << KEY_BITS | level;
}

uint32_t skips_find(const struct path_skips *skips, uint32_t task, size_t edge, unsigned int level)
{
	uintptr_t number = hash_get(&skips->by_edge, key_of(skips, task, edge, level));

	return number ? (uint32_t)(number - 1) : SKIP_NONE;
}

const struct path_segment *skips_latest(const struct path_skips *skips,
					const struct path_segment *s)
{
	return s->state == PATH_SKIPPED ? &skips->all[s->row].latest : s;
}

const struct path_segment *skips_earliest(const struct path_skips *skips,
					  const struct path_segment *s)
{
	return s->state == PATH_SKIPPED ? &skips->all[s->row].earliest : s;
}

/* Add to the sum of @like of the skip whose sums begin at @first. */
static void add(struct path_skips *skips, size_t first, struct path_sum sum)
{
	size_t room = skips->place_room;

	if (sum.like >= room) {
		skips->place_room = skips->likes->room;
		skips->place = cli_alloc(skips->place, skips->place_room, sizeof(*skips->place));
		memset(skips->place + room, 0, (skips->place_room - room) * sizeof(*skips->place));
	}
	if (skips->place[sum.like] <= first) {
		if (skips->nr_sums == skips->sums_room) {
			skips->sums_room += skips->sums_room / 4 + 64;
			skips->sums = cli_alloc(skips->sums, skips->sums_room,
						sizeof(*skips->sums));
		}
		skips->sums[skips->nr_sums++] = (struct path_sum){ .like = sum.like };
		skips->place[sum.like] = skips->nr_sums;
	}
	skips->sums[skips->place[sum.like] - 1].nr += sum.nr;
	skips->sums[skips->place[sum.like] - 1].ns += sum.ns;
}

/* Add the sums of a segment. If it continues the one before, they are one. */
static void add_segment(struct path_skips *skips, size_t first, const struct path_segment *s,
			const struct path_segment *before)
{
	const struct path_segment *latest = skips_latest(skips, s);
	const struct path_skip *skip;
	size_t i;

	if (s->state == PATH_SKIPPED) {
		skip = &skips->all[s->row];
		for (i = skip->sums; i < skip->sums + skip->nr_sums; i++)
			add(skips, first, skips->sums[i]);
	} else {
		add(skips, first, (struct path_sum){ likes_number(skips->likes, s), 1,
						     s->to_ns - s->from_ns });
	}
	if (before && segment_continues(latest, skips_earliest(skips, before)))
		skips->sums[skips->place[likes_number(skips->likes, latest)] - 1].nr--;
}

uint32_t skips_add(struct path_skips *skips, uint32_t task, size_t edge, struct path_skip skip,
		   struct path_part part)
{
	const struct path_segment *s = part.segments;
	size_t i;

	skip.sums = skips->nr_sums;
	for (i = 0; i < part.nr; i++)
		add_segment(skips, skip.sums, &s[i], i ? &s[i - 1] : NULL);
	skip.nr_sums = skips->nr_sums - skip.sums;
	if (part.nr) {
		skip.latest = *skips_latest(skips, &s[0]);
		skip.earliest = *skips_earliest(skips, &s[part.nr - 1]);
	}
	if (skips->nr == skips->room) {
		skips->room += skips->room / 4 + 64;
		skips->all = cli_alloc(skips->all, skips->room, sizeof(*skips->all));
	}
	skips->all[skips->nr++] = skip;
	hash_put(&skips->by_edge, key_of(skips, task, edge, skip.level), skips->nr);
	return (uint32_t)(skips->nr - 1);
}
