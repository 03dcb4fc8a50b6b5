// SPDX-License-Identifier: GPL-2.0-only
/* Packed tallies: they are what was packed, and every function takes them. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <cmocka.h>

#include <stdlib.h>
#include <string.h>

#include "lib/report/aggregate.h"
#include "lib/report/tally.h"

enum { NR = 7 };

/* Figures of every size, none, and an id with a timer and a counter. */
static const struct routine routines[NR] = {
	{ .id = 3, .flags = 7, .count = 1, .min = UINT64_MAX },
	{ .id = 3, .kind = KTAU_KIND_COUNTER, .flags = 0xff, .count = 2, .max = 300, .incl = 400 },
	{ .id = 4, .count = 127, .min = UINT64_MAX, .incl = 128, .excl = 127, .open = 1 },
	{ .id = 70000, .min = UINT64_MAX, .incl = 5, .excl = 6 },
	{ .id = 70001, .min = 1, .max = UINT64_MAX, .count = UINT64_MAX, .longest = UINT64_MAX,
	  .incl = ~(ktau_sum_t)0, .excl = ~(ktau_sum_t)0 >> 1, .open_incl = ~(ktau_sum_t)0,
	  .asleep = ~(ktau_sum_t)0, .runq = ~(ktau_sum_t)0, .irq = ~(ktau_sum_t)0,
	  .open = UINT64_MAX, .flags = 0xff },
	{ .id = 70002, .min = UINT64_MAX },	/* empty */
	{ .id = UINT32_MAX, .min = UINT64_MAX, .longest = 9, .runq = 1, .asleep = 2, .irq = 3,
	  .count = 1 },
};

static struct tally full(void)
{
	struct tally t = { .nr = NR, .room = NR, .routines = malloc(sizeof(routines)) };

	assert_non_null(t.routines);
	memcpy(t.routines, routines, sizeof(routines));
	return t;
}

static void expect_same(const struct tally *a, const struct tally *b)
{
	const struct routine *x = a->routines, *y = b->routines;
	uint32_t i;

	assert_int_equal(a->nr, b->nr);
	for (i = 0; i < a->nr; i++, x++, y++)
		assert_true(x->id == y->id && x->kind == y->kind && x->flags == y->flags &&
			    x->count == y->count && x->min == y->min && x->max == y->max &&
			    x->open == y->open && x->longest == y->longest && x->incl == y->incl &&
			    x->excl == y->excl && x->open_incl == y->open_incl &&
			    x->asleep == y->asleep && x->runq == y->runq && x->irq == y->irq);
}

static void round_trip(void **state)
{
	struct tally plain = full(), packed = full(), none = { 0 };

	(void)state;
	tally_pack(&packed);
	assert_null(packed.routines);
	assert_int_equal(packed.nr, NR);
	assert_int_equal(tally_activations(&packed), tally_activations(&plain));
	tally_unpack(&packed);
	expect_same(&packed, &plain);
	tally_pack(&none);
	tally_unpack(&none);
	assert_int_equal(none.nr, 0);
	tally_deinit(&plain);
	tally_deinit(&packed);
}

/* What changes a tally gives the same, whether it or the other one is packed. */
static void changed(void **state)
{
	struct tally plain, packed, part;
	int i;

	(void)state;
	for (i = 0; i < 3; i++) {
		plain = full();
		packed = full();
		part = full();
		tally_trim(&plain);
		tally_merge(&plain, &part);
		tally_take_out(&plain, &part);
		tally_pack(i == 1 ? &part : &packed);
		if (i == 2)
			tally_pack(&part);
		tally_trim(&packed);
		tally_merge(&packed, &part);
		tally_take_out(&packed, &part);
		assert_null(packed.packed);
		expect_same(&packed, &plain);
		tally_deinit(&plain);
		tally_deinit(&packed);
		tally_deinit(&part);
	}
}

/* A trimmed tally stays packed, and an opened row has the routines that were packed. */
static void opened(void **state)
{
	struct aggregate rows = { .nr = 0 };
	struct process row = { .tasks = 5, .tally = full() };
	struct tally plain = full();
	const struct process *p = aggregate_open(&rows, &row);

	(void)state;
	assert_ptr_equal(p, &row);
	tally_pack(&row.tally);
	tally_trim(&row.tally);
	tally_trim(&plain);
	assert_int_equal(plain.nr, NR - 1);
	assert_null(row.tally.routines);
	p = aggregate_open(&rows, &row);
	assert_int_equal(p->tasks, 5);
	expect_same(&p->tally, &plain);
	assert_null(row.tally.routines);
	tally_deinit(&row.tally);
	tally_deinit(&rows.scratch);
	tally_deinit(&plain);
}

int main(void)
{
	static const struct CMUnitTest tests[] = {
		cmocka_unit_test(round_trip),
		cmocka_unit_test(changed),
		cmocka_unit_test(opened),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
