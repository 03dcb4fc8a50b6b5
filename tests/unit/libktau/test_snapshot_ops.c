// SPDX-License-Identifier: GPL-2.0-only
/* Snapshots: differences, sums, linear time. */
#include <errno.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>

#include <cmocka.h>

#include "snapshots.h"

static void check_difference(const struct ktau_snapshot *diff)
{
	const struct ktau_owned *o = ktau_snapshot_find(diff, 1);

	assert_int_equal(ktau_snapshot_count(diff), 4);
	assert_int_equal(count_of(o, 0), 4);
	assert_int_equal(ktau_profile_find(o->profile, 700)->excl, 6);
	assert_int_equal(ktau_profile_find(o->profile, 700)->irq, 2);
	assert_int_equal(ktau_profile_find(o->profile, 700)->longest, 8);
	assert_int_equal(ktau_profile_find(o->profile, 701)->sum, 128);
	assert_int_equal(o->owner->utime_ns, 200);
	assert_int_equal(o->owner->nvcsw, 14);
	assert_int_equal(o->profile->nr_open, 1);
	assert_int_equal(ktau_profile_open(o->profile)->id, 1);
	check_identity(o->profile);
	o = ktau_snapshot_find(diff, 3);
	assert_int_equal(o->owner->kind, KTAU_OWNER_EXITED);
	assert_int_equal(count_of(o, 0), 2);
	assert_int_equal(ktau_snapshot_find(diff, 5)->profile->nr_entries, 0);
	assert_int_equal(count_of(ktau_snapshot_find(diff, 6), 0), 14);
}

static void difference(void **state)
{
	struct ktau_snapshot *before = create(), *after = create(), *diff;
	struct stream s = begin();

	(void)state;
	put_task(&s, 1, 10, TASK, 3);
	put_task(&s, 2, 20, TASK, 3);	/* vanishes */
	put_task(&s, 3, 30, TASK, 3);	/* exits */
	put_task(&s, 4, 40, EXITED, 3);	/* has exited already */
	put_task(&s, 5, 50, TASK, 3);	/* does nothing */
	finish(before, &s);
	s = begin();
	put_task(&s, 1, 10, TASK, 5);
	put_task(&s, 3, 30, EXITED, 4);
	put_task(&s, 4, 40, EXITED, 3);
	put_task(&s, 5, 50, TASK, 3);
	put_task(&s, 6, 60, TASK, 7);	/* new */
	finish(after, &s);
	assert_int_equal(ktau_snapshot_diff(after, before, &diff), 0);
	check_difference(diff);
	ktau_snapshot_destroy(diff);

	assert_int_equal(ktau_snapshot_diff(before, after, &diff), -EINVAL);
	assert_null(diff);
	s = (struct stream){ .word_bits = 64, .boot = 7 };
	put_stream(&s, KTAU_REC_PROFILE, 0x3c);
	finish(after, &s);
	assert_int_equal(ktau_snapshot_diff(after, before, &diff), -EINVAL);
	ktau_snapshot_destroy(before);
	ktau_snapshot_destroy(after);
}

