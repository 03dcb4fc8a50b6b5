/* SPDX-License-Identifier: GPL-2.0-only */
/* The table of waits: the routines in which each process slept, and why. */
#ifndef KTAU_TOOLS_WAITS_H
#define KTAU_TOOLS_WAITS_H

#include "report_options.h"
#include "table.h"

/* The table, without rows. */
void waits_columns(struct table *table);

/* A row for each routine in which @p waited, the longest wait first. */
void waits_rows(const struct view *v, struct table *table, const struct process *p);

#endif
