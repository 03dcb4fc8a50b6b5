// SPDX-License-Identifier: GPL-2.0-only
/* The checker finds each contradiction, and none where there is none. */
#include <errno.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stdlib.h>
#include <string.h>

#include <cmocka.h>
#include <ktau.h>

#include "encode.h"

struct found {
	unsigned int nr;
	enum ktau_finding_code code;
	char text[256];
	uint64_t serial;
};

static void note(void *arg, const struct ktau_finding *finding)
{
	struct found *found = arg;

	found->nr++;
	found->code = finding->code;
	found->serial = finding->owner ? finding->owner->serial : 0;
	strncpy(found->text, finding->text, sizeof(found->text) - 1);
}

/* Check all of @s and free it. */
static struct found check(struct stream *s, struct ktau_check_counts *counts)
{
	struct found found = { 0 };
	struct ktau_check *c;
	struct ktau_reader *r;
	union ktau_record rec;
	int nr = 0, err;

	assert_int_equal(ktau_check_create(&c, note, &found), 0);
	assert_int_equal(ktau_reader_create(&r), 0);
	assert_int_equal(ktau_reader_open_memory(r, s->data, s->size), 0);
	while (ktau_reader_next(r, &rec) > 0) {
		err = ktau_check_record(c, &rec);
		assert_true(err >= 0);
		nr += err;
	}
	assert_int_equal(nr, found.nr);
	if (counts)
		*counts = *ktau_check_counts(c);
	ktau_reader_destroy(r);
	ktau_check_destroy(c);
	stream_free(s);
	return found;
}

static void clean(void **state)
{
	struct stream s = { .word_bits = 64 };
	struct ktau_check_counts counts;

	(void)state;
	put_stream(&s, KTAU_REC_PROFILE, 0x3c);
	put_task(&s, 1, 10, 0, 1);
	put_task(&s, 2, 20, 1, 5);
	put_profile(&s, &(struct profile){ .kind = 2 });
	put_end(&s);
	put_stream(&s, KTAU_REC_PROFILE, 0x3c);
	put_task(&s, 1, 10, 0, 2);
	put_end(&s);
	assert_int_equal(check(&s, &counts).nr, 0);
	assert_int_equal(counts.streams, 2);
	assert_int_equal(counts.profiles, 4);
	assert_int_equal(counts.tasks, 2);
}

static struct found check_one(const struct profile *p)
{
	struct stream s = { .word_bits = 64 };

	put_stream(&s, KTAU_REC_PROFILE, 0x3c);
	put_profile(&s, p);
	put_end(&s);
	return check(&s, NULL);
}

static void profiles(void **state)
{
	static const struct entry twice[] = {
		{ .id = 1, .count = 1, .incl = 5, .excl = 5 },
		{ .id = 1, .count = 1, .incl = 5, .excl = 5 },
	};
	static const struct entry above = { .id = 1, .count = 1, .incl = 5, .excl = 6 };
	static const struct entry range = { .id = 1, .kind = 1, .count = 1, .excl = 6, .max = 5 };
	static const struct entry far = { .id = 1024, .count = 1, .incl = 5, .excl = 5 };
	static const struct entry kind = { .id = 7, .kind = 2, .count = 1 };
	static const struct frame open[] = {
		{ .id = 1, .start = 10, .child = 3 }, { .id = 2, .start = 20, .child = 4 },
	};
	const struct {
		struct profile p;
		enum ktau_finding_code code;
	} cases[] = {
		{ { .outer = 1 }, KTAU_FINDING_IDENTITY },
		{ { .outer = 1, .kind = KTAU_OWNER_CPU }, KTAU_FINDING_IDENTITY },
		{ { .outer = 10, .entries = twice, .nr_entries = 2 }, KTAU_FINDING_ENTRY },
		{ { .outer = 6, .entries = &above, .nr_entries = 1 }, KTAU_FINDING_ENTRY },
		{ { .entries = &range, .nr_entries = 1 }, KTAU_FINDING_ENTRY },
		{ { .outer = 5, .entries = &far, .nr_entries = 1 }, KTAU_FINDING_ENTRY },
		{ { .entries = &kind, .nr_entries = 1 }, KTAU_FINDING_ENTRY },
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
		p.serial = 5 + i;
		found = check_one(&p);
		assert_int_equal(found.nr, 1);
		assert_int_equal(found.code, cases[i].code);
		assert_int_equal(found.serial, 5 + i);
		assert_true(strlen(found.text) > 0);
	}
	/* Recursion in flight: exclusive time of the inner ones is in already. */
	p = (struct profile){ .serial = 1, .outer = 0, .open_child = 6, .entries = &above,
			      .nr_entries = 1, .depth = 3 };
	assert_int_equal(check_one(&p).nr, 0);
}

