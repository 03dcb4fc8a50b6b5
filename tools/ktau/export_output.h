/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * The file or directory that an export writes. It is made under another name beside its
 * own, which it gets when it is complete: an export that fails or is interrupted
 * leaves nothing, and a file that it was to replace as it was.
 */
#ifndef KTAU_TOOLS_EXPORT_OUTPUT_H
#define KTAU_TOOLS_EXPORT_OUTPUT_H

#include <stdbool.h>
#include <stdio.h>

struct output;

/*
 * Also sees to it that SIGINT, SIGTERM and SIGHUP remove it. "-" is standard output. NULL
 * with a message: a directory must not exist.
 */
struct output *output_create(const char *path, bool directory);

/*
 * Around everything that writes, but not around reading, which may wait: in between, a
 * signal ends the program. They nest.
 */
void output_enter(void);
void output_exit(void);

/* What it will be called. */
const char *output_name(const struct output *o);

/* Where it is now. */
const char *output_path(const struct output *o);

/* The file; NULL if it is a directory. */
FILE *output_file(const struct output *o);

/*
 * A new file in the directory, or a directory in it: @name may have one slash. NULL
 * with a message. output_close() returns 0 or -1 with a message.
 */
FILE *output_add(struct output *o, const char *name);
int output_close(struct output *o, FILE *file);

/*
 * After something was written to a file: 0, or -1 with a message if that failed. There is
 * one message only, however often and with what function it is found.
 */
int output_check(struct output *o, FILE *file);

/*
 * More bytes for a file of the directory, which is made if it is not there: for
 * more files than can be open. 0 or -1 with a message.
 */
int output_append(struct output *o, const char *name, const void *data, size_t bytes);

/* It gets its name; 0 or -1 with a message, and nothing is left. */
int output_commit(struct output *o);
void output_discard(struct output *o);

#endif
