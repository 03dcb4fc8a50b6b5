/* SPDX-License-Identifier: GPL-2.0-only */
/* What a run of --csv --hours has to read of a host, if an earlier run has read a part of it. */
#ifndef KTAU_TOOLS_HOURS_PLAN_H
#define KTAU_TOOLS_HOURS_PLAN_H

#include "hours_files.h"

/**
 * struct hours_plan - files to read
 * @nr: number of files
 * @at: the file that is being read
 * @files: the files, in time order
 * @paths: their paths
 * @from_ns: see struct walk
 * @statuses: see struct walk
 */
struct hours_plan {
	int nr, at;
	struct host_file **files;
	char **paths;
	uint64_t *from_ns;
	int *statuses;
};

/*
 * Choose among the @nr files of a host; @known is what an earlier run has read, or NULL. Return:
 * CLI_DONE, or CLI_FAILED with a message for each file that is left out.
 */
int hours_plan_init(struct hours_plan *plan, const struct hours_files *known,
		    struct host_file *files, size_t nr);
void hours_plan_deinit(struct hours_plan *plan);

/* The stream has been read, with all that is before it. */
void hours_plan_note(struct hours_plan *plan, const struct ktau_rec_stream *stream);

/* All files have been read, as far as they are readable. */
void hours_plan_end(struct hours_plan *plan);

#endif
