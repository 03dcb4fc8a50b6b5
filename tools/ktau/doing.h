/* SPDX-License-Identifier: GPL-2.0-only */
/* What the tasks of a row are doing now: from their frames in flight. */
#ifndef KTAU_TOOLS_DOING_H
#define KTAU_TOOLS_DOING_H

#include <stddef.h>

#include "aggregate.h"
#include "report_options.h"

/**
 * doing_now() - "sys_read > pipe_read, 6.5 s": the routines that a task is in
 * @v: names and clock
 * @p: the row; of its tasks, one that runs comes before one that sleeps, and then the one
 *	that has been in there longest
 * @end: snapshot of the end of the period
 * @text: the answer, "" if nothing is known
 * @size: bytes of it
 */
void doing_now(const struct view *v, const struct process *p, const struct ktau_snapshot *end,
	       char *text, size_t size);

/* "6.5 s", "12 ms", "3 us": three digits at most before the unit. */
void doing_format_ns(uint64_t ns, char *text, size_t size);

#endif
