/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * A path by programs instead of tasks: the life of a process is cut where it executes another
 * program, and the programs of one name below one parent are a row. The threads of a process belong
 * to it.
 */
#ifndef KTAU_TOOLS_PATH_TREE_H
#define KTAU_TOOLS_PATH_TREE_H

#include "walk.h"

/**
 * struct path_program - a row
 * @parent: index of the row that it is below; PATH_NONE: of the task of the path, or of a task
 *	that does not descend from it
 * @child: index of the first row below it, PATH_NONE if there is none
 * @last: index of the last row below it
 * @next: index of the next row below @parent
 * @depth: number of rows above it
 * @outside: tasks that do not descend from that of the path
 * @name: name of the program
 * @host: name of its machine, NULL if there is only one
 * @runs: how often it ran
 * @wall_ns: time of all runs, within the time of the path
 * @cpu_ns: of this, on a CPU
 * @path_ns: part of the path
 */
struct path_program {
	uint32_t parent, child, last, next;
	uint32_t depth;
	bool outside;
	char name[17];
	const char *host;
	uint64_t runs, wall_ns, cpu_ns, path_ns;
};

/**
 * struct path_tree - the rows
 * @programs: the rows; the first one is at the top
 * @nr: length of @programs
 * @room: allocated length of @programs
 */
struct path_tree {
	struct path_program *programs;
	size_t nr, room;
};

/* Fill in @tree, which is all zero, from the path of the task with index @task. */
void path_tree_make(const struct path_graph *g, const struct path *path, uint32_t task,
		    struct path_tree *tree);
void path_tree_deinit(struct path_tree *tree);

/* The row after @at in the order of the screen; PATH_NONE if it is the last one. */
uint32_t path_tree_next(const struct path_tree *tree, uint32_t at);

#endif
