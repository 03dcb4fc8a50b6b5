// SPDX-License-Identifier: GPL-2.0-only
/* The checker on profiles and streams: it finds each contradiction, and nothing else. */
#include <errno.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stdlib.h>
#include <string.h>

#include <cmocka.h>

#include "checking.h"

static void clean(void **state)
{
	struct stream s = { .word_bits = 64 };
	struct ktau_check_counts counts;

	(void)state;
	put_start(&s, KTAU_REC_PROFILE, 0x3c);
	put_task(&s, 1, 10, TASK, 1);
	put_task(&s, 2, 20, EXITED, 5);
	put_profile(&s, &(struct profile){ .o = { .serial = 3, .kind = CPU } });
	put_end(&s);
	s.ticks = 5000001000;
	put_start(&s, KTAU_REC_PROFILE, 0x3c);
	put_task(&s, 1, 10, TASK, 2);
	put_end(&s);
	assert_int_equal(check(&s, &counts).nr, 0);
	assert_int_equal(counts.streams, 2);
	assert_int_equal(counts.profiles, 4);
	assert_int_equal(counts.periods, 1);
	assert_int_equal(counts.tasks, 2);
	assert_int_equal(counts.unknown, 0);
}

/* An owner that is part of another record is forgotten, so that memory is bounded. */
static void forgotten(void **state)
{
	const uint64_t serial = 2;
	struct stream s = { .word_bits = 64 };
	struct ktau_check_counts counts;
	unsigned int i;

	(void)state;
	for (i = 0; i < 3; i++) {
		s.ticks = 5000000000 + i * 1000;
		put_start(&s, KTAU_REC_PROFILE, 0x3c);
		if (i == 1)
			put_gone(&s, &serial, 1, 0);
		else
			put_task(&s, serial, 20, EXITED, 5);
		put_end(&s);
	}
	assert_int_equal(check(&s, &counts).nr, 0);
	assert_int_equal(counts.tasks, 2);	/* it is not known the second time */
	assert_int_equal(counts.periods, 0);
}

/* Unknown things are only counted. */
static void unknown(void **state)
{
	struct stream s = { .word_bits = 64, .big = true };
	struct ktau_check_counts counts;
	struct found found;

	(void)state;
	put_everything(&s);
	found = check(&s, &counts);
	assert_int_equal(found.nr, 0);
	assert_int_equal(counts.unknown, 3);	/* an owner, an entry, a slot */
	assert_int_equal(counts.slots, 17);
	assert_int_equal(counts.lost, 3);
}

static struct found check_one(struct profile p, uint32_t round_ns)
{
	struct stream s = { .word_bits = 64, .round_ns = round_ns, .since_boot = true };

	p.ticks = ticks_of(&s);
	put_start(&s, KTAU_REC_PROFILE, 0x3c);
	put_profile(&s, &p);
	put_end(&s);
	return check(&s, NULL);
}

static const struct entry twice[] = {
	{ .id = 1, .count = 1, .incl = 5, .excl = 5 },
	{ .id = 1, .count = 1, .incl = 5, .excl = 5 },
};
static const struct entry backward[] = { { .id = 2 }, { .id = 1 } };

