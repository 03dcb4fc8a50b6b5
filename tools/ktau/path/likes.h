/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * Numbers of segments that are alike: those of tasks of one name, in one state, with one wait and
 * cause, or in the run queue of one CPU.
 */
#ifndef KTAU_TOOLS_PATH_LIKES_H
#define KTAU_TOOLS_PATH_LIKES_H

#include "graph.h"
#include "segment.h"

/**
 * struct likes - the numbers
 * @g: the graph
 * @names: number of the name of each task
 * @by_key: number of what is alike, plus 1
 * @causes: number of each pair of wait and cause
 * @all: a segment of each number
 * @nr: length of @all
 * @room: allocated length of @all
 */
struct likes {
	const struct path_graph *g;
	uint32_t *names;
	struct hash by_key, causes;
	struct path_segment *all;
	size_t nr, room;
};

void likes_init(struct likes *likes, const struct path_graph *g);
void likes_deinit(struct likes *likes);

/* The number of the segments that are like @s; numbers are dense, from 0 on. */
uint32_t likes_number(struct likes *likes, const struct path_segment *s);

#endif