/* Entries that only one side has, that grow, are not measured, or have unknown kinds. */
static void merges(void **state)
{
	static const struct entry before[] = {
		{ .id = 2, .flags = 7, .count = 1, .incl = 5, .excl = 5, .asleep = 1, .runq = 2 },
		{ .id = 900, .kind = 5, .count = 1 },
		{ .id = 901, .kind = 5, .count = 1 },
		{ .id = 65000, .count = 9, .incl = 9, .excl = 9 },
	};
	static const struct entry after[] = {
		{ .id = 1, .count = 1, .incl = 4, .excl = 4 },
		{ .id = 2, .flags = 13, .count = 2, .incl = 8, .excl = 7, .asleep = 9,
		  .runq = 2, .irq = 3 },
		{ .id = 900, .kind = 5, .count = 1 },
		{ .id = 901, .kind = 5, .count = 4 },
		{ .id = 65000, .count = 9, .incl = 9, .excl = 9 },
	};
	struct ktau_snapshot *a = create(), *b = create();
	const struct ktau_rec_profile *p, *q;
	struct ktau_rec_profile *diff;
	const struct ktau_entry *e;
	struct stream s = begin();

	(void)state;
	put_profile(&s, &(struct profile){ .o.serial = 1, .entries = before, .outer = 14,
					   .nr_entries = NR(before) });
	finish(b, &s);
	s = begin();
	put_profile(&s, &(struct profile){ .o.serial = 1, .entries = after, .outer = 20,
					   .nr_entries = NR(after) });
	put_profile(&s, &(struct profile){ .o.serial = 2, .outer = 20 });
	finish(a, &s);
	p = ktau_snapshot_find(a, 1)->profile;
	q = ktau_snapshot_find(b, 1)->profile;
	assert_int_equal(ktau_profile_diff(p, q, &diff), 0);
	e = ktau_profile_entries(diff);
	assert_int_equal(diff->nr_entries, 3);
	assert_int_equal(e[0].id, 1);
	assert_int_equal(e[1].id, 2);
	assert_int_equal(e[1].flags, 5);
	assert_int_equal(e[1].incl, 3);
	assert_int_equal(e[1].asleep, 8);
	assert_int_equal(e[1].runq, 0);
	assert_int_equal(e[2].id, 901);
	assert_int_equal(e[2].count, 4);
	ktau_record_free(diff);
	/* A decrease, another owner, a missing entry. */
	assert_int_equal(ktau_profile_diff(q, p, &diff), -EINVAL);
	assert_null(diff);
	p = ktau_snapshot_find(a, 2)->profile;
	assert_int_equal(ktau_profile_diff(p, q, &diff), -EINVAL);
	((struct ktau_rec_profile *)p)->serial = 1;
	assert_int_equal(ktau_profile_diff(p, q, &diff), -EINVAL);
	assert_int_equal(ktau_profile_diff(p, NULL, &diff), 0);
	ktau_record_free(diff);
	ktau_snapshot_destroy(a);
	ktau_snapshot_destroy(b);
}

static int add_diff(struct ktau_snapshot *to, const struct ktau_owned *o)
{
	struct ktau_rec_profile *record = ktau_record_dup(o->profile);
	union ktau_record rec = { .owner = o->owner };
	int err;

	assert_non_null(record);
	err = ktau_snapshot_add(to, &rec);
	record->rec.type = KTAU_REC_DIFF;
	rec.profile = record;
	if (!err)
		err = ktau_snapshot_add(to, &rec);
	ktau_record_free(record);
	return err;
}

/* before + difference = after, also with DIFF records. */
static void adds_up(void **state)
{
	struct ktau_snapshot *before = create(), *after = create();
	const struct ktau_owned *o = NULL, *b, *q;
	struct ktau_rec_profile *diff;
	struct ktau_owned owned;
	struct stream s = begin();

	(void)state;
	put_task(&s, 1, 10, TASK, 3);
	finish(before, &s);
	s = begin();
	put_task(&s, 1, 10, TASK, 8);
	put_task(&s, 2, 20, EXITED, 2);
	finish(after, &s);
	while ((o = ktau_snapshot_next(after, o))) {
		b = ktau_snapshot_find(before, o->owner->serial);
		assert_int_equal(ktau_profile_diff(o->profile, b ? b->profile : NULL, &diff), 0);
		owned = (struct ktau_owned){ .owner = o->owner, .profile = diff };
		assert_int_equal(add_diff(before, &owned), 0);
		ktau_record_free(diff);
	}
	assert_int_equal(ktau_snapshot_count(before), ktau_snapshot_count(after));
	while ((o = ktau_snapshot_next(after, o))) {
		q = ktau_snapshot_find(before, o->owner->serial);
		assert_non_null(q);
		assert_int_equal(o->profile->rec.size, q->profile->rec.size);
		assert_memory_equal(o->profile, q->profile, o->profile->rec.size);
		assert_memory_equal(o->owner, q->owner, o->owner->rec.size);
	}
	ktau_snapshot_destroy(before);
	ktau_snapshot_destroy(after);
}