static void streams(void **state)
{
	struct stream s = { .word_bits = 64 };
	struct found found;

	(void)state;
	put_stream(&s, KTAU_REC_PROFILE, 0x3c);
	put_task(&s, 1, 10, 0, 2);
	s.nr_records++;
	put_end(&s);
	found = check(&s, NULL);
	assert_int_equal(found.nr, 1);
	assert_int_equal(found.code, KTAU_FINDING_STREAM);

	s = (struct stream){ .word_bits = 64 };
	put_stream(&s, KTAU_REC_PROFILE, 0x3c);
	put_task(&s, 1, 10, 0, 2);
	put_end(&s);
	put_stream(&s, KTAU_REC_PROFILE, 0x3c);
	put_task(&s, 1, 10, 0, 1);
	put_end(&s);
	found = check(&s, NULL);
	assert_int_equal(found.nr, 1);
	assert_int_equal(found.code, KTAU_FINDING_BACKWARD);
}

/* clang-format off */
#define ENTER(event)	{ .ticks = 1, .id = (event), .type = 1 }
#define EXIT(event)	{ .ticks = 1, .id = (event), .type = 2 }
/* clang-format on */

static struct found check_traces(const struct trace *traces, unsigned int nr)
{
	struct stream s = { .word_bits = 64 };
	unsigned int i;

	put_stream(&s, KTAU_REC_TRACE, 0x3c);
	for (i = 0; i < nr; i++)
		put_trace(&s, &traces[i]);
	put_end(&s);
	return check(&s, NULL);
}

static void nesting(void **state)
{
	static const struct slot good[] = {
		EXIT(9), ENTER(1), ENTER(2), ENTER(2), EXIT(2), EXIT(2), EXIT(1), EXIT(8), ENTER(3),
	};
	static const struct slot bad[] = { ENTER(1), ENTER(2), EXIT(1), ENTER(3), EXIT(3) };
	static const struct slot rest[] = { EXIT(3) };
	static const struct slot wrong[] = { EXIT(4) };
	struct trace t[2] = {
		{ .serial = 1, .written = 9, .slots = good, .nr_slots = NR(good) },
		{ .serial = 1, .first = 9, .written = 10, .slots = rest, .nr_slots = 1 },
	};
	struct found found;

	(void)state;
	assert_int_equal(check_traces(t, 2).nr, 0);
	/* The stack goes on from record to record ... */
	t[1].slots = wrong;
	found = check_traces(t, 2);
	assert_int_equal(found.nr, 1);
	assert_int_equal(found.code, KTAU_FINDING_NESTING);
	/* ... but not across what was lost, nor from task to task. */
	t[1].first = 20;
	t[1].lost = 11;
	t[1].written = 21;
	assert_int_equal(check_traces(t, 2).nr, 0);
	t[1] = (struct trace){ .serial = 2, .written = 1, .slots = wrong, .nr_slots = 1 };
	assert_int_equal(check_traces(t, 2).nr, 0);
	t[0] = (struct trace){ .serial = 1, .written = 5, .slots = bad, .nr_slots = NR(bad) };
	found = check_traces(t, 1);
	assert_int_equal(found.nr, 1);
	assert_non_null(strstr(found.text, "slot 2: exit of event 1 inside of event 2"));
}

