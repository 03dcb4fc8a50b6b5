/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * A report as one HTML file: the account, routines, call paths, the time line and what
 * was lost, with the program that draws them. The file loads nothing.
 */
#ifndef KTAU_TOOLS_HTML_H
#define KTAU_TOOLS_HTML_H

#include "period.h"
#include "report.h"

/*
 * The report of @period, whose rows are complete, into r->html. the files are read again
 * for what happened over time, and once more for their traces. CLI_DONE, or CLI_FAILED
 * with a message and without the file.
 */
int html_report(const struct report *r, const struct period *period);

#endif
