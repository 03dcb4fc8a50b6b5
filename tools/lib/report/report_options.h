/* SPDX-License-Identifier: GPL-2.0-only */
/* What to show of a period, and how. */
#ifndef KTAU_TOOLS_REPORT_OPTIONS_H
#define KTAU_TOOLS_REPORT_OPTIONS_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "aggregate.h"
#include "lib/symbolize.h"
#include "lib/table.h"

enum report_sort { SORT_EXCL, SORT_INCL, SORT_COUNT, SORT_NAME };

/* Bits of the tables to print. */
#define REPORT_PROCESSES	(1U << 0)
#define REPORT_COUNTERS		(1U << 1)
#define REPORT_TOTAL		(1U << 2)
#define REPORT_CPUS		(1U << 3)
#define REPORT_LOSSES		(1U << 4)
#define REPORT_ACCOUNT		(1U << 5)
#define REPORT_WAITS		(1U << 6)
#define REPORT_CPU_ACCOUNT	(1U << 7)
#define REPORT_INTERRUPTS	(1U << 8)
#define REPORT_DETAILS		((1U << 5) - 1)
#define REPORT_REGIONS		(1U << 9)
#define REPORT_ALL		((1U << 10) - 1)

/**
 * struct report - how to show a period
 * @source: name of the source for display
 * @region_names: directory with names and traces of regions; NULL: the current one
 * @files: files, in time order
 * @nr_files: length of @files; 0: the running kernel
 * @html: file to write an HTML report to; NULL: none
 * @states: rows of a view, for its timeline; NULL: none
 * @delays: who delayed whom, for the page; NULL: none
 * @names: names of the events
 * @format: text, CSV or JSON
 * @tables: REPORT_* bits
 * @by: what a table is about
 * @sort: sort key of processes and routines
 * @top: maximum number of routines per table; 0: all
 * @processes: maximum number of processes; 0: all
 * @pids: show only these processes or threads
 * @nr_pids: length of @pids; 0: all
 * @pattern: show only processes or control groups with such names; NULL: all
 * @groups: show only routines of these groups
 * @idle: show idle tasks, and kernel threads that did nothing
 * @cpus: show where the time of each CPU went, however many CPUs there are
 * @subtract: subtract KTAU's own cost
 * @filter: selects tasks
 */
struct report {
	const char *source;
	const char *region_names;
	char *const *files;
	int nr_files;
	const char *html;
	const struct states *states;
	const struct delays *delays;
	struct symbolizer *names;
	enum table_format format;
	unsigned int tables;
	enum aggregate_by by;
	enum report_sort sort;
	uint64_t top;
	uint64_t processes;
	const int32_t *pids;
	size_t nr_pids;
	const char *pattern;
	uint32_t groups;
	bool idle;
	bool cpus;
	bool subtract;
	struct task_filter filter;
};

/* Parse the words of --tables, --sort and --by. Return: 0 or -1. */
int report_parse_tables(const char *words, unsigned int *tables);
int report_parse_sort(const char *word, enum report_sort *sort);
int report_parse_by(const char *word, enum aggregate_by *by);

/* Does the label of a row match the pattern? All do without one. */
static inline bool report_matches(enum aggregate_by by, const char *pattern, const char *label)
{
	if (!pattern)
		return true;
	return by == BY_CGROUP || by == BY_USER ? ktau_glob(pattern, label) :
						  ktau_glob_task(pattern, label);
}

/* Were processes asked for by number or name? They are shown whatever they did. */
static inline bool report_selects(const struct report *r)
{
	return r->nr_pids || r->pattern;
}

/**
 * struct view - what is needed to fill a table
 * @r: what to show
 * @registry: meaning of ids
 * @stream: STREAM record at the end of the period
 * @clock: clock of the machine
 */
struct view {
	const struct report *r;
	const struct registry *registry;
	const struct ktau_rec_stream *stream;
	struct ktau_clock clock;
};

static inline double share_of(ktau_sum_t part, ktau_sum_t whole)
{
	return whole ? (double)part / (double)whole : 0;
}

#endif
