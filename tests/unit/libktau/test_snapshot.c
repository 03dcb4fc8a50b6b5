// SPDX-License-Identifier: GPL-2.0-only
/* Snapshots: replacing records, look-up. */
#include <errno.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>

#include <cmocka.h>

#include "snapshots.h"

static void lookup(void **state)
{
	struct ktau_snapshot *snap = create();
	const struct ktau_owned *o = NULL;
	struct stream s = begin();
	size_t nr = 0;

	(void)state;
	put_task(&s, 1, 0, TASK, 1);	/* idle tasks have no tid */
	put_task(&s, 2, 0, TASK, 1);
	put_task(&s, 3, 100, TASK, 3);
	put_task(&s, 4, 101, EXITED, 4);
	put_task(&s, 5, 101, TASK, 5);	/* the pid was reused */
	put_task(&s, 6, 102, EXITED, 6);
	put_task(&s, 7, 102, EXITED, 7);
	put_cpu(&s, 20, 1, 8);
	put_evicted(&s, 21, 2, 9);
	put_owner(&s, &(struct owner){ .serial = 30, .flags = KTAU_OWNER_NAMED, .tid = 103 });
	finish(snap, &s);
	assert_int_equal(ktau_snapshot_count(snap), 9);
	while ((o = ktau_snapshot_next(snap, o))) {
		assert_int_equal(o->owner->serial, o->profile->serial);
		nr++;
	}
	assert_int_equal(nr, 9);
	assert_int_equal(count_of(ktau_snapshot_find(snap, 3), 0), 6);
	assert_null(ktau_snapshot_find(snap, 8));
	assert_null(ktau_snapshot_find(snap, 30));
	assert_int_equal(ktau_snapshot_find_tid(snap, 100)->owner->serial, 3);
	assert_int_equal(ktau_snapshot_find_tid(snap, 101)->owner->serial, 5);
	assert_int_equal(ktau_snapshot_find_tid(snap, 102)->owner->serial, 7);
	assert_null(ktau_snapshot_find_tid(snap, 0));
	assert_null(ktau_snapshot_find_tid(snap, 103));
	assert_int_equal(ktau_snapshot_cpu(snap, 1)->profile->outer_ticks, 8);
	assert_null(ktau_snapshot_cpu(snap, 0));
	assert_int_equal(ktau_snapshot_evicted(snap)->profile->outer_ticks, 9);
	assert_int_equal(ktau_snapshot_stream(snap)->nr_cpus, 2);
	assert_int_equal(ktau_snapshot_end(snap)->nr_records, 9);
	ktau_snapshot_destroy(snap);
}

/* A task that exits between the walks over live and exited tasks: the last profile wins. */
static void exited_meanwhile(void **state)
{
	struct ktau_snapshot *snap = create();
	struct stream s;
	int exited_first;

	(void)state;
	for (exited_first = 0; exited_first < 2; exited_first++) {
		ktau_snapshot_clear(snap);
		s = begin();
		put_task(&s, 9, 90, exited_first ? EXITED : TASK, exited_first ? 5 : 4);
		put_task(&s, 9, 90, exited_first ? TASK : EXITED, exited_first ? 4 : 5);
		finish(snap, &s);
		assert_int_equal(ktau_snapshot_count(snap), 1);
		assert_int_equal(ktau_snapshot_find(snap, 9)->owner->kind, KTAU_OWNER_EXITED);
		assert_int_equal(count_of(ktau_snapshot_find_tid(snap, 90), 0), 10);
	}
	ktau_snapshot_destroy(snap);
}