static void losses(void **state)
{
	static const struct slot slots[] = { ENTER(1), EXIT(1) };
	const struct trace first = { .serial = 1, .first = 5, .lost = 5, .written = 7,
				     .slots = slots, .nr_slots = 2 };
	const struct {
		struct trace t;
		unsigned int findings;
	} cases[] = {
		{ { .first = 7, .written = 9 }, 0 },
		{ { .first = 0, .written = 2 }, 0 },
		{ { .first = 3, .lost = 3, .from = 1, .to = 1, .written = 5 }, 0 },
		{ { .first = 9, .lost = 2, .from = 1, .to = 2, .written = 11 }, 0 },
		{ { .first = 9, .written = 11 }, 1 },
		{ { .first = 9, .lost = 1, .written = 11 }, 1 },
		{ { .first = 5, .written = 7 }, 1 },
		{ { .first = 7, .lost = 9, .written = 9 }, 1 },
		{ { .first = 7, .written = 8 }, 1 },
		{ { .first = 9, .lost = 2, .from = 3, .to = 2, .written = 11 }, 1 },
	};
	struct found found;
	struct trace t[2];
	size_t i;

	(void)state;
	for (i = 0; i < NR(cases); i++) {
		t[0] = first;
		t[1] = cases[i].t;
		t[1].serial = 1;
		t[1].slots = slots;
		t[1].nr_slots = 2;
		found = check_traces(t, 2);
		assert_int_equal(found.nr, cases[i].findings);
		if (found.nr)
			assert_int_equal(found.code, KTAU_FINDING_LOSS);
	}
}

/* put_end() says that all is complete from 4900000000 on. */
static void common_cut(void **state)
{
	static const struct slot slots[] = { ENTER(1), EXIT(1) };
	struct trace t = { .serial = 1, .first = 5, .lost = 5, .to = 4900000000, .written = 7,
			   .slots = slots, .nr_slots = 2 };
	struct found found;

	(void)state;
	assert_int_equal(check_traces(&t, 1).nr, 0);
	t.to++;
	found = check_traces(&t, 1);
	assert_int_equal(found.nr, 1);
	assert_int_equal(found.code, KTAU_FINDING_LOSS);
	/* The time of a loss that was none means nothing. */
	t.first = t.lost = 0;
	assert_int_equal(check_traces(&t, 1).nr, 0);
}

/* Reading the dead takes nothing: each stream has the same slots of them. */
static void dead_again(void **state)
{
	static const struct slot slots[] = { ENTER(1), EXIT(1), ENTER(2), EXIT(2) };
	const struct trace alive = { .serial = 1, .written = 2, .slots = slots, .nr_slots = 2 };
	const struct trace dead = { .serial = 1, .kind = 1, .first = 5, .lost = 3, .written = 9,
				    .slots = slots, .nr_slots = 2 };
	const struct trace rest = { .serial = 1, .kind = 1, .first = 7, .written = 9,
				    .slots = slots + 2, .nr_slots = 2 };
	struct trace t[] = { alive, dead, rest, dead, rest, dead };
	struct found found;

	(void)state;
	assert_int_equal(check_traces(t, NR(t)).nr, 0);
	/* From somewhere else it does not begin again. */
	t[3].lost = 2;
	found = check_traces(t, NR(t));
	assert_int_equal(found.nr, 1);
	assert_int_equal(found.code, KTAU_FINDING_LOSS);
	/* What was read while it lived is not there again. */
	t[1] = alive;
	t[1].first = 1;
	t[1].written = 3;
	assert_int_equal(check_traces(t, 2).nr, 1);
}

/* Of tasks that nobody could read in time only the ENDs tell, from the first on. */
static void reaped(void **state)
{
	struct stream s = { .word_bits = 64, .lost_reaped = 100 };
	struct ktau_check_counts counts;
	int i;

	(void)state;
	for (i = 0; i < 3; i++) {
		put_stream(&s, KTAU_REC_TRACE, 0x3c);
		put_end(&s);
		s.lost_reaped += 7;
	}
	assert_int_equal(check(&s, &counts).nr, 0);
	assert_int_equal(counts.lost, 14);
}

