// SPDX-License-Identifier: GPL-2.0-only
/* The checker on traces: nesting, losses, slots. */
#include <errno.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stdlib.h>
#include <string.h>

#include <cmocka.h>

#include "checking.h"

/* clang-format off */
#define ENTER(event)	{ .ticks = 1, .id = (event), .type = 1 }
#define EXIT(event)	{ .ticks = 1, .id = (event), .type = 2 }
/* clang-format on */

static struct found check_traces_of(const struct trace *traces, unsigned int nr, uint32_t flags)
{
	struct stream s = { .word_bits = 64, .flags = flags };
	unsigned int i;

	put_start(&s, KTAU_REC_TRACE, 0x3c);
	for (i = 0; i < nr; i++)
		put_trace(&s, &traces[i]);
	put_end(&s);
	return check(&s, NULL);
}

static struct found check_traces(const struct trace *traces, unsigned int nr)
{
	return check_traces_of(traces, nr, KTAU_SELECT_CONSUME);
}

static void nesting(void **state)
{
	static const struct slot good[] = {
		EXIT(3), ENTER(1), ENTER(2), ENTER(2), EXIT(2), EXIT(2), EXIT(1), EXIT(0), ENTER(3),
	};
	static const struct slot bad[] = { ENTER(1), ENTER(2), EXIT(1), ENTER(3), EXIT(3) };
	static const struct slot rest[] = { EXIT(3) };
	static const struct slot wrong[] = { EXIT(2) };
	struct trace t[2] = {
		{ .serial = 1, .slots = good, .nr_slots = NR(good) },
		{ .serial = 1, .first = 9, .slots = rest, .nr_slots = 1 },
	};
	struct found found;

	(void)state;
	assert_int_equal(check_traces(t, 2).nr, 0);
	/* The stack continues from record to record ... */
	t[1].slots = wrong;
	found = check_traces(t, 2);
	assert_int_equal(found.nr, 1);
	assert_int_equal(found.code, KTAU_FINDING_NESTING);
	/* ... but not across a loss, nor from task to task. */
	t[1].first = 20;
	t[1].lost = 11;
	assert_int_equal(check_traces(t, 2).nr, 0);
	t[1] = (struct trace){ .serial = 2, .slots = wrong, .nr_slots = 1 };
	assert_int_equal(check_traces(t, 2).nr, 0);
	t[0] = (struct trace){ .serial = 1, .slots = bad, .nr_slots = NR(bad) };
	found = check_traces(t, 1);
	assert_int_equal(found.nr, 1);
	assert_non_null(strstr(found.text, "slot 2: exit of event 1 inside event 2"));
}

/*
 * A slot without room in its ring has no number; each explains one exit of its owner that does not
 * nest. Those of other owners, and slots without a ring, explain nothing.
 */
static void nesting_without_room(void **state)
{
	static const struct slot bad[] = {
		ENTER(1), ENTER(2), EXIT(1), ENTER(1), ENTER(2), EXIT(1),
	};
	static const struct slot good[] = { ENTER(1), EXIT(1) };
	struct trace t[2] = {
		{ .serial = 1, .slots = bad, .nr_slots = NR(bad) },
		{ .serial = 2, .slots = good, .nr_slots = NR(good), .no_room = 100 },
	};
	struct stream s;
	uint64_t lost;
	size_t i;

	(void)state;
	for (lost = 0; lost < 4; lost++) {
		s = (struct stream){ .word_bits = 64, .flags = KTAU_SELECT_CONSUME };
		for (i = 0; i < NR(s.losses); i++)
			s.losses[i] = 100;
		t[0].no_room = lost;
		put_start(&s, KTAU_REC_TRACE, 0x3c);
		put_trace(&s, &t[1]);
		put_trace(&s, &t[0]);
		put_end(&s);
		assert_int_equal(check(&s, NULL).nr, lost < 2 ? 2 - lost : 0);
	}
}

