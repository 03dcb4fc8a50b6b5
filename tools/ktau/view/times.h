/* SPDX-License-Identifier: GPL-2.0-only */
/* How long each row was in each state, and when. */
#ifndef KTAU_TOOLS_VIEW_TIMES_H
#define KTAU_TOOLS_VIEW_TIMES_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "lib/hash.h"
#include "rules.h"

/* A task. @kernel: it has set something by events of the kernel, not of its program. */
struct times_owner {
	uint64_t serial;
	bool kernel;
};

/**
 * struct times_row - a row
 * @node: its attribute
 * @pattern: index of its statement
 * @value: its state
 * @since_ns: since when
 * @owner: the task that has set it last
 * @next: the next row of the same owner, plus 1; 0: the last one
 * @before: the row of the same owner before it, plus 1; 0: the first one
 * @known: it had a state in the time of the view
 * @running: @owner is on a CPU
 * @cpu_ns: how long it was in this state until @cpu_to_ns
 * @counted: its counter, in which @state_counted was when the state began
 */
struct times_row {
	uint32_t node, pattern;
	struct view_value value;
	uint64_t since_ns;
	struct times_owner owner;
	uint32_t next, before;
	bool known, running;
	uint64_t cpu_ns, cpu_to_ns;
	int64_t counted, state_counted;
};

/**
 * struct times_sum - how often and how long a row was in a state
 * @value: the state
 * @row: index of the row
 * @next: the next one of the same hash, plus 1
 * @ns: time
 * @count: number of times
 * @cpu_ns: time in which the task that set it was on a CPU
 * @counted: what the counter of the row has counted
 */
struct times_sum {
	struct view_value value;
	uint32_t row, next;
	uint64_t ns, count, cpu_ns;
	int64_t counted;
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
 * @running: by serial, whether a task is on a CPU
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
	struct hash by_value, by_owner, running;
	struct times_interval *intervals;
	size_t nr_intervals, intervals_room;
	size_t most;
	bool keep, spare, full;
};

void times_deinit(struct times *t);

bool view_value_equal(struct view_value a, struct view_value b);

/* A new row, which has had no state so far. Return: its index. */
uint32_t times_add_row(struct times *t, uint32_t node, uint32_t pattern);

/* The row is in another state from @ns on, set by @owner. */
void times_set(struct times *t, uint32_t index, struct view_value value, uint64_t ns,
	       struct times_owner owner);

/* The counter of a row has this value from @ns on. */
void times_count(struct times *t, uint32_t index, int64_t value, uint64_t ns);

/* A task has got a CPU, or no longer has one. */
void times_run(struct times *t, uint64_t serial, bool running, uint64_t ns);

/* The state in which the row is now was this one from its begin on. */
void times_update(struct times *t, uint32_t index, struct view_value value);

/*
 * What @owner has done since @ns is not known. @each is called for each row that it has set.
 */
void times_lose(struct times *t, struct times_owner owner, uint64_t ns,
		void (*each)(void *arg, const struct times_row *row), void *arg);

/* All rows end at @to_ns. Return: false if the times of a row are not the time of the view. */
bool times_finish(struct times *t, uint64_t to_ns);

#endif
