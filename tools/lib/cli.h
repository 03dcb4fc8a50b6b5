/* SPDX-License-Identifier: GPL-2.0-only */
/* Shared by all commands: messages, exit status, progress. */
#ifndef KTAU_TOOLS_CLI_H
#define KTAU_TOOLS_CLI_H

#include <argp.h>
#include <stdbool.h>
#include <stdint.h>
#include <stdio.h>

#include <ktau.h>

/* Exit status of every command. */
#define CLI_DONE	0
#define CLI_FAILED	1
#define CLI_USAGE	2

/*
 * Must be called first in main(). @name appears in messages and --version. A failure to write
 * to standard output is reported at exit at the latest.
 */
void cli_init(const char *name);

/* Use the name of a subcommand in messages. */
void cli_rename(const char *name);

/* Exit with @status instead of CLI_FAILED and CLI_USAGE. */
void cli_fail_with(int status);

/* argp_parse() with -h for --help. Errors in the command line are reported with cli_usage(). */
void cli_parse(const struct argp *parser, int argc, char **argv, unsigned int flags,
	       void *input);

/* Like argp_error(), but control characters are escaped. */
void cli_usage(const struct argp_state *state, const char *format, ...)
	__attribute__((format(printf, 2, 3)));

/* Print "NAME: message" to stderr, with control characters escaped. */
void complain(const char *format, ...) __attribute__((format(printf, 1, 2)));

/* Exits if there is no memory, because a command can do nothing better. */
void *cli_alloc(void *old, size_t nr, size_t size);

/* Flush @out. If any output could not be written, print a message and return CLI_FAILED. */
int cli_finish(FILE *out);

/*
 * Parse the number at the start of @text, which is at most @max; 0x begins a hexadecimal one.
 * Return: the text after it, or NULL.
 */
const char *cli_number_at(const char *text, uint64_t max, uint64_t *value);

/* Parse a number that takes up the whole of @text and is at most @max. Return: 0 or -1. */
int cli_number(const char *text, uint64_t max, uint64_t *value);

/* A line on stderr that overwrites itself, if stderr is a terminal. */
struct progress {
	uint64_t last_ns;
	bool shown;
};

void progress_step(struct progress *p, const char *what, uint64_t records);
void progress_end(struct progress *p);

/* Report that reading ended with @err. */
void cli_reader_failed(const struct ktau_reader *reader, int err);

/* Report that a file in /proc/ktau cannot be used. Return: CLI_FAILED. */
int no_ktau(const char *path, int err);

#endif
