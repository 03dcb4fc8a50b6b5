/* SPDX-License-Identifier: LGPL-2.1-or-later */
/* The inside of a checker: check.c has profiles and streams, check_trace.c traces. */
#ifndef KTAU_INTERNAL_CHECK_H
#define KTAU_INTERNAL_CHECK_H

#include "internal.h"

/* What is known of one owner from the records so far. */
struct check_owner {
	/* last cumulative profile */
	bool has_profile;
	__u64 count;
	__u64 outer_ticks;
	__u64 refused;
	__u64 clamped;
	/* trace */
	bool has_trace;
	__u64 next_slot;	/* number of the slot that must come next */
	__u64 slot_ticks;	/* time of the one before it, 0 where unknown */
	bool is_dead;
	__u64 dead_slot;	/* where its trace began when it was first seen dead */
	uint16_t *stack;	/* ids of the frames entered and not exited */
	size_t depth;
	size_t room;
};

struct ktau_check {
	ktau_finding_fn found;
	void *arg;
	struct ktau_check_counts counts;
	struct check_owner *owners;
	size_t nr_owners;
	size_t room;
	struct ktau__map map;
	struct ktau_rec_stream stream;
	bool in_stream;
	bool gap;		/* records of this stream are missing, or left out */
	__u64 nr_records;	/* of owners, in this stream */
	__u64 lost_to_ticks;	/* the last loss in this stream */
	bool has_end;
	__u64 lost_reaped;	/* as the last END had it */
};

void ktau__finding(struct ktau_check *check, enum ktau_finding_code code,
		   const struct ktau_owner *owner, uint64_t number,
		   const char *format, ...) __attribute__((format(printf, 5, 6)));

int ktau__check_trace(struct ktau_check *check, struct check_owner *owner,
		      const struct ktau_rec_trace *trace);

#endif /* KTAU_INTERNAL_CHECK_H */
