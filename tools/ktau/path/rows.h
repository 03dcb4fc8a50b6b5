/* SPDX-License-Identifier: GPL-2.0-only */
/* Sums of the segments of a path: a row for each task, state and cause. */
#ifndef KTAU_TOOLS_PATH_ROWS_H
#define KTAU_TOOLS_PATH_ROWS_H

#include "lib/hash.h"
#include "walk.h"

/**
 * struct path_use - what was on the CPU for a part of the time of a row
 * @key: RUNNING: event id of the innermost routine, KTAU_ID_NONE in user mode; RUN QUEUE: index of
 *	the task that had the CPU
 * @ns: sum
 */
struct path_use {
	uint32_t key;
	uint64_t ns;
};

/**
 * struct path_row - a row
 * @like: a segment of it
 * @ns: sum of its segments
 * @nr: number of its segments
 * @uses: see struct path_use
 * @nr_uses: length of @uses
 * @by_key: index in @uses plus 1
 */
struct path_row {
	struct path_segment like;
	uint64_t ns, nr;
	struct path_use *uses;
	size_t nr_uses;
	struct hash by_key;
};

/**
 * struct path_rows - the rows; all zero: empty
 * @rows: rows in order of their first segment
 * @nr: length of @rows
 * @room: allocated length of @rows
 * @by_key: index in @rows plus 1
 * @causes: number of each pair of wait and cause
 */
struct path_rows {
	struct path_row *rows;
	size_t nr, room;
	struct hash by_key, causes;
};

/* Add the segments of @path, and note the row of each in it. */
void path_rows_add(struct path_rows *rows, struct path *path);
void path_rows_deinit(struct path_rows *rows);

/* Add @ns to the use @key of a row. */
void path_row_use(struct path_row *row, uint32_t key, uint64_t ns);

/* Longest first; this invalidates the row numbers in the segments. */
void path_rows_sort(struct path_rows *rows);

#endif
