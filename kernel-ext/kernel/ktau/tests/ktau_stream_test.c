// SPDX-License-Identifier: GPL-2.0-only
/* KTAU: tests of what a reader may request and see, run by KUnit at boot. */
#include <linux/delay.h>
#include <linux/math64.h>

#include "base/access.h"
#include "base/memory.h"
#include "base/poll.h"
#include "measure/table.h"
#include "tasks/snapshot.h"
#include "read/record.h"
#include "read/select.h"
#include "read/stream.h"
#include "ktau_test.h"

/* Ticks per microsecond at the rate of the tests. */
#define UNIT	1000
#define RATE	(UNIT * 1000000ULL)

/* An event of each kind: task context, interrupts, and either. */
#define ID_TASK		100
#define ID_TASK_TOO	101
#define ID_IRQ		KTAU_ID_OTHER_IRQ
#define ID_SOFTIRQ	KTAU_ID_SOFTIRQ

struct record {
	struct ktau_rec_profile rec;
	struct ktau_entry entry[8];
	struct ktau_open open[8];
};

static struct ktau_open *open_of(struct ktau_rec_profile *rec)
{
	return (struct ktau_open *)((struct ktau_entry *)(rec + 1) +
				    rec->nr_entries);
}

static void add_entry(struct ktau_rec_profile *rec, u32 id, u64 excl)
{
	struct ktau_entry *entry = (struct ktau_entry *)(rec + 1);

	entry[rec->nr_entries++] = (struct ktau_entry) {
		.id = id, .count = 3, .incl = excl + 5, .excl = excl,
	};
}

/* A profile of a task in a system call, with two nested interrupts. */
static struct ktau_rec_profile *make_record(struct kunit *test)
{
	struct record *room = kunit_kzalloc(test, sizeof(*room), GFP_KERNEL);
	struct ktau_rec_profile *rec;
	struct ktau_open *open;

	KUNIT_ASSERT_NOT_NULL(test, room);
	rec = &room->rec;
	add_entry(rec, ID_TASK, 10 * UNIT + 900);
	add_entry(rec, ID_TASK_TOO, 20 * UNIT + 1);
	add_entry(rec, ID_IRQ, 30 * UNIT + 700);
	add_entry(rec, ID_SOFTIRQ, 40 * UNIT + 600);
	rec->refused_ticks = 5 * UNIT + 999;
	open = open_of(rec);
	open[0] = (struct ktau_open) { ID_TASK_TOO, 0, 9 * UNIT + 9, 700 };
	open[1] = (struct ktau_open) { ID_SOFTIRQ, 0, 8 * UNIT + 8, 800 };
	open[2] = (struct ktau_open) { ID_TASK, 0, 7 * UNIT + 7, 60 * UNIT + 900 };
	rec->nr_open = 3;
	rec->depth = 3;
	rec->open_child_ticks = 60 * UNIT + 900 + 1500;
	rec->outer_ticks = 105 * UNIT + 3200 - rec->open_child_ticks;
	expect_identity(test, rec);
	return rec;
}

static u64 rest_of(u64 ticks)
{
	u64 rest;

	div64_u64_rem(ticks, UNIT, &rest);
	return rest;
}

static void redact_rounds(struct kunit *test)
{
	struct ktau_rec_profile *rec = make_record(test);
	const struct ktau_entry *entry = (const void *)(rec + 1);
	u32 i;

	ktau_redact_profile(rec, RATE);
	expect_identity(test, rec);
	KUNIT_EXPECT_EQ(test, find(rec, ID_TASK)->excl, 10ULL * UNIT);
	KUNIT_EXPECT_EQ(test, find(rec, ID_TASK_TOO)->excl, 20ULL * UNIT);
	KUNIT_EXPECT_EQ(test, rec->refused_ticks, 5ULL * UNIT);
	for (i = 0; i < rec->nr_entries; i++) {
		KUNIT_EXPECT_EQ(test, rest_of(entry[i].incl), 0ULL);
		KUNIT_EXPECT_EQ(test, rest_of(entry[i].excl), 0ULL);
		if (i)
			KUNIT_EXPECT_LT(test, entry[i - 1].id, entry[i].id);
	}
	KUNIT_EXPECT_EQ(test, rec->rec.size, sizeof(*rec) +
			rec->nr_entries * sizeof(struct ktau_entry) +
			rec->nr_open * sizeof(struct ktau_open));
}

