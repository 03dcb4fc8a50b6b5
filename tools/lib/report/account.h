/* SPDX-License-Identifier: GPL-2.0-only */
/* The account: how each process spent its lifetime, and each CPU its time. */
#ifndef KTAU_TOOLS_ACCOUNT_H
#define KTAU_TOOLS_ACCOUNT_H

#include <stdbool.h>
#include <stdint.h>

#include "report_options.h"
#include "lib/table.h"

/* Initialise the two tables without rows. */
void account_columns(struct table *account, struct table *cpu_account, enum aggregate_by by);

/* Add a row, and show the columns that are hidden until a row needs them. */
void account_row(const struct view *v, struct table *account, const struct process *p);
void account_cpu_row(const struct view *v, struct table *cpu_account, const struct process *p);

/* Kernel time of @p or, if that was not measured, the closest figure. */
ktau_sum_t account_kernel(const struct view *v, const struct process *p);

/* Was this part of the account of @p measured during the whole period? */
bool account_has(const struct ktau_rec_stream *stream, const struct process *p, int part);

/* Nothing is known of the life of @p: it has not run since KTAU was enabled. */
bool account_is_unknown(const struct process *p);

/*
 * Ticks by which the parts of @p exceed its life. This is never so in a consistent account, apart
 * from the rounding of times for an unprivileged reader.
 */
ktau_sum_t account_excess(const struct view *v, const struct process *p);

/*
 * The routine with the most time in the kernel; NULL if there is none. @kernel is the kernel
 * time of @p.
 */
const struct routine *account_top_routine(const struct view *v, const struct process *p,
					  ktau_sum_t kernel);

/*
 * The innermost wait function, or the system call, in which @p slept longest, and for how many
 * ticks; "-" if that is unknown.
 */
const char *account_waits_most_in(const struct view *v, const struct process *p,
				  ktau_sum_t *ticks);

/*
 * Ticks that a process slept in @r, a routine of @group: in a wait of the scheduler itself, or
 * in a function that contains waits.
 */
ktau_sum_t account_asleep_in(const struct view *v, const struct routine *r, uint32_t group);

/*
 * Exclusive time of a process, including frames in flight: running in the kernel, and waiting
 * (group sched). Shares refer to one or the other, because time asleep would dwarf everything
 * else.
 */
void account_times(const struct process *p, const struct symbolizer *names,
		   ktau_sum_t *running_ticks, ktau_sum_t *waiting_ticks);

#endif
