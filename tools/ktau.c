// SPDX-License-Identifier: GPL-2.0-only
/*
 * ktau: the commands for what KTAU has collected.
 */
#include <string.h>

#include "cmd.h"

static const struct command {
	const char *name;
	int (*run)(int argc, char **argv);
	const char *description;
} commands[] = {
	{ "status", cmd_status, "what can be measured here, and what to do if it cannot" },
	{ "report", cmd_report, "where each process's time in the kernel went" },
	{ "check", cmd_check, "do the figures agree with themselves?" },
	{ "dump", cmd_dump, "every record of a file as text" },
	{ "export", cmd_export, "a trace in the format of another program" },
	{ "events", cmd_events, "what event ids stand for, in the running kernel or a file" },
	{ "stats", cmd_stats, "losses, memory and tasks of the running kernel's KTAU" },
	{ "control", cmd_control, "set groups, modes, the filter, tags and sizes" },
};

#define NR_COMMANDS (sizeof(commands) / sizeof(*commands))

static void print_help(FILE *out)
{
	size_t i;

	fputs("Usage: ktau COMMAND [OPTION...] [ARGUMENT...]\n"
	      "Profiles and traces of kernel routines, process by process.\n\n",
	      out);
	for (i = 0; i < NR_COMMANDS; i++)
		fprintf(out, "  %-10s %s\n", commands[i].name, commands[i].description);
	fputs("\n'ktau COMMAND --help' and ktau-COMMAND(1) describe the options of each.\n",
	      out);
}

static int run(const struct command *c, int argc, char **argv)
{
	static char name[64];

	snprintf(name, sizeof(name), "ktau %s", c->name);
	cmd_rename(name);
	argv[0] = name;
	return c->run(argc, argv);
}

int main(int argc, char **argv)
{
	size_t i;

	cmd_init("ktau");
	if (argc < 2) {
		print_help(stderr);
		return CMD_USAGE;
	}
	if (!strcmp(argv[1], "--help") || !strcmp(argv[1], "help")) {
		print_help(stdout);
		return cmd_finish(stdout);
	}
	if (!strcmp(argv[1], "--version")) {
		printf("ktau %s\n", ktau_version());
		return cmd_finish(stdout);
	}
	for (i = 0; i < NR_COMMANDS; i++)
		if (!strcmp(argv[1], commands[i].name))
			return run(&commands[i], argc - 1, argv + 1);
	complain("no command '%s'; 'ktau --help' lists them", argv[1]);
	return CMD_USAGE;
}
