/* SPDX-License-Identifier: GPL-2.0-only */
/* Prints paths as text, CSV and JSON. */
#ifndef KTAU_TOOLS_PATH_PRINT_H
#define KTAU_TOOLS_PATH_PRINT_H

#include <stdio.h>

#include "rows.h"
#include "lib/symbolize.h"
#include "lib/table.h"

/**
 * struct path_print - what is printed
 * @g: the graph
 * @path: the path
 * @task: index of its task
 * @names: names of the events, for each machine
 * @input: name of the input
 * @format: format of the tables
 * @top: number of rows; 0: all
 */
struct path_print {
	const struct path_graph *g;
	const struct path *path;
	uint32_t task;
	struct symbolizer **names;
	const char *input;
	enum table_format format;
	size_t top;
};

/* Print the first line: what the path is of. */
void path_print_title(const struct path_print *p);

/* Print why some of the path is unknown, if any is. */
void path_print_unknown(const struct path_print *p);

void path_print_rows(const struct path_print *p, const struct path_rows *rows);
void path_print_tree(const struct path_print *p);
void path_print_segments(const struct path_print *p);

/*
 * The wait and what ended it, such as "sys_fsync <- irq:11:virtio1", or the CPU of a run queue. To
 * be freed; never NULL.
 */
char *path_wait_text(const struct path_print *p, const struct path_segment *s);

/* "NAME/TID", with "@HOST" if there are several machines; to be freed. Never NULL. */
char *path_task_name(const struct path_graph *g, uint32_t task);

#endif
