/* SPDX-License-Identifier: GPL-2.0-only */
/* The tables of a report, filled and ready to print. */
#ifndef KTAU_TOOLS_REPORT_TABLES_H
#define KTAU_TOOLS_REPORT_TABLES_H

#include "period.h"
#include "report_options.h"
#include "table.h"

/**
 * struct section - rows of one process in the flat tables
 * @process: whose
 * @first: its first row in the table of routines
 * @running: number of routines that ran
 * @waiting: number of those after them that are waits
 * @first_counter: its first row in the table of counters
 * @nr_counters: number of them
 * @first_wait: its first row in the table of waits
 * @nr_waits: number of them
 */
struct section {
	const struct process *process;
	size_t first, running, waiting;
	size_t first_counter, nr_counters;
	size_t first_wait, nr_waits;
};

/**
 * struct report_tables - everything that a report can show
 * @account: where the life of each process went
 * @cpu_account: and the time of each CPU
 * @routines: processes and routines, flat
 * @counters: processes and counters, flat
 * @waits: processes and the routines that they waited in, flat
 * @total: routines, all tasks
 * @total_counters: counters, all tasks
 * @cpus: CPUs and routines, flat
 * @interrupts: lines and CPUs
 * @losses: names and values
 * @some_losses: those that are not 0
 * @sections: processes, as rows of the flat tables
 * @nr_sections: number of them
 * @cpu_sections: likewise for @cpus
 * @nr_cpu_sections: number of them
 * @total_section: for @total and @total_counters
 * @nr_wanted: processes that were asked for
 * @hidden: kernel threads left out because they did nothing
 * @cut: processes left out because of r->processes
 */
struct report_tables {
	struct table account, cpu_account;
	struct table routines, counters, waits, total, total_counters, cpus;
	struct table interrupts, losses, some_losses;
	struct section *sections, *cpu_sections, total_section;
	size_t nr_sections, nr_cpu_sections;
	size_t nr_wanted;
	uint64_t hidden, cut;
};

void report_tables_init(struct report_tables *t, const struct report *r,
			const struct period *period);
void report_tables_deinit(struct report_tables *t);

/* Row @i of a table of losses. */
uint64_t report_loss_value(const struct table *losses, size_t i);
const char *report_loss_name(const struct table *losses, size_t i);
const char *report_loss_meaning(const struct table *losses, size_t i);

#endif
