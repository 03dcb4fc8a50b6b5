// SPDX-License-Identifier: GPL-2.0-only
#include <argp.h>
#include <errno.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "ciod/arguments.h"

static const struct ciod_command *command;

static void print_version(FILE *out, struct argp_state *state)
{
	(void)state;
	fprintf(out, "%s %s\n", command->name, VERSION);
}

/* argp exits by itself after printing help. */
static void check_output(void)
{
	if (!fflush(stdout) && !ferror(stdout))
		return;
	fprintf(stderr, "%s: cannot write the output: %s\n", command->name, strerror(errno));
	_exit(1);
}

static error_t parse(int key, char *arg, struct argp_state *state)
{
	char ***words = state->input;

	(void)arg;
	switch (key) {
	case 'h':
		argp_state_help(state, stdout, ARGP_HELP_STD_HELP);
		return 0;
	case ARGP_KEY_ARGS:
		*words = state->argv + state->next;
		if (state->argc - state->next > command->max)
			argp_error(state, "too many arguments");
		return 0;
	case ARGP_KEY_NO_ARGS:
		argp_usage(state);
		return 0;
	}
	return ARGP_ERR_UNKNOWN;
}

char **ciod_arguments(const struct ciod_command *known, int argc, char **argv)
{
	static const struct argp_option options[] = {
		{ NULL, 'h', NULL, 0, "The same as --help", -1 },
		{ 0 }
	};
	const struct argp argp = {
		options, parse, known->arguments, known->doc, NULL, NULL, NULL
	};
	char **words = NULL;

	command = known;
	argp_err_exit_status = 2;
	argp_program_version_hook = print_version;
	if (atexit(check_output))
		exit(1);
	/* An option after the first argument belongs to the command that cnk runs. */
	argp_parse(&argp, argc, argv, ARGP_IN_ORDER, NULL, &words);
	return words;
}
