// SPDX-License-Identifier: GPL-2.0-only
/* ktau: run the subcommand named by the first argument. */
#include <string.h>

#include "lib/cli.h"
#include "commands/completion.h"
#include "commands/subcommand.h"

#define SUBCOMMAND(name) extern const struct subcommand subcommand_##name;
#include <ktau-subcommands.h>
#undef SUBCOMMAND

static const struct subcommand *const subcommands[] = {
#define SUBCOMMAND(name) &subcommand_##name,
#include <ktau-subcommands.h>
#undef SUBCOMMAND
};

#define NR_SUBCOMMANDS (sizeof(subcommands) / sizeof(*subcommands))

static const char *const purposes[SUBCOMMAND_NR_PURPOSES] = {
	[SUBCOMMAND_LOOK] = "Look",
	[SUBCOMMAND_RECORD] = "Record",
	[SUBCOMMAND_ANALYSE] = "Analyse",
	[SUBCOMMAND_CONVERT] = "Convert",
	[SUBCOMMAND_CONTROL] = "Control",
};

static void print_summaries(enum subcommand_purpose purpose, FILE *out)
{
	size_t i;

	fprintf(out, "%s:\n", purposes[purpose]);
	for (i = 0; i < NR_SUBCOMMANDS; i++)
		if (subcommands[i]->purpose == purpose)
			fprintf(out, "  %-10s %s\n", subcommands[i]->name, subcommands[i]->summary);
}

static void print_help(FILE *out)
{
	unsigned int purpose;

	fputs("Usage: ktau COMMAND [OPTION...] [ARGUMENT...]\n"
	      "Profiles and traces of kernel routines, process by process.\n\n",
	      out);
	for (purpose = 0; purpose < SUBCOMMAND_NR_PURPOSES; purpose++)
		print_summaries(purpose, out);
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

static void print_usage(FILE *out)
{
	fputs("Usage: ktau COMMAND [OPTION...] [ARGUMENT...]\n"
	      "       ktau [-?hV] [--help] [--usage] [--version] [help [COMMAND]]\n",
	      out);
}

static void print_version(FILE *out)
{
	fprintf(out, "ktau %s\n", ktau_version());
}

static const struct {
	const char *word;
	void (*print)(FILE *out);
} options[] = {
	{ "help", print_help },
	{ "--help", print_help },
	{ "-h", print_help },
	{ "-?", print_help },
	{ "--usage", print_usage },
	{ "--version", print_version },
	{ "-V", print_version },
};

/* Find a subcommand; prints a message if there is none. */
static const struct subcommand *find(const char *name)
{
	size_t i;

	for (i = 0; i < NR_SUBCOMMANDS; i++)
		if (!strcmp(name, subcommands[i]->name))
			return subcommands[i];
	complain("no command '%s'; 'ktau --help' lists them", name);
	return NULL;
}

/* "ktau help report" is the same as "ktau report --help". */
static int help_of(char *name)
{
	char *words[] = { name, "--help", NULL };
	const struct subcommand *c = find(name);

	return c ? run(c, 2, words) : CLI_USAGE;
}

int main(int argc, char **argv)
{
	const struct subcommand *c;
	size_t i;

	cli_init("ktau");
	if (argc < 2) {
		print_help(stderr);
		return CLI_USAGE;
	}
	if (!strcmp(argv[1], "help") && argc > 2)
		return help_of(argv[2]);
	/* Used by make install. */
	if (!strncmp(argv[1], "--completion=", 13) &&
	    !completion_print(argv[1] + 13, subcommands, NR_SUBCOMMANDS, stdout))
		return cli_finish(stdout);
	for (i = 0; i < sizeof(options) / sizeof(*options); i++) {
		if (strcmp(argv[1], options[i].word))
			continue;
		options[i].print(stdout);
		return cli_finish(stdout);
	}
	c = find(argv[1]);
	return c ? run(c, argc - 1, argv + 1) : CLI_USAGE;
}
