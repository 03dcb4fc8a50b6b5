/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * KTAU: reporting which tasks are counted elsewhere now.
 */
#ifndef _KERNEL_KTAU_GONE_H
#define _KERNEL_KTAU_GONE_H

#include <linux/xarray.h>

#include "types.h"

/**
 * struct ktau_watch - what a stream has shown of tasks that may leave the exited queue
 * @node: in @watches of a user or of all; under the lock of exited.c, as is what
 *	follows, except that only the stream adds serials
 * @known: serials that have been shown; marked once they are gone, see gone.c
 * @nr_gone: how many are marked
 * @from: exited tasks below this number have been read, or are not to be
 * @missed: evicted tasks that were not below it, nor known
 * @sums: the stream has the evicted sum
 * @wide: it may show tasks of any user
 */
struct ktau_watch {
	struct list_head	node;
	struct xarray		known;
	u32			nr_gone;
	u64			from;
	u64			missed;
	bool			sums;
	bool			wide;
};

/**
 * struct ktau_settle - the end of reading exited tasks, all at one moment
 * @exited: exited tasks have been read; before @next
 * @next: becomes the number that the next task to exit will get
 * @watch: what the stream has shown, or NULL
 * @gone: gets the serials of those in @watch that are gone
 * @room: how many fit
 * @nr: how many there are
 * @nr_folded: how many of them were folded; they come first
 * @missed: becomes that of @watch
 * @evicted: gets the evicted sum, unless NULL
 * @bytes: its room
 * @owner: gets its description
 */
struct ktau_settle {
	bool			exited;
	u64			next;
	struct ktau_watch	*watch;
	u64			*gone;
	u32			room;
	u32			nr;
	u32			nr_folded;
	u64			missed;
	struct ktau_rec_profile	*evicted;
	size_t			bytes;
	struct ktau_owner	*owner;
};

int ktau_gone_know(struct ktau_watch *watch, u64 serial);
void ktau_gone_note(struct list_head *watches, const struct ktau_task *state,
		    bool evicted);
void ktau_gone_take(struct ktau_settle *settle);
void ktau_gone_taken(struct ktau_watch *watch, const struct ktau_settle *settle);

#endif /* _KERNEL_KTAU_GONE_H */
