/* SPDX-License-Identifier: GPL-2.0-only */
/* A report: the tables of a period, with a heading and a footer. */
#ifndef KTAU_TOOLS_REPORT_H
#define KTAU_TOOLS_REPORT_H

#include <stdbool.h>
#include <stdio.h>

#include "period.h"
#include "report_options.h"

/*
 * Print a report of the complete rows of @period. Return: false, with nothing printed, if a
 * requested part does not exist.
 */
bool report_print(const struct report *r, const struct period *period, FILE *out);

#endif
