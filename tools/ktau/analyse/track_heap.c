// SPDX-License-Identifier: GPL-2.0-only
#include <stdlib.h>

#include "lib/cli.h"
#include "timeline_event.h"
#include "track_heap.h"

static bool earlier(const struct track *a, const struct track *b)
{
	return a->order_ticks != b->order_ticks ? a->order_ticks < b->order_ticks :
						  a->index < b->index;
}

static void place(struct track_heap *h, size_t i, struct track *track)
{
	h->tracks[i] = track;
	track->place = i + 1;
}

static void sift_down(struct track_heap *h, size_t i)
{
	struct track *track = h->tracks[i];
	size_t child;

	while ((child = 2 * i + 1) < h->nr) {
		if (child + 1 < h->nr && earlier(h->tracks[child + 1], h->tracks[child]))
			child++;
		if (!earlier(h->tracks[child], track))
			break;
		place(h, i, h->tracks[child]);
		i = child;
	}
	place(h, i, track);
}

void track_heap_put(struct track_heap *h, struct track *track, uint64_t ticks)
{
	size_t i = track->place ? track->place - 1 : h->nr++;

	if (h->nr > h->room) {
		h->room = h->room ? 2 * h->room : 64;
		h->tracks = cli_alloc(h->tracks, h->room, sizeof(struct track *));
	}
	track->order_ticks = ticks;
	for (; i && earlier(track, h->tracks[(i - 1) / 2]); i = (i - 1) / 2)
		place(h, i, h->tracks[(i - 1) / 2]);
	place(h, i, track);
}

void track_heap_renew(struct track_heap *h, uint64_t ticks, bool empty)
{
	struct track *track = h->tracks[0];

	track->order_ticks = ticks;
	if (empty && ticks == UINT64_MAX) {
		track->place = 0;
		h->tracks[0] = h->tracks[--h->nr];
	}
	if (h->nr)
		sift_down(h, 0);
}

void track_heap_deinit(struct track_heap *h)
{
	free(h->tracks);
}
