/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * What was on the CPU during the segments of a path: the routines of a task that ran, and the tasks
 * that ran while it was in the run queue. Needs a second pass through the trace, so that the frames
 * need not be kept.
 */
#ifndef KTAU_TOOLS_PATH_USES_H
#define KTAU_TOOLS_PATH_USES_H

#include "machines.h"
#include "rows.h"

struct uses;

/*
 * Have the events of a second pass through the files of @m divide @rows. Never returns NULL. The
 * arguments must outlive it.
 */
struct uses *uses_create(struct machines *m, const struct path *path, struct path_rows *rows);
void uses_destroy(struct uses *uses);

#endif
