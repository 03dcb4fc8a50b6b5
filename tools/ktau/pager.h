/* SPDX-License-Identifier: GPL-2.0-only */
/* A pager, where standard output is a terminal. */
#ifndef KTAU_TOOLS_PAGER_H
#define KTAU_TOOLS_PAGER_H

/*
 * What is written to standard output from here on goes through $KTAU_PAGER, $PAGER or less,
 * unless that is empty or "cat", or standard output is no terminal. The program ends when
 * the pager has.
 */
void pager_start(void);

#endif
