// SPDX-License-Identifier: GPL-2.0-only
/*
 * ktau: the commands for what KTAU has collected.
 */
#include <string.h>

#include "cli.h"
#include "subcommand.h"

#define SUBCOMMAND(name) extern const struct subcommand subcommand_##name;
#include <ktau-subcommands.h>
#undef SUBCOMMAND

static const struct subcommand *const subcommands[] = {
#define SUBCOMMAND(name) &subcommand_##name,
#include <ktau-subcommands.h>
#undef SUBCOMMAND
};

#define NR_SUBCOMMANDS (sizeof(subcommands) / sizeof(*subcommands))

static void print_help(FILE *out)
{
	size_t i;

	fputs("Usage: ktau COMMAND [OPTION...] [ARGUMENT...]\n"
	      "Profiles and traces of kernel routines, process by process.\n\n",
	      out);
	for (i = 0; i < NR_SUBCOMMANDS; i++)
		fprintf(out, "  %-10s %s\n", subcommands[i]->name, subcommands[i]->summary);
	fputs("\n'ktau COMMAND --help' and ktau-COMMAND(1) describe the options of each.\n",
	      out);
}

static int run(const struct subcommand *c, int argc, char **argv)
{
	static char name[64];

	snprintf(name, sizeof(name), "ktau %s", c->name);
	cli_rename(name);
	argv[0] = name;
	return c->run(argc, argv);
}

int main(int argc, char **argv)
{
	size_t i;

	cli_init("ktau");
	if (argc < 2) {
		print_help(stderr);
		return CLI_USAGE;
	}
	if (!strcmp(argv[1], "--help") || !strcmp(argv[1], "help")) {
		print_help(stdout);
		return cli_finish(stdout);
	}
	if (!strcmp(argv[1], "--version")) {
		printf("ktau %s\n", ktau_version());
		return cli_finish(stdout);
	}
	for (i = 0; i < NR_SUBCOMMANDS; i++)
		if (!strcmp(argv[1], subcommands[i]->name))
			return run(subcommands[i], argc - 1, argv + 1);
	complain("no command '%s'; 'ktau --help' lists them", argv[1]);
	return CLI_USAGE;
}
