/* SPDX-License-Identifier: GPL-2.0-only */
/* The command lines of ciod and cnk, which have no options except those for help. */
#ifndef CIOD_ARGUMENTS_H
#define CIOD_ARGUMENTS_H

/**
 * struct ciod_command - a command
 * @name: its name, for --version
 * @arguments: its arguments, for --help
 * @doc: what it does, for --help
 * @max: greatest number of arguments
 */
struct ciod_command {
	const char *name;
	const char *arguments;
	const char *doc;
	int max;
};

/*
 * The arguments for the command @known, of which there is at least one. Exits with 2 if the command
 * line is invalid, with 0 after printing help or the version, and with 1 if this cannot be written.
 */
char **ciod_arguments(const struct ciod_command *known, int argc, char **argv);

#endif
