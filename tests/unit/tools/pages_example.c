// SPDX-License-Identifier: GPL-2.0-only
/* Run the consumer of docs/dev/consumers.md: pages_example FILE... */
#include "lib/cli.h"
#include "pages/merger.h"

extern const struct consumer consumer_example;

int main(int argc, char **argv)
{
	const struct merge_options options = {
		.paths = argv + 1,
		.nr_paths = (uint32_t)argc - 1,
		.consumer = &consumer_example,
		.to_ns = UINT64_MAX,
	};

	cli_init("pages_example");
	return merge_files(&options) ? CLI_FAILED : cli_finish(stdout);
}
