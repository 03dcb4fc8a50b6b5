/* SPDX-License-Identifier: GPL-2.0-only */
/* Any period of files, without reading what comes before it each time. */
#ifndef KTAU_TOOLS_REPLAY_H
#define KTAU_TOOLS_REPLAY_H

#include <ktau.h>

#include "period.h"

struct replay_stream;

/**
 * struct replay - where the streams of profiles are
 * @files: names
 * @nr_files: number of them
 * @host: only streams of this machine, NULL: all are of one
 * @streams: in the order of the files
 * @nr: number of them
 * @traces: trace records
 * @room: for how many there is memory
 */
struct replay {
	char *const *files;
	int nr_files;
	const char *host;
	struct replay_stream *streams;
	size_t nr, room;
	uint64_t traces;
};

/* Read the files once; what is damaged is said here. Zero streams if none has a profile. */
void replay_init(struct replay *r, char *const *files, int nr_files, const char *host);
void replay_deinit(struct replay *r);

/*
 * The period that ends with stream @number, into @period, which is new. @reader is replaced
 * by the reader of its last file. 0, or -errno: -ENODATA if the files are not what they
 * were.
 */
int replay_read(const struct replay *r, uint64_t number, struct period *period,
		struct ktau_reader **reader);

#endif
