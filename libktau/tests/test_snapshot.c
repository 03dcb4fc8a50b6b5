// SPDX-License-Identifier: GPL-2.0-only
/* Snapshots: who takes whose place, differences, sums, time in proportion. */
#include <errno.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>

#include <cmocka.h>
#include <ktau.h>

#include "encode.h"

enum { LIVE, DEAD, CPU, REAPED };

static int read_into(struct ktau_snapshot *snap, const struct stream *s)
{
	struct ktau_reader *r;
	int err;

	assert_int_equal(ktau_reader_create(&r), 0);
	assert_int_equal(ktau_reader_open_memory(r, s->data, s->size), 0);
	err = ktau_snapshot_read(snap, r);
	ktau_reader_destroy(r);
	return err;
}

static struct stream begin(void)
{
	struct stream s = { .word_bits = 64, .big = true };

	put_stream(&s, KTAU_REC_PROFILE, 0x3f & ~KTAU_TARGET_SELF & ~KTAU_TARGET_LIST);
	return s;
}

static void finish(struct ktau_snapshot *snap, struct stream *s)
{
	put_end(s);
	assert_int_equal(read_into(snap, s), 1);
	stream_free(s);
}

static struct ktau_snapshot *create(void)
{
	struct ktau_snapshot *snap;

	assert_int_equal(ktau_snapshot_create(&snap), 0);
	return snap;
}

static uint64_t count_of(const struct ktau_rec_profile *p, uint32_t id)
{
	const struct ktau_entry *e = p ? ktau_profile_find(p, id) : NULL;

	return e ? e->count : 0;
}

static void check_identity(const struct ktau_rec_profile *p)
{
	uint64_t excl, outer;

	assert_int_equal(ktau_check_identity(p, &excl, &outer), 0);
	assert_int_equal(excl, outer);
}

static void lookup(void **state)
{
	struct ktau_snapshot *snap = create();
	const struct ktau_rec_profile *p = NULL;
	struct stream s = begin();
	size_t nr = 0;

	(void)state;
	put_task(&s, 1, 0, LIVE, 1);	/* idle tasks have no tid */
	put_task(&s, 2, 0, LIVE, 1);
	put_task(&s, 3, 100, LIVE, 3);
	put_task(&s, 4, 101, DEAD, 4);
	put_task(&s, 5, 101, LIVE, 5);	/* the pid came again */
	put_task(&s, 6, 102, DEAD, 6);
	put_task(&s, 7, 102, DEAD, 7);
	put_profile(&s, &(struct profile){ .kind = CPU, .cpu = 1, .outer = 8 });
	put_profile(&s, &(struct profile){ .kind = REAPED, .dead_seq = 2, .outer = 9 });
	finish(snap, &s);
	assert_int_equal(ktau_snapshot_count(snap), 9);
	while ((p = ktau_snapshot_next(snap, p)))
		nr++;
	assert_int_equal(nr, 9);
	assert_int_equal(count_of(ktau_snapshot_find(snap, 3), 0), 6);
	assert_null(ktau_snapshot_find(snap, 8));
	assert_int_equal(ktau_snapshot_find_tid(snap, 100)->owner.serial, 3);
	assert_int_equal(ktau_snapshot_find_tid(snap, 101)->owner.serial, 5);
	assert_int_equal(ktau_snapshot_find_tid(snap, 102)->owner.serial, 7);
	assert_null(ktau_snapshot_find_tid(snap, 0));
	assert_null(ktau_snapshot_find_tid(snap, 103));
	assert_int_equal(ktau_snapshot_cpu(snap, 1)->outer_ticks, 8);
	assert_null(ktau_snapshot_cpu(snap, 0));
	assert_int_equal(ktau_snapshot_reaped(snap)->outer_ticks, 9);
	assert_int_equal(ktau_snapshot_stream(snap)->nr_cpus, 2);
	assert_int_equal(ktau_snapshot_end(snap)->nr_records, 9);
	ktau_snapshot_destroy(snap);
}

