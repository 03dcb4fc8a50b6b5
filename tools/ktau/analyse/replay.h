/* SPDX-License-Identifier: GPL-2.0-only */
/* Reads any period of files without reading everything before it. */
#ifndef KTAU_TOOLS_REPLAY_H
#define KTAU_TOOLS_REPLAY_H

#include <ktau.h>

#include "lib/report/period.h"

struct replay_stream;

/**
 * struct replay - index of the profile streams
 * @files: file names
 * @nr_files: length of @files
 * @host: selects the streams of a machine
 * @streams: the streams, in the order of the files
 * @nr: length of @streams
 * @traces: number of trace records
 * @room: allocated length of @streams
 */
struct replay {
	char *const *files;
	int nr_files;
	struct host_filter host;
	struct replay_stream *streams;
	size_t nr, room;
	uint64_t traces;
};

/* Read the files once, and report damage. There are no streams if no file has a profile. */
void replay_init(struct replay *r, char *const *files, int nr_files, const char *host);
void replay_deinit(struct replay *r);

/*
 * Read the period that ends with stream @number into @period, which is new. @reader is replaced by
 * the reader of its last file. Return: 0 or -errno; -ENODATA if the files have changed.
 */
int replay_read(const struct replay *r, uint64_t number, struct period *period,
		struct ktau_reader **reader);

#endif
