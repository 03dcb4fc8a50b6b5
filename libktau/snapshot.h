/* SPDX-License-Identifier: LGPL-2.1-or-later */
/* The inside of a snapshot: snapshot.c keeps it, snapshot_ops.c computes. */
#ifndef KTAU_INTERNAL_SNAPSHOT_H
#define KTAU_INTERNAL_SNAPSHOT_H

#include "internal.h"

struct snapshot_owner {
	struct ktau_owned owned;	/* first: callers have pointers to it */
	uint64_t stream;	/* in which stream its profile came last */
	uint64_t held_ticks;	/* added to its account for streams that left it out */
	bool stale;		/* the profile that comes next is older than this one */
	bool folded;		/* another task includes it */
	bool evicted;		/* the evicted sum does */
};

/* dropped.c: exited tasks that are not owners any more, but in the sum. */
struct ktau__dropped {
	struct ktau__map by_serial;	/* serial -> offset in @tasks */
	struct ktau__buffer tasks;
	size_t removed_bytes;		/* of @tasks: removed, still in @by_serial */
	size_t nr;			/* without the removed ones */
};

/* Keeps the figures of @owned, in place of what is there for its serial. 0, -ENOMEM. */
int ktau__dropped_put(struct ktau__dropped *dropped, const struct ktau_owned *owned);
bool ktau__dropped_has(const struct ktau__dropped *dropped, uint64_t serial);
void ktau__dropped_remove(struct ktau__dropped *dropped, uint64_t serial);

/* Adds all of them to @sum and @total. 0, -ENOMEM. */
int ktau__dropped_add(const struct ktau__dropped *dropped, struct ktau__sum *sum,
		      struct ktau_rec_owner *total);
void ktau__dropped_clear(struct ktau__dropped *dropped);
void ktau__dropped_free(struct ktau__dropped *dropped);

#define SNAPSHOT_NONE	SIZE_MAX

struct ktau_snapshot {
	struct snapshot_owner *owners;
	size_t nr;
	size_t room;
	size_t nr_bare;			/* how many have no profile (yet) */
	size_t evicted;			/* index of the evicted sum, or SNAPSHOT_NONE */
	struct ktau__map by_serial;	/* serial -> index */
	struct ktau__map by_cpu;	/* number of the CPU -> index */
	struct ktau__map by_tid;	/* tid -> index of the one to show */
	struct ktau__dropped dropped;
	struct ktau_rec_stream stream;
	struct ktau_rec_end end;
	uint64_t stream_nr;
	bool has_stream;
	bool has_end;
	bool has_diff;
};

/* Put in place of what is there for the same owner. Owns both records in any case. */
int ktau__snapshot_take(struct ktau_snapshot *snapshot, struct ktau_rec_owner *owner,
			struct ktau_rec_profile *profile);

#endif /* KTAU_INTERNAL_SNAPSHOT_H */
