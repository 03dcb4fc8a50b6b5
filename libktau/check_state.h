/* SPDX-License-Identifier: LGPL-2.1-or-later */
/*
 * The checker's state, and what its parts ask of each other. check.c has the table of rules,
 * streams and profiles so far; check_profile.c the rules for a profile and for the period since
 * the one before, check_machine.c the one for all tasks and CPUs, check_trace.c those for slots;
 * check_state.c what all of them need.
 */
#ifndef KTAU_INTERNAL_CHECK_STATE_H
#define KTAU_INTERNAL_CHECK_STATE_H

#include "map.h"
#include "registry.h"

/* The state of one owner after the records so far. */
struct check_owner {
	uint64_t serial;
	/* profile */
	struct ktau_rec_profile *last;	/* the sum of its records, or NULL */
	bool is_base;			/* the next DIFF counts from @last */
	struct ktau_rec_owner described;	/* with @last */
	uint64_t profile_stream;	/* number of the last stream with its profile, 0: none */
	uint64_t running;		/* its part of the machine's sum */
	bool is_cpu;
	/* trace */
	bool has_trace;
	bool has_consumed;
	__u64 next;		/* position after its last record */
	__u64 consumed;		/* position after the last record of a stream that consumes */
	__u64 trace_stream;	/* number of the stream that its last record is from, 0: none */
	__u64 slot_ticks;	/* time of the slot before it, 0 where unknown */
	bool has_exited;
	__u64 exited_start;	/* where its trace began when it was first seen exited */
	uint64_t exited_seq;
	uint16_t *stack;	/* ids of the frames entered and not exited */
	size_t depth;
	size_t room;
	__u64 no_room;		/* slots that found no room, as of the last record */
	__u64 explained;	/* exits that these explain */
};

/*
 * The running time of all tasks and the busy time of all CPUs.
 *
 * @tasks and @cpus are the sums over the last profiles. They can be compared while @complete: since
 * a stream that listed all tasks, no stream has left one out.
 */
struct check_machine {
	uint64_t tasks, cpus;
	bool complete;
	bool measured;		/* all owners of this stream, since the one before */
	unsigned int nr_cpus, nr_idle, nr_kthreads;	/* in this stream */
	uint64_t to_ticks;	/* the latest copy in this stream */
	/* after the stream before */
	bool has_before;
	uint64_t tasks_before, cpus_before;
	uint64_t ticks_before;	/* when it began */
	uint64_t slack_before;
	uint64_t exited_next;
};

struct ktau_check {
	ktau_finding_fn found;
	void *arg;
	struct ktau_check_counts counts;
	struct check_owner *owners;
	size_t nr_owners;
	size_t room;
	bool has_unknown;	/* nothing may be known of an owner any more */
	struct ktau__map by_serial;		/* -> index in @owners */
	struct ktau__registry described;	/* OWNER records of this stream */
	struct ktau__map cgroups;		/* ids that CGROUP records describe */
	uint8_t events[65536 / 8];		/* bit set of ids that EVENT records describe */
	struct ktau_rec_stream stream;
	struct ktau_clock clock;
	uint64_t round_ticks;	/* how much a time may be too small, 0: exact */
	struct check_machine machine;
	uint32_t kernel_id;	/* id of the event of a root frame without a name, 0: not known */
	bool in_stream;
	bool gap;		/* records of this stream are missing, or left out */
	bool blind;		/* EVENT and CGROUP records may be missing */
	bool has_diff;		/* this stream has a DIFF */
	__u64 nr_records;	/* PROFILE and TRACE, in this stream */
	__u64 lost_to_ticks;	/* the last loss in this stream */
	bool has_end;
	struct ktau_rec_end end;	/* the last one */
	__u64 denied[2];	/* of the last stream of profiles, of traces */
};

/**
 * struct check_period - the profile of an owner, and the one before
 * @c: the checker
 * @owner: its OWNER record, or NULL
 * @described_before: the one that belonged to @before
 * @record: as recorded, a PROFILE or a DIFF
 * @now: the whole profile, with its entries in order
 * @before: the whole profile before, NULL if there is none to compare with
 * @slack: how much a time may be too small because it is rounded
 */
struct check_period {
	struct ktau_check *c;
	const struct ktau_rec_owner *owner;
	const struct ktau_rec_owner *described_before;
	const struct ktau_rec_profile *record;
	const struct ktau_rec_profile *now;
	const struct ktau_rec_profile *before;
	uint64_t slack;
};

/**
 * struct check_rule - a rule
 * @name: its name
 * @meaning: what it requires, in one line
 * @judge: reports the violations in a profile and in the period since the one before; NULL for a
 *	rule about streams or traces
 * @needs_whole: cannot judge a DIFF to an unknown profile
 */
struct check_rule {
	const char *name, *meaning;
	void (*judge)(const struct check_period *p);
	bool needs_whole;
};

void ktau__check_identity(const struct check_period *p);
void ktau__check_entries(const struct check_period *p);
void ktau__check_open(const struct check_period *p);
void ktau__check_account(const struct check_period *p);
void ktau__check_longest(const struct check_period *p);
void ktau__check_inside(const struct check_period *p);
void ktau__check_backward(const struct check_period *p);

/*
 * The machine: at the begin of a stream, after each profile, when the profile of an owner is part
 * of another record or not needed any more, and at the end of a stream.
 */
void ktau__check_machine_begin(struct ktau_check *c);
void ktau__check_machine_add(struct ktau_check *c, struct check_owner *owner,
			     const struct ktau_rec_owner *described,
			     const struct ktau_rec_profile *now);
void ktau__check_machine_gone(struct ktau_check *c, struct check_owner *owner);
void ktau__check_machine_end(struct ktau_check *c, const struct ktau_rec_end *end);

/* Check a TRACE. 0, -ENOMEM. */
int ktau__check_trace(struct ktau_check *c, struct check_owner *owner,
		      const struct ktau_rec_trace *t);

/* What is known about an owner; nothing yet if it is new. 0, -ENOMEM. */
int ktau__check_owner(struct ktau_check *c, uint64_t serial, struct check_owner **state);

/* Report a finding about an owner, or about the stream if @serial is 0. */
__attribute__((format(printf, 5, 6)))
void ktau__check_report(struct ktau_check *c, enum ktau_finding_code code, uint64_t serial,
			uint64_t number, const char *format, ...);

/* The newest OWNER record of the stream, or NULL. */
const struct ktau_rec_owner *ktau__check_described(const struct ktau_check *c, uint64_t serial);

/* Report, once, an event that no EVENT record describes. */
void ktau__check_event(struct ktau_check *c, uint64_t serial, uint32_t id);

/* A duration for a message. */
static inline unsigned long long ktau__check_ns(const struct ktau_check *c, uint64_t ticks)
{
	return ktau_clock_ns(&c->clock, ticks);
}

#endif /* KTAU_INTERNAL_CHECK_STATE_H */
