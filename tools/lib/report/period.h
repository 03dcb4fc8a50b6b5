/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * The period of a report: two of the many snapshots in a source, and what was lost between
 * them. Exited tasks are added to their rows as they are read. Memory is therefore bounded by
 * the live tasks, plus a few hundred bytes for each exited task that the kernel keeps.
 */
#ifndef KTAU_TOOLS_PERIOD_H
#define KTAU_TOOLS_PERIOD_H

#include <stdbool.h>
#include <stdint.h>

#include <ktau.h>

#include "lib/moment.h"
#include "hosts.h"
#include "registry.h"
#include "aggregate.h"

enum period_choice {
	PERIOD_ALL,	/* from the first stream to the last; one stream: since boot */
	PERIOD_BOOT,	/* from the start of KTAU in that boot to the last stream */
	PERIOD_NUMBER,	/* the period that ended with stream @number */
	PERIOD_TIMES,	/* the streams from @from to @to */
};

/**
 * struct period_select - selects a period of a source
 * @choice: which of the following members applies
 * @number: number of the stream at the end of the period
 * @from: start of the period
 * @to: end of the period
 * @host: use only streams of this machine; NULL: all streams are of one machine
 * @of_host: files of @host, if these are known
 */
struct period_select {
	const char *host;
	const struct hosts *of_host;
	enum period_choice choice;
	uint64_t number;
	struct moment from, to;
};

/**
 * struct period_reading - progress of reading; private to period.c
 * @select: period to read
 * @reader: reader of the current file
 * @first_realtime_ns: CLOCK_REALTIME of the first stream; 0: not known yet
 * @stream: last stream
 * @ticks: time of the last stream of profiles
 * @to_before: the current stream goes to the start of the period
 * @to_after: the current stream goes to the end of the period
 * @inside: the current stream contains profiles
 * @over: the period has ended
 * @host: selects the streams of a machine
 * @elsewhere: the current stream is of a machine that is not selected
 * @whole: nothing may be skipped
 */
struct period_reading {
	const struct period_select *select;
	const struct ktau_reader *reader;
	uint64_t first_realtime_ns;
	struct ktau_rec_stream stream;
	uint64_t ticks;
	bool to_before, to_after;
	bool inside;
	bool over;
	struct host_filter host;
	bool elsewhere;
	bool whole;
};

/**
 * struct period - what happened between two streams
 * @before: profiles at the start; empty: since KTAU was started in that boot
 * @after: profiles at the end
 * @registry: meaning of the ids
 * @rows: what each process did; complete after aggregate_finish()
 * @first: number of the stream in @before, counting from 1; 0 if there is none
 * @last: number of the stream in @after; equal to @first if the period is empty
 * @streams: number of profile streams in the source
 * @reboots: number of boots before the one shown
 * @overwritten: trace slots overwritten before they were read, within the period
 * @lost_periods: periods within the period that were not recorded
 * @traces: number of trace records in the source
 * @partial: the period is given by times, and what precedes it may be skipped, so @first, @last
 *	and @streams are not numbers in the source
 * @reading: progress of reading
 */
struct period {
	struct ktau_snapshot *before, *after;
	struct registry *registry;
	struct aggregate *rows;
	uint64_t first, last, streams;
	uint64_t reboots;
	uint64_t overwritten, lost_periods;
	uint64_t traces;
	bool partial;
	struct period_reading reading;
};

/* The caller initialises @rows with the registry of @p before anything is read. */
int period_init(struct period *p, struct aggregate *rows);
void period_deinit(struct period *p);

/*
 * Start to read a source: one file, or several in time order. @first_ns is CLOCK_REALTIME of its
 * first stream of profiles, from which relative times count; 0: of the first one that is read.
 */
void period_start(struct period *p, const struct period_select *select, uint64_t first_ns);

/* Do not skip any part of a source: it cannot be read a second time. */
void period_read_whole(struct period *p);

/*
 * Skip the part of a file that a period beginning at the time @ns does not need. Does nothing if
 * the file has no blocks or cannot be read twice.
 */
void period_skip_to(const struct period *p, struct ktau_reader *reader, uint64_t ns);

/*
 * Open a file of the source, and skip the part before a period that is given by times.
 * Return: 0, -errno.
 */
int period_open(const struct period *p, struct ktau_reader *reader, const char *file);

/*
 * After all files: whether a skipped part is needed. The evicted sum also contains tasks that
 * exited before the part that was read. This matters only if tasks of the period were evicted
 * before they were read, because only that sum contains what they did.
 */
bool period_needs_all(const struct period *p);

/* Start over; all files must then be read again, from their beginning. */
void period_restart(struct period *p);

/*
 * Read a file, up to the end of a period that is given by times. Return: 0, or the error at which
 * reading ended, with everything up to there in @p. -ESTALE: the file begins before the previous
 * one ended; -EXDEV: it is of another machine.
 */
int period_read(struct period *p, struct ktau_reader *reader, const char *name);

/* Add a record that @reader has just returned, for callers that read records themselves. */
int period_put(struct period *p, const struct ktau_reader *reader,
	       const union ktau_record *record);
void period_stop(struct period *p);

/*
 * Read two snapshots of the running kernel, @interval_ns apart; if that is 0, one snapshot with
 * everything since boot. Only the later snapshot is filtered by @filter: the difference also
 * needs what a task did before it matched or was moved.
 */
int period_live(struct period *p, struct ktau_reader *reader, uint64_t interval_ns,
		const struct task_filter *filter);

/*
 * Read the next period of the running kernel, which begins where the previous one ended. @again
 * is false for the first call, when there is no previous period.
 */
int period_live_next(struct period *p, struct ktau_reader *reader, bool again,
		     const struct task_filter *filter);

#endif