static void redact_interrupts(struct kunit *test)
{
	struct ktau_rec_profile *rec = make_record(test);
	const struct ktau_entry *all;

	ktau_redact_profile(rec, RATE);
	KUNIT_EXPECT_EQ(test, rec->nr_entries, 3U);
	KUNIT_EXPECT_EQ(test, find(rec, ID_IRQ)->count, 0ULL);
	KUNIT_EXPECT_EQ(test, find(rec, ID_SOFTIRQ)->count, 0ULL);
	all = find(rec, KTAU_ID_INTERRUPTS);
	KUNIT_EXPECT_EQ(test, all->count, 6ULL);
	KUNIT_EXPECT_EQ(test, all->excl, 71ULL * UNIT);
	KUNIT_EXPECT_EQ(test, all->incl, all->excl);
	/* Neither the open interrupt nor the frames inside it are shown. */
	KUNIT_ASSERT_EQ(test, rec->nr_open, 1U);
	KUNIT_EXPECT_EQ(test, rec->depth, 1U);
	KUNIT_EXPECT_EQ(test, open_of(rec)->id, (u32)ID_TASK);
	KUNIT_EXPECT_EQ(test, open_of(rec)->start_ticks, 7ULL * UNIT);
	KUNIT_EXPECT_EQ(test, open_of(rec)->child_ticks, 60ULL * UNIT);
}

/* Each entry is rounded down to 0, but not their sum. */
static void redact_small(struct kunit *test)
{
	struct ktau_rec_profile *rec = make_record(test);
	struct ktau_entry *entry = (struct ktau_entry *)(rec + 1);
	u32 i;

	for (i = 0; i < rec->nr_entries; i++)
		entry[i].excl = 600;
	rec->refused_ticks = 0;
	open_of(rec)[2].child_ticks = 900;
	rec->open_child_ticks = 2400;
	rec->outer_ticks = 0;
	expect_identity(test, rec);
	ktau_redact_profile(rec, RATE);
	expect_identity(test, rec);
	KUNIT_EXPECT_EQ(test, find(rec, KTAU_ID_INTERRUPTS)->excl, 1ULL * UNIT);
	KUNIT_EXPECT_LE(test, rec->outer_ticks, 1ULL * UNIT);
}

/* Merging the entries must not overwrite the open frames. */
static void redact_without_interrupts(struct kunit *test)
{
	struct ktau_rec_profile *rec = make_record(test);

	rec->nr_open = 0;
	rec->nr_entries = 2;
	rec->depth = 0;
	rec->open_child_ticks = 0;
	rec->outer_ticks = rec->refused_ticks + 30 * UNIT + 901;
	open_of(rec)[0] = (struct ktau_open) { ID_TASK, 0, 7 * UNIT + 7, 0 };
	rec->nr_open = 1;
	rec->depth = 1;
	ktau_redact_profile(rec, RATE);
	expect_identity(test, rec);
	KUNIT_EXPECT_EQ(test, rec->nr_entries, 2U);
	KUNIT_ASSERT_EQ(test, rec->nr_open, 1U);
	KUNIT_EXPECT_EQ(test, open_of(rec)->id, (u32)ID_TASK);
}

