// SPDX-License-Identifier: GPL-2.0-only
/* Delays between the scans of ktaud-ship. */
#include <limits.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>

#include "ship/delay.h"

#define S	1000000000ULL

/* The limit of retries does not apply to --every. */
static void test_every(void **state)
{
	(void)state;
	assert_int_equal(ship_delay_ns(1 * S, 1 * S, true), 1 * S);
	assert_int_equal(ship_delay_ns(1 * S, 30 * S, true), 1 * S);
	assert_int_equal(ship_delay_ns(300 * S, 300 * S, true), 300 * S);
	assert_int_equal(ship_delay_ns(300 * S, 30 * S, true), 300 * S);
	assert_int_equal(ship_delay_ns(UINT64_MAX, 30 * S, true), UINT64_MAX);
}

static void test_retries(void **state)
{
	static const uint64_t want[] = { 2, 4, 8, 16, 30, 30 };
	uint64_t last = 1 * S;
	size_t i;

	(void)state;
	for (i = 0; i < sizeof(want) / sizeof(*want); i++) {
		last = ship_delay_ns(1 * S, last, false);
		assert_int_equal(last, want[i] * S);
	}
	assert_int_equal(ship_delay_ns(300 * S, 300 * S, false), 30 * S);
	assert_int_equal(ship_delay_ns(UINT64_MAX, UINT64_MAX, false), 30 * S);
}

static void test_ms(void **state)
{
	(void)state;
	assert_int_equal(ship_delay_ms(0), 0);
	assert_int_equal(ship_delay_ms(300 * S), 300000);
	assert_int_equal(ship_delay_ms(24 * 24 * 3600 * S), 24 * 24 * 3600 * 1000);
	assert_int_equal(ship_delay_ms(25 * 24 * 3600 * S), INT_MAX);
	assert_int_equal(ship_delay_ms(UINT64_MAX), INT_MAX);
}

static void test_jitter(void **state)
{
	unsigned long random;

	(void)state;
	for (random = 0; random < 1UL << 18; random += 4097) {
		assert_true(ship_delay_jitter_ns(30 * S, random) > 15 * S);
		assert_true(ship_delay_jitter_ns(30 * S, random) <= 30 * S);
	}
	assert_true(ship_delay_jitter_ns(30 * S, 1) != ship_delay_jitter_ns(30 * S, 0x8000));
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_every),
		cmocka_unit_test(test_retries),
		cmocka_unit_test(test_ms),
		cmocka_unit_test(test_jitter),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
