/* SPDX-License-Identifier: GPL-2.0-only */
/* Interrupts by line, handler and CPU. */
#ifndef KTAU_TOOLS_INTERRUPTS_H
#define KTAU_TOOLS_INTERRUPTS_H

#include "aggregate.h"
#include "report_options.h"
#include "lib/table.h"

/* Initialise the table without rows. */
void interrupts_columns(struct table *t);

/*
 * Add a row for each line, vector and softirq on each CPU that handled it, in descending order
 * of time.
 */
void interrupts_rows(const struct view *v, struct table *t, const struct aggregate *rows);

#endif
