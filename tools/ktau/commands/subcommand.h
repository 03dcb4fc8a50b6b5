/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * A subcommand is a file ktau-NAME.c that defines struct subcommand subcommand_NAME, and its
 * page ktau-NAME.1. The build finds the files.
 */
#ifndef KTAU_TOOLS_SUBCOMMAND_H
#define KTAU_TOOLS_SUBCOMMAND_H

#include <argp.h>

/* What a command is for. ktau --help lists the commands in this order. */
enum subcommand_purpose {
	SUBCOMMAND_LOOK,
	SUBCOMMAND_RECORD,
	SUBCOMMAND_ANALYSE,
	SUBCOMMAND_CONVERT,
	SUBCOMMAND_CONTROL,
	SUBCOMMAND_NR_PURPOSES
};

/**
 * struct subcommand - a command of ktau
 * @name: name on the command line
 * @run: its main(); argv[0] is "ktau NAME"; returns CLI_DONE, CLI_FAILED or CLI_USAGE
 * @summary: description for ktau --help: one line, understandable without the others
 * @argp: its options
 * @purpose: the heading in ktau --help under which it is listed
 */
struct subcommand {
	const char *name;
	int (*run)(int argc, char **argv);
	const char *summary;
	const struct argp *argp;
	enum subcommand_purpose purpose;
};

#endif
