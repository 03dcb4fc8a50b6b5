/* SPDX-License-Identifier: GPL-2.0-only */
/* The contents of ktau top as lines of text, which the screen only draws. */
#ifndef KTAU_TOOLS_TOP_VIEW_H
#define KTAU_TOOLS_TOP_VIEW_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "lib/report/period.h"
#include "lib/report/report_options.h"

enum top_page { PAGE_TASKS, PAGE_ROUTINES, PAGE_WAITS, PAGE_REGIONS, PAGE_INTERRUPTS,
		PAGE_VMS, PAGE_LOSSES, PAGE_KEYS };

enum top_sort { TOP_KERNEL, TOP_USER, TOP_IRQ, TOP_RUNQ, TOP_ASLEEP, TOP_LIFE, TOP_NAME,
		TOP_NR_SORTS };

/* Shares of a CPU's time; NAN: not measured. */
struct top_cpu {
	uint32_t cpu;
	double tasks, irq;
};

/**
 * struct top_view - one page about one period
 * @page: current page
 * @sort: sort key of PAGE_TASKS
 * @filter: show only rows whose name contains this; "": all
 * @width: columns of a line
 * @live: the periods are those of the running kernel
 * @selected_pid: pid of the row that PAGE_ROUTINES, PAGE_WAITS and PAGE_REGIONS show
 * @selected_name: name of that row
 * @selected: line of that row in PAGE_TASKS, updated from the two members above
 * @title: the machine and the period
 * @release: the kernel, shown if there is room for it after @title
 * @heading: description of the page
 * @cpus: the CPUs
 * @nr_cpus: length of @cpus
 * @lines: lines of the table, with its heading first
 * @nr_lines: length of @lines
 * @pids: PAGE_TASKS: pid of each line below the heading
 * @names: PAGE_TASKS: name of each line below the heading
 */
struct top_view {
	enum top_page page;
	enum top_sort sort;
	char filter[64];
	int width;
	bool live;
	int32_t selected_pid;
	char selected_name[128];
	size_t selected;
	char title[256], release[160], heading[256];
	struct top_cpu *cpus;
	size_t nr_cpus;
	char **lines;
	size_t nr_lines;
	int32_t *pids;
	char **names;
};

/* The name of @sort on the screen. */
const char *top_sort_name(enum top_sort sort);

/* Create the lines for the complete period @period; @r has the names. */
void top_view_fill(struct top_view *t, const struct report *r, const struct period *period);
void top_view_deinit(struct top_view *t);

/* Select the row on line @selected. */
void top_view_select(struct top_view *t, size_t selected);

#endif
