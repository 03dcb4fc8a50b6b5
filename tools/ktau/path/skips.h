/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * Skips: sums of the segments of long parts of walks.
 *
 * Where a walk goes from the end of an edge depends on nothing before that, as long as it does not
 * end there. So the walks of many tasks that waited for one another share long parts. Of each
 * length there are skips, 16 times longer than those of the level below: from one edge in 16 on the
 * way to the next one of these, from one in 256, and so on. A walk that takes the longest skips
 * that end before its bound makes a few steps of each level, however long it is.
 *
 * Which edges have skips of which level is a hash of their numbers. All skips of a level together
 * have at most as many sums as there are edges, divided by 16 for those that each is long.
 */
#ifndef KTAU_TOOLS_PATH_SKIPS_H
#define KTAU_TOOLS_PATH_SKIPS_H

#include "likes.h"

enum {
	/* State of a segment that is a skip; its row is the number of the skip. */
	PATH_SKIPPED = PATH_STATES,
	SKIP_LEVELS = 6,
	SKIP_NONE = UINT32_MAX,
};

/* A sum of segments that are alike. */
struct path_sum {
	uint32_t like, nr;
	uint64_t ns;
};

/**
 * struct path_skip - a part of a walk that begins at the end of an edge
 * @level: its level
 * @task: index of the task where it ends
 * @settled: see struct walk
 * @standstill: see struct walk
 * @ns: when it ends, which is before its begin
 * @first_ns: the earliest first edge of the tasks whose waits it follows; UINT64_MAX: of none
 * @latest: its first segment
 * @earliest: its last one
 * @sums: index of its first sum
 * @nr_sums: number of its sums
 */
struct path_skip {
	unsigned int level;
	uint32_t task, settled;
	unsigned int standstill;
	uint64_t ns, first_ns;
	struct path_segment latest, earliest;
	size_t sums, nr_sums;
};

/**
 * struct path_skips - all skips
 * @likes: what is summed up
 * @edges: for each task, the number of its first edge
 * @by_edge: number of the skip of each level of each edge, plus 1
 * @all: the skips
 * @nr: length of @all
 * @room: allocated length of @all
 * @sums: the sums of all skips
 * @nr_sums: length of @sums
 * @sums_room: allocated length of @sums
 * @place: scratch memory: index in @sums plus 1 for each number of @likes
 * @place_room: allocated length of @place
 */
struct path_skips {
	struct likes *likes;
	uint64_t *edges;
	struct hash by_edge;
	struct path_skip *all;
	size_t nr, room;
	struct path_sum *sums;
	size_t nr_sums, sums_room;
	size_t *place;
	size_t place_room;
};

void skips_init(struct path_skips *skips, struct likes *likes);
void skips_deinit(struct path_skips *skips);

/* The highest level of the skips from the end of an edge, 0: there are none. */
unsigned int skips_level(const struct path_skips *skips, uint32_t task, size_t edge);

/* The number of a skip; SKIP_NONE: it must be added. */
uint32_t skips_find(const struct path_skips *skips, uint32_t task, size_t edge,
		    unsigned int level);

/* Add a skip, with the sums of @part: latest first, some may be skips. Return: its number. */
uint32_t skips_add(struct path_skips *skips, uint32_t task, size_t edge, struct path_skip skip,
		   struct path_part part);

/* The latest and the earliest segment of @s, which may be a skip. */
const struct path_segment *skips_latest(const struct path_skips *skips,
					const struct path_segment *s);
const struct path_segment *skips_earliest(const struct path_skips *skips,
					  const struct path_segment *s);

#endif
