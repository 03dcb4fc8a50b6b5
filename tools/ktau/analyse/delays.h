/* SPDX-License-Identifier: GPL-2.0-only */
/* Who delayed whom, for a page. */
#ifndef KTAU_TOOLS_DELAYS_H
#define KTAU_TOOLS_DELAYS_H

#include <stddef.h>
#include <stdint.h>

/**
 * struct delay - a row
 * @victim: name of the tasks that waited
 * @by: name of the tasks that they waited for, which may be the same
 * @state: what these did meanwhile
 * @in: the wait and what ended it, or the CPU of a run queue
 * @ns: sum
 * @nr: how often
 */
struct delay {
	char *victim, *by, *in;
	const char *state;
	uint64_t ns, nr;
};

/**
 * struct delays - the rows; all zero: none
 * @rows: the largest sum first
 * @nr: length of @rows
 * @tasks: number of tasks that waited
 * @ns: the time that they waited, which is the sum of the rows
 */
struct delays {
	struct delay *rows;
	size_t nr;
	uint64_t tasks, ns;
};

void delays_deinit(struct delays *delays);

#endif
