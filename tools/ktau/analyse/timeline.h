/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * Merges the traces of all tasks into one sequence of events in time order with balanced frames,
 * for exporters and graphs.
 *
 * Slots arrive ring by ring, one stream at a time. At the end of a stream, all slots older than
 * the start of the stream have been seen, so they are merged and passed on; the others wait for
 * the next stream. Memory is bounded by the rings in one stream.
 *
 * Within each track, enters and exits are balanced and times do not decrease. Where slots were
 * lost, or are missing because a part of the file is damaged, all open frames end and a gap begins.
 * Where a group is disabled, its frames end. An exit whose enter was lost is omitted. Frames that
 * are still open at the end of the trace are closed. Each of these cases is counted.
 *
 * A task is on a CPU from the first slot that it wrote there, or from the end of its wait for the
 * CPU, until it is switched out or exits. Only what its own slots show is known: at a loss, and
 * before its first slot, a task is not on a CPU, but unknown.
 *
 * With timeline_regions(), the regions of a program are frames around those of the kernel, and its
 * events are TIMELINE_MARK. A region continues where slots were lost, so that gaps are inside it.
 */
#ifndef KTAU_TOOLS_TIMELINE_H
#define KTAU_TOOLS_TIMELINE_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include <ktau.h>

#include "lib/symbolize.h"
#include "timeline_event.h"

struct registry;

struct timeline;

/*
 * @reader, which only timeline_read() needs, and @sink must outlive the timeline.
 * Never returns NULL.
 */
struct timeline *timeline_create(struct ktau_reader *reader,
				 const struct timeline_sink *sink);
void timeline_destroy(struct timeline *t);

/*
 * Add the regions and events that programs have written to files in @path, NULL for the current
 * directory. Their names are registered in @registry, which must outlive the timeline.
 */
void timeline_regions(struct timeline *t, const char *path, struct registry *registry);

/*
 * Read the input to its end and pass on everything. Return: 0, the error of the sink, or that of
 * ktau_reader_next(), in which case everything undamaged has been passed on.
 */
int timeline_read(struct timeline *t);

/*
 * The same in steps, for callers that also use the records themselves or have several files from
 * one boot. timeline_put() takes the record that @reader has just returned; timeline_finish()
 * passes on the rest. Return: 0, the error of the sink, -EXDEV for a stream from another boot, or
 * -ESTALE for one that is earlier than what precedes it.
 */
int timeline_put(struct timeline *t, const struct ktau_reader *reader,
		 const union ktau_record *record);
int timeline_finish(struct timeline *t);

const struct timeline_counts *timeline_counts(const struct timeline *t);

/* The first trace stream, whose clock converts all times; NULL if there is no trace. */
const struct ktau_rec_stream *timeline_stream(const struct timeline *t);
const struct ktau_clock *timeline_clock(const struct timeline *t);

/* The track of a serial; NULL if it had no slots. */
struct track *timeline_track(const struct timeline *t, uint64_t serial);

/* The track with this index; NULL beyond the last one. */
const struct track *timeline_track_at(const struct timeline *t, size_t index);

/* The owner of a serial with a track or named in a slot; NULL if it is unknown. */
const struct ktau_rec_owner *timeline_owner(const struct timeline *t, uint64_t serial);

#endif
