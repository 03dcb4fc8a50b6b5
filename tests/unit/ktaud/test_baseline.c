// SPDX-License-Identifier: GPL-2.0-only
/* Differences from the last written profiles: new tasks, changes, exited tasks. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <string.h>

#include <cmocka.h>

#include "baseline.h"

struct one {
	struct ktau_rec_profile profile;
	struct ktau_entry entry;
};

static struct one make(uint64_t serial, uint64_t count)
{
	return (struct one) {
		.profile = {
			.rec = { sizeof(struct one), KTAU_REC_PROFILE,
				 sizeof(struct ktau_rec_profile) },
			.serial = serial,
			.outer_ticks = count * 10,
			.nr_entries = 1,
			.entry_size = sizeof(struct ktau_entry),
			.open_size = sizeof(struct ktau_open),
		},
		.entry = { .id = 3, .count = count, .incl = count * 10, .excl = count * 10 },
	};
}

static struct ktau_rec_profile *update(struct baseline *base, uint64_t serial, uint64_t count)
{
	struct one one = make(serial, count);
	const struct ktau_rec_owner owner = {
		.rec = { sizeof(owner), KTAU_REC_OWNER, sizeof(owner) },
		.serial = serial,
		.kind = KTAU_OWNER_TASK,
	};

	return baseline_update(base, &(struct ktau_owned){ &owner, &one.profile });
}

static void expect_full(struct baseline *base, uint64_t serial, uint64_t count)
{
	assert_null(update(base, serial, count));
}

static void expect_diff(struct baseline *base, uint64_t serial, uint64_t count, uint64_t added)
{
	struct ktau_rec_profile *diff = update(base, serial, count);

	assert_non_null(diff);
	assert_int_equal(diff->rec.type, KTAU_REC_DIFF);
	assert_int_equal(diff->serial, serial);
	assert_int_equal(diff->outer_ticks, added * 10);
	assert_int_equal(diff->nr_entries, added ? 1 : 0);
	if (added)
		assert_int_equal(ktau_profile_entries(diff)->count, added);
	ktau_record_free(diff);
}

static size_t nr_tasks(const struct baseline *base)
{
	return base->last ? ktau_snapshot_count(base->last) : 0;
}

static void test_differences(void **state)
{
	struct baseline base = { 0 };

	(void)state;
	expect_full(&base, 1, 5);
	expect_full(&base, 2, 7);
	baseline_end(&base, true);
	expect_diff(&base, 1, 8, 3);
	expect_diff(&base, 2, 7, 0);
	baseline_end(&base, true);
	expect_diff(&base, 1, 9, 1);
	baseline_end(&base, true);

	/* Task 2 was not in the last stream: it is written in full. */
	assert_int_equal(nr_tasks(&base), 1);
	expect_full(&base, 2, 8);

	baseline_clear(&base);
	assert_int_equal(nr_tasks(&base), 0);
	expect_full(&base, 1, 10);
	baseline_clear(&base);
}

/* A profile with smaller counts than before is written in full and becomes the baseline. */
static void test_backward(void **state)
{
	struct baseline base = { 0 };

	(void)state;
	expect_full(&base, 1, 5);
	expect_full(&base, 1, 4);
	expect_diff(&base, 1, 6, 2);
	assert_int_equal(nr_tasks(&base), 1);
	baseline_clear(&base);
}

/* After a stream without the unchanged tasks only exited tasks are forgotten. */
static void test_forget(void **state)
{
	struct baseline base = { 0 };

	(void)state;
	baseline_forget(&base, 1);
	expect_full(&base, 1, 5);
	expect_full(&base, 257, 6);
	baseline_forget(&base, 1);
	baseline_forget(&base, 2);
	baseline_end(&base, false);
	assert_int_equal(nr_tasks(&base), 1);
	expect_diff(&base, 257, 7, 1);
	expect_full(&base, 1, 6);
	baseline_clear(&base);
}

/* More exits in one stream than the list has room for at first. */
static void test_many_exits(void **state)
{
	struct baseline base = { 0 };
	uint64_t i;

	(void)state;
	for (i = 1; i <= 1000; i++)
		expect_full(&base, i, 1);
	for (i = 1; i <= 999; i++)
		baseline_forget(&base, i);
	baseline_end(&base, false);
	assert_int_equal(nr_tasks(&base), 1);
	expect_diff(&base, 1000, 3, 2);
	baseline_clear(&base);
}

static void test_many(void **state)
{
	struct baseline base = { 0 };
	uint64_t round, i;

	(void)state;
	for (i = 0; i < 5000; i++)
		expect_full(&base, i * 64, 1);
	baseline_end(&base, true);
	for (round = 2; round < 4; round++) {
		for (i = 0; i < 5000; i++)
			expect_diff(&base, i * 64, round, 1);
		baseline_end(&base, true);
	}
	assert_int_equal(nr_tasks(&base), 5000);
	baseline_end(&base, true);
	assert_int_equal(nr_tasks(&base), 0);
	baseline_clear(&base);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_differences),
		cmocka_unit_test(test_backward),
		cmocka_unit_test(test_forget),
		cmocka_unit_test(test_many),
		cmocka_unit_test(test_many_exits),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
