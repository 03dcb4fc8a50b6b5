// SPDX-License-Identifier: GPL-2.0-only
/* One stream of all records. */
#include "stream_output.h"

static void *begin(const struct consumer_setup *setup)
{
	return stream_begin(setup, "basic", false);
}

const struct consumer consumer_basic = {
	.name = "basic",
	.summary = "one stream: time, letter and page of each record",
	.begin = begin,
	.record = stream_record,
	.end = stream_end,
};
