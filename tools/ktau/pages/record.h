/* SPDX-License-Identifier: GPL-2.0-only */
/* Recording references to pages. */
#ifndef KTAU_TOOLS_PAGE_RECORD_H
#define KTAU_TOOLS_PAGE_RECORD_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include <linux/ktau_references.h>

/**
 * struct record_options - what to record
 * @request: the session
 * @pids: the processes, unless there is @command, or @request names a control group or all
 * @nr_pids: their number
 * @command: a command to run, NULL: none
 * @output: the file
 * @paused: do not begin with references
 * @seconds: stop after this time; 0: at the end
 */
struct record_options {
	struct ktau_references request;
	int32_t *pids;
	uint32_t nr_pids;
	char **command;
	const char *output;
	bool paused;
	double seconds;
};

/* What can be done to a recording that runs. */
enum record_order { RECORD_START,
		    RECORD_PAUSE,
		    RECORD_STOP,
		    RECORD_STATUS };

/*
 * Record until the processes have ended, or the recording is stopped. Return: the exit status,
 * that of the command if there is one.
 */
int record_run(struct record_options *options);

/* Give an order to the recording that writes @path. Return: the exit status, after a message. */
int record_order(const char *path, enum record_order order);

#endif
