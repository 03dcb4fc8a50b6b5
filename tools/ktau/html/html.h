/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * A report as one HTML file: the account, routines, call paths, timeline and losses, with the
 * program that draws them. The page loads no other file.
 */
#ifndef KTAU_TOOLS_HTML_H
#define KTAU_TOOLS_HTML_H

#include "lib/report/period.h"
#include "lib/report/report.h"

/*
 * Write the report of @period, whose rows are complete, to r->html. The files are read twice
 * more: for the intervals and for the traces. Return: CLI_DONE, or CLI_FAILED with a message;
 * then the file has been removed.
 */
int html_report(const struct report *r, const struct period *period);

#endif
