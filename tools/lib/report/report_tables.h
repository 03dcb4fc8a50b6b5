/* SPDX-License-Identifier: GPL-2.0-only */
/* The tables of a report, filled and ready to print. */
#ifndef KTAU_TOOLS_REPORT_TABLES_H
#define KTAU_TOOLS_REPORT_TABLES_H

#include "period.h"
#include "report_options.h"
#include "report_regions.h"
#include "lib/table.h"

/*
 * Rows of text, unless --processes is given: of the account, with the waits of each; and processes
 * with their routines.
 */
enum { MOST_ROWS = 20, MOST_PROCESSES = 100 };

/**
 * struct section - rows of one process in the flat tables
 * @process: the process
 * @first: index of its first row in the table of routines
 * @running: number of routines that ran
 * @waiting: number of waits, which follow the routines that ran
 * @first_counter: index of its first row in the table of counters
 * @nr_counters: number of counters
 * @first_wait: index of its first row in the table of waits
 * @nr_waits: number of rows in the table of waits
 * @first_region: index of its first row in the table of regions
 * @nr_regions: number of rows in the table of regions
 */
struct section {
	const struct process *process;
	size_t first, running, waiting;
	size_t first_counter, nr_counters;
	size_t first_wait, nr_waits;
	size_t first_region, nr_regions;
};

/**
 * struct report_tables - everything that a report can show
 * @account: how each process spent its lifetime
 * @cpu_account: how each CPU spent its time
 * @routines: processes and routines, flat
 * @counters: processes and counters, flat
 * @waits: processes and the routines that they waited in, flat
 * @regions: processes and the regions of their programs
 * @total: routines of all tasks
 * @total_counters: counters of all tasks
 * @cpus: CPUs and routines, flat
 * @interrupts: lines and CPUs
 * @losses: names and values
 * @some_losses: losses that are not 0
 * @bpf: the period was measured with BPF programs
 * @sections: processes, as rows of the flat tables
 * @nr_sections: length of @sections
 * @cpu_sections: CPUs, as rows of @cpus
 * @nr_cpu_sections: length of @cpu_sections
 * @total_section: rows of @total and @total_counters
 * @nr_wanted: number of selected processes
 * @unknown: last rows of @account, of tasks of which nothing was measured
 * @hidden: kernel threads left out because they did nothing
 * @cut: processes left out because of r->processes, or of the limits above
 * @unknown_cut: the same, of which nothing was measured
 * @nr_inconsistent: processes whose parts exceed their life
 * @inconsistent: the one of them with the largest excess; NULL: none
 * @excess: its excess as a share of its life
 */
struct report_tables {
	struct table account, cpu_account;
	struct table routines, counters, waits, total, total_counters, cpus;
	struct table interrupts, losses, some_losses;
	struct report_regions regions;
	bool bpf;
	struct section *sections, *cpu_sections, total_section;
	size_t nr_sections, nr_cpu_sections;
	size_t nr_wanted, unknown;
	uint64_t hidden, cut, unknown_cut;
	uint64_t nr_inconsistent;
	const struct process *inconsistent;
	double excess;
};

void report_tables_init(struct report_tables *t, const struct report *r,
			const struct period *period);
void report_tables_deinit(struct report_tables *t);

/* Value in row @i of a table of losses. */
uint64_t report_loss_value(const struct table *losses, size_t i);
const char *report_loss_name(const struct table *losses, size_t i);
const char *report_loss_meaning(const struct table *losses, size_t i);

#endif
