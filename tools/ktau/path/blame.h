/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * Who delayed whom: the waits of many tasks, each replaced by what happened meanwhile, added up by
 * the names of the tasks.
 */
#ifndef KTAU_TOOLS_PATH_BLAME_H
#define KTAU_TOOLS_PATH_BLAME_H

#include "print.h"

/**
 * struct blame_row - a row
 * @victim: a task that waited; the row is for all of its name
 * @like: a segment during its waits; the row is for all tasks with the name of this one
 * @ns: sum
 * @nr: number of segments
 */
struct blame_row {
	uint32_t victim;
	struct path_segment like;
	uint64_t ns, nr;
};

/**
 * struct blame - the rows; all zero: empty
 * @rows: the rows, the largest sum first
 * @nr: length of @rows
 * @room: allocated length of @rows
 * @victims: number of tasks
 * @waiting_ns: the time that they waited, from the graph; equal to the sum of the rows
 */
struct blame {
	struct blame_row *rows;
	size_t nr, room;
	uint64_t victims, waiting_ns;
};

/*
 * Add up the waits of all tasks whose names match @pattern, except idle tasks, between @from_ns and
 * @to_ns. Return: true, or false if the rows do not add up to the waiting time, as they must.
 */
bool blame_make(const struct path_graph *g, const char *pattern, uint64_t from_ns, uint64_t to_ns,
		struct blame *blame);
void blame_deinit(struct blame *blame);

/* Print the rows as a table, or the names as a graph for dot(1). */
void blame_print(const struct path_print *p, const struct blame *blame);
void blame_print_dot(const struct path_print *p, const struct blame *blame);

#endif
