/* SPDX-License-Identifier: GPL-2.0-only */
/* The account: where the life of each process, and the time of each CPU, went. */
#ifndef KTAU_TOOLS_ACCOUNT_H
#define KTAU_TOOLS_ACCOUNT_H

#include <stdbool.h>
#include <stdint.h>

#include "report_options.h"
#include "table.h"

/* The two tables, without rows. */
void account_columns(struct table *account, struct table *cpu_account);

/* One more row. Columns that it alone needs are no longer hidden. */
void account_row(const struct view *v, struct table *account, const struct process *p);
void account_cpu_row(const struct view *v, struct table *cpu_account, const struct process *p);

/* Kernel time, or the closest figure to it if that was not measured. */
uint64_t account_kernel(const struct view *v, const struct process *p);

/* Was this part of @p's account measured all the time? */
bool account_has(const struct ktau_rec_stream *stream, const struct process *p, int part);

/*
 * The routine with most time in the kernel, of which @kernel is all; NULL if there is
 * none.
 */
const struct routine *account_top_routine(const struct view *v, const struct process *p,
					  uint64_t kernel);

/* The routine in which @p slept most, "-" if it is unknown, and for how many ticks. */
const char *account_waits_most_in(const struct view *v, const struct process *p,
				  uint64_t *ticks);

/*
 * How long a process slept in a routine of @group: of a wait itself, and of a function
 * around waits.
 */
uint64_t account_asleep_in(const struct view *v, const struct routine *r, uint32_t group);

/*
 * Exclusive time of a process, frames in flight included: running in the kernel, and
 * waiting (group sched). Shares are of one or the other: time asleep would hide
 * everything else.
 */
void account_times(const struct process *p, const struct symbolizer *names,
		   uint64_t *running_ticks, uint64_t *waiting_ticks);

#endif