/* Addresses of faults in the kernel depend on KTAU_ACCESS_ADDRESSES only. */
static void redact_faults(struct kunit *test)
{
	static const u64 addresses[] = { 4096, ULONG_MAX - 7 };
	struct ktau_stream *stream = kunit_kzalloc(test, sizeof(*stream), GFP_KERNEL);
	struct {
		struct ktau_rec_trace rec;
		struct {
			struct ktau_slot slot;
			u64 address;
		} enter[ARRAY_SIZE(addresses)];
	} trace;
	u32 access, i;

	KUNIT_ASSERT_NOT_NULL(test, stream);
	stream->body.p = &trace;
	for (access = 0; access <= KTAU_ACCESS_ALL + KTAU_ACCESS_ADDRESSES; access++) {
		if (access & ~(KTAU_ACCESS_ALL | KTAU_ACCESS_ADDRESSES))
			continue;
		stream->access = access;
		trace.rec.nr_slots = ARRAY_SIZE(addresses);
		for (i = 0; i < ARRAY_SIZE(addresses); i++) {
			trace.enter[i].slot = (struct ktau_slot) {
				.type = KTAU_TRACE_ENTER, .words = 3,
			};
			trace.enter[i].address = addresses[i];
		}
		ktau_redact_trace(stream);
		KUNIT_EXPECT_EQ(test, trace.enter[0].address, addresses[0]);
		KUNIT_EXPECT_EQ(test, trace.enter[1].address,
				access & KTAU_ACCESS_ADDRESSES ? addresses[1] : 0);
	}
}

static void levels(struct kunit *test)
{
	static const u32 expected[] = {
		KTAU_ACCESS_PROFILE | KTAU_ACCESS_EXACT | KTAU_ACCESS_TRACE,
		KTAU_ACCESS_PROFILE | KTAU_ACCESS_EXACT,
		KTAU_ACCESS_PROFILE,
		0,
	};
	int level;

	for (level = 0; level <= 3; level++) {
		KUNIT_EXPECT_EQ(test, ktau_access_at(level, false),
				expected[level]);
		KUNIT_EXPECT_EQ(test, ktau_access_at(level, true),
				expected[0] | KTAU_ACCESS_SERIALS |
				KTAU_ACCESS_ALL | KTAU_ACCESS_CONSUME);
	}
}

static const struct {
	struct ktau_select select;
	u32 content;
	int err;
} selects[] = {
	{ { .target = KTAU_TARGET_ALL }, KTAU_REC_PROFILE, 0 },
	{ { .target = 0 }, KTAU_REC_PROFILE, -EINVAL },
	{ { .target = BIT(7) }, KTAU_REC_PROFILE, -EINVAL },
	{ { .target = KTAU_TARGET_ALL, .flags = BIT(5) }, KTAU_REC_TRACE, -EINVAL },
	{ { .target = KTAU_TARGET_ALL | KTAU_TARGET_SELF }, KTAU_REC_TRACE, -EINVAL },
	{ { .target = KTAU_TARGET_ALL | KTAU_TARGET_CHANGED }, KTAU_REC_TRACE, -EINVAL },
	{ { .target = KTAU_TARGET_SELF, .flags = KTAU_SELECT_THREADS },
	  KTAU_REC_TRACE, 0 },
	{ { .target = KTAU_TARGET_ALL, .flags = KTAU_SELECT_THREADS },
	  KTAU_REC_TRACE, -EINVAL },
	{ { .target = KTAU_TARGET_ALL, .flags = KTAU_SELECT_CONSUME },
	  KTAU_REC_TRACE, 0 },
	{ { .target = KTAU_TARGET_ALL, .flags = KTAU_SELECT_CONSUME },
	  KTAU_REC_PROFILE, -EINVAL },
	{ { .target = KTAU_TARGET_LIST }, KTAU_REC_PROFILE, -EINVAL },
	{ { .target = KTAU_TARGET_LIST, .nr_pids = 1 }, KTAU_REC_PROFILE, 0 },
	{ { .target = KTAU_TARGET_LIST, .nr_pids = KTAU_MAX_PIDS + 1 },
	  KTAU_REC_PROFILE, -E2BIG },
	{ { .target = KTAU_TARGET_ALL, .nr_pids = 1 }, KTAU_REC_PROFILE, -EINVAL },
	{ { .target = KTAU_TARGET_ALL, .pids = 1 }, KTAU_REC_PROFILE, -EINVAL },
	{ { .target = KTAU_TARGET_ALL, .uid = 1 }, KTAU_REC_PROFILE, -EINVAL },
	{ { .target = KTAU_TARGET_ALL, .tag = 1 }, KTAU_REC_PROFILE, -EINVAL },
	{ { .target = KTAU_TARGET_ALL, .cgroup = 1 }, KTAU_REC_PROFILE, -EINVAL },
	{ { .target = KTAU_TARGET_ALL, .flags = KTAU_SELECT_UID, .uid = -1 },
	  KTAU_REC_PROFILE, -EINVAL },
	{ { .target = KTAU_TARGET_ALL, .uid = 1, .tag = 2, .cgroup = 3,
	    .flags = KTAU_SELECT_UID | KTAU_SELECT_TAG | KTAU_SELECT_CGROUP },
	  KTAU_REC_PROFILE, 0 },
};

