/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * Where records go: one *.ktau file after the other in one directory.
 *
 * A disk that is full blocks the output; nothing that was handed over is lost by
 * that. Records which did not get into the file wait in memory, and whoever
 * makes records stops as long as output_blocked() says so. output_flush() is
 * called now and then to find out whether there is room.
 */
#ifndef KTAUD_OUTPUT_H
#define KTAUD_OUTPUT_H

#include <stdbool.h>
#include <stdint.h>

#include <ktau.h>

#include "config.h"
#include "rotate.h"

struct waiting;

/**
 * struct output - the file that is written
 * @dir: directory
 * @command: command line, for the file
 * @rotate: the files that are there
 * @writer: NULL if no file is open
 * @path: of the file
 * @opened_ns: CLOCK_MONOTONIC when it was opened
 * @stext: _stext of this boot, 0 until it is known
 * @head_done: the INFO record has been put to this file
 * @first: first record that waits, NULL if the output is not blocked
 * @last: where the next one that waits is linked
 * @blocked: the errno that blocks it, 0 if none
 * @open_error: the last -errno told of a file that could not be begun, 0 if it could
 * @closed_bytes: bytes of the files closed before
 */
struct output {
	const char *dir;
	const char *command;
	struct rotate rotate;
	struct ktau_writer *writer;
	char *path;
	uint64_t opened_ns;
	uint64_t stext;
	bool head_done;
	struct waiting *first;
	struct waiting **last;
	int blocked;
	int open_error;
	uint64_t closed_bytes;
};

/*
 * Make the directory if only it is missing, and look which files it has.
 * output_deinit() in any case. Return: 0, -errno with a message logged.
 */
int output_init(struct output *out, const char *dir, const char *command);

/* Last try to write what waits; then close. Return: 0, -errno: data was lost. */
int output_deinit(struct output *out);

/*
 * Begin a new file; the one before is closed, or stays where it has no room for its
 * last records. Return: 0, -errno, told.
 */
int output_open(struct output *out, const struct config *config);

/*
 * A stream begins: the file's head, if it has none yet, and the STREAM record.
 * @key: the stream needs nothing that comes before it in the file.
 */
void output_stream(struct output *out, const struct config *config,
		   const struct ktau_rec_stream *stream, bool key);

/* Any other record of the stream. */
void output_record(struct output *out, const struct ktau_rec *record);

static inline bool output_blocked(const struct output *out)
{
	return out->blocked;
}

/* Hand all to the kernel. Return: true if the output is not blocked then. */
bool output_flush(struct output *out);

/* True if the file is full; ask only between two streams. */
bool output_is_due(const struct output *out, const struct config *config);

/* False: nothing is in the file but its header, and it will be removed. */
static inline bool output_has_content(const struct output *out)
{
	return out->writer && out->head_done;
}

/* Bytes written in all, to files that stay. */
uint64_t output_bytes(const struct output *out);

/* CLOCK_MONOTONIC, CLOCK_REALTIME */
uint64_t now_ns(int clock);

#endif /* KTAUD_OUTPUT_H */
