/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * The graphs of several machines as one. The times are those of one machine: the clocks of the
 * others are fitted to its clock by the segments between them.
 */
#ifndef KTAU_TOOLS_PATH_MACHINES_H
#define KTAU_TOOLS_PATH_MACHINES_H

#include <stdbool.h>
#include <stddef.h>

#include "analyse/clock_fit.h"
#include "analyse/steals.h"
#include "analyse/timeline.h"
#include "graph.h"

/* The memory of a machine without any task is that of a name for each event. */
enum { MACHINES_MOST = 1024 };

/**
 * struct machine - a boot of a machine
 * @stream: its first stream
 * @registry: its events
 * @timeline: merges its traces
 * @sink: receives the events of @timeline
 * @graph: its own graph; if there are several machines, its tasks are in that of all
 * @first_task: index of its first task in that
 * @fit: how its clock is known by that of @via
 * @nr_segments: number of segments, or of a guest's slots, by which it is known
 * @is_guest: it is by these slots
 * @via: index of the machine by which its clock is known
 */
struct machine {
	struct ktau_rec_stream stream;
	struct registry *registry;
	struct timeline *timeline;
	struct timeline_sink sink;
	struct path_graph *graph;
	uint32_t first_task;
	struct clock_fit fit;
	size_t nr_segments;
	bool is_guest;
	size_t via;
};

/**
 * struct machines - the machines in the order of their boot ids; all zero: none
 * @all: the machines
 * @nr: length of @all
 * @current: that of the stream that is read, or NULL
 * @reference: index of the machine whose times all others have
 * @again: the files are read a second time
 * @left_out: streams of machines for which there is no room
 * @lines: maps the clock of each to that of @reference
 * @steals: what hosts among them took from guests; belongs to the caller, NULL: nothing is known
 * @graph: the graph of all, after machines_finish()
 */
struct machines {
	struct machine **all;
	size_t nr;
	struct machine *current;
	size_t reference;
	bool again;
	uint64_t left_out;
	struct clock_line *lines;
	const struct steals *steals;
	struct path_graph *graph;
};

void machines_deinit(struct machines *m);

/*
 * The machine of @stream, which may be new, becomes the current one, unless there are MACHINES_MOST
 * others. @region: name of a region
 * whose passes are kept, or NULL; @names: see timeline_regions().
 */
void machines_stream(struct machines *m, const struct ktau_rec_stream *stream, const char *region,
		     const char *names);

/* Take a record of the current machine. Return: 0 or -errno. */
int machines_record(struct machines *m, const struct ktau_reader *reader,
		    const union ktau_record *record);

/* The files are read again: @event is called with the element of @args of the machine. */
void machines_again(struct machines *m, int (*event)(void *, const struct timeline_event *),
		    void **args);

/* Whether a host of virtual machines is among them. */
bool machines_run_guests(const struct machines *m);

/*
 * All files have been read; the times are those of the machine of the first stream. Return: 0, or
 * -1 with a message.
 */
int machines_finish(struct machines *m);

/* Change all times to those of @machine. */
void machines_refer(struct machines *m, size_t machine);

/* Print how the clocks of the machines are known, if there are several. */
void machines_print_clocks(const struct machines *m);

#endif
