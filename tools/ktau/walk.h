/* SPDX-License-Identifier: GPL-2.0-only */
/* All periods of a recording, one after the other, each file read once. */
#ifndef KTAU_TOOLS_WALK_H
#define KTAU_TOOLS_WALK_H

#include <stdint.h>

#include "period.h"

/**
 * struct walk - what to walk through
 * @files: names, in the order of time
 * @nr_files: number of them
 * @host: only streams of this machine, NULL: all are of one
 * @by: what a row is
 * @filter: which tasks
 * @length_ns: periods are at least as long as this; 0: from each stream to the next
 * @each: called with each period, which is complete; another value than 0 ends the walk
 * @arg: handed to @each
 */
struct walk {
	char *const *files;
	int nr_files;
	const char *host;
	enum aggregate_by by;
	const struct task_filter *filter;
	uint64_t length_ns;
	int (*each)(void *arg, const struct period *period);
	void *arg;
};

/* CLI_DONE, or CLI_FAILED with a message: what could be read has been handed out. */
int walk_files(const struct walk *w);

#endif
