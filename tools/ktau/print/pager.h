/* SPDX-License-Identifier: GPL-2.0-only */
/* A pager for output to a terminal. */
#ifndef KTAU_TOOLS_PAGER_H
#define KTAU_TOOLS_PAGER_H

#include "lib/table.h"

/*
 * Send everything written to standard output from now on through $KTAU_PAGER, $PAGER or less.
 * Does nothing if the value is empty or "cat", or if standard output is not a terminal. The
 * program waits for the pager when it exits.
 */
void pager_start(void);

/* Before tables are printed: start the pager, and print headings in bold, if @format is text. */
void pager_for_tables(enum table_format format);

#endif
