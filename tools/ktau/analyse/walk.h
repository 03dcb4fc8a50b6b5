/* SPDX-License-Identifier: GPL-2.0-only */
/* All periods of a recording, one after the other, with each file read once. */
#ifndef KTAU_TOOLS_WALK_H
#define KTAU_TOOLS_WALK_H

#include <stdint.h>

#include "lib/report/period.h"

/* What the rows of a period must have. All but WALK_ALL cost as much as what has changed. */
enum walk_want {
	WALK_ALL,
	WALK_ROWS,	/* rows without longest activations; no total, no CPUs */
	WALK_TOTAL,	/* the same with the total, and with what evicted tasks did */
};

/**
 * struct walk - the recording to walk through
 * @files: files, in time order
 * @nr_files: length of @files
 * @from_ns: for each file, CLOCK_REALTIME from whose key block on it is read, 0 for all of it; or
 *	NULL
 * @statuses: set for each file to CLI_DONE, or to CLI_FAILED if not all of it was readable; or NULL
 * @host: use only streams of this machine; NULL: all streams are of one machine
 * @of_host: files of @host, if these are known
 * @by: what a row stands for
 * @filter: selects tasks
 * @want: what is needed of each period
 * @length_ns: minimum length of a period; 0: from each stream to the next
 * @each: called with each complete period; a return value other than 0 ends the walk
 * @arg: passed to @each
 */
struct walk {
	char *const *files;
	int nr_files;
	const uint64_t *from_ns;
	int *statuses;
	const char *host;
	const struct hosts *of_host;
	enum aggregate_by by;
	const struct task_filter *filter;
	enum walk_want want;
	uint64_t length_ns;
	int (*each)(void *arg, const struct period *period);
	void *arg;
};

/*
 * Return: CLI_DONE, or CLI_FAILED with a message. In both cases the readable part has been passed
 * to @w->each.
 */
int walk_files(const struct walk *w);

#endif
