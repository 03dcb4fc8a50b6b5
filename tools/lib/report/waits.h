/* SPDX-License-Identifier: GPL-2.0-only */
/* The table of waits: the routines in which each process slept. */
#ifndef KTAU_TOOLS_WAITS_H
#define KTAU_TOOLS_WAITS_H

#include "report_options.h"
#include "lib/table.h"

/* Initialise the table without rows. */
void waits_columns(struct table *table);

/* Add a row for each routine in which @p waited, longest first. */
void waits_rows(const struct view *v, struct table *table, const struct process *p);

#endif
