/* SPDX-License-Identifier: GPL-2.0-only */
/* Which hosts differ from most of the others, and in which routine. */
#ifndef KTAU_TOOLS_COMPARE_HOSTS_H
#define KTAU_TOOLS_COMPARE_HOSTS_H

#include <stdbool.h>

#include "lib/table.h"

/*
 * Read the files of all hosts in @paths, one host after the other, and print what differs; with
 * @all, everything. Memory holds one host and a figure per host and routine. Return: CLI_DONE or
 * CLI_FAILED with a message.
 */
int compare_hosts(char *const *paths, int nr_paths, enum table_format format, bool all);

#endif
