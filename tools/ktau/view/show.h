/* SPDX-License-Identifier: GPL-2.0-only */
/* Reads files, applies a view to them, and prints its rows. */
#ifndef KTAU_TOOLS_VIEW_SHOW_H
#define KTAU_TOOLS_VIEW_SHOW_H

#include <stdbool.h>
#include <stdint.h>

#include "lib/report/period.h"
#include "lib/table.h"
#include "rules.h"

struct engine;

/**
 * struct view_show - what is read and printed
 * @files: files with the traces of one recording
 * @nr_files: length of @files
 * @map: names of addresses, or NULL
 * @host: only the streams of this machine, or NULL
 * @region_names: folder of the traces of programs; NULL: the current one
 * @from: start of the time of the view
 * @to: its end
 * @format: of the table
 * @picture: text has lines of letters above the table
 * @intervals: print the intervals instead of the times of each row by state
 * @max_states: most intervals, rows and states
 * @take: is called for the complete rows instead of printing them; may be NULL
 * @arg: its argument
 * @live: @from may be before the trace, and there need not be rows
 */
struct view_show {
	char **files;
	int nr_files;
	const char *map, *host, *region_names;
	struct moment from, to;
	enum table_format format;
	bool picture, intervals;
	uint64_t max_states;
	void (*take)(struct engine *g, void *arg);
	void *arg;
	bool live;
};

/* Return: an exit status. */
int view_show_files(const struct view_show *o, struct view_rules *view);

#endif