static void sum(void **state)
{
	const struct entry evicted[] = {
		{ .id = 0, .count = 1000, .incl = 50, .excl = 50 },
		{ .id = 5000, .count = 2, .incl = 7, .excl = 7 },
		{ .id = 5001, .kind = 3, .count = 2 },
	};
	struct ktau_snapshot *snap = create();
	struct ktau_rec_owner owner;
	const struct ktau_entry *e;
	struct ktau_rec_profile *p;
	struct stream s = begin();
	uint32_t i;

	(void)state;
	put_task(&s, 10, 10, TASK, 1);
	put_task(&s, 11, 11, EXITED, 2);
	put_cpu(&s, 20, 0, 1 << 20);
	put_profile(&s, &(struct profile){ .o = { .serial = 30, .kind = 9 }, .outer = 1 << 20 });
	put_profile(&s, &(struct profile){
		.o = { .serial = 21, .kind = EVICTED, .exited_seq = 11, .nr_tasks = 11,
		       .nvcsw = 1 },
		.outer = 57, .refused = 1, .entries = evicted, .nr_entries = 3 });
	finish(snap, &s);
	assert_int_equal(ktau_snapshot_sum(snap, &p, &owner), 0);
	assert_int_equal(count_in(p, 0), 2 + 4 + 1000);
	e = ktau_profile_find(p, 701);
	assert_int_equal(e->count, 3);
	assert_int_equal(e->sum, 3 * 64);
	assert_int_equal(e->min, 1);
	assert_int_equal(e->max, 64);
	e = ktau_profile_find(p, 700);
	assert_int_equal(e->flags, KTAU_ENTRY_LONGEST | KTAU_ENTRY_IRQ);
	assert_int_equal(e->longest, 8);
	assert_int_equal(e->irq, 3);
	assert_int_equal(ktau_profile_find(p, 0)->flags, 0);
	assert_int_equal(count_in(p, 5000), 2);
	assert_null(ktau_profile_find(p, 5001));
	assert_int_equal(p->refused, 1);
	assert_int_equal(p->nr_open, 0);
	assert_int_equal(owner.kind, KTAU_OWNER_EVICTED);
	assert_int_equal(owner.nr_tasks, 1 + 1 + 11);
	assert_int_equal(owner.utime_ns, 100 + 200);
	assert_int_equal(owner.nvcsw, 7 + 14 + 1);
	assert_int_equal(owner.exited_seq, 11);
	check_identity(p);
	e = ktau_profile_entries(p);
	for (i = 1; i < p->nr_entries; i++)
		assert_true(e[i - 1].id < e[i].id);
	ktau_record_free(p);
	ktau_snapshot_destroy(snap);
}

static int add_up(void *arg, const struct ktau_rec_profile *profile)
{
	*(ktau_sum_t *)arg += profile->asleep_ticks;
	return 0;
}

static int end_at_once(void *arg, const struct ktau_rec_profile *profile)
{
	(void)profile;
	return ++*(int *)arg;
}

/* Sums over tasks need more than 64 bits; a record stops at their end. */
static void sum_of_large(void **state)
{
	const struct entry entry = {
		.id = 0, .count = 1, .incl = UINT64_MAX / 2, .excl = UINT64_MAX / 2,
	};
	struct ktau_snapshot *snap = create();
	const struct ktau_clock clock = { .hz = 3000000000 };
	struct ktau_rec_profile *p;
	struct stream s = begin();
	ktau_sum_t sum = 0;
	uint64_t serial;
	int called = 0;

	(void)state;
	for (serial = 10; serial < 15; serial++)
		put_profile(&s, &(struct profile){
			.o = { .serial = serial, .kind = serial % 2 ? EXITED : TASK,
			       .exited_seq = serial },
			.outer = UINT64_MAX / 2, .account = { [4] = UINT64_MAX / 2 },
			.entries = &entry, .nr_entries = 1 });
	put_cpu(&s, 20, 0, 1 << 20);
	finish(snap, &s);
	assert_int_equal(ktau_snapshot_drop_exited(snap), 0);
	assert_int_equal(ktau_snapshot_each(snap, add_up, &sum), 0);
	assert_true(sum == (ktau_sum_t)5 * (UINT64_MAX / 2));
	assert_true(ktau_clock_sum_ns(&clock, sum) == sum / 3);
	assert_int_equal(ktau_snapshot_each(snap, end_at_once, &called), 1);
	assert_int_equal(called, 1);
	assert_int_equal(ktau_snapshot_sum(snap, &p, NULL), 0);
	assert_int_equal(p->asleep_ticks, UINT64_MAX);
	assert_int_equal(p->outer_ticks, UINT64_MAX);
	assert_int_equal(ktau_profile_find(p, 0)->incl, UINT64_MAX);
	assert_int_equal(ktau_profile_find(p, 0)->count, 5);
	ktau_record_free(p);
	ktau_snapshot_destroy(snap);
}

