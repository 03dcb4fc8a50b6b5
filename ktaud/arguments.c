// SPDX-License-Identifier: GPL-2.0-or-later
#include <errno.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include <ktau.h>

#include "arguments.h"
#include "log.h"

static const char *program;

static void print_version(FILE *stream, struct argp_state *state)
{
	(void)state;
	fprintf(stream, "%s %s\n", program, ktau_version());
}

/* argp exits by itself after printing help. */
static void check_stdout(void)
{
	if (fflush(stdout) || ferror(stdout)) {
		log_error("cannot write the output: %s", strerror(errno));
		_exit(1);
	}
}

static error_t parse_help(int key, char *arg, struct argp_state *state)
{
	(void)arg;
	switch (key) {
	case ARGP_KEY_INIT:
		state->child_inputs[0] = state->input;
		return 0;
	case 'h':
		argp_state_help(state, stdout, ARGP_HELP_STD_HELP);
		return 0;
	}
	return ARGP_ERR_UNKNOWN;
}

void arguments_parse(const struct argp *argp, const char *name, int argc, char **argv, void *input)
{
	static const struct argp_option options[] = {
		{ NULL, 'h', NULL, 0, "The same as --help", -1 },
		{ 0 }
	};
	const struct argp_child children[] = { { argp, 0, NULL, 0 }, { 0 } };
	const struct argp with_help = { options, parse_help, NULL, NULL, children, NULL, NULL };

	program = name;
	argp_err_exit_status = 2;
	argp_program_version_hook = print_version;
	if (atexit(check_stdout))
		exit(1);
	argp_parse(&with_help, argc, argv, 0, NULL, input);
}
