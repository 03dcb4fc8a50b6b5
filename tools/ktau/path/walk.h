/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * The path of a task: segments that cover a time without gaps, each of one task in one state.
 *
 * A bounded path keeps the running time of the task itself, and replaces each of its waits by what
 * the task that ended the wait did meanwhile. A full path goes backwards from the end: where a task
 * waited, it continues with the task that ended the wait, and does not return.
 */
#ifndef KTAU_TOOLS_PATH_WALK_H
#define KTAU_TOOLS_PATH_WALK_H

#include "graph.h"
#include "segment.h"
#include "skips.h"

enum path_mode { PATH_BOUNDED, PATH_FULL };

/**
 * struct path - a path
 * @segments: in time order
 * @nr: length of @segments
 * @room: allocated length of @segments
 * @from_ns: start of the first segment
 * @to_ns: end of the last one
 */
struct path {
	struct path_segment *segments;
	size_t nr, room;
	uint64_t from_ns, to_ns;
};

/* Fill in @path, which is all zero, with the path of a task from @from_ns to @to_ns. */
void path_walk(const struct path_graph *g, enum path_mode mode, uint32_t task, struct path *path);

/* The same in bounded mode, but long parts of the path may be skips. */
void path_walk_skipping(struct path_skips *skips, uint32_t task, struct path *path);

void path_deinit(struct path *path);

/*
 * True if the segments are contiguous and cover the time from from_ns to to_ns exactly, as they
 * always must.
 */
bool path_is_exact(const struct path *path);

#endif