static void expect_calls(const struct ktau_snapshot *snap, uint64_t calls, size_t owners)
{
	struct ktau_rec_profile *p;

	assert_int_equal(ktau_snapshot_sum(snap, &p, NULL), 0);
	assert_int_equal(count_in(p, 0), calls);
	check_identity(p);
	ktau_record_free(p);
	assert_int_equal(ktau_snapshot_count(snap), owners);
}

/* The evicted sum, with this many calls. */
static void put_sum(struct stream *s, uint64_t calls)
{
	const struct entry entry = { .id = 0, .count = calls, .incl = 10, .excl = 10 };

	put_profile(s, &(struct profile){ .o = { .serial = 20, .kind = EVICTED }, .outer = 10,
					  .entries = &entry, .nr_entries = 1 });
}

/* Folded tasks are removed, live ones too, regardless of their exited_seq. */
static void gone(void **state)
{
	static const uint64_t serials[] = { 2, 98, 4, 99, 10 };
	struct ktau_snapshot *snap = create();
	struct stream s = begin();

	(void)state;
	put_task(&s, 10, 10, TASK, 1);		/* exits and is evicted */
	put_task(&s, 11, 11, TASK, 1);		/* sleeps */
	put_task(&s, 3, 3, EXITED, 2);		/* stays */
	put_task(&s, 4, 4, EXITED, 3);		/* is evicted, though not the oldest */
	put_task(&s, 2, 2, EXITED, 1);		/* is folded into task 5 */
	put_task(&s, 5, 5, EXITED, 1);
	put_sum(&s, 100);
	finish(snap, &s);
	expect_calls(snap, 2 * 9 + 100, 7);

	s = begin_since(6, (EVERYTHING & ~KTAU_TARGET_ALL) | KTAU_TARGET_CHANGED);
	put_task(&s, 5, 5, EXITED, 2);
	put_sum(&s, 100 + 2 * 3 + 2 * 2);
	put_gone(&s, serials, NR(serials), 2);
	finish(snap, &s);
	expect_calls(snap, 2 * (9 + 1) + 100, 6);
	assert_null(ktau_snapshot_find(snap, 2));
	/* Still found, but not part of the sum. */
	assert_int_equal(ktau_snapshot_find(snap, 4)->owner->serial, 4);
	assert_int_equal(ktau_snapshot_drop_evicted(snap), 0);
	expect_calls(snap, 2 * (9 + 1) + 100, 4);
	assert_null(ktau_snapshot_find(snap, 4));
	assert_null(ktau_snapshot_find_tid(snap, 10));
	assert_int_equal(ktau_snapshot_find(snap, 11)->owner->serial, 11);
	assert_int_equal(ktau_snapshot_evicted(snap)->owner->serial, 20);
	ktau_snapshot_destroy(snap);
}

#define EXITED_TASKS (KTAU_TARGET_EXITED | KTAU_TARGET_EVICTED)

