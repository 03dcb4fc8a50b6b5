/* SPDX-License-Identifier: GPL-2.0-only */
/* Interrupts by line, handler and CPU. */
#ifndef KTAU_TOOLS_INTERRUPTS_H
#define KTAU_TOOLS_INTERRUPTS_H

#include "aggregate.h"
#include "report_options.h"
#include "table.h"

/* The table, without rows. */
void interrupts_columns(struct table *t);

/*
 * A row for each line, vector and softirq on each CPU that took it, the one that took most
 * time first.
 */
void interrupts_rows(const struct view *v, struct table *t, const struct aggregate *rows);

#endif
