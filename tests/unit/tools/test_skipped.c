// SPDX-License-Identifier: GPL-2.0-only
/* The number of skipped mappings that ktau pages status shows. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <cmocka.h>

#include <linux/ktau_references.h>

#include "pages/skipped.h"

struct map_slot {
	struct ktau_slot slot;
	struct ktau_slot_map map;
};

/* Follow a SKIPPED with the first @words words of its payload. */
static uint64_t follow(struct skipped *s, uint64_t page, uint64_t pages, uint32_t flags,
		       unsigned int words)
{
	const struct map_slot m = {
		{ .type = KTAU_TRACE_SKIPPED, .words = (uint8_t)(2 + words) },
		{ .page = page, .pages = pages, .space = 1, .vm_flags = flags },
	};

	skipped_slot(s, 0, &m.slot, 12);
	return skipped_mappings(s);
}

/* A process of which nothing is recorded is no mapping. */
static void test_mappings(void **state)
{
	const unsigned int words = sizeof(struct ktau_slot_map) / 8;
	struct skipped s = { 0 };

	(void)state;
	assert_int_equal(follow(&s, 0, 1ULL << 35, KTAU_SKIPPED_SHARED, words), 0);
	assert_int_equal(follow(&s, 8, 4, KTAU_MAP_READ, words), 0);
	assert_int_equal(follow(&s, 8, 4, KTAU_SKIPPED_DEVICE, words - 1), 0);
	assert_int_equal(follow(&s, 8, 4, KTAU_SKIPPED_DEVICE, words), 1);
	assert_int_equal(follow(&s, 8, 5, KTAU_SKIPPED_DEVICE, words), 1);
	assert_int_equal(follow(&s, 8, 5, KTAU_SKIPPED_HUGETLB, words), 2);
	assert_int_equal(follow(&s, 80, 0, KTAU_SKIPPED_DEVICE, words), 2);
	assert_int_equal(follow(&s, UINT64_MAX, 9, KTAU_SKIPPED_DEVICE, words), 2);
	skipped_deinit(&s);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_mappings),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