/* A list of all kept exited tasks, from another descriptor. */
static void all_exited(void **state)
{
	struct ktau_snapshot *snap = create();
	struct stream s = begin_since(0, EXITED_TASKS);

	(void)state;
	put_task(&s, 3, 3, EXITED, 2);
	put_task(&s, 4, 4, EXITED, 3);
	put_sum(&s, 100);
	finish(snap, &s);
	s = begin_since(5, EXITED_TASKS);	/* of some */
	put_sum(&s, 100);
	finish(snap, &s);
	expect_calls(snap, 100 + 2 * 5, 3);
	s = begin_since(0, EXITED_TASKS);	/* not complete */
	s.torn = 1;
	put_sum(&s, 100);
	finish(snap, &s);
	expect_calls(snap, 100 + 2 * 5, 3);
	s = begin_since(0, EXITED_TASKS);
	put_task(&s, 3, 3, EXITED, 2);
	put_sum(&s, 106);
	finish(snap, &s);
	expect_calls(snap, 106 + 2 * 2, 3);
	ktau_snapshot_destroy(snap);
}

/*
 * All exited tasks are dropped, and the sum is unchanged, even if the kernel later folds
 * one of them, or evicts some together with tasks that were never read or were alive.
 */
static void drop_exited(void **state)
{
	static const uint64_t serials[] = { 2, 4, 10 };
	struct ktau_snapshot *snap = create();
	struct stream s = begin();

	(void)state;
	assert_int_equal(ktau_snapshot_drop_exited(snap), 0);
	put_task(&s, 10, 10, TASK, 1);		/* exits and is evicted */
	put_task(&s, 11, 11, TASK, 1);		/* sleeps */
	put_task(&s, 2, 2, EXITED, 1);		/* is folded into task 5 */
	put_task(&s, 3, 3, EXITED, 2);
	put_task(&s, 4, 4, EXITED, 3);		/* is evicted */
	put_task(&s, 5, 5, EXITED, 1);
	put_sum(&s, 100);
	put_cpu(&s, 21, 3, 1);
	finish(snap, &s);
	expect_calls(snap, 2 * 9 + 100, 8);
	assert_int_equal(ktau_snapshot_drop_exited(snap), 0);
	expect_calls(snap, 2 * 9 + 100, 4);
	assert_null(ktau_snapshot_find(snap, 3));
	assert_null(ktau_snapshot_find_tid(snap, 3));
	assert_int_equal(ktau_snapshot_find_tid(snap, 10)->owner->serial, 10);
	assert_int_equal(ktau_snapshot_cpu(snap, 3)->owner->serial, 21);

	s = begin_since(6, (EVERYTHING & ~KTAU_TARGET_ALL) | KTAU_TARGET_CHANGED);
	put_task(&s, 5, 5, EXITED, 2);
	put_sum(&s, 100 + 2 * 3 + 2 * 2 + 50);
	put_gone(&s, serials, NR(serials), 1);
	finish(snap, &s);
	expect_calls(snap, 2 * (9 + 1) + 100 + 50, 5);
	assert_int_equal(ktau_snapshot_drop_exited(snap), 0);
	expect_calls(snap, 2 * (9 + 1) + 100 + 50, 3);
	ktau_snapshot_clear(snap);
	expect_calls(snap, 0, 0);
	ktau_snapshot_destroy(snap);
}

/* Another descriptor lists the exited tasks again, or they have been evicted meanwhile. */
static void drop_listed_again(void **state)
{
	struct ktau_snapshot *snap = create(), *before = create(), *diff;
	struct stream s = begin_since(0, EXITED_TASKS);

	(void)state;
	put_task(&s, 3, 3, EXITED, 2);
	put_task(&s, 4, 4, EXITED, 3);
	put_sum(&s, 100);
	put_end(&s);
	assert_int_equal(read_into(snap, &s), 1);
	assert_int_equal(read_into(before, &s), 1);
	stream_free(&s);
	assert_int_equal(ktau_snapshot_drop_exited(snap), 0);
	assert_int_equal(ktau_snapshot_drop_exited(before), 0);
	expect_calls(snap, 100 + 2 * 5, 1);
	s = begin_since(0, EXITED_TASKS);
	put_task(&s, 3, 3, TASK, 1);		/* an older profile */
	put_task(&s, 4, 4, EXITED, 3);
	put_task(&s, 5, 5, EXITED, 1);
	put_sum(&s, 100 + 2 * 2);
	finish(snap, &s);
	expect_calls(snap, 100 + 2 * (5 + 1), 3);
	assert_int_equal(ktau_snapshot_diff(snap, before, &diff), 0);
	assert_null(ktau_snapshot_find(diff, 4));
	assert_int_equal(count_of(ktau_snapshot_find(diff, 5), 0), 2);
	ktau_snapshot_destroy(diff);
	assert_int_equal(ktau_snapshot_drop_exited(snap), 0);
	expect_calls(snap, 100 + 2 * (5 + 1), 1);
	ktau_snapshot_destroy(before);
	ktau_snapshot_destroy(snap);
}

