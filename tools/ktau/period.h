/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * The period of a report: two snapshots out of a source of many, and what was
 * lost between them. Exited tasks go into rows as they are read, so memory is bounded
 * by the tasks that are alive and, with a few hundred bytes each, the exited ones that
 * the kernel keeps.
 */
#ifndef KTAU_TOOLS_PERIOD_H
#define KTAU_TOOLS_PERIOD_H

#include <stdbool.h>
#include <stdint.h>

#include <ktau.h>

#include "registry.h"
#include "aggregate.h"

enum period_choice {
	PERIOD_ALL,	/* from the first stream to the last; one stream: since boot */
	PERIOD_BOOT,	/* since KTAU began in that boot, to the last stream */
	PERIOD_NUMBER,	/* the one that ended with stream @number */
	PERIOD_TIMES,	/* the streams from @from_ns to @to_ns */
};

/**
 * struct moment - a time as people give it
 * @given: false: not given
 * @relative: @ns counts from the first stream, not from 1970
 */
struct moment {
	bool given;
	bool relative;
	uint64_t ns;
};

/**
 * struct period_select - which period of a source
 * @choice: by which of the following
 * @number: of the stream that it ended with
 * @from: time of its beginning
 * @to: and of its end
 * @host: only streams of this machine, NULL: all are of one
 */
struct period_select {
	const char *host;
	enum period_choice choice;
	uint64_t number;
	struct moment from, to;
};

/**
 * struct period_reading - how far reading has got; for period.c
 * @select: what is looked for
 * @reader: of what is read
 * @first_realtime_ns: CLOCK_REALTIME of the first stream
 * @stream: the newest stream
 * @ticks: of the newest stream of profiles
 * @to_before: the present stream goes to the beginning of the period
 * @to_after: and to its end
 * @inside: it is a stream of profiles
 * @over: the period has ended
 * @elsewhere: the present stream is of a machine that was not asked for
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
	bool elsewhere;
};

/**
 * struct period - what happened between two streams
 * @before: profiles at its beginning; empty: since KTAU started in that boot
 * @after: and at its end
 * @registry: what the ids in them stand for
 * @rows: what each process did; complete after aggregate_finish()
 * @first: number of the stream that @before is, 0 if none; the source's first is 1
 * @last: number of the stream that @after is; @first: no time between them
 * @streams: number of streams of profiles in the source
 * @reboots: boots before the one that is shown
 * @overwritten: trace slots that were overwritten before they were read, in it
 * @traces: trace records in the whole source
 * @reading: while it is read
 */
struct period {
	struct ktau_snapshot *before, *after;
	struct registry *registry;
	struct aggregate *rows;
	uint64_t first, last, streams;
	uint64_t reboots;
	uint64_t overwritten;
	uint64_t traces;
	struct period_reading reading;
};

/* "+12.5" since the first stream, "@1700000000" or "2026-01-31 13:00:05" local. */
int moment_parse(const char *text, struct moment *moment);

/* @rows is made for the registry of @p by the caller, before anything is read. */
int period_init(struct period *p, struct aggregate *rows);
void period_deinit(struct period *p);

/*
 * A source is one file or several, in the order of time. period_read() reads all
 * of one. 0, or the error that it ended with, and what was read is in; -ESTALE if
 * it begins before the previous one ended, -EXDEV if it is of another machine.
 */
void period_start(struct period *p, const struct period_select *select);
int period_read(struct period *p, struct ktau_reader *reader, const char *name);

/* One record that @reader has just returned: for a caller that reads itself. */
int period_put(struct period *p, const struct ktau_reader *reader,
	       const union ktau_record *record);
void period_stop(struct period *p);

/*
 * Two snapshots of the running kernel, @interval_ns apart; 0: one, since boot. The
 * later one has only the tasks that @filter matches: what a task did before it
 * matched, or was moved, is needed for the difference.
 */
int period_live(struct period *p, struct ktau_reader *reader, uint64_t interval_ns,
		const struct task_filter *filter);

/*
 * One period of the running kernel after the other: each begins where the one before it
 * ended. @again is false the first time, when there is no period yet.
 */
int period_live_next(struct period *p, struct ktau_reader *reader, bool again,
		     const struct task_filter *filter);

#endif
