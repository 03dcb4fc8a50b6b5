/* SPDX-License-Identifier: LGPL-2.1-or-later */
/* The inside of a checker: check.c has streams, check_profile.c and check_trace.c the rest. */
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
	__u64 next;		/* position that must come next */
	__u64 stream;		/* number of the stream it is from */
	__u64 slot_ticks;	/* time of the slot before it, 0 where unknown */
	bool has_exited;
	__u64 exited_start;	/* where its trace began when it was first seen exited */
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
	struct ktau__map by_serial;		/* -> index in @owners */
	struct ktau__registry described;	/* OWNER records of this stream */
	struct ktau__map cgroups;		/* ids that CGROUP records describe */
	uint8_t events[65536 / 8];		/* bit set of ids that EVENT records describe */
	struct ktau_rec_stream stream;
	bool in_stream;
	bool gap;		/* records of this stream are missing, or left out */
	bool blind;		/* EVENT and CGROUP records may be missing */
	__u64 nr_records;	/* PROFILE and TRACE, in this stream */
	__u64 lost_to_ticks;	/* the last loss in this stream */
	bool has_end;
	struct ktau_rec_end end;	/* the last one */
	__u64 denied[2];	/* of the last stream of profiles, of traces */
};

/* @serial is 0 for what concerns the stream. */
void ktau__finding(struct ktau_check *check, enum ktau_finding_code code, uint64_t serial,
		   uint64_t number, const char *format, ...)
	__attribute__((format(printf, 5, 6)));

/* The newest OWNER record of the stream, or NULL. */
const struct ktau_rec_owner *ktau__check_owner(const struct ktau_check *check,
					       uint64_t serial);

/* An event id in a record of @serial's: is it described? */
void ktau__check_event(struct ktau_check *check, uint64_t serial, uint32_t id);

void ktau__check_profile(struct ktau_check *check, struct check_owner *owner,
			 const struct ktau_rec_profile *profile);
int ktau__check_trace(struct ktau_check *check, struct check_owner *owner,
		      const struct ktau_rec_trace *trace);

#endif /* KTAU_INTERNAL_CHECK_H */