/* Tasks are added, dropped and evicted, a thousand at a time. */
static void drop_many(void **state)
{
	enum { ROUNDS = 8, NR_NEW = 1000 };
	struct ktau_snapshot *snap = create();
	uint64_t serials[NR_NEW], serial;
	struct stream s;
	int round;

	(void)state;
	for (round = 0; round < ROUNDS; round++) {
		s = begin_after();
		for (serial = 0; serial < NR_NEW; serial++) {
			put_task(&s, 1000 + round * NR_NEW + serial, serial + 1, EXITED, 1);
			serials[serial] = 1000 + (round - 1) * NR_NEW + serial;
		}
		put_sum(&s, round ? 2 * (round - 1) * NR_NEW + 2 * (NR_NEW - 1) : 0);
		/* The first one stays. */
		if (round)
			put_gone(&s, serials + (round == 1), NR_NEW - (round == 1), 0);
		finish(snap, &s);
		assert_int_equal(ktau_snapshot_drop_exited(snap), 0);
		expect_calls(snap, 2 * (round + 1) * NR_NEW, 1);
	}
	ktau_snapshot_destroy(snap);
}

static double seconds_for(unsigned int nr)
{
	struct ktau_snapshot *snap = create(), *diff;
	struct timespec from, to;
	struct ktau_rec_profile *p;
	struct stream s = begin();
	unsigned int i;

	for (i = 1; i <= nr; i++)
		put_task(&s, (uint64_t)i << 32, i, TASK, 1);
	put_end(&s);
	clock_gettime(CLOCK_PROCESS_CPUTIME_ID, &from);
	assert_int_equal(read_into(snap, &s), 1);
	assert_int_equal(read_into(snap, &s), 1);
	assert_int_equal(ktau_snapshot_diff(snap, snap, &diff), 0);
	assert_int_equal(ktau_snapshot_count(diff), nr);
	assert_int_equal(ktau_snapshot_sum(snap, &p, NULL), 0);
	for (i = 1; i <= nr; i++)
		assert_non_null(ktau_snapshot_find_tid(snap, i));
	clock_gettime(CLOCK_PROCESS_CPUTIME_ID, &to);
	ktau_record_free(p);
	ktau_snapshot_destroy(diff);
	ktau_snapshot_destroy(snap);
	stream_free(&s);
	return to.tv_sec - from.tv_sec + (to.tv_nsec - from.tv_nsec) / 1e9;
}

/* With sixteen times the tasks, the time must not grow 256 times. */
static void linear(void **state)
{
	double few, many;

	(void)state;
	seconds_for(100);
	few = seconds_for(2000);
	many = seconds_for(32000);
	print_message("2000 tasks %.4f s, 32000 tasks %.4f s\n", few, many);
	assert_true(many < few * 80);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(difference),
		cmocka_unit_test(merges),
		cmocka_unit_test(adds_up),
		cmocka_unit_test(sum),
		cmocka_unit_test(sum_of_large),
		cmocka_unit_test(gone),
		cmocka_unit_test(all_exited),
		cmocka_unit_test(drop_exited),
		cmocka_unit_test(drop_listed_again),
		cmocka_unit_test(drop_many),
		cmocka_unit_test(linear),
	};

	return cmocka_run_group_tests_name("libktau: differences and sums", tests, NULL, NULL);
}
