/* SPDX-License-Identifier: GPL-2.0-only */
/* What ktau top shows, as lines of text: the screen only draws them. */
#ifndef KTAU_TOOLS_TOP_VIEW_H
#define KTAU_TOOLS_TOP_VIEW_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "period.h"
#include "report_options.h"

enum top_page { PAGE_TASKS, PAGE_ROUTINES, PAGE_WAITS, PAGE_INTERRUPTS, PAGE_LOSSES };

enum top_sort { TOP_KERNEL, TOP_USER, TOP_IRQ, TOP_RUNQ, TOP_ASLEEP, TOP_LIFE, TOP_NAME,
		TOP_NR_SORTS };

/* What a CPU did, as shares; NAN: not measured. */
struct top_cpu {
	uint32_t cpu;
	double tasks, irq;
};

/**
 * struct top_view - one period on one page
 * @page: which page
 * @sort: of PAGE_TASKS
 * @filter: rows whose name has this in it, "": all
 * @width: columns of a line
 * @selected_pid: the row that PAGE_ROUTINES and PAGE_WAITS are about
 * @selected_name: likewise
 * @selected: its line in PAGE_TASKS; found again by the two above
 * @title: the machine and the period
 * @heading: what the page is about
 * @cpus: of the machine
 * @nr_cpus: number of them
 * @lines: head of the table first
 * @nr_lines: number of them
 * @pids: of each line below the head, in PAGE_TASKS
 * @names: likewise
 */
struct top_view {
	enum top_page page;
	enum top_sort sort;
	char filter[64];
	int width;
	int32_t selected_pid;
	char selected_name[128];
	size_t selected;
	char title[256], heading[256];
	struct top_cpu *cpus;
	size_t nr_cpus;
	char **lines;
	size_t nr_lines;
	int32_t *pids;
	char **names;
};

/* The word for @sort on the screen. */
const char *top_sort_name(enum top_sort sort);

/* Make the lines of @period, which is complete; @r has the names. */
void top_view_fill(struct top_view *t, const struct report *r, const struct period *period);
void top_view_deinit(struct top_view *t);

/* The line @selected is the chosen one from now on. */
void top_view_select(struct top_view *t, size_t selected);

#endif
