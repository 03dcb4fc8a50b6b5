/* SPDX-License-Identifier: GPL-2.0-only */
/* Files of output, compressed if their names end in .gz or .zst. */
#ifndef KTAU_TOOLS_SINK_H
#define KTAU_TOOLS_SINK_H

#include <stdbool.h>
#include <stddef.h>

#include "lib/output.h"

struct sink;

/* The suffix of a compressed file: ".gz", ".zst", or "". */
const char *sink_suffix(const char *path);

/*
 * Open the output, or with @name a file in an output that is a directory, compressed as @suffix
 * says. With @append, continue what was closed before. Return: NULL with a message.
 */
struct sink *sink_open(struct output *output, const char *suffix, const char *name, bool append);

/* Return: 0, or -1 after an error, which sink_close() reports. */
int sink_write(struct sink *s, const void *data, size_t size);

/* Return: 0, or -1 with a message. */
int sink_close(struct sink *s);

#endif
