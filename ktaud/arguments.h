/* SPDX-License-Identifier: GPL-2.0-or-later */
/* The command lines of ktaud and ktaud-ship. */
#ifndef KTAUD_ARGUMENTS_H
#define KTAUD_ARGUMENTS_H

#include <argp.h>

/*
 * argp_parse() with -h for --help, and --version, which prints @name. Exits with 2 if the command
 * line is invalid, and with 1 if help or the version cannot be written.
 */
void arguments_parse(const struct argp *argp, const char *name, int argc, char **argv, void *input);

#endif /* KTAUD_ARGUMENTS_H */
