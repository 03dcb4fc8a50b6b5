/* SPDX-License-Identifier: GPL-2.0-only */
/* A path as a row of states, for a time line. */
#ifndef KTAU_TOOLS_PATH_KEEP_H
#define KTAU_TOOLS_PATH_KEEP_H

#include "analyse/states.h"
#include "lib/shared_options.h"

/*
 * Fill in @states, which is all zero, with one row: the bounded path of the task @name, or without
 * it of the one from which all others descend, from its start to its end. Its states are those of
 * the tasks of the path. Return: CLI_DONE or, after a message, CLI_FAILED.
 */
int path_keep(const struct shared_options *in, const char *name, struct states *states);

#endif
