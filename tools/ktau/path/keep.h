/* SPDX-License-Identifier: GPL-2.0-only */
/* A path as a row of states, for a time line, and who delayed whom, for a page. */
#ifndef KTAU_TOOLS_PATH_KEEP_H
#define KTAU_TOOLS_PATH_KEEP_H

#include "analyse/delays.h"
#include "analyse/states.h"
#include "lib/shared_options.h"

/*
 * Fill in @states, which is all zero, with one row: the bounded path of the task @name, as for
 * path_choose_task(), from its start to its end. Its states are those of the tasks of the path.
 * Return: CLI_DONE or, after a message, CLI_FAILED.
 */
int path_keep(const struct shared_options *in, const char *name, struct states *states);

/*
 * Fill in @delays, which is all zero, with the waits of all tasks whose names match @pattern, as
 * blame_make() adds them up. Return: CLI_DONE or, after a message, CLI_FAILED.
 */
int path_keep_delays(const struct shared_options *in, const char *pattern, struct delays *delays);

#endif
