/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * A subcommand is a file ktau-NAME.c that defines struct subcommand subcommand_NAME, and its
 * page ktau-NAME.1. The build finds the files.
 */
#ifndef KTAU_TOOLS_SUBCOMMAND_H
#define KTAU_TOOLS_SUBCOMMAND_H

#include <argp.h>

/**
 * struct subcommand - a command of ktau
 * @name: name on the command line
 * @run: its main(); argv[0] is "ktau NAME"; returns CLI_DONE, CLI_FAILED or CLI_USAGE
 * @summary: description in one line for ktau --help
 * @argp: its options
 */
struct subcommand {
	const char *name;
	int (*run)(int argc, char **argv);
	const char *summary;
	const struct argp *argp;
};

#endif