static void select_checked(struct kunit *test)
{
	unsigned int i;

	for (i = 0; i < ARRAY_SIZE(selects); i++)
		KUNIT_EXPECT_EQ_MSG(test, ktau_select_check(&selects[i].select,
							    selects[i].content),
				    selects[i].err, "select %u", i);
}

/* However often rings fill, pollers are woken at most a hundred times per second. */
static void poll_rate(struct kunit *test)
{
	unsigned long end = jiffies + HZ / 2;
	int fills = atomic_read(&ktau_trace_fills);
	u64 asked = 0;

	while (time_before(jiffies, end)) {
		ktau_poll_wake();
		asked++;
		cond_resched();
	}
	msleep(50);
	fills = atomic_read(&ktau_trace_fills) - fills;
	KUNIT_EXPECT_GT(test, asked, 1000ULL);
	KUNIT_EXPECT_GE(test, fills, 2);
	KUNIT_EXPECT_LE(test, fills, 60);
}

/* A record that does not fit is refused, and nothing is written past the buffer. */
static void snapshot_bounded(struct kunit *test)
{
	size_t bytes = sizeof(struct ktau_rec_profile) +
		       KTAU_CHUNK_CELLS * sizeof(struct ktau_entry) +
		       KTAU_SNAPSHOT_OPEN * sizeof(struct ktau_open);
	u8 *room = kunit_kzalloc(test, KTAU_SNAPSHOT_BYTES, GFP_KERNEL);
	struct ktau_state *state = ktau_state_create(&ktau_system, GFP_KERNEL);
	unsigned int i;

	KUNIT_ASSERT_NOT_NULL(test, room);
	KUNIT_ASSERT_NOT_NULL(test, state);
	ktau_reserve_fill();
	for (i = 0; i < KTAU_CHUNK_CELLS; i++)
		ktau_cell(state, 64 + i)->count = 1;
	KUNIT_EXPECT_EQ(test, 0, ktau_snapshot_into((void *)room, bytes, state, NULL));
	KUNIT_EXPECT_LE(test, bytes, ktau_snapshot_bytes(state));
	ktau_cell(state, 128)->count = 1;
	memset(room + bytes, 0xa5, KTAU_SNAPSHOT_BYTES - bytes);
	KUNIT_EXPECT_EQ(test, -ENOSPC,
			ktau_snapshot_into((void *)room, bytes, state, NULL));
	KUNIT_EXPECT_FALSE(test, memchr_inv(room + bytes, 0xa5,
					    KTAU_SNAPSHOT_BYTES - bytes));
	ktau_state_put(state);
}

static struct kunit_case stream_cases[] = {
	KUNIT_CASE(redact_rounds),
	KUNIT_CASE(redact_interrupts),
	KUNIT_CASE(redact_small),
	KUNIT_CASE(redact_without_interrupts),
	KUNIT_CASE(redact_faults),
	KUNIT_CASE(levels),
	KUNIT_CASE(select_checked),
	KUNIT_CASE(poll_rate),
	KUNIT_CASE(snapshot_bounded),
	{ }
};

static struct kunit_suite stream_suite = {
	.name = "ktau_stream",
	.test_cases = stream_cases,
};

kunit_test_suite(stream_suite);