/* Died between being streamed alive and the dead part: the dead one wins. */
static void died_meanwhile(void **state)
{
	struct ktau_snapshot *snap = create();
	struct stream s;
	int dead_first;

	(void)state;
	for (dead_first = 0; dead_first < 2; dead_first++) {
		ktau_snapshot_clear(snap);
		s = begin();
		put_task(&s, 9, 90, dead_first ? DEAD : LIVE, dead_first ? 5 : 4);
		put_task(&s, 9, 90, dead_first ? LIVE : DEAD, dead_first ? 4 : 5);
		finish(snap, &s);
		assert_int_equal(ktau_snapshot_count(snap), 1);
		assert_int_equal(ktau_snapshot_find(snap, 9)->owner.kind, KTAU_OWNER_DEAD);
		assert_int_equal(count_of(ktau_snapshot_find_tid(snap, 90), 0), 10);
	}
	ktau_snapshot_destroy(snap);
}

/* Stream after stream: the newest figures, the dead stay, the vanished go. */
static void updates(void **state)
{
	struct ktau_snapshot *snap = create();
	struct stream s = begin();

	(void)state;
	put_task(&s, 1, 10, LIVE, 1);
	put_task(&s, 2, 20, LIVE, 1);
	put_task(&s, 3, 30, LIVE, 1);
	finish(snap, &s);
	s = begin();
	put_task(&s, 1, 10, LIVE, 2);
	put_task(&s, 2, 20, DEAD, 3);
	put_task(&s, 4, 40, LIVE, 1);
	finish(snap, &s);
	assert_int_equal(ktau_snapshot_count(snap), 3);
	assert_int_equal(count_of(ktau_snapshot_find(snap, 1), 0), 4);
	assert_null(ktau_snapshot_find(snap, 3));
	assert_null(ktau_snapshot_find_tid(snap, 30));
	s = begin();
	put_task(&s, 4, 40, LIVE, 2);
	finish(snap, &s);
	assert_int_equal(ktau_snapshot_count(snap), 2);
	assert_int_equal(count_of(ktau_snapshot_find_tid(snap, 20), 0), 6);
	assert_int_equal(count_of(ktau_snapshot_find_tid(snap, 40), 0), 4);

	/* A stream that breaks off removes nobody. */
	s = begin();
	put_task(&s, 5, 50, LIVE, 1);
	assert_int_equal(read_into(snap, &s), -EBADMSG);
	assert_int_equal(ktau_snapshot_count(snap), 3);
	assert_null(ktau_snapshot_end(snap));
	stream_free(&s);
	ktau_snapshot_destroy(snap);
}

static void put_sleeper(struct stream *s, uint64_t serial, uint32_t kind, uint64_t ticks)
{
	static const struct frame asleep = { .id = 1, .start = 1000 };

	struct profile p = { .serial = serial, .tid = (int32_t)serial, .kind = kind };

	p.ticks = ticks;
	p.open = &asleep;
	p.nr_open = p.depth = 1;
	put_profile(s, &p);
}

/* Who is left out of a stream of what has changed is as he was, but later. */
static void left_out(void **state)
{
	const uint64_t stream_ticks = 5000000000; /* as put_stream() has it */
	struct ktau_snapshot *snap = create();
	struct stream s = begin();

	(void)state;
	put_sleeper(&s, 1, LIVE, 4000);
	put_sleeper(&s, 2, LIVE, 4000);
	put_sleeper(&s, 3, LIVE, 4000);
	put_sleeper(&s, 4, DEAD, 4000);
	finish(snap, &s);
	assert_int_equal(ktau_snapshot_find(snap, 1)->ticks, 4000);
	s = (struct stream){ .word_bits = 64 };
	put_stream(&s, KTAU_REC_PROFILE, KTAU_TARGET_CHANGED | KTAU_TARGET_DEAD);
	put_sleeper(&s, 2, LIVE, stream_ticks + 7);
	put_sleeper(&s, 3, DEAD, stream_ticks + 8);
	finish(snap, &s);
	assert_int_equal(ktau_snapshot_count(snap), 4);
	assert_int_equal(ktau_snapshot_find(snap, 1)->ticks, stream_ticks);
	assert_int_equal(ktau_profile_open(ktau_snapshot_find(snap, 1))->start_ticks, 1000);
	assert_int_equal(ktau_snapshot_find(snap, 2)->ticks, stream_ticks + 7);
	assert_int_equal(ktau_snapshot_find(snap, 3)->ticks, stream_ticks + 8);
	assert_int_equal(ktau_snapshot_find(snap, 4)->ticks, 4000);
	/* One of all says who lives. */
	s = begin();
	put_sleeper(&s, 2, LIVE, stream_ticks + 9);
	finish(snap, &s);
	assert_null(ktau_snapshot_find(snap, 1));
	ktau_snapshot_destroy(snap);
}