/* Several streams: the newest profile is kept, exited tasks stay, vanished ones go. */
static void updates(void **state)
{
	struct ktau_snapshot *snap = create();
	struct stream s = begin();

	(void)state;
	put_task(&s, 1, 10, TASK, 1);
	put_task(&s, 2, 20, TASK, 1);
	put_task(&s, 3, 30, TASK, 1);
	finish(snap, &s);
	s = begin_after();
	put_task(&s, 1, 10, TASK, 2);
	put_task(&s, 2, 20, EXITED, 3);
	put_task(&s, 4, 40, TASK, 1);
	finish(snap, &s);
	assert_int_equal(ktau_snapshot_count(snap), 3);
	assert_int_equal(count_of(ktau_snapshot_find(snap, 1), 0), 4);
	assert_null(ktau_snapshot_find(snap, 3));
	assert_null(ktau_snapshot_find_tid(snap, 30));
	s = begin_after();
	put_task(&s, 4, 40, TASK, 2);
	finish(snap, &s);
	assert_int_equal(ktau_snapshot_count(snap), 2);
	assert_int_equal(count_of(ktau_snapshot_find_tid(snap, 20), 0), 6);
	assert_int_equal(count_of(ktau_snapshot_find_tid(snap, 40), 0), 4);

	/* Incomplete streams, and streams with denied tasks, remove no task. */
	s = begin_after();
	put_task(&s, 5, 50, TASK, 1);
	assert_int_equal(read_into(snap, &s), -EBADMSG);
	assert_int_equal(ktau_snapshot_count(snap), 3);
	assert_null(ktau_snapshot_end(snap));
	stream_free(&s);
	s = begin_after();
	s.denied = 1;
	finish(snap, &s);
	assert_int_equal(ktau_snapshot_count(snap), 3);
	ktau_snapshot_destroy(snap);
}

/* Profiles need an owner and owners a profile; entries may be in any order. */
static void odd_records(void **state)
{
	static const struct entry entries[] = {
		{ .id = 700, .count = 1, .excl = 3, .incl = 3 },
		{ .id = 1, .count = 2, .excl = 4, .incl = 4 },
		{ .id = 700, .count = 5, .excl = 6, .incl = 6 },
		{ .id = 60000, .count = 5, .excl = 6, .incl = 6 },
	};
	const struct frame open = { .id = 1, .start = 3 };
	struct ktau_snapshot *snap = create();
	const struct ktau_rec_profile *p;
	struct stream s = begin();

	(void)state;
	put_profile(&s, &(struct profile){ .o.serial = 1, .no_owner = true });
	put_owner(&s, &(struct owner){ .serial = 2, .tid = 2 });
	put_profile(&s, &(struct profile){
		.o.serial = 3, .outer = 19, .entries = entries, .nr_entries = NR(entries),
		.open = &open, .nr_open = 1 });
	finish(snap, &s);
	assert_int_equal(ktau_snapshot_count(snap), 1);
	assert_null(ktau_snapshot_find_tid(snap, 2));
	p = ktau_snapshot_find(snap, 3)->profile;
	assert_int_equal(p->nr_entries, 3);
	assert_int_equal(count_in(p, 1), 2);
	assert_int_equal(count_in(p, 700), 6);
	assert_int_equal(count_in(p, 60000), 5);
	assert_int_equal(ktau_profile_open(p)->start_ticks, 3);
	check_identity(p);
	ktau_snapshot_destroy(snap);
}

/* The work does not grow with the square of the number of entries. */
static void many_unordered_entries(void **state)
{
	enum { MANY = 65535 };
	struct entry *entries = calloc(MANY, sizeof(*entries));
	struct ktau_snapshot *snap = create();
	const struct ktau_rec_profile *p;
	struct stream s = begin();
	uint64_t count = 0;
	clock_t start;
	uint32_t i;

	(void)state;
	assert_non_null(entries);
	for (i = 0; i < MANY; i++)
		entries[i] = (struct entry){ .id = MANY - 1 - i / 2, .count = 1 };
	put_profile(&s, &(struct profile){ .o.serial = 3, .entries = entries, .nr_entries = MANY });
	start = clock();
	finish(snap, &s);
	assert_in_range(clock() - start, 0, 4 * CLOCKS_PER_SEC);
	p = ktau_snapshot_find(snap, 3)->profile;
	assert_int_equal(p->nr_entries, MANY / 2 + 1);
	for (i = 0; i < p->nr_entries; i++) {
		assert_int_equal(ktau_profile_entries(p)[i].id, MANY / 2 + i);
		count += ktau_profile_entries(p)[i].count;
	}
	assert_int_equal(count, MANY);
	ktau_snapshot_destroy(snap);
	free(entries);
}

