// SPDX-License-Identifier: GPL-2.0-only
/* Each rule of the attribution of cycles, on elements written by hand. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdlib.h>

#include <cmocka.h>

#include "cycles/attribution.h"

static struct cycles c;

static void range(uint64_t start, uint32_t nr)
{
	const struct cycles_element e = { .kind = CYCLES_RANGE, .nr_instructions = nr,
					  .start = start, .end = start + 4 * nr };

	cycles_add(&c, &e);
}

static void element(enum cycles_kind kind, uint64_t cycles)
{
	const struct cycles_element e = { .kind = kind, .has_count = cycles, .cycles = cycles,
					  .start = 0x5000 };

	cycles_add(&c, &e);
}

/* The cycles of instruction @index of the range at @start, which has to be known. */
static uint64_t cycles_at(uint64_t start, uint32_t index)
{
	uint64_t cycles[16];
	size_t i;

	for (i = 0; i < c.nr_ranges && c.ranges[i].start != start; i++)
		;
	assert_in_range(i, 0, c.nr_ranges - 1);
	cycles_of(&c.ranges[i], cycles);
	return cycles[index];
}

static void finish(uint64_t in_ranges, uint64_t gaps, uint64_t unread, uint64_t unattributed)
{
	cycles_finish(&c);
	assert_int_equal(c.in_ranges, in_ranges);
	assert_int_equal(c.gaps, gaps);
	assert_int_equal(c.unread, unread);
	assert_int_equal(c.unattributed, unattributed);
	assert_int_equal(c.total, in_ranges + gaps + unread + unattributed);
	cycles_deinit(&c);
}

/* ETMv3: a count precedes its instruction, and waits for the next one. */
static void test_by_instruction(void **state)
{
	const struct cycles_element counted = { .kind = CYCLES_RANGE, .nr_instructions = 1,
						.start = 0x1004, .end = 0x1008, .has_count = true,
						.cycles = 5 };

	(void)state;
	cycles_init(&c, CYCLES_BY_INSTRUCTION);
	element(CYCLES_COUNT, 3);
	range(0x1000, 1);
	element(CYCLES_COUNT, 10);
	element(CYCLES_OTHER, 100);	/* a timestamp with a count */
	cycles_add(&c, &counted);
	range(0x1008, 1);
	assert_int_equal(cycles_at(0x1000, 0), 3);
	assert_int_equal(cycles_at(0x1004, 0), 115);
	assert_int_equal(cycles_at(0x1008, 0), 0);
	finish(118, 0, 0, 0);
}

/* PTM: the last instruction of a range, which is a branch, is charged. */
static void test_by_branch(void **state)
{
	(void)state;
	cycles_init(&c, CYCLES_BY_BRANCH);
	element(CYCLES_COUNT, 30);
	range(0x1000, 3);
	assert_int_equal(cycles_at(0x1000, 0), 0);
	assert_int_equal(cycles_at(0x1000, 2), 30);
	finish(30, 0, 0, 0);
}

/* Counts before a discontinuity belong to it; one in the next state is the length of the gap. */
static void test_gaps(void **state)
{
	(void)state;
	cycles_init(&c, CYCLES_BY_INSTRUCTION);
	element(CYCLES_COUNT, 7);
	element(CYCLES_GAP, 20);
	element(CYCLES_RESUME, 400);
	range(0x1000, 1);
	element(CYCLES_COUNT, 1);
	element(CYCLES_UNREAD, 0);
	element(CYCLES_COUNT, 2);
	element(CYCLES_DAMAGE, 0);
	element(CYCLES_COUNT, 9);
	assert_int_equal(c.damaged, 2);
	assert_int_equal(c.nr_unread, 1);
	finish(0, 429, 1, 9);
}

/* ETMv4: a count is divided among the instructions before it; the first ones get the remainder. */
static void test_by_batch(void **state)
{
	(void)state;
	cycles_init(&c, CYCLES_BY_BATCH);
	range(0x1000, 2);
	range(0x2000, 3);
	range(0x3000, 5);
	element(CYCLES_COUNT, 27);
	assert_int_equal(cycles_at(0x1000, 0) + cycles_at(0x1000, 1), 6);
	assert_int_equal(cycles_at(0x2000, 0) + cycles_at(0x2000, 1) + cycles_at(0x2000, 2), 9);
	assert_int_equal(cycles_at(0x3000, 0), 3);
	assert_int_equal(cycles_at(0x3000, 1), 3);
	assert_int_equal(cycles_at(0x3000, 2), 2);
	assert_int_equal(cycles_at(0x3000, 4), 2);
	/* The same range in another batch */
	range(0x3000, 5);
	element(CYCLES_COUNT, 4);
	assert_int_equal(cycles_at(0x3000, 3), 3);
	assert_int_equal(cycles_at(0x3000, 4), 2);
	assert_int_equal(c.ranges[2].executions, 2);
	element(CYCLES_COUNT, 11);	/* of nothing */
	finish(31, 0, 0, 11);
}

/* A batch that a discontinuity ends has no count. A count after it belongs to the gap. */
static void test_open_batches(void **state)
{
	(void)state;
	cycles_init(&c, CYCLES_BY_BATCH);
	range(0x1000, 4);
	element(CYCLES_GAP, 0);
	element(CYCLES_COUNT, 50);
	range(0x1000, 4);
	element(CYCLES_UNREAD, 0);
	element(CYCLES_COUNT, 60);
	range(0x2000, 1);
	element(CYCLES_COUNT, 6);
	range(0x2000, 1);
	cycles_finish(&c);
	assert_int_equal(c.uncounted, 9);
	assert_int_equal(c.instructions, 10);
	finish(6, 50, 60, 0);
}

/* A call is a range after a branch that was taken, and not after a gap. */
static void test_after_branch(void **state)
{
	const struct cycles_element branch = { .kind = CYCLES_RANGE, .nr_instructions = 1,
					       .start = 0x1000, .end = 0x1004, .branches = true };

	(void)state;
	cycles_init(&c, CYCLES_BY_INSTRUCTION);
	range(0x2000, 1);
	range(0x2000, 1);
	cycles_add(&c, &branch);
	range(0x2000, 1);
	cycles_add(&c, &branch);
	element(CYCLES_GAP, 0);
	range(0x2000, 1);
	assert_int_equal(c.ranges[0].executions, 4);
	assert_int_equal(c.ranges[0].after_branch, 1);
	assert_int_equal(c.nr_ranges, 2);
	finish(0, 0, 0, 0);
}

/* Memory does not depend on the length of the trace: ten million elements. */
static void test_long_trace(void **state)
{
	uint64_t i;

	(void)state;
	cycles_init(&c, CYCLES_BY_BATCH);
	for (i = 0; i < 10000000; i++)
		range(0x1000 + i % 100 * 16, 4);
	assert_int_equal(c.nr_ranges, 100);
	element(CYCLES_COUNT, 40);
	finish(40, 0, 0, 0);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_by_instruction), cmocka_unit_test(test_by_branch),
		cmocka_unit_test(test_gaps),	       cmocka_unit_test(test_by_batch),
		cmocka_unit_test(test_open_batches),   cmocka_unit_test(test_after_branch),
		cmocka_unit_test(test_long_trace),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
