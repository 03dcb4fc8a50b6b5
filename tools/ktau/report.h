/* SPDX-License-Identifier: GPL-2.0-only */
/* A report: the tables of a period, with a head and a foot. */
#ifndef KTAU_TOOLS_REPORT_H
#define KTAU_TOOLS_REPORT_H

#include <stdbool.h>
#include <stdio.h>

#include "period.h"
#include "report_options.h"

/*
 * The rows of @period, which are complete. False, and nothing is printed, if a part was
 * asked for that is not there.
 */
bool report_print(const struct report *r, const struct period *period, FILE *out);

#endif
