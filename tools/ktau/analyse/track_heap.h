/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * A binary heap of tracks, ordered by the time of their next event. Ties are broken by the order
 * of the tracks.
 */
#ifndef KTAU_TOOLS_TRACK_HEAP_H
#define KTAU_TOOLS_TRACK_HEAP_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

struct track;

/* @tracks[0] has the oldest event. */
struct track_heap {
	struct track **tracks;
	size_t nr, room;
};

/* Add a track, or move one, whose next event is at @ticks and not later than before. */
void track_heap_put(struct track_heap *h, struct track *track, uint64_t ticks);

/* The next event of the first track is now at @ticks; without one, remove it if it is @empty. */
void track_heap_renew(struct track_heap *h, uint64_t ticks, bool empty);

void track_heap_deinit(struct track_heap *h);

#endif
