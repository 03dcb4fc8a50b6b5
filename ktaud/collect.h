/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * From the kernel to the output: a stream of profiles in every period, and a stream of traces in
 * every period and whenever rings have filled up.
 *
 * Memory holds one record and, in order to write differences, the last profile of each live task.
 * If the output is blocked, reading stops in the middle of a stream and continues later, so
 * nothing that the kernel has returned is dropped.
 */
#ifndef KTAUD_COLLECT_H
#define KTAUD_COLLECT_H

#include <stdbool.h>
#include <stdint.h>

#include <ktau.h>
#include <ktau_bpf.h>

#include "baseline.h"
#include "chosen.h"
#include "config.h"
#include "metrics.h"
#include "output.h"
#include "positions.h"

/* What the next stream of traces is for. */
enum catch_up {
	CATCH_UP_NONE,		/* to consume what is new */
	CATCH_UP_READ,		/* to read, without consuming, what an earlier ktaud left out */
	CATCH_UP_CONSUME,	/* to consume that, and what is new */
};

/**
 * struct stream - one of the two kinds of streams
 * @content: KTAU_REC_PROFILE or KTAU_REC_TRACE
 * @path: file with saved streams, NULL to read from the kernel
 * @saved_fd: its descriptor; 0: not open
 * @reader: NULL until the first stream
 * @active: in the middle of a stream
 * @head: the STREAM record of the active stream
 * @head_done: @head has been written to this file
 * @changed: the stream leaves out live tasks that have not run
 * @nr_records: PROFILE and TRACE records of this stream written to this file
 * @last_serial: owner of the last such record; 0 if there is none yet
 * @cut_ticks: end of the last loss that the kernel does not know
 * @exited_since: exited tasks with lower numbers are in the file
 * @began_ticks: start of the last stream that ended
 * @ended: at least one stream has ended
 * @lost_evicted: lost_evicted in the last END record
 * @last_error: the last errno logged, 0 if the last stream was read without error
 */
struct stream {
	uint32_t content;
	char *path;
	int saved_fd;
	struct ktau_reader *reader;
	bool active;
	struct ktau_rec_stream *head;
	bool head_done;
	bool changed;
	uint64_t nr_records;
	uint64_t last_serial;
	uint64_t cut_ticks;
	uint64_t exited_since;
	uint64_t began_ticks;
	bool ended;
	uint64_t lost_evicted;
	int last_error;
};

/**
 * struct collect - all streams
 * @config: what to collect
 * @out: output
 * @profile: stream of profiles
 * @trace: stream of traces
 * @bpf: the kernel has no KTAU, so BPF programs measure
 * @bpf_options: what they measure
 * @base: profiles last written for each task
 * @chosen: the processes chosen by number
 * @positions: up to where each ring has been written
 * @catch_up: after a start in a boot that has been recorded before
 * @metrics: totals for the OpenMetrics file, if one is configured
 * @since_full: profile streams since one was written in full; 0: the next one will be
 * @since_key: trace streams since one began a key block, if only traces are read
 * @lost_missing: slots that another reader has consumed, an earlier ktaud included
 * @told_missing: a reader that consumes at the same time has been logged
 * @began_ns: CLOCK_REALTIME at the start of the last period that was read
 * @flushed_ns: CLOCK_MONOTONIC when the last period, or what was read since, was written
 * @gap: periods that were lost because the output was blocked, and are not in a file yet
 * @periods: profile streams that have ended, or trace streams if only traces are read
 */
struct collect {
	const struct config *config;
	struct output *out;
	struct stream profile;
	struct stream trace;
	bool bpf;
	struct ktau_bpf_options bpf_options;
	struct baseline base;
	struct chosen chosen;
	struct positions positions;
	enum catch_up catch_up;
	struct metrics metrics;
	unsigned int since_full;
	unsigned int since_key;
	bool full;
	uint64_t began_ns;
	uint64_t flushed_ns;
	struct ktau_rec_gap gap;
	uint64_t periods;
	uint64_t lost_periods;
	uint64_t failed_periods;
	double fullest;
	uint64_t lost_slots;
	uint64_t lost_missing;
	uint64_t evicted_slots;
	bool told_missing;
};

/* @root: directory with saved streams; NULL for the kernel. Return: 0 or -ENOMEM. */
int collect_init(struct collect *collect, const struct config *config,
		 struct output *out, const char *root);
void collect_deinit(struct collect *collect);

/*
 * Before the first stream: find out from the files of this boot which slots an earlier ktaud has
 * consumed but not written, because it was killed. The first stream of traces has them, as far as
 * they are still in the rings; the rest is recorded as lost. Return: 0 or -ENOMEM.
 */
int collect_catch_up(struct collect *collect);

/* Continue with @config, which may have changed, and a new empty file. */
void collect_new_file(struct collect *collect, const struct config *config);

/* Write which periods were lost, if any and if there is space again. */
void collect_note_gap(struct collect *collect);

/*
 * At the end, without space for the last period: it is lost, too. Return: 0; -errno if anything was
 * lost, and with a message logged if the file does not say so.
 */
int collect_give_up(struct collect *collect);

/*
 * Read everything once. Return: 0, even if the output is blocked; -errno if reading failed, which
 * is logged unless it is the same error as last time.
 */
int collect_period(struct collect *collect);

/* Read only the traces. Return: like collect_period(). */
int collect_traces(struct collect *collect);

/* Continue after the output was blocked. Return: true if it is no longer blocked. */
bool collect_resume(struct collect *collect);

/* Descriptor to poll for filled rings; -1 for none. */
int collect_trace_fd(const struct collect *collect);

#endif /* KTAUD_COLLECT_H */
