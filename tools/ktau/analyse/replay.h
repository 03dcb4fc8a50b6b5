/* SPDX-License-Identifier: GPL-2.0-only */
/* Reads any period of files without reading everything before it. */
#ifndef KTAU_TOOLS_REPLAY_H
#define KTAU_TOOLS_REPLAY_H

#include <ktau.h>

#include "lib/report/period.h"

struct replay_stream;

/**
 * struct replay - index of the profile streams, up to the point that has been read
 * @files: file names
 * @nr_files: length of @files
 * @host: selects the streams of a machine
 * @streams: the streams, in the order of the files
 * @nr: length of @streams
 * @traces: number of trace records
 * @room: allocated length of @streams
 * @complete: all files are indexed
 * @file: index of the file that is being indexed
 * @reader: its reader; NULL: not open
 */
struct replay {
	char *const *files;
	int nr_files;
	struct host_filter host;
	struct replay_stream *streams;
	size_t nr, room;
	uint64_t traces;
	bool complete;
	int file;
	struct ktau_reader *reader;
};

/* Reads nothing yet. */
void replay_init(struct replay *r, char *const *files, int nr_files, const char *host);
void replay_deinit(struct replay *r);

/*
 * Index the files up to stream @number or further, and report damage. Return: whether there is such
 * a stream.
 */
bool replay_find(struct replay *r, uint64_t number);

/*
 * Read the period that ends with stream @number, which is indexed, into @period, which is new.
 * @reader is replaced by the reader of its last file. Return: 0 or -errno; -ENODATA if the files
 * have changed.
 */
int replay_read(const struct replay *r, uint64_t number, struct period *period,
		struct ktau_reader **reader);

#endif
