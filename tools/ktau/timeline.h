/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * The traces of all tasks as one sequence of events in the order of time, with
 * balanced frames: what exporters and pictures are made from.
 *
 * Slots come ring by ring, a stream at a time. When a stream has ended, all slots
 * older than its beginning have been seen, so they are merged and handed on; the
 * others wait for the next stream. Memory is bounded by the rings of one stream.
 *
 * On every track enters and exits are balanced, and times do not decrease: where
 * slots were lost, the open frames end and a gap begins; an exit whose enter was
 * lost is left out; at the end of the trace the frames still open are closed. Each
 * of these is counted.
 */
#ifndef KTAU_TOOLS_TIMELINE_H
#define KTAU_TOOLS_TIMELINE_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include <ktau.h>

#include "symbolize.h"

/**
 * struct timeline_frame - an activation that has begun and not ended
 * @id: event id
 * @ns: when it began
 * @child_ns: duration of the frames directly inside that have ended
 * @address: of a page fault, else 0
 * @writer: the exporter's own
 */
struct timeline_frame {
	uint32_t id;
	uint64_t ns;
	uint64_t child_ns;
	uint64_t address;
	uintptr_t writer;
};

/**
 * struct track - one task's line
 * @serial: its serial
 * @index: 0, 1, 2... in the order of first appearance
 * @owner: what its newest OWNER record says, without the path; zero but for the
 *	serial if it has none
 * @ns: time of its newest event
 * @cpu: CPU of its newest event
 * @frames: open frames, the outermost first
 * @depth: number of them
 * @writer: the exporter's own
 */
struct track {
	uint64_t serial;
	uint32_t index;
	struct ktau_rec_owner owner;
	uint64_t ns;
	uint32_t cpu;
	struct timeline_frame *frames;
	size_t depth, room;
	uintptr_t writer;
	struct run *first, *last;	/* slots that wait, see timeline.c */
	uint64_t next, queued_ticks, order_ticks;
	bool cut;
};

/* Beside KTAU_TRACE_*, of which CALL does not occur: it comes as ENTER and EXIT. */
enum {
	TIMELINE_LOST = 0x100,	/* slots are missing from @ns to @to_ns */
};

/* @ended of struct timeline_event: why a frame ended if not by its own exit. */
enum timeline_ended {
	ENDED_BY_EXIT,
	ENDED_BY_LOSS,	/* slots after this time were lost */
	ENDED_BY_END,	/* the trace ends */
};

/**
 * struct timeline_event - one event of the sequence
 * @track: whose
 * @slot: the slot; NULL for TIMELINE_LOST, and for an EXIT that was not recorded
 * @type: KTAU_TRACE_* or TIMELINE_LOST
 * @id: event id of ENTER, EXIT and COUNT
 * @ns: CLOCK_BOOTTIME
 * @frame: EXIT: the frame; ENTER: likewise, the exporter may set its @writer
 * @excl_ns: EXIT: its duration without the frames inside
 * @nested: EXIT: a frame of the same event is around it
 * @from_ns: EXIT: when the frame began
 * @to_ns: TIMELINE_LOST: the end of the gap
 * @lost: TIMELINE_LOST: number of slots
 * @ended: EXIT: why
 */
struct timeline_event {
	struct track *track;
	const struct ktau_slot *slot;
	uint32_t type;
	uint32_t id;
	uint64_t ns;
	struct timeline_frame *frame;
	uint64_t excl_ns;
	bool nested;
	uint64_t from_ns;
	uint64_t to_ns;
	uint64_t lost;
	enum timeline_ended ended;
};

/**
 * struct timeline_counts - what the sequence was made of
 * @slots: slots merged
 * @enters: frames begun
 * @lost: slots lost
 * @gaps: places where some were
 * @half_exits: exits left out because their enter was lost
 * @half_enters: frames ended by a loss
 * @unfinished: frames open at the end
 * @clamped: times set to the one before
 */
struct timeline_counts {
	uint64_t slots, enters, lost, gaps, half_exits, half_enters, unfinished, clamped;
};

struct timeline;

/**
 * struct timeline_sink - who takes the sequence
 * @track: a track is new, or its owner's name or ids have changed; may be NULL
 * @event: the next event
 * @arg: passed to both
 *
 * Both return 0, or -errno, which ends timeline_read().
 */
struct timeline_sink {
	int (*track)(void *arg, struct track *track);
	int (*event)(void *arg, const struct timeline_event *event);
	void *arg;
};

/* @reader, which timeline_read() needs alone, and @sink must outlive it. Never NULL. */
struct timeline *timeline_create(struct ktau_reader *reader,
				 const struct timeline_sink *sink);
void timeline_destroy(struct timeline *t);

/*
 * Read the source to its end, and hand on everything. 0, the error of the sink, or
 * that of ktau_reader_next(): everything undamaged has been handed on.
 */
int timeline_read(struct timeline *t);

/*
 * The same in steps, for a caller that needs the records for more than this, or has
 * several files of one boot: timeline_put() takes the record that @reader has just
 * returned, timeline_finish() hands on the rest. 0 or the error of the sink; -ESTALE for
 * a stream of another boot.
 */
int timeline_put(struct timeline *t, const struct ktau_reader *reader,
		 const union ktau_record *record);
int timeline_finish(struct timeline *t);

const struct timeline_counts *timeline_counts(const struct timeline *t);

/* Of the first stream of traces, which all times are converted by; NULL: no trace. */
const struct ktau_rec_stream *timeline_stream(const struct timeline *t);
const struct ktau_clock *timeline_clock(const struct timeline *t);

/* The track of a serial that has had slots; NULL if there is none. */
struct track *timeline_track(const struct timeline *t, uint64_t serial);

/* The tracks by their index; NULL beyond the last. */
const struct track *timeline_track_at(const struct timeline *t, size_t index);

/* The owner of a serial, on a track or only named in a slot; NULL if unknown. */
const struct ktau_rec_owner *timeline_owner(const struct timeline *t, uint64_t serial);

#endif
