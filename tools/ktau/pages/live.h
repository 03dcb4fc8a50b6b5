/* SPDX-License-Identifier: GPL-2.0-only */
/* Working sets of processes that run. */
#ifndef KTAU_TOOLS_PAGE_LIVE_H
#define KTAU_TOOLS_PAGE_LIVE_H

#include <stdbool.h>
#include <stdint.h>

#include "record.h"

/**
 * struct live_options - what to print
 * @record: the processes
 * @interval_ns: how long references are counted for a row
 * @budget: per cent of the time that counting may take; 0: any
 * @csv: for programs
 */
struct live_options {
	struct record_options *record;
	uint64_t interval_ns;
	double budget;
	bool csv;
};

/* Print working sets until the processes have ended, or a signal. Return: the exit status. */
int live_run(const struct live_options *options);

#endif
