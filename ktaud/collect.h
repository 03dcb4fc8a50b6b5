/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * From the kernel to the output: a stream of profiles every period, and a stream of traces
 * every period and whenever rings have filled.
 *
 * Memory holds one record and, to write differences, the last profile of each live task.
 * When the output is blocked, reading stops in the middle of the stream and continues
 * later, so nothing that the kernel has handed out is dropped.
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
 * @path: file with saved streams, NULL to read from the kernel
 * @reader: NULL until the first stream
 * @active: in the middle of a stream
 * @head: the STREAM record of the active stream
 * @head_done: it has been written to this file
 * @changed: the stream leaves out live tasks that have not run
 * @nr_records: PROFILE and TRACE records of this stream written to this file
 * @last_serial: owner of the last of them, 0 if there is none yet
 * @exited_since: exited tasks below this number are in the file
 * @began_ticks: when the last stream that ended had begun
 * @ended: a stream has ended before
 * @lost_evicted: the value in its END record
 * @last_error: the last errno logged, 0 if the last stream was read without error
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
	uint64_t last_serial;
	uint64_t exited_since;
	uint64_t began_ticks;
	bool ended;
	uint64_t lost_evicted;
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
 * @full: the current stream is written in full
 * @periods: streams of profiles, or of traces if only those, that ended
 * @lost_periods: periods skipped because the output was blocked
 * @failed_periods: periods that could not be read
 * @fullest: how full the fullest ring was when the last traces were read, 0 to 1
 * @lost_slots: trace slots that were overwritten before they were read
 * @evicted_slots: unread slots of tasks that the kernel evicted
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
	uint64_t evicted_slots;
};

/* @root: directory with saved streams, NULL for the kernel. Return: 0, -ENOMEM. */
int collect_init(struct collect *collect, const struct config *config,
		 struct output *out, const char *root);
void collect_deinit(struct collect *collect);

/* Continue with @config, which may have changed, and a file that is still empty. */
void collect_new_file(struct collect *collect, const struct config *config);

/*
 * Read everything once. Return: 0, also if the output is blocked; -errno of reading, which
 * is logged if it differs from the last one.
 */
int collect_period(struct collect *collect);

/* Read only the traces. Return: as collect_period(). */
int collect_traces(struct collect *collect);

/* Continue where a blocked output stopped. Return: true if nothing is blocked. */
bool collect_resume(struct collect *collect);

/* The descriptor to poll for filled rings, -1 for none. */
int collect_trace_fd(const struct collect *collect);

#endif /* KTAUD_COLLECT_H */
