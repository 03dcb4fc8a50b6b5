/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * The output: a sequence of *.ktau files in one directory.
 *
 * A full disk blocks the output but loses no record. Records that do not fit wait in memory, and
 * the caller stops producing records while output_blocked() is true. output_flush() is called
 * periodically to find out whether there is space again.
 */
#ifndef KTAUD_OUTPUT_H
#define KTAUD_OUTPUT_H

#include <stdbool.h>
#include <stdint.h>
#include <sys/types.h>

#include <ktau.h>

#include "config.h"
#include "rotate.h"

struct waiting;

/**
 * struct output - the file being written
 * @dir: directory
 * @command: command line to record in the file
 * @rotate: the existing files
 * @writer: NULL if no file is open
 * @path: path of the file
 * @dev: its device, and
 * @ino: its inode, to notice if another program takes it away
 * @opened_ns: CLOCK_MONOTONIC when it was opened
 * @stext: _stext of this boot; 0 until it is known
 * @head_done: the INFO record has been put to this file
 * @first: first waiting record; NULL if the output is not blocked
 * @last: where to link the next waiting record
 * @blocked: the errno that blocks it; 0 if it is not blocked
 * @open_error: last -errno logged for a file that could not be created; 0 for none
 * @closed_bytes: total size of the files closed so far
 */
struct output {
	const char *dir;
	const char *command;
	struct rotate rotate;
	struct ktau_writer *writer;
	char *path;
	dev_t dev;
	ino_t ino;
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
 * Create the directory, but not its parents, and list its files. Call output_deinit() even after an
 * error. Return: 0, or -errno with a message logged.
 */
int output_init(struct output *out, const char *dir, const char *command);

/* Try to write waiting records once more, then close. Return: 0, or -errno if data was lost. */
int output_deinit(struct output *out);

/*
 * Start a new file and close the previous one. If there is no space for the last records of the
 * previous file, that file stays open. Return: 0, or -errno with a message logged.
 */
int output_open(struct output *out, const struct config *config);

/*
 * Start a stream: write the INFO record, unless the file already has one, and the STREAM record.
 * @key: the stream can be read without anything before it in the file.
 */
void output_stream(struct output *out, const struct config *config,
		   const struct ktau_rec_stream *stream, bool key);

/* Write any other record of the stream. */
void output_record(struct output *out, const struct ktau_rec *record);

static inline bool output_blocked(const struct output *out)
{
	return out->blocked;
}

/* Write everything to the file. Return: true if the output is not blocked. */
bool output_flush(struct output *out);

/* Drop what is waiting, with a message logged. For a small record there is room in the file. */
void output_drop(struct output *out);

/*
 * True, with a message logged, if the file has been removed, renamed or truncated. What is written
 * to it would be lost, or unreadable, so a new file must be opened. May only be called while
 * nothing is waiting to be written.
 */
bool output_is_gone(const struct output *out);

/* True if a new file is due. May only be called between streams. */
bool output_is_due(const struct output *out, const struct config *config);

/* False if the file has nothing but its header; such a file will be removed. */
static inline bool output_has_content(const struct output *out)
{
	return out->writer && out->head_done;
}

/* Bytes written to all files that are kept. */
uint64_t output_bytes(const struct output *out);

/* CLOCK_MONOTONIC, CLOCK_REALTIME */
uint64_t now_ns(int clock);

#endif /* KTAUD_OUTPUT_H */
