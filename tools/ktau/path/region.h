/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * The paths of all passes through a region of a program, such as the requests of a server: how long
 * they took, and what the slowest ones waited for.
 */
#ifndef KTAU_TOOLS_PATH_REGION_H
#define KTAU_TOOLS_PATH_REGION_H

#include "print.h"

/**
 * struct region_row - a row
 * @task: index of a task; the row is for all of its name
 * @state: enum path_state
 * @ns: sum over all passes
 * @slow_ns: sum over the slowest ones
 */
struct region_row {
	uint32_t task;
	uint8_t state;
	uint64_t ns, slow_ns;
};

/**
 * struct region_paths - all passes; all zero: empty
 * @rows: the rows, the largest sum first
 * @nr: length of @rows
 * @room: allocated length of @rows
 * @by_key: index in @rows plus 1
 * @passes: number of passes
 * @slow: number of the slowest ones, one in a hundred
 * @ns: sum of all passes
 * @slow_ns: sum of the slowest ones
 * @median_ns: median of their times
 * @high_ns: 99th percentile
 */
struct region_paths {
	struct region_row *rows;
	size_t nr, room;
	struct hash by_key;
	size_t passes, slow;
	uint64_t ns, slow_ns, median_ns, high_ns;
};

/*
 * Add up the paths of the passes in @g of the task with index @task, or of all tasks if that is
 * PATH_NONE. Sorts the passes. Return: true, or false if a path is not exact, as all must be.
 */
bool region_make(struct path_graph *g, enum path_mode mode, uint32_t task,
		 struct region_paths *paths);
void region_deinit(struct region_paths *paths);

void region_print(const struct path_print *p, const char *name, const struct region_paths *paths);

#endif
