// SPDX-License-Identifier: GPL-2.0-only
/* ktau toy: say hello. */
#include "lib/cli.h"
#include "subcommand.h"

static const struct argp parser = { NULL, NULL, "", "Say hello.", NULL, NULL, NULL };

static int toy_main(int argc, char **argv)
{
	cli_parse(&parser, argc, argv, 0, NULL);
	puts("hello");
	return cli_finish(stdout) ? CLI_FAILED : CLI_DONE;
}

const struct subcommand subcommand_toy = { "toy", toy_main, "say hello", &parser,
					   SUBCOMMAND_LOOK };
