// SPDX-License-Identifier: GPL-2.0-only
/* The clocks of guests as functions of the clock of the BPF source. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>

#include <linux/types.h>

#include "bpf/kvm_clock.h"

#define SECOND	1000000000ULL
#define DAY	(86400 * SECOND)

/* Timekeepers of Linux: TSCs of 1, 2.1, 3.9 and 5.7 GHz, and one in front of 2^63. */
static const struct kb_timekeeper timekeepers[] = {
	{ .tsc = 5 * SECOND, .ns = 5 * SECOND, .mult = 1U << 23, .shift = 23 },
	{ .tsc = 1000, .ns = 400 * DAY, .mult = 7989150, .shift = 24 },
	{ .tsc = 123456789012345, .ns = 30 * DAY + 1, .mult = 4301845, .shift = 24 },
	{ .tsc = 987654321, .ns = 17, .mult = 753476903, .shift = 32 },
	{ .tsc = (1ULL << 63) - 5, .ns = 100 * DAY, .mult = 7989151, .shift = 24 },
};

static const struct kb_guest_tsc guests[] = {
	{ 0, 1ULL << 32, 32 },
	{ (uint64_t)-70185649, 1ULL << 48, 48 },
	{ 1ULL << 63, 3ULL << 31, 32 },		/* 1.5 */
	{ (uint64_t)-5, 0xb333333333333, 48 },	/* 11.2 */
	{ 77, 0x28000000, 32 },			/* 0.16 */
};

/* What the timekeeper and KVM compute, without losing a bit. */
static uint64_t oracle(const struct kb_timekeeper *t, const struct kb_guest_tsc *g, int64_t after)
{
	__int128 ticks = ((__int128)after << t->shift) / t->mult;
	uint64_t tsc = t->tsc + (uint64_t)ticks;

	return (uint64_t)(((unsigned __int128)tsc * g->ratio) >> g->frac_bits) + g->offset;
}

static void expect_near(uint64_t value, uint64_t expected, uint64_t by)
{
	int64_t wrong = (int64_t)(value - expected);

	if (wrong > (int64_t)by || wrong < -(int64_t)by)
		fail_msg("%lld ticks from %llu", (long long)wrong, (unsigned long long)expected);
}

/* Exact to a tick or two of the host, of which a guest may have 1.5, while a clock is used. */
static void test_clocks(void **state)
{
	static const int64_t after[] = { 0, 1, 1000, SECOND / 1000, SECOND, 600LL * SECOND };
	struct kb_kvm_clock clock;
	size_t t, g, a;

	(void)state;
	for (t = 0; t < sizeof(timekeepers) / sizeof(*timekeepers); t++) {
		for (g = 0; g < sizeof(guests) / sizeof(*guests); g++) {
			/* The host's counter may wrap around only if it is not scaled. */
			if (t == 4 && g > 1)
				continue;
			/* It would have 11 GHz or more, or with 5.7 GHz more than 8. */
			if (g == 3 || (t == 3 && g == 2)) {
				assert_false(kb_make_kvm_clock(&clock, &timekeepers[t],
							       &guests[g]));
				continue;
			}
			assert_true(kb_make_kvm_clock(&clock, &timekeepers[t], &guests[g]));
			for (a = 0; a < sizeof(after) / sizeof(*after); a++)
				expect_near(kb_kvm_clock_at(&clock, timekeepers[t].ns + after[a]),
					    oracle(&timekeepers[t], &guests[g], after[a]), 4);
		}
	}
}

static void test_none(void **state)
{
	static const struct kb_timekeeper wrong[] = {
		{ .mult = 0, .shift = 24 },
		{ .mult = 1, .shift = 3 },		/* 8 GHz */
		{ .mult = 1U << 23, .shift = 33 },
		{ .mult = 1U << 23, .shift = 64 },
	};
	static const struct kb_guest_tsc no_guests[] = {
		{ 0, 0, 32 }, { 0, 1, 0 }, { 0, 1, 64 }, { 0, 8ULL << 32, 32 }, { 0, 1, 63 },
	};
	struct kb_kvm_clock clock;
	size_t i;

	(void)state;
	for (i = 0; i < sizeof(wrong) / sizeof(*wrong); i++)
		assert_false(kb_make_kvm_clock(&clock, &wrong[i], &guests[0]));
	for (i = 0; i < sizeof(no_guests) / sizeof(*no_guests); i++)
		assert_false(kb_make_kvm_clock(&clock, &timekeepers[0], &no_guests[i]));
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_clocks),
		cmocka_unit_test(test_none),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
