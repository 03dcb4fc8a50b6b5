/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * The file or directory that a command writes. It is written under a temporary name in the
 * same directory and renamed when it is complete. A command that fails or is interrupted
 * therefore leaves no partial output, and does not touch an existing file. Exceptions are what is
 * not a regular file, such as a link, and a file in a folder that is not writable. Of two commands
 * that write the same file at the same time, the last one replaces it; two cannot write
 * the same directory: the second one fails.
 */
#ifndef KTAU_TOOLS_OUTPUT_H
#define KTAU_TOOLS_OUTPUT_H

#include <stdbool.h>
#include <stdio.h>

struct output;

/*
 * Whether @path is the file @input, perhaps by another name: writing it would destroy what is
 * read. Prints a message. @input may be NULL. "-" is standard output, and standard input.
 */
bool output_is_input(const char *path, const char *input);

/*
 * Create the output; "-" is standard output. SIGINT, SIGTERM and SIGHUP will remove it. A
 * directory must not exist. Return: NULL after an error, with a message.
 */
struct output *output_create(const char *path, bool directory);

/*
 * Called around code that writes, but not around reading, which may block: outside such a
 * section, a signal ends the program at once. Sections nest.
 */
void output_enter(void);
void output_exit(void);

/* Called in a child that was forked meanwhile: signals have their usual effect. */
void output_forked(void);

/* The final name. */
const char *output_name(const struct output *o);

/* The current name. */
const char *output_path(const struct output *o);

/* The stream; NULL if the output is a directory. */
FILE *output_file(const struct output *o);

/*
 * Create a file in the output directory, or in a subdirectory of it if @name contains a slash.
 * Return: NULL after an error, with a message. output_close() returns 0, or -1 with a message.
 */
FILE *output_add(struct output *o, const char *name);
int output_close(struct output *o, FILE *file);

/*
 * Check @file for write errors. Return: 0, or -1 after an error. The message is printed only
 * once, no matter how often or in which function the error is noticed.
 */
int output_check(struct output *o, FILE *file);

/* Open a file that output_add() has created and output_close() has closed, to append. */
FILE *output_reopen(struct output *o, const char *name);

/* Writing has failed with @err, an errno, or 0: unknown. The same message. Return: -1. */
int output_fail(struct output *o, int err);

/*
 * Append to a file in the directory, creating it if necessary; for outputs with more files
 * than can be open at once. Return: 0, or -1 with a message.
 */
int output_append(struct output *o, const char *name, const void *data, size_t bytes);

/* Give the output its final name. Return: 0, or -1 with a message; then nothing is left. */
int output_commit(struct output *o);
void output_discard(struct output *o);

#endif
