/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * The period of a report: two snapshots out of a source of many, and what was
 * lost between them. Memory is bounded by the tasks of the period.
 */
#ifndef KTAU_TOOLS_PERIOD_H
#define KTAU_TOOLS_PERIOD_H

#include <stdbool.h>
#include <stdint.h>

#include <ktau.h>

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

struct period_select {
	enum period_choice choice;
	uint64_t number;
	struct moment from, to;
};

/**
 * struct period_reading - where reading is; for period.c
 * @select: what is looked for
 * @first_realtime_ns: CLOCK_REALTIME of the first stream
 * @boot_ticks: of the present boot
 * @boot_monotonic_ns: likewise
 * @boot_realtime_ns: likewise
 * @ticks: of the present stream
 * @hostname: of the machine that it is about, empty if that is not known
 * @to_before: the present stream goes to the beginning of the period
 * @to_after: and to its end
 * @inside: it is one of profiles
 * @over: the period has ended
 */
struct period_reading {
	const struct period_select *select;
	uint64_t first_realtime_ns;
	uint64_t boot_ticks, boot_monotonic_ns, boot_realtime_ns;
	uint64_t ticks;
	char hostname[sizeof(((struct ktau_rec_info *)0)->hostname)];
	bool to_before, to_after;
	bool inside;
	bool over;
};

/**
 * struct period - what happened between two streams
 * @before: profiles at its beginning; empty: since KTAU began in that boot
 * @after: and at its end
 * @first: number of the stream that @before is, 0 if none; the file's first is 1
 * @last: number of the stream that @after is; @first: no time between them
 * @streams: number of streams of profiles in the source
 * @first_ns: CLOCK_REALTIME of @first
 * @reboots: boots before the one that is shown
 * @lost_slots: of traces, between them
 * @traces: trace records in the whole source
 * @reading: while it is read
 */
struct period {
	struct ktau_snapshot *before, *after;
	uint64_t first, last, streams;
	uint64_t reboots;
	uint64_t lost_slots;
	uint64_t traces;
	struct period_reading reading;
};

/* "+12.5" since the first stream, "@1700000000" or "2026-01-31 13:00:05" local. */
int moment_parse(const char *text, struct moment *moment);

int period_init(struct period *p);
void period_deinit(struct period *p);

/*
 * A source is one file or several, in the order of time. period_read() reads all
 * of one. 0, or the error that it ended with, and what was read is in; -ESTALE if
 * it begins before the one before it ended, -EXDEV if it is of another machine.
 */
void period_start(struct period *p, const struct period_select *select);
int period_read(struct period *p, struct ktau_reader *reader, const char *name);
void period_stop(struct period *p);

/* Two snapshots of the running kernel, @interval_ns apart; 0: one, since boot. */
int period_live(struct period *p, struct ktau_reader *reader, uint64_t interval_ns);

#endif
