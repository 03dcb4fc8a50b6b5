// SPDX-License-Identifier: GPL-2.0-only
/* A file for each thread. */
#include "split_output.h"

static void *begin(const struct consumer_setup *setup)
{
	return split_begin(setup, "per-thread", true);
}

const struct consumer consumer_per_thread = {
	.name = "per-thread",
	.summary = "a directory for each process, in it a file TID-SERIAL for each thread",
	.directory = true,
	.begin = begin,
	.record = split_record,
	.end = split_end,
};