static void put_sleeper(struct stream *s, uint64_t serial, uint32_t kind, uint64_t ticks)
{
	static const struct frame asleep = { .id = 1, .start = 1000 };
	struct profile p = { .o = { .serial = serial, .tid = (int32_t)serial, .kind = kind } };

	p.ticks = ticks;
	p.open = &asleep;
	p.nr_open = p.depth = 1;
	put_profile(s, &p);
}

/* A task that a stream of changed tasks leaves out is unchanged, with later ticks. */
static void left_out(void **state)
{
	const uint64_t stream_ticks = 5000000000; /* of put_stream() */
	struct ktau_snapshot *snap = create();
	const struct ktau_rec_profile *p;
	struct stream s = begin();

	(void)state;
	put_sleeper(&s, 1, TASK, 4000);
	put_sleeper(&s, 2, TASK, 4000);
	put_sleeper(&s, 3, TASK, 4000);
	put_sleeper(&s, 4, EXITED, 4000);
	finish(snap, &s);
	assert_int_equal(ktau_snapshot_find(snap, 1)->profile->ticks, 4000);
	s = (struct stream){ .word_bits = 64 };
	put_stream(&s, KTAU_REC_PROFILE, KTAU_TARGET_CHANGED | KTAU_TARGET_EXITED);
	put_sleeper(&s, 2, TASK, stream_ticks + 7);
	put_sleeper(&s, 3, EXITED, stream_ticks + 8);
	finish(snap, &s);
	assert_int_equal(ktau_snapshot_count(snap), 4);
	p = ktau_snapshot_find(snap, 1)->profile;
	assert_int_equal(p->ticks, stream_ticks);
	assert_int_equal(ktau_profile_open(p)->start_ticks, 1000);
	assert_int_equal(ktau_snapshot_find(snap, 2)->profile->ticks, stream_ticks + 7);
	assert_int_equal(ktau_snapshot_find(snap, 3)->profile->ticks, stream_ticks + 8);
	assert_int_equal(ktau_snapshot_find(snap, 4)->profile->ticks, 4000);
	/* A stream of all tasks determines which ones are alive. */
	s = begin();
	put_sleeper(&s, 2, TASK, stream_ticks + 9);
	finish(snap, &s);
	assert_null(ktau_snapshot_find(snap, 1));
	ktau_snapshot_destroy(snap);
}

static void put_measured(struct stream *s, uint64_t serial, uint64_t ticks, uint64_t user,
			 uint64_t asleep)
{
	static const struct frame open = { .id = 1, .start = 1000 };
	const struct profile p = {
		.o = { .serial = serial }, .ticks = ticks, .groups = KTAU_GROUP_SCHED,
		.account = { user, 0, 0, 0, asleep, 0 }, .open = &open, .nr_open = 1, .depth = 1,
	};

	put_profile(s, &p);
}

static const struct ktau_rec_profile *profile_of(struct ktau_snapshot *snap, uint64_t serial)
{
	const struct ktau_owned *owned = ktau_snapshot_find(snap, serial);

	assert_non_null(owned);
	return owned->profile;
}

/* The time asleep inside the frame in flight of task @serial. */
static uint64_t slept_in(struct ktau_snapshot *snap, uint64_t serial)
{
	return ktau_profile_open(profile_of(snap, serial))->asleep_ticks;
}

/*
 * Sleep that was added for a task left out of a stream, and inside its frames, is not in the next
 * difference.
 */
