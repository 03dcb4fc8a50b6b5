/* SPDX-License-Identifier: GPL-2.0-only */
/* A pager for output to a terminal. */
#ifndef KTAU_TOOLS_PAGER_H
#define KTAU_TOOLS_PAGER_H

/*
 * Send everything written to standard output from now on through $KTAU_PAGER, $PAGER or less.
 * Does nothing if the value is empty or "cat", or if standard output is not a terminal. The
 * program waits for the pager when it exits.
 */
void pager_start(void);

#endif
