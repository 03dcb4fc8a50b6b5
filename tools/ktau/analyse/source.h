/* SPDX-License-Identifier: GPL-2.0-only */
/* Reading files and the running kernel into a period, with messages for all errors. */
#ifndef KTAU_TOOLS_SOURCE_H
#define KTAU_TOOLS_SOURCE_H

#include <ktau.h>

#include "lib/report/period.h"

/**
 * source_read_files() - read files in time order
 * @period: period to fill
 * @select: which period to read
 * @files: file names
 * @nr_files: length of @files
 * @reader: set to the reader of the file in which the period ended, for comparison with a map
 *
 * Return: CLI_DONE, or CLI_FAILED with a message. In both cases the readable part is in @period.
 */
int source_read_files(struct period *period, const struct period_select *select,
		      char *const *files, int nr_files, struct ktau_reader **reader);

/*
 * The first of @files that can be read only once, because it is a pipe, a terminal or standard
 * input; NULL if there is none.
 */
const char *source_read_once(char *const *files, int nr_files);

/* Does @name contain the requested period? Prints a message if not. */
bool source_has_period(const struct period *p, const struct period_select *select,
		       const char *name);

/* Print a message for an error from period.c. */
void source_failed(const struct ktau_reader *reader, const char *file, int err);

#endif