static void profiles(void **state)
{
	static const struct entry above = { .id = 1, .count = 1, .incl = 5, .excl = 6 };
	static const struct entry longest = { .id = 1, .flags = 1, .count = 1, .incl = 5,
					      .excl = 5, .longest = 6 };
	static const struct entry inside = { .id = 1, .flags = 15, .count = 1, .incl = 5,
					     .excl = 2, .longest = 5, .asleep = 2, .runq = 3,
					     .irq = 1 };
	static const struct entry range = { .id = 1, .kind = 1, .count = 1, .excl = 6,
					    .longest = 5 };
	static const struct entry none = { .id = 65535, .count = 1, .incl = 5, .excl = 5 };
	static const struct entry nameless = { .id = 65534, .count = 1 };
	static const struct frame open[] = {
		{ .id = 1, .start = 10, .child = 3 }, { .id = 2, .start = 20, .child = 4 },
	};
	static const struct frame bad_open = { .id = 65535 };
	const struct {
		struct profile p;
		enum ktau_finding_code code;
	} cases[] = {
		{ { .outer = 1 }, KTAU_FINDING_IDENTITY },
		{ { .outer = 1, .o.kind = CPU }, KTAU_FINDING_IDENTITY },
		{ { .outer = 10, .entries = twice, .nr_entries = 2 }, KTAU_FINDING_ENTRY },
		{ { .entries = backward, .nr_entries = 2 }, KTAU_FINDING_ENTRY },
		{ { .outer = 6, .entries = &above, .nr_entries = 1 }, KTAU_FINDING_ENTRY },
		{ { .outer = 5, .entries = &longest, .nr_entries = 1 }, KTAU_FINDING_LONGEST },
		{ { .outer = 2, .entries = &inside, .nr_entries = 1 }, KTAU_FINDING_INSIDE },
		{ { .entries = &range, .nr_entries = 1 }, KTAU_FINDING_ENTRY },
		{ { .outer = 5, .entries = &none, .nr_entries = 1 }, KTAU_FINDING_ENTRY },
		{ { .entries = &nameless, .nr_entries = 1 }, KTAU_FINDING_REFERENCE },
		{ { .no_owner = true }, KTAU_FINDING_REFERENCE },
		{ { .o.cgroup = 9 }, KTAU_FINDING_REFERENCE },
		{ { .open = &bad_open, .nr_open = 1, .depth = 1 }, KTAU_FINDING_OPEN },
		{ { .refused_ticks = 7, .open_child = 7, .open = open, .nr_open = 2, .depth = 2 },
		  KTAU_FINDING_OPEN },
		{ { .refused_ticks = 4, .open_child = 4, .open = open, .nr_open = 1, .depth = 1 },
		  KTAU_FINDING_OPEN },
		{ { .refused_ticks = 3, .open_child = 3, .open = open, .nr_open = 1 },
		  KTAU_FINDING_OPEN },
	};
	struct found found;
	struct profile p;
	size_t i;

	(void)state;
	for (i = 0; i < NR(cases); i++) {
		p = cases[i].p;
		p.o.serial = 5 + i;
		found = check_one(p, 0);
		assert_int_equal(found.nr, 1);
		assert_int_equal(found.code, cases[i].code);
		assert_int_equal(found.serial, 5 + i);
		assert_true(strlen(found.text) > 0);
	}
	/* Recursion in flight: the exclusive time of inner activations is already counted. */
	p = (struct profile){ .o.serial = 1, .open_child = 6, .entries = &above,
			      .nr_entries = 1, .depth = 3 };
	assert_int_equal(check_one(p, 0).nr, 0);
}

/* Rounded times add up, except for sums of frames, and may decrease. */
static void rounded(void **state)
{
	static const struct frame open = { .id = 1, .start = 10, .child = 3 };
	static const struct entry entry = { .id = 1, .count = 1, .incl = 5, .excl = 5 };
	struct profile p = { .o.serial = 1, .refused_ticks = 4, .open_child = 4, .open = &open,
			     .nr_open = 1, .depth = 1 };
	struct stream s = { .word_bits = 64, .round_ns = 1000 };
	struct found found;

	(void)state;
	assert_int_equal(check_one(p, 0).nr, 1);
	assert_int_equal(check_one(p, 1000).nr, 0);
	p.outer = 1;
	found = check_one(p, 1000);
	assert_int_equal(found.nr, 1);
	assert_int_equal(found.code, KTAU_FINDING_IDENTITY);
	put_start(&s, KTAU_REC_PROFILE, 0x3c);
	p = (struct profile){ .o.serial = 1, .entries = &entry, .nr_entries = 1, .outer = 5 };
	put_profile(&s, &p);
	put_end(&s);
	put_start(&s, KTAU_REC_PROFILE, 0x3c);
	p.outer = 4;
	p.open_child = 1;
	put_profile(&s, &p);
	put_end(&s);
	assert_int_equal(check(&s, NULL).nr, 0);
}

/* Each of the times that make up a life, and the life, may be too small by what is rounded off. */
static void rounded_account(void **state)
{
	static const struct {
		uint64_t user;
		unsigned int exact, rounded;
	} cases[] = {
		{ 4999994000, 0, 0 }, { 4999993999, 1, 0 }, { 4999994001, 1, 0 },
		{ 4999984000, 1, 0 }, { 4999980000, 1, 1 }, { 4999996000, 1, 0 },
		{ 4999998000, 1, 1 },
	};
	struct profile p = { .throughout = 0x3fff, .account = { 0, 6000 } };
	size_t i;

	(void)state;
	for (i = 0; i < NR(cases); i++) {
		p.o.serial = 1;
		p.account[0] = cases[i].user;
		assert_int_equal(check_one(p, 0).nr, cases[i].exact);
		assert_int_equal(check_one(p, 1000).nr, cases[i].rounded);
	}
	/* Without one of the groups, they may add up to less, but not to more. */
	p.throughout &= ~KTAU_GROUP_BH;
	p.account[0] = 5;
	assert_int_equal(check_one(p, 0).nr, 0);
	p.account[0] = 5000000000;
	assert_int_equal(check_one(p, 0).nr, 1);
}

