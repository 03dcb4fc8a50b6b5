/* SPDX-License-Identifier: GPL-2.0-only */
/* How long each row was in each state, and when. */
#ifndef KTAU_TOOLS_VIEW_TIMES_H
#define KTAU_TOOLS_VIEW_TIMES_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "lib/hash.h"
#include "rules.h"

/**
 * struct times_row - a row
 * @node: its attribute
 * @pattern: index of its statement
 * @value: its state
 * @since_ns: since when
 * @owner: serial of the task whose lost slots make its state unknown, or 0
 * @next: the next row of the same owner, plus 1; 0: the last one
 * @before: the row of the same owner before it, plus 1; 0: the first one
 * @known: it had a state in the time of the view
 */
struct times_row {
	uint32_t node, pattern;
	struct view_value value;
	uint64_t since_ns;
	uint64_t owner;
	uint32_t next, before;
	bool known;
};

/* A row was in this state for @ns, @count times. @next is the next one of the same hash, plus 1. */
struct times_sum {
	struct view_value value;
	uint32_t row, next;
	uint64_t ns, count;
};

struct times_interval {
	uint64_t from_ns, to_ns;
	struct view_value value;
	uint32_t row;
};

/**
 * struct times - the rows
 * @from_ns: start of the time of the view
 * @to_ns: its end; UINT64_MAX if it is that of the trace
 * @rows: rows in order of their first state
 * @sums: times by row and state
 * @intervals: if @keep, the intervals in order of their ends
 * @most: most sums, and most intervals
 * @keep: keep the intervals
 * @spare: with more intervals, keep none instead
 * @full: there were more
 */
struct times {
	uint64_t from_ns, to_ns;
	struct times_row *rows;
	size_t nr_rows, rows_room;
	struct times_sum *sums;
	size_t nr_sums, sums_room;
	struct hash by_value, by_owner;
	struct times_interval *intervals;
	size_t nr_intervals, intervals_room;
	size_t most;
	bool keep, spare, full;
};

void times_deinit(struct times *t);

bool view_value_equal(struct view_value a, struct view_value b);

/* A new row, which has had no state so far. Return: its index. */
uint32_t times_add_row(struct times *t, uint32_t node, uint32_t pattern);

/* The row is in another state from @ns on; @owner as in struct times_row. */
void times_set(struct times *t, uint32_t index, struct view_value value, uint64_t ns,
	       uint64_t owner);

/* The state in which the row is now was this one from its begin on. */
void times_update(struct times *t, uint32_t index, struct view_value value);

/* What a task has done since @ns is not known. @each is called for each row that it has set. */
void times_lose(struct times *t, uint64_t owner, uint64_t ns,
		void (*each)(void *arg, const struct times_row *row), void *arg);

/* All rows end at @to_ns. Return: false if the times of a row are not the time of the view. */
bool times_finish(struct times *t, uint64_t to_ns);

#endif
