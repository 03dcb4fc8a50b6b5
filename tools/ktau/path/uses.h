/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * What was on the CPU during the segments of a path: the routines of a task that ran, and the tasks
 * that ran while it was in the run queue. Needs a second pass through the trace, so that the frames
 * need not be kept.
 */
#ifndef KTAU_TOOLS_PATH_USES_H
#define KTAU_TOOLS_PATH_USES_H

#include "rows.h"

struct uses;

/* Never returns NULL. The arguments must outlive it. */
struct uses *uses_create(struct path_graph *g, const struct path *path, struct path_rows *rows);
void uses_destroy(struct uses *uses);

/* Take an event of the second pass; @arg is the struct uses. Return: 0. */
int uses_event(void *arg, const struct timeline_event *e);

#endif
