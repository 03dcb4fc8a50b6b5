/* SPDX-License-Identifier: GPL-2.0-only */
/* The events of a timeline, what is counted of them, and who receives them; see timeline.h. */
#ifndef KTAU_TOOLS_TIMELINE_EVENT_H
#define KTAU_TOOLS_TIMELINE_EVENT_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include <ktau.h>

/**
 * struct timeline_frame - an activation that has not ended yet
 * @id: event id
 * @ns: start time
 * @child_ns: time of frames directly inside that have ended
 * @address: address of a page fault, otherwise 0
 * @writer: private to the exporter
 */
struct timeline_frame {
	uint32_t id;
	uint64_t ns;
	uint64_t child_ns;
	uint64_t address;
	uintptr_t writer;
};

/**
 * struct track - the sequence of one task
 * @serial: serial of the task
 * @index: number of the track in order of first appearance, from 0
 * @owner: last OWNER record, without the path; all 0 except for the serial if there is none
 * @ns: time of the last event
 * @cpu: CPU of the last event
 * @frames: open frames, outermost first
 * @depth: number of open frames
 * @on: it is on @cpu, since @on_ns
 * @writer: private to the exporter
 */
struct track {
	uint64_t serial;
	uint32_t index;
	struct ktau_rec_owner owner;
	uint64_t ns;
	uint32_t cpu;
	struct timeline_frame *frames;
	size_t depth, room;
	bool on;
	uint64_t on_ns;
	uintptr_t writer;
	struct run *first, *last;	/* waiting slots, see timeline.c */
	uint64_t next, queued_ticks, order_ticks, end_ticks;
	bool ending, ended;		/* its end at @end_ticks is queued; passed on */
	bool scheduled;			/* the group sched was enabled: switches are known */
	size_t place;			/* in the heap, from 1; 0: not in it */
	bool cut;
	struct user_walk *user;		/* its regions and events, see timeline.c */
};

/* In addition to KTAU_TRACE_*. */
enum {
	TIMELINE_LOST = 0x100,	/* slots are missing from @ns to @to_ns */
	TIMELINE_MARK,		/* event of a program */
	TIMELINE_ON,		/* the task is on the CPU @cpu of its track from now on */
	TIMELINE_OFF,		/* it no longer is */
	TIMELINE_GONE,		/* it has exited; nothing follows */
	TIMELINE_MARKS_LOST,	/* events of a program may be missing from @ns to @to_ns */
};

/* @off of struct timeline_event: why a task is no longer known to be on a CPU. */
enum timeline_off {
	OFF_BY_SWITCH,	/* another task got the CPU */
	OFF_BY_EXIT,
	OFF_BY_LOSS,	/* slots after this time were lost, or none was written */
	OFF_BY_END,	/* the trace ended */
};

/* @ended of struct timeline_event: why a frame ended. */
enum timeline_ended {
	ENDED_BY_EXIT,
	ENDED_BY_LOSS,	/* slots after this time were lost */
	ENDED_BY_END,	/* the trace ended, or that of its group */
};

/**
 * struct timeline_event - an event of the sequence
 * @track: track of the event
 * @slot: the slot; NULL for TIMELINE_LOST and GONE, for an OFF that is not a switch, and for an
 *	EXIT that was not recorded. It is KTAU_TRACE_FIELDS for an event of a program with fields,
 *	and has no payload for all other regions and events of programs
 * @type: KTAU_TRACE_* or TIMELINE_*
 * @id: event id of ENTER, EXIT, COUNT and MARK
 * @ns: CLOCK_BOOTTIME
 * @frame: ENTER and EXIT: the frame; on ENTER the exporter may set its @writer
 * @excl_ns: EXIT: exclusive time of the frame
 * @nested: EXIT: the frame is inside another one of the same event
 * @from_ns: EXIT: start time of the frame; OFF: when the task got the CPU
 * @to_ns: TIMELINE_LOST and MARKS_LOST: end of the gap
 * @lost: TIMELINE_LOST: number of lost slots
 * @ended: EXIT: why the frame ended
 * @off: OFF: why the task is no longer on the CPU
 * @mark: MARK: what the program noted. Of an event with fields, the value is that of the first one
 *	if that is an integer
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
	enum timeline_off off;
	const struct user_slot *mark;
};

/**
 * struct timeline_counts - statistics of the sequence
 * @slots: slots merged
 * @enters: frames started
 * @lost: slots lost
 * @gaps: number of gaps caused by lost slots
 * @half_exits: exits omitted because their enter was lost
 * @half_enters: frames ended by a loss
 * @unfinished: frames still open at the end
 * @clamped: times raised to that of the previous event
 * @misplaced: TRACE records left out because their stream is not one of traces
 */
struct timeline_counts {
	uint64_t slots, enters, lost, gaps, half_exits, half_enters, unfinished, clamped;
	uint64_t misplaced;
};

/**
 * struct timeline_sink - receiver of the sequence
 * @track: a track is new, or the name or ids of its owner have changed; may be NULL
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

#endif
