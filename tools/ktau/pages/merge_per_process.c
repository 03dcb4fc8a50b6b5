// SPDX-License-Identifier: GPL-2.0-only
/* A file for each process. */
#include "split_output.h"

static void *begin(const struct consumer_setup *setup)
{
	return split_begin(setup, "per-process", false);
}

const struct consumer consumer_per_process = {
	.name = "per-process",
	.summary = "a directory with a file PID-SERIAL for each process",
	.directory = true,
	.begin = begin,
	.record = split_record,
	.end = split_end,
};
