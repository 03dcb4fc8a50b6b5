/* SPDX-License-Identifier: GPL-2.0-only */
/* What the tasks of a row are doing now, according to their frames in flight. */
#ifndef KTAU_TOOLS_DOING_H
#define KTAU_TOOLS_DOING_H

#include <stddef.h>

#include "lib/report/aggregate.h"
#include "lib/report/report_options.h"

/**
 * struct doing_now - the routines that a task is in
 * @columns: the room for @text: outer routines are left out until it fits
 * @text: "sys_read > pipe_read, 6.5 s"; "" if nothing is known
 */
struct doing_now {
	size_t columns;
	char text[128];
};

/**
 * doing_now() - what a task of a row is doing
 * @v: names and clock
 * @p: the row; a running task is preferred to a sleeping one, then the one that has been in
 *	the kernel longest
 * @end: snapshot at the end of the period
 * @now: receives the text
 */
void doing_now(const struct view *v, const struct process *p, const struct ktau_snapshot *end,
	       struct doing_now *now);

/* "6.5 s", "12 ms", "3 us": at most three digits before the unit. */
void doing_format_ns(uint64_t ns, char *text, size_t size);

#endif
