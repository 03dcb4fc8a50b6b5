/* SPDX-License-Identifier: LGPL-2.1-or-later */
/* The inside of a snapshot: snapshot.c keeps it, snapshot_ops.c computes. */
#ifndef KTAU_INTERNAL_SNAPSHOT_H
#define KTAU_INTERNAL_SNAPSHOT_H

#include "internal.h"

struct snapshot_owner {
	struct ktau_rec_profile *profile;
	uint64_t stream;	/* in which stream it came last */
};

struct ktau_snapshot {
	struct snapshot_owner *owners;
	size_t nr;
	size_t room;
	struct ktau__map by_serial;	/* owner's class and value -> index */
	struct ktau__map by_tid;	/* tid -> index of the one to show */
	struct ktau_rec_stream stream;
	struct ktau_rec_end end;
	uint64_t stream_nr;
	bool has_stream;
	bool has_end;
	bool has_diff;
};

/* Put in place of what is there for the same owner; owns @profile if 0. */
int ktau__snapshot_take(struct ktau_snapshot *snapshot, struct ktau_rec_profile *profile);

/* @base + @diff as a new record with @diff's owner and frames; @base may be NULL. */
int ktau__profile_add(const struct ktau_rec_profile *base,
		      const struct ktau_rec_profile *diff,
		      struct ktau_rec_profile **sum);

#endif /* KTAU_INTERNAL_SNAPSHOT_H */
