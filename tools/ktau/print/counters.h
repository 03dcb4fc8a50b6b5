/* SPDX-License-Identifier: GPL-2.0-only */
/* ktau status --counters: KTAU's figures about itself, from /proc/ktau/stats. */
#ifndef KTAU_TOOLS_COUNTERS_H
#define KTAU_TOOLS_COUNTERS_H

#include "lib/table.h"

/*
 * Print the figures called @names, or all of them if @nr_names is 0. Return: CLI_DONE, or
 * CLI_FAILED with a message if they cannot be read or there is none of one of the names.
 */
int counters_print(char *const *names, int nr_names, enum table_format format);

#endif
