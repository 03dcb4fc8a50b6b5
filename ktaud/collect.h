/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * From the kernel to the output: a stream of profiles every period, a stream of
 * traces every period and whenever the rings have filled.
 *
 * Nothing is held in memory but one record and, to write differences, the last
 * profile of each live task. When the output is blocked, the stream stops where
 * it is and goes on later: what the kernel has handed out is never dropped.
 */
#ifndef KTAUD_COLLECT_H
#define KTAUD_COLLECT_H

#include <stdbool.h>
#include <stdint.h>

#include <ktau.h>

#include "baseline.h"
#include "config.h"
#include "output.h"

/**
 * struct stream - one of the two kinds of streams
 * @content: KTAU_REC_PROFILE or KTAU_REC_TRACE
 * @path: saved streams that stand for the kernel's, NULL for the kernel
 * @reader: NULL until the first stream
 * @active: in the middle of a stream
 * @head: the STREAM record of the active stream
 * @head_done: it has been written to this file
 * @changed: the stream has those of the living only that have changed
 * @nr_records: records of owners written of this stream to this file
 * @dead_since: the dead below this have been written
 * @ended: a stream has ended before
 * @lost_reaped: as its END had it
 * @last_error: the last errno told, 0 if the last stream was in order
 */
struct stream {
	uint32_t content;
	char *path;
	struct ktau_reader *reader;
	bool active;
	struct ktau_rec_stream *head;
	bool head_done;
	bool changed;
	uint64_t nr_records;
	uint64_t dead_since;
	bool ended;
	uint64_t lost_reaped;
	int last_error;
};

/**
 * struct collect - all that is collected
 * @config: what to collect
 * @out: where to
 * @profile: the profiles
 * @trace: the traces
 * @base: what was written last of each task
 * @since_full: streams of profiles since one was written in full; 0: the next
 *	one will be
 * @full: that which is read is written in full
 * @periods: streams of profiles, or of traces if only those, that ended
 * @lost_periods: those left out because the output was blocked
 * @failed_periods: those that could not be read
 * @fullest: how full the fullest ring was when the last traces were read, 0 to 1
 * @lost_slots: trace slots that were overwritten before they were read
 * @reaped_slots: those of tasks that the kernel did not keep long enough
 */
struct collect {
	const struct config *config;
	struct output *out;
	struct stream profile;
	struct stream trace;
	struct baseline base;
	unsigned int since_full;
	bool full;
	uint64_t periods;
	uint64_t lost_periods;
	uint64_t failed_periods;
	double fullest;
	uint64_t lost_slots;
	uint64_t reaped_slots;
};

/* @root: directory with saved streams, NULL for the kernel. Return: 0, -ENOMEM. */
int collect_init(struct collect *collect, const struct config *config,
		 struct output *out, const char *root);
void collect_deinit(struct collect *collect);

/* Other settings perhaps, and a file of which nothing is written yet. */
void collect_new_file(struct collect *collect, const struct config *config);

/*
 * Everything once. Return: 0, also if the output is blocked; -errno of reading,
 * told when it is another one than last time.
 */
int collect_period(struct collect *collect);

/* Only the traces. Return: as collect_period(). */
int collect_traces(struct collect *collect);

/* Go on where a blocked output stopped. Return: true if nothing is blocked. */
bool collect_resume(struct collect *collect);

/* The descriptor to poll for filled rings, -1 if there is none. */
int collect_trace_fd(const struct collect *collect);

#endif /* KTAUD_COLLECT_H */