static void losses(void **state)
{
	static const struct slot slots[] = { ENTER(1), EXIT(1) };
	const struct trace first = { .serial = 1, .first = 5, .lost = 5, .slots = slots,
				     .nr_slots = 2 };
	const struct {
		struct trace t;
		unsigned int findings;
	} cases[] = {
		{ { .first = 7 }, 0 },
		{ { .first = 7, .next = 12 }, 0 },	/* slots of several positions */
		{ { .first = 7, .written = 99 }, 0 },
		{ { .first = 0, .next = 2 }, 0 },	/* a new ring */
		{ { .first = 3, .lost = 3, .from = 1, .to = 1 }, 0 },
		{ { .first = 9, .lost = 2, .from = 1, .to = 2 }, 0 },
		{ { .first = 9 }, 1 },
		{ { .first = 9, .lost = 1 }, 1 },
		{ { .first = 5 }, 1 },
		{ { .first = 7, .lost = 9 }, 1 },
		{ { .first = 7, .written = 8 }, 1 },
		{ { .first = 7, .next = 8 }, 1 },
		{ { .first = 7, .next = 6, .written = 9 }, 1 },
		{ { .first = 7, .next = 7 + 1025 }, 1 },
		{ { .first = 9, .lost = 2, .from = 3, .to = 2 }, 1 },
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

/* put_end() claims that all rings are complete from 4900000000 on. */
static void common_cut(void **state)
{
	static const struct slot slots[] = { ENTER(1), EXIT(1) };
	struct trace t = { .serial = 1, .first = 5, .lost = 5, .to = 4900000000,
			   .slots = slots, .nr_slots = 2 };
	struct found found;

	(void)state;
	assert_int_equal(check_traces(&t, 1).nr, 0);
	t.to++;
	found = check_traces(&t, 1);
	assert_int_equal(found.nr, 1);
	assert_int_equal(found.code, KTAU_FINDING_LOSS);
	/* Without losses the time range is ignored. */
	t.first = t.lost = 0;
	assert_int_equal(check_traces(&t, 1).nr, 0);
}

/* Reading an exited task consumes nothing, so each stream has the same slots of it. */
static void exited_again(void **state)
{
	static const struct slot slots[] = { ENTER(1), EXIT(1), ENTER(2), EXIT(2) };
	const struct trace alive = { .serial = 1, .slots = slots, .nr_slots = 2 };
	const struct trace exited = { .serial = 1, .kind = EXITED, .first = 5, .lost = 3,
				      .written = 9, .slots = slots, .nr_slots = 2 };
	const struct trace rest = { .serial = 1, .kind = EXITED, .first = 7,
				    .slots = slots + 2, .nr_slots = 2 };
	struct trace t[] = { alive, exited, rest, exited, rest, exited };
	struct found found;

	(void)state;
	assert_int_equal(check_traces(t, NR(t)).nr, 0);
	/* Its slots cannot begin at another position. */
	t[3].lost = 2;
	found = check_traces(t, NR(t));
	assert_int_equal(found.nr, 1);
	assert_int_equal(found.code, KTAU_FINDING_LOSS);
	/* Slots that were read while it was alive are not sent again. */
	t[1] = alive;
	t[1].first = 1;
	assert_int_equal(check_traces(t, 2).nr, 1);
}

/* Streams that do not consume may begin anywhere; within a stream, records continue. */
static void not_consuming(void **state)
{
	static const struct slot slots[] = { ENTER(1), EXIT(1) };
	struct trace t[] = {
		{ .serial = 1, .first = 5, .slots = slots, .nr_slots = 2 },
		{ .serial = 1, .first = 7, .slots = slots, .nr_slots = 2 },
		{ .serial = 1, .kind = EXITED, .first = 3, .slots = slots, .nr_slots = 2 },
		{ .serial = 1, .kind = EXITED, .first = 5, .slots = slots, .nr_slots = 2 },
	};
	struct stream s = { .word_bits = 64 };
	struct found found;
	int i;

	(void)state;
	assert_int_equal(check_traces_of(t, NR(t), 0).nr, 0);
	for (i = 0; i < 2; i++) {
		put_start(&s, KTAU_REC_TRACE, 0x3c);
		put_trace(&s, &t[1 - i]);
		put_end(&s);
	}
	assert_int_equal(check(&s, NULL).nr, 0);
	t[1].first = 8;
	found = check_traces_of(t, 2, 0);
	assert_int_equal(found.nr, 1);
	assert_int_equal(found.code, KTAU_FINDING_LOSS);
}

/* Two files, of which the second begins at @first with @lost: what is found in it. */
static struct found check_files(uint32_t flags, uint64_t first, uint64_t lost)
{
	static const struct slot slots[] = { ENTER(1), EXIT(1) };
	const struct trace t[] = {
		{ .serial = 1, .first = 5, .slots = slots, .nr_slots = 2 },
		{ .serial = 1, .first = first, .lost = lost, .slots = slots, .nr_slots = 2 },
	};
	struct found found = { 0 };
	struct ktau_check *c;
	struct ktau_reader *r;
	union ktau_record rec;
	int i;

	assert_int_equal(ktau_check_create(&c, note, &found), 0);
	assert_int_equal(ktau_reader_create(&r), 0);
	for (i = 0; i < 2; i++) {
		struct stream s = { .word_bits = 64, .flags = flags };

		put_start(&s, KTAU_REC_TRACE, 0x3c);
		put_trace(&s, &t[i]);
		/* The writer of the first file was killed. */
		if (i)
			put_end(&s);
		assert_int_equal(ktau_reader_open_memory(r, s.data, s.size), 0);
		while (ktau_reader_next(r, &rec) > 0)
			assert_true(ktau_check_record(c, &rec) >= 0);
		ktau_check_file(c);
		stream_free(&s);
	}
	ktau_reader_destroy(r);
	ktau_check_destroy(c);
	return found;
}

static void files(void **state)
{
	struct found found;

	(void)state;
	assert_int_equal(check_files(KTAU_SELECT_CONSUME, 7, 0).nr, 0);
	assert_int_equal(check_files(KTAU_SELECT_CONSUME, 19, 12).nr, 0);
	assert_int_equal(check_files(KTAU_SELECT_CONSUME, 0, 0).nr, 0);
	assert_int_equal(check_files(0, 19, 0).nr, 0);
	found = check_files(KTAU_SELECT_CONSUME, 19, 0);
	assert_int_equal(found.nr, 1);
	assert_int_equal(found.code, KTAU_FINDING_LOSS);
	assert_non_null(strstr(found.text, "hole of 12 positions"));
}

static void order(void **state)
{
	static const struct slot slots[] = {
		{ .ticks = 5, .type = 8, .format = "t", .text = "" },
		{ .ticks = 5, .type = 1 }, { .ticks = 4, .type = 2 },
	};
	static const struct slot earlier[] = { { .ticks = 3, .type = 1 } };
	struct trace t[2] = {
		{ .serial = 1, .slots = slots, .nr_slots = 2 },
		{ .serial = 1, .first = 2, .slots = earlier, .nr_slots = 1 },
	};
	struct found found;

	(void)state;
	assert_int_equal(check_traces(t, 1).nr, 0);
	found = check_traces(t, 2);
	assert_int_equal(found.nr, 1);
	assert_int_equal(found.code, KTAU_FINDING_SLOT);
	assert_non_null(strstr(found.text, "slot 0: 1 ns before"));
	t[1].serial = 2;
	assert_int_equal(check_traces(t, 2).nr, 0);
	t[0].nr_slots = 3;
	assert_int_equal(check_traces(t, 1).nr, 1);
}

static void slots(void **state)
{
	static const struct {
		struct slot slot;
		unsigned int findings;
	} cases[] = {
		{ { .type = 200 }, 0 },
		{ { .type = 200, .id = 5, .ctx = 9 }, 0 },
		{ { .type = 4 }, 0 },
		{ { .type = 4, .format = "8422" }, 0 },
		{ { .type = 1, .ctx = 4 }, 1 },
		{ { .type = 3, .id = 65535 }, 1 },
		{ { .type = 4, .id = 3 }, 1 },
		{ { .type = 0 }, 1 },
	};
	struct found found;
	struct trace t;
	size_t i;

	(void)state;
	for (i = 0; i < NR(cases); i++) {
		t = (struct trace){ .serial = 1, .slots = &cases[i].slot, .nr_slots = 1 };
		found = check_traces(&t, 1);
		assert_int_equal(found.nr, cases[i].findings);
		if (found.nr)
			assert_int_equal(found.code, KTAU_FINDING_SLOT);
	}
}

static void gap(void **state)
{
	static const struct slot exits[] = { EXIT(1) };
	const struct trace t = { .serial = 1, .first = 50, .slots = exits, .nr_slots = 1 };
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
	/* As if the STREAM and EVENT records were in a damaged block. */
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
		cmocka_unit_test(nesting),
		cmocka_unit_test(nesting_without_room),
		cmocka_unit_test(losses),
		cmocka_unit_test(common_cut),
		cmocka_unit_test(exited_again),
		cmocka_unit_test(not_consuming),
		cmocka_unit_test(files),
		cmocka_unit_test(order),
		cmocka_unit_test(slots),
		cmocka_unit_test(gap),
	};

	return cmocka_run_group_tests_name("libktau: checker of traces", tests, NULL, NULL);
}
