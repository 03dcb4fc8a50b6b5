/* SPDX-License-Identifier: GPL-2.0-only */
/* A report over time: a row for each process, a column for each period. */
#ifndef KTAU_TOOLS_OVER_TIME_H
#define KTAU_TOOLS_OVER_TIME_H

#include <stdio.h>

#include "lib/report/report_options.h"
#include "analyse/walk.h"

/**
 * over_time_print() - print the kernel time of each row in each period
 * @r: what to show
 * @w: input; @each and @arg are set here
 * @out: output
 *
 * Text has a block character for each period, or for several periods if the line is too short.
 * CSV and JSON have a row for each process and period, with all parts of the account.
 *
 * Return: CLI_DONE, or CLI_FAILED with a message.
 */
int over_time_print(const struct report *r, const struct walk *w, FILE *out);

#endif
