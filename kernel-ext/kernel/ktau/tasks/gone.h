/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * KTAU: reporting which tasks are counted elsewhere now.
 */
#ifndef _KERNEL_KTAU_GONE_H
#define _KERNEL_KTAU_GONE_H

#include <linux/xarray.h>

#include "base/types.h"

/**
 * struct ktau_watch - the tasks that a stream has shown and that may leave the exited
 * queue
 * @node: in @watches of a user or of the queue; this and the other fields are guarded by
 *	the lock of exited.c, but only the stream adds serials
 * @user: charged for the marked serials
 * @known: serials that have been shown, marked once they are gone; see gone.c
 * @nr_gone: number of marked serials
 * @from: exited tasks below this number have been read or skipped
 * @missed: evicted tasks that were neither below @from nor known
 * @unlisted: known serials that are gone but could not be marked
 * @sums: the stream contains the evicted sum
 * @wide: the stream may show tasks of any user
 */
struct ktau_watch {
	struct list_head	node;
	struct ktau_user	*user;
	struct xarray		known;
	u32			nr_gone;
	u64			from;
	u64			missed;
	u64			unlisted;
	bool			sums;
	bool			wide;
};

/**
 * struct ktau_settle - the end of reading exited tasks, as of one moment
 * @exited: exited tasks below @next have been read
 * @next: set to the number of the next record
 * @first: set to that of the oldest exited task
 * @watch: the watch of the stream, or NULL
 * @gone: receives the marked serials of @watch
 * @room: size of @gone
 * @nr: number of serials in @gone
 * @nr_folded: how many of them were folded; these come first
 * @missed: set to @missed of @watch
 * @unlisted: set to @unlisted of @watch
 * @evicted: receives the evicted sum, unless NULL
 * @bytes: size of @evicted
 * @owner: receives the description of the evicted sum
 */
struct ktau_settle {
	bool			exited;
	u64			next;
	u64			first;
	struct ktau_watch	*watch;
	u64			*gone;
	u32			room;
	u32			nr;
	u32			nr_folded;
	u64			missed;
	u64			unlisted;
	struct ktau_rec_profile	*evicted;
	size_t			bytes;
	struct ktau_owner	*owner;
};

/*
 * Marked serials of one stream. They are listed under the lock of exited.c, which every
 * exiting task takes, so there must not be many.
 */
#define KTAU_GONE_MAX	8192

int ktau_gone_know(struct ktau_watch *watch, u64 serial);
void ktau_gone_note(struct list_head *watches, const struct ktau_state *state,
		    bool evicted);
void ktau_gone_take(struct ktau_settle *settle);
void ktau_gone_taken(struct ktau_watch *watch, const struct ktau_settle *settle);
void ktau_gone_forget(struct ktau_watch *watch);

#endif /* _KERNEL_KTAU_GONE_H */
