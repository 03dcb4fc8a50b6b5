/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * What all commands share: messages, exit status, progress.
 */
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
 * First in main(). The name is for messages and --version; a failure to write to
 * standard output is reported at exit at the latest.
 */
void cli_init(const char *name);

/* It is a command of a command. */
void cli_rename(const char *name);

/* Another status than CLI_FAILED and CLI_USAGE, for both. */
void cli_fail_with(int status);

/*
 * argp_parse() with -h for --help. Messages about the command line are made by
 * cli_usage().
 */
void cli_parse(const struct argp *parser, int argc, char **argv, unsigned int flags,
	       void *input);

/* argp_error(), with what a terminal would act on escaped. */
void cli_usage(const struct argp_state *state, const char *format, ...)
	__attribute__((format(printf, 2, 3)));

/* "NAME: message" on stderr, escaped likewise. */
void complain(const char *format, ...) __attribute__((format(printf, 1, 2)));

/* Exits as failed if there is no memory: a command has nothing better to do. */
void *cli_alloc(void *old, size_t nr, size_t size);

/* Flush @out and say so if anything of it could not be written. */
int cli_finish(FILE *out);

/* One number, whole string, at most @max. 0 or -1. */
int cli_number(const char *text, uint64_t max, uint64_t *value);

/* A line on stderr that overwrites itself, if that is a terminal. */
struct progress {
	uint64_t last_ns;
	bool shown;
};

void progress_step(struct progress *p, const char *what, uint64_t records);
void progress_end(struct progress *p);

/* Why reading ended with @err. */
void cli_reader_failed(const struct ktau_reader *reader, int err);

/* Why a file of /proc/ktau could not be used. CLI_FAILED. */
int no_ktau(const char *path, int err);

#endif
