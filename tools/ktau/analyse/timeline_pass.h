/* SPDX-License-Identifier: GPL-2.0-only */
/* The state of a timeline, for timeline.c, which queues records, and timeline_pass.c. */
#ifndef KTAU_TOOLS_TIMELINE_PASS_H
#define KTAU_TOOLS_TIMELINE_PASS_H

#include "lib/hash.h"
#include "lib/report/registry.h"
#include "timeline_event.h"
#include "track_heap.h"
#include "user_trace.h"

/* A trace record whose loss or slots have not all been passed on. */
struct run {
	struct run *next;
	struct ktau_rec_trace *trace;
	const struct ktau_slot *slot;	/* the next slot; NULL: none is left */
	bool in_gap;			/* part of the gap before the run has been passed on */
	bool opened;			/* all of it has */
	bool scheduled;			/* the group sched was enabled: switches are known */
};

/*
 * The regions of a task. Their frames are the outermost ones of the track.
 *
 * @at: next slot
 * @path: numbers of the open regions, outermost first
 * @depth: length of @path
 * @replaced: the task has executed another program, so they end with execve()
 */
struct user_walk {
	struct user_trace *trace;
	size_t at;
	uint32_t path[USER_TRACE_DEPTH];
	size_t depth;
	bool replaced;
};

struct timeline {
	struct ktau_reader *reader;
	const struct ktau_reader *owners;	/* reader of the record that is put */
	struct ktau_events *events;
	const struct timeline_sink *sink;
	struct ktau_rec_stream stream;
	struct ktau_clock clock;
	struct hash by_serial;		/* struct track * */
	struct hash named;		/* struct ktau_rec_owner *, for serials without a track */
	struct track **tracks;
	size_t nr_tracks, room;
	struct track_heap heap;
	struct timeline_counts counts;
	uint8_t sched[8192];		/* bit mask of the ids of the group sched */
	bool in_trace;			/* the current stream has traces */
	uint32_t groups;		/* enabled when it began */
	uint64_t begin_ticks;		/* start of the recording; final if @begun */
	bool begun;
	uint64_t final_ticks;		/* time of the last trace stream */
	uint64_t passed_ticks;		/* everything before this has been passed on */
	uint64_t user_end_ticks;	/* later slots of programs are left out */
	const char *path;
	struct registry *registry;	/* NULL: without regions */
	struct user_traces *users;
	struct ktau_slot user_slot;
	uint8_t numbers[8192];		/* bit mask of events whose first field is an integer */
	struct user_slot mark;
};

/* When the next event of @track is; UINT64_MAX if none is queued. */
uint64_t timeline_due(const struct track *track);

/* Pass on all events before @ticks. Return: 0, or the error of the sink. */
int timeline_pass(struct timeline *t, uint64_t ticks);

void timeline_free_run(struct run *run);

#endif