static void streams(void **state)
{
	struct stream s = { .word_bits = 64 };
	struct ktau_check_counts counts;
	struct found found;

	(void)state;
	put_start(&s, KTAU_REC_PROFILE, 0x3c);
	put_task(&s, 1, 10, TASK, 2);
	s.nr_records++;
	put_end(&s);
	found = check(&s, NULL);
	assert_int_equal(found.nr, 1);
	assert_int_equal(found.code, KTAU_FINDING_STREAM);

	s = (struct stream){ .word_bits = 64 };
	put_start(&s, KTAU_REC_PROFILE, 0x3c);
	put_task(&s, 1, 10, TASK, 2);
	put_end(&s);
	put_start(&s, KTAU_REC_PROFILE, 0x3c);
	put_task(&s, 1, 10, TASK, 1);
	put_end(&s);
	found = check(&s, &counts);
	assert_true(found.nr > 0);
	assert_int_equal(counts.findings[KTAU_FINDING_BACKWARD], found.nr);
}

/* Owners are valid in their stream, events in their boot; a missing event is reported once. */
static void references(void **state)
{
	struct stream s = { .word_bits = 64 };
	struct ktau_check_counts counts;
	struct found found;
	int i;

	(void)state;
	put_start(&s, KTAU_REC_PROFILE, 0x3c);
	put_cgroup(&s, 9, "/a");
	put_profile(&s, &(struct profile){ .o = { .serial = 1, .cgroup = 9 } });
	put_end(&s);
	put_stream(&s, KTAU_REC_PROFILE, 0x3c);
	put_profile(&s, &(struct profile){ .o = { .serial = 1, .cgroup = 9 }, .no_owner = true });
	put_end(&s);
	found = check(&s, NULL);
	assert_int_equal(found.nr, 1);
	assert_int_equal(found.code, KTAU_FINDING_REFERENCE);
	assert_int_equal(found.serial, 1);
	for (i = 0; i < 2; i++) {
		s = (struct stream){ .word_bits = 64 };
		put_start(&s, KTAU_REC_PROFILE, 0x3c);
		put_end(&s);
		s.boot = i;
		put_stream(&s, KTAU_REC_PROFILE, 0x3c);
		put_task(&s, 1, 10, TASK, 2);
		put_task(&s, 2, 20, TASK, 2);
		put_end(&s);
		found = check(&s, &counts);
		assert_int_equal(found.nr, i ? 4 : 0);
		assert_int_equal(counts.findings[KTAU_FINDING_REFERENCE], found.nr);
	}
}

/* The counters of END count from the first END on, and restart with a new boot. */
static void counters(void **state)
{
	struct stream s = { .word_bits = 64, .denied = 3, .losses = { 7, [9] = 100 } };
	struct ktau_check_counts counts;
	int i;

	(void)state;
	for (i = 0; i < 3; i++) {
		put_start(&s, i ? KTAU_REC_TRACE : KTAU_REC_PROFILE, 0x3c);
		put_end(&s);
		s.losses[9] += 7;
	}
	s.boot = 1;
	s.losses[9] = 1;
	s.losses[0] = 1000;
	put_start(&s, KTAU_REC_TRACE, 0x3c);
	put_end(&s);
	s.losses[0]++;
	put_start(&s, KTAU_REC_TRACE, 0x3c);
	put_end(&s);
	assert_int_equal(check(&s, &counts).nr, 0);
	assert_int_equal(counts.losses[9], 14);
	assert_int_equal(counts.losses[0], 1);
	assert_int_equal(counts.lost, 0);
	assert_int_equal(counts.denied, 6);
}

/* Serials start anew with each boot, so the same serial is another task. */
static void boots(void **state)
{
	struct stream s = { .word_bits = 64 };
	struct ktau_check_counts counts;

	(void)state;
	put_start(&s, KTAU_REC_PROFILE, 0x3c);
	put_task(&s, 1, 10, TASK, 5);
	put_end(&s);
	s.boot = 1;
	put_start(&s, KTAU_REC_PROFILE, 0x3c);
	put_task(&s, 1, 20, TASK, 2);
	put_end(&s);
	assert_int_equal(check(&s, &counts).nr, 0);
	assert_int_equal(counts.tasks, 2);
	assert_int_equal(counts.profiles, 2);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(clean),
		cmocka_unit_test(forgotten),
		cmocka_unit_test(unknown),
		cmocka_unit_test(profiles),
		cmocka_unit_test(rounded),
		cmocka_unit_test(rounded_account),
		cmocka_unit_test(streams),
		cmocka_unit_test(references),
		cmocka_unit_test(counters),
		cmocka_unit_test(boots),
	};

	return cmocka_run_group_tests_name("libktau: checker", tests, NULL, NULL);
}
