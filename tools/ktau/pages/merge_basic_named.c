// SPDX-License-Identifier: GPL-2.0-only
/* One stream of all records, which says whether a page is of a file. */
#include "stream_output.h"

static void *begin(const struct consumer_setup *setup)
{
	return stream_begin(setup, "basic-named", true);
}

const struct consumer consumer_basic_named = {
	.name = "basic-named",
	.summary = "like basic, with a for anonymous pages and f for those of files",
	.begin = begin,
	.record = stream_record,
	.end = stream_end,
};