static void order(void **state)
{
	static const struct slot slots[] = {
		{ .ticks = 5, .type = 7, .more = 1 }, { .type = 255, .ctx = 1, .text = "" },
		{ .ticks = 5, .type = 1 }, { .ticks = 4, .type = 2 },
	};
	static const struct slot earlier[] = { { .ticks = 3, .type = 1 } };
	struct trace t[2] = {
		{ .serial = 1, .written = 3, .slots = slots, .nr_slots = 3 },
		{ .serial = 1, .first = 3, .written = 4, .slots = earlier, .nr_slots = 1 },
	};
	struct found found;

	(void)state;
	assert_int_equal(check_traces(t, 1).nr, 0);
	found = check_traces(t, 2);
	assert_int_equal(found.nr, 1);
	assert_int_equal(found.code, KTAU_FINDING_SLOT);
	assert_non_null(strstr(found.text, "slot 3: 2 ticks before"));
	t[1].serial = 2;
	assert_int_equal(check_traces(t, 2).nr, 0);
	t[0].nr_slots = 4;
	t[0].written = 4;
	assert_int_equal(check_traces(t, 1).nr, 1);
}

static void continuations(void **state)
{
	static const struct slot good[] = {
		{ .type = 9, .more = 2 },
		{ .type = 255, .ctx = 1, .text = "local" },
		{ .type = 255, .ctx = 2, .text = "remote" },
		{ .type = 200 },
	};
	static const struct slot missing[] = { { .type = 7 } };
	static const struct slot cut_off[] = {
		{ .type = 9, .more = 2 }, { .type = 255, .ctx = 1, .text = "local" },
	};
	static const struct slot swapped[] = {
		{ .type = 9, .more = 2 },
		{ .type = 255, .ctx = 2, .text = "" }, { .type = 255, .ctx = 1, .text = "" },
	};
	static const struct slot context[] = { { .type = 1, .ctx = 4 } };
	static const struct slot id[] = { { .type = 3, .id = 1024 } };
	static const struct slot type[] = { { .type = 0 } };
	const struct {
		const struct slot *slots;
		uint32_t nr;
		unsigned int findings;
	} cases[] = {
		{ good, NR(good), 0 }, { missing, 1, 1 }, { cut_off, 2, 1 }, { swapped, 3, 1 },
		{ context, 1, 1 }, { id, 1, 1 }, { type, 1, 1 },
	};
	struct found found;
	struct trace t;
	size_t i;

	(void)state;
	for (i = 0; i < NR(cases); i++) {
		t = (struct trace){ .serial = 1, .written = cases[i].nr, .slots = cases[i].slots,
				    .nr_slots = cases[i].nr };
		found = check_traces(&t, 1);
		assert_int_equal(found.nr, cases[i].findings);
		if (found.nr)
			assert_int_equal(found.code, KTAU_FINDING_SLOT);
	}
}

static void gap(void **state)
{
	static const struct slot slots[] = { EXIT(1) };
	const struct trace t = { .serial = 1, .first = 50, .written = 51, .slots = slots,
				 .nr_slots = 1 };
	struct stream s = { .word_bits = 64 };
	struct ktau_check *c;
	struct ktau_reader *r;
	union ktau_record rec;

	(void)state;
	put_stream(&s, KTAU_REC_TRACE, 0x3c);
	put_trace(&s, &t);
	put_end(&s);
	assert_int_equal(ktau_check_create(&c, NULL, NULL), 0);
	assert_int_equal(ktau_reader_create(&r), 0);
	assert_int_equal(ktau_reader_open_memory(r, s.data, s.size), 0);
	/* As if a bad block had taken the STREAM record. */
	assert_int_equal(ktau_reader_next(r, &rec), 1);
	ktau_check_gap(c);
	while (ktau_reader_next(r, &rec) > 0)
		assert_int_equal(ktau_check_record(c, &rec), 0);
	ktau_reader_destroy(r);
	ktau_check_destroy(c);
	stream_free(&s);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(clean),
		cmocka_unit_test(profiles),
		cmocka_unit_test(streams),
		cmocka_unit_test(nesting),
		cmocka_unit_test(losses),
		cmocka_unit_test(common_cut),
		cmocka_unit_test(dead_again),
		cmocka_unit_test(reaped),
		cmocka_unit_test(order),
		cmocka_unit_test(continuations),
		cmocka_unit_test(gap),
	};

	return cmocka_run_group_tests_name("libktau: checker", tests, NULL, NULL);
}
