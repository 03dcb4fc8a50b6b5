/* SPDX-License-Identifier: GPL-2.0-only */
/* Files and the running kernel, read into a period; what goes wrong is said. */
#ifndef KTAU_TOOLS_SOURCE_H
#define KTAU_TOOLS_SOURCE_H

#include <ktau.h>

#include "period.h"

/**
 * source_read_files() - read files, in the order of time
 * @period: where to
 * @select: which period
 * @files: names
 * @nr_files: number of them
 * @reader: of what was read last; becomes the one that the period ended in, with which
 *	a map is compared
 *
 * Return: CLI_DONE, CLI_FAILED with a message; what could be read is in @period.
 */
int source_read_files(struct period *period, const struct period_select *select,
		      char *const *files, int nr_files, struct ktau_reader **reader);

/* Is what was asked for in @name? With a message if it is not. */
bool source_has_period(const struct period *p, const struct period_select *select,
		       const char *name);

/* A message for an error of period.c. */
void source_failed(const struct ktau_reader *reader, const char *file, int err);

#endif