static void difference(void **state)
{
	struct ktau_snapshot *before = create(), *after = create(), *diff;
	const struct ktau_rec_profile *p;
	struct stream s = begin();

	(void)state;
	put_task(&s, 1, 10, LIVE, 3);
	put_task(&s, 2, 20, LIVE, 3);	/* vanishes */
	put_task(&s, 3, 30, LIVE, 3);	/* dies */
	put_task(&s, 4, 40, DEAD, 3);	/* dead already */
	put_task(&s, 5, 50, LIVE, 3);	/* does nothing */
	finish(before, &s);
	s = begin();
	put_task(&s, 1, 10, LIVE, 5);
	put_task(&s, 3, 30, DEAD, 4);
	put_task(&s, 4, 40, DEAD, 3);
	put_task(&s, 5, 50, LIVE, 3);
	put_task(&s, 6, 60, LIVE, 7);	/* new */
	finish(after, &s);

	assert_int_equal(ktau_snapshot_diff(after, before, &diff), 0);
	assert_int_equal(ktau_snapshot_count(diff), 4);
	p = ktau_snapshot_find(diff, 1);
	assert_int_equal(count_of(p, 0), 4);
	assert_int_equal(ktau_profile_find(p, 700)->excl, 6);
	assert_int_equal(ktau_profile_find(p, 701)->sum, 128);
	assert_int_equal(p->owner.utime_ns, 200);
	assert_int_equal(p->nr_open, 1);
	assert_int_equal(ktau_profile_open(p)->id, 1);
	check_identity(p);
	p = ktau_snapshot_find(diff, 3);
	assert_int_equal(p->owner.kind, KTAU_OWNER_DEAD);
	assert_int_equal(count_of(p, 0), 2);
	assert_int_equal(ktau_snapshot_find(diff, 5)->nr_entries, 0);
	assert_int_equal(count_of(ktau_snapshot_find(diff, 6), 0), 14);
	ktau_snapshot_destroy(diff);

	assert_int_equal(ktau_snapshot_diff(before, after, &diff), -EINVAL);
	assert_null(diff);
	ktau_snapshot_destroy(before);
	ktau_snapshot_destroy(after);
}

/* before + difference = after, also by way of DIFF records. */
static void adds_up(void **state)
{
	struct ktau_snapshot *before = create(), *after = create(), *diff;
	const struct ktau_rec_profile *p, *q;
	struct ktau_rec_profile *record;
	struct stream s = begin();
	union ktau_record rec;

	(void)state;
	put_task(&s, 1, 10, LIVE, 3);
	finish(before, &s);
	s = begin();
	put_task(&s, 1, 10, LIVE, 8);
	put_task(&s, 2, 20, DEAD, 2);
	finish(after, &s);
	assert_int_equal(ktau_snapshot_diff(after, before, &diff), 0);
	for (p = ktau_snapshot_next(diff, NULL); p; p = ktau_snapshot_next(diff, p)) {
		record = ktau_record_dup(p);
		assert_non_null(record);
		record->rec.type = KTAU_REC_DIFF;
		rec.profile = record;
		assert_int_equal(ktau_snapshot_add(before, &rec), 0);
		ktau_record_free(record);
	}
	assert_int_equal(ktau_snapshot_count(before), ktau_snapshot_count(after));
	for (p = ktau_snapshot_next(after, NULL); p; p = ktau_snapshot_next(after, p)) {
		q = ktau_snapshot_find(before, p->owner.serial);
		assert_non_null(q);
		assert_int_equal(p->rec.size, q->rec.size);
		assert_memory_equal(p, q, p->rec.size);
	}
	ktau_snapshot_destroy(diff);
	ktau_snapshot_destroy(before);
	ktau_snapshot_destroy(after);
}