static void left_out_account(void **state)
{
	const uint64_t stream_ticks = 5000000000;
	struct ktau_snapshot *snap = create();
	struct stream s = begin();
	size_t type;

	(void)state;
	put_measured(&s, 1, 4000, 3000, 1000);
	put_measured(&s, 2, 4000, 0, 0);
	finish(snap, &s);
	s = (struct stream){ .word_bits = 64 };
	put_stream(&s, KTAU_REC_PROFILE, KTAU_TARGET_CHANGED | KTAU_TARGET_EXITED);
	finish(snap, &s);
	assert_int_equal(profile_of(snap, 1)->asleep_ticks, stream_ticks - 3000);
	assert_int_equal(profile_of(snap, 1)->user_ticks, 3000);
	assert_int_equal(slept_in(snap, 1), stream_ticks - 4000);
	/* No sleep is added for a task that was not measured. */
	assert_int_equal(profile_of(snap, 2)->asleep_ticks, 0);
	assert_int_equal(slept_in(snap, 2), 0);

	s = (struct stream){ .word_bits = 64 };
	put_stream(&s, KTAU_REC_PROFILE, KTAU_TARGET_CHANGED | KTAU_TARGET_EXITED);
	put_owner(&s, &(struct owner){ .serial = 1 });
	type = s.size + 4;
	put_profile(&s, &(struct profile){
		.o = { .serial = 1 }, .no_owner = true, .groups = KTAU_GROUP_SCHED,
		.ticks = stream_ticks + 500, .account = { 400, 0, 0, 0, stream_ticks - 3900, 0 } });
	s.data[type] = (uint8_t)KTAU_REC_DIFF;
	s.data[type + 1] = KTAU_REC_DIFF >> 8;
	finish(snap, &s);
	assert_int_equal(profile_of(snap, 1)->user_ticks, 3400);
	assert_int_equal(profile_of(snap, 1)->asleep_ticks, stream_ticks - 2900);
	ktau_snapshot_destroy(snap);
}

/*
 * Frames of a task that a stream left out: one that is not measured, and so has no exclusive time,
 * lasts as long as what is inside it. Serial 1 has such a frame alone, 2 a measured one in it.
 */
static void left_out_unmeasured(void **state)
{
	const uint64_t stream_ticks = 5000000000;
	const struct frame open[] = {
		{ .id = 1, .start = 3000 }, { .id = 2, .start = 2900, .child = 100 },
	};
	const struct frame alone = { .id = 2, .start = 3600, .child = 400 };
	const struct profile one = {
		.o = { .serial = 1 }, .ticks = 4000, .open = &alone, .nr_open = 1, .depth = 1,
	};
	const struct profile two = {
		.o = { .serial = 2 }, .ticks = 4000, .open = open, .nr_open = 2, .depth = 2,
	};
	struct ktau_snapshot *snap = create();
	struct stream s = begin();
	uint64_t incl, excl;

	(void)state;
	put_profile(&s, &one);
	put_profile(&s, &two);
	finish(snap, &s);
	s = (struct stream){ .word_bits = 64 };
	put_stream(&s, KTAU_REC_PROFILE, KTAU_TARGET_CHANGED | KTAU_TARGET_EXITED);
	finish(snap, &s);
	assert_int_equal(ktau_profile_inflight(profile_of(snap, 1), 0, &incl, &excl), 0);
	assert_int_equal(incl, 400);
	assert_int_equal(excl, 0);
	assert_int_equal(ktau_profile_inflight(profile_of(snap, 2), 0, &incl, &excl), 0);
	assert_int_equal(incl, stream_ticks - 3000);
	assert_int_equal(ktau_profile_inflight(profile_of(snap, 2), 1, &incl, &excl), 0);
	assert_int_equal(incl, stream_ticks - 2900);
	assert_int_equal(excl, 0);
	ktau_snapshot_destroy(snap);
}

static void put_copy(void **state)
{
	struct ktau_snapshot *from = create(), *to = create();
	struct stream s = begin();

	(void)state;
	put_task(&s, 3, 12, TASK, 1);
	finish(from, &s);
	assert_int_equal(ktau_snapshot_put(to, ktau_snapshot_find(from, 3)), 0);
	ktau_snapshot_destroy(from);
	assert_int_equal(ktau_snapshot_count(to), 1);
	assert_int_equal(count_of(ktau_snapshot_find_tid(to, 12), 0), 2);
	ktau_snapshot_destroy(to);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(lookup),
		cmocka_unit_test(exited_meanwhile),
		cmocka_unit_test(updates),
		cmocka_unit_test(odd_records),
		cmocka_unit_test(many_unordered_entries),
		cmocka_unit_test(left_out),
		cmocka_unit_test(left_out_account),
		cmocka_unit_test(left_out_unmeasured),
		cmocka_unit_test(put_copy),
	};

	return cmocka_run_group_tests_name("libktau: snapshots", tests, NULL, NULL);
}
