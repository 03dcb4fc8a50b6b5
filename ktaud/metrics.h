/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * The OpenMetrics file: totals of this host, for node_exporter's textfile collector.
 *
 * There is a series per routine and state, never one per task, so that the number of series of a
 * node does not grow with its load. The totals are those since KTAU started in this boot, and never
 * decrease. The file is replaced atomically: a scrape reads either the old or the new totals.
 */
#ifndef KTAUD_METRICS_H
#define KTAUD_METRICS_H

#include <stdint.h>

#include <ktau.h>

/* Further routines are summed up as METRICS_OTHER. */
#define METRICS_MAX_ROUTINES	1000
#define METRICS_OTHER		"(other)"

enum { METRICS_EXCLUSIVE, METRICS_ASLEEP, METRICS_RUNQ, METRICS_IRQ, METRICS_NR_STATES };

/**
 * struct metrics_routine - the series of a routine
 * @name: its name
 * @count: activations that have ended
 * @ticks: by METRICS_*; all but the first include the routines that it called
 */
struct metrics_routine {
	char *name;
	uint64_t count;
	ktau_sum_t ticks[METRICS_NR_STATES];
};

/**
 * struct metrics - the totals and how writing them went
 * @snapshot: the profiles of live tasks and the sum of all others; NULL before the first record
 * @routines: series, sorted by name; none is ever removed, because a series must not disappear
 * @nr: length of @routines
 * @names: names of the events by id; NULL for an unknown one. A descriptor that was opened
 *	later may not name an event that only evicted tasks have.
 * @nr_names: length of @names
 * @last_error: last errno logged; 0 if the last write succeeded
 * @failed: number of times the file could not be written
 */
struct metrics {
	struct ktau_snapshot *snapshot;
	struct metrics_routine *routines;
	size_t nr;
	char **names;
	uint32_t nr_names;
	int last_error;
	uint64_t failed;
};

/* Forget the totals but keep the counter of failures. All members 0 is a valid start. */
void metrics_clear(struct metrics *metrics);

/* Add a record of a stream of profiles as it comes from the kernel. Return: 0 or -ENOMEM. */
int metrics_add(struct metrics *metrics, const union ktau_record *record);

/**
 * metrics_write() - replace the file after the END record of a stream was added
 * @metrics: totals
 * @events: names of events that the stream has given
 * @path: file; its temporary name is PATH.XXXXXX.tmp, where XXXXXX is random
 *
 * A file that cannot be written is counted and, unless the previous write failed for the same
 * reason, logged. The old file stays as it is.
 *
 * Return: 0 or -errno.
 */
int metrics_write(struct metrics *metrics, const struct ktau_events *events, const char *path);

#endif /* KTAUD_METRICS_H */
