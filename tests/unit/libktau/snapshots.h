/* SPDX-License-Identifier: GPL-2.0-only */
/* Adding streams to snapshots, for the tests of snapshots. Include cmocka.h first. */
#ifndef KTAU_TESTS_SNAPSHOTS_H
#define KTAU_TESTS_SNAPSHOTS_H

#include <ktau.h>

#include "encode.h"

static inline int read_into(struct ktau_snapshot *snap, const struct stream *s)
{
	struct ktau_reader *r;
	int err;

	assert_int_equal(ktau_reader_create(&r), 0);
	assert_int_equal(ktau_reader_open_memory(r, s->data, s->size), 0);
	err = ktau_snapshot_read(snap, r);
	ktau_reader_destroy(r);
	return err;
}

/* A stream of @target, with the exited tasks from a number on. */
static inline struct stream begin_since(uint64_t exited_since, uint32_t target)
{
	struct stream s = { .word_bits = 64, .big = true, .exited_since = exited_since };

	put_stream(&s, KTAU_REC_PROFILE, target);
	return s;
}

#define EVERYTHING (KTAU_TARGET_ALL | KTAU_TARGET_EXITED | KTAU_TARGET_EVICTED | KTAU_TARGET_CPU)

static inline struct stream begin(void)
{
	return begin_since(0, EVERYTHING);
}

/* A later one, without the exited tasks that were in earlier ones. */
static inline struct stream begin_after(void)
{
	return begin_since(1, EVERYTHING);
}

static inline void finish(struct ktau_snapshot *snap, struct stream *s)
{
	put_end(s);
	assert_int_equal(read_into(snap, s), 1);
	stream_free(s);
}

static inline struct ktau_snapshot *create(void)
{
	struct ktau_snapshot *snap;

	assert_int_equal(ktau_snapshot_create(&snap), 0);
	return snap;
}

static inline void put_cpu(struct stream *s, uint64_t serial, uint32_t cpu, uint64_t outer)
{
	const struct profile p = {
		.o = { .serial = serial, .kind = CPU, .cpu = cpu },
		.outer = outer,
	};

	put_profile(s, &p);
}

static inline void put_evicted(struct stream *s, uint64_t serial, uint64_t seq, uint64_t outer)
{
	const struct profile p = {
		.o = { .serial = serial, .kind = EVICTED, .exited_seq = seq, .nr_tasks = seq },
		.outer = outer,
	};

	put_profile(s, &p);
}

static inline uint64_t count_in(const struct ktau_rec_profile *p, uint32_t id)
{
	const struct ktau_entry *e = ktau_profile_find(p, id);

	return e ? e->count : 0;
}

static inline uint64_t count_of(const struct ktau_owned *o, uint32_t id)
{
	return o ? count_in(o->profile, id) : 0;
}

static inline void check_identity(const struct ktau_rec_profile *p)
{
	uint64_t excl, outer;

	assert_int_equal(ktau_check_identity(p, &excl, &outer), 0);
	assert_int_equal(excl, outer);
}

#endif /* KTAU_TESTS_SNAPSHOTS_H */