static void sum(void **state)
{
	const struct entry reaped[] = {
		{ .id = 0, .count = 1000, .incl = 50, .excl = 50 },
		{ .id = 5000, .count = 2, .incl = 7, .excl = 7 },
	};
	struct ktau_snapshot *snap = create();
	const struct ktau_entry *e;
	struct ktau_rec_profile *p;
	struct stream s = begin();
	uint32_t i;

	(void)state;
	put_task(&s, 10, 10, LIVE, 1);
	put_task(&s, 11, 11, DEAD, 2);
	put_task(&s, 3, 12, DEAD, 100);		/* in the reaped total already */
	put_profile(&s, &(struct profile){ .kind = CPU, .outer = 1 << 20 });
	put_profile(&s, &(struct profile){
		.kind = REAPED, .dead_seq = 11, .outer = 60, .refused = 1, .refused_ticks = 3,
		.entries = reaped, .nr_entries = 2 });
	finish(snap, &s);
	assert_int_equal(ktau_snapshot_sum(snap, &p), 0);
	assert_int_equal(count_of(p, 0), 2 + 4 + 1000);
	e = ktau_profile_find(p, 701);
	assert_int_equal(e->count, 3);
	assert_int_equal(e->sum, 3 * 64);
	assert_int_equal(e->min, 1);
	assert_int_equal(e->max, 64);
	/* An id that no table has counts as refused. */
	assert_int_equal(p->refused, 3);
	assert_int_equal(p->refused_ticks, 10);
	assert_int_equal(p->nr_open, 0);
	check_identity(p);
	e = ktau_profile_entries(p);
	for (i = 1; i < p->nr_entries; i++)
		assert_true(e[i - 1].id < e[i].id);
	ktau_record_free(p);
	ktau_snapshot_destroy(snap);
}

/* The dead that the reaped total holds go, and the sum does not notice. */
static void drop_reaped(void **state)
{
	struct ktau_rec_profile *with, *without;
	struct ktau_snapshot *snap = create();
	struct stream s = begin();

	(void)state;
	assert_int_equal(ktau_snapshot_drop_reaped(snap), 0);
	put_task(&s, 3, 12, DEAD, 100);
	put_profile(&s, &(struct profile){ .kind = REAPED, .dead_seq = 11, .outer = 60 });
	put_task(&s, 10, 10, LIVE, 1);
	put_task(&s, 4, 13, DEAD, 100);
	put_task(&s, 11, 11, DEAD, 2);
	finish(snap, &s);
	assert_int_equal(ktau_snapshot_sum(snap, &with), 0);
	assert_int_equal(ktau_snapshot_drop_reaped(snap), 0);
	assert_int_equal(ktau_snapshot_sum(snap, &without), 0);
	assert_int_equal(with->rec.size, without->rec.size);
	assert_memory_equal(with, without, with->rec.size);
	assert_int_equal(ktau_snapshot_count(snap), 3);
	assert_null(ktau_snapshot_find(snap, 3));
	assert_null(ktau_snapshot_find_tid(snap, 13));
	assert_int_equal(ktau_snapshot_find(snap, 11)->owner.serial, 11);
	assert_int_equal(ktau_snapshot_find_tid(snap, 10)->owner.serial, 10);
	ktau_record_free(with);
	ktau_record_free(without);
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
		put_task(&s, (uint64_t)i << 32, i, LIVE, 1);
	put_end(&s);
	clock_gettime(CLOCK_PROCESS_CPUTIME_ID, &from);
	assert_int_equal(read_into(snap, &s), 1);
	assert_int_equal(read_into(snap, &s), 1);
	assert_int_equal(ktau_snapshot_diff(snap, snap, &diff), 0);
	assert_int_equal(ktau_snapshot_count(diff), nr);
	assert_int_equal(ktau_snapshot_sum(snap, &p), 0);
	for (i = 1; i <= nr; i++)
		assert_non_null(ktau_snapshot_find_tid(snap, i));
	clock_gettime(CLOCK_PROCESS_CPUTIME_ID, &to);
	ktau_record_free(p);
	ktau_snapshot_destroy(diff);
	ktau_snapshot_destroy(snap);
	stream_free(&s);
	return to.tv_sec - from.tv_sec + (to.tv_nsec - from.tv_nsec) / 1e9;
}

/* Sixteen times the tasks: not 256 times the time. */
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
		cmocka_unit_test(lookup),
		cmocka_unit_test(died_meanwhile),
		cmocka_unit_test(updates),
		cmocka_unit_test(left_out),
		cmocka_unit_test(difference),
		cmocka_unit_test(adds_up),
		cmocka_unit_test(sum),
		cmocka_unit_test(drop_reaped),
		cmocka_unit_test(linear),
	};

	return cmocka_run_group_tests_name("libktau: snapshots", tests, NULL, NULL);
}
