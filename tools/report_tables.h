/* SPDX-License-Identifier: GPL-2.0-only */
/* The tables of a report, filled and ready to print. */
#ifndef KTAU_TOOLS_REPORT_TABLES_H
#define KTAU_TOOLS_REPORT_TABLES_H

#include "report.h"

/**
 * struct section - rows of one process in the flat tables
 * @process: whose
 * @first: its first row in the table of routines
 * @nr: number of them
 * @first_counter: its first row in the table of counters
 * @nr_counters: number of them
 */
struct section {
	const struct process *process;
	size_t first, nr;
	size_t first_counter, nr_counters;
};

/**
 * struct report_tables - everything that a report can show
 * @routines: processes and routines, flat
 * @counters: processes and counters, flat
 * @total: routines, all tasks
 * @total_counters: counters, all tasks
 * @cpus: CPUs and routines, flat
 * @losses: names and values
 * @some_losses: those that are not 0
 * @sections: processes, as rows of @routines and @counters
 * @nr_sections: number of them
 * @cpu_sections: likewise for @cpus
 * @nr_cpu_sections: number of them
 * @hidden: kernel threads left out because they did nothing
 * @cut: processes left out because of r->processes
 */
struct report_tables {
	struct table routines, counters, total, total_counters, cpus, losses, some_losses;
	struct section *sections, *cpu_sections;
	size_t nr_sections, nr_cpu_sections;
	uint64_t hidden, cut;
};

void report_tables_init(struct report_tables *t, const struct report *r,
			const struct rows *rows, const struct period *period,
			const struct ktau_clock *clock);
void report_tables_deinit(struct report_tables *t);

/*
 * Exclusive time of a process in the kernel, frames in flight included: running,
 * and waiting (group sched). Shares are of one or the other: time asleep would
 * hide everything else.
 */
void process_times(const struct process *p, const struct names *names,
		   uint64_t *running_ticks, uint64_t *waiting_ticks);

#endif
