// SPDX-License-Identifier: GPL-2.0-only
/* Lines between the messages of two clocks, against a search through all pairs of messages. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <cmocka.h>

#include <math.h>
#include <stdbool.h>
#include <stdlib.h>

#include "analyse/clock_fit.h"

enum { MESSAGES = 60 };

/* The messages between two clocks. */
struct messages {
	struct clock_point above[MESSAGES], below[MESSAGES];
	size_t nr_above, nr_below;
};

/* The other clock shows @ns after it was @drift faster since it showed @offset. */
static uint64_t other(uint64_t ns, double drift, uint64_t offset)
{
	return offset + ns + (uint64_t)((double)ns * drift);
}

/* Messages in both directions at random times, which take at least 100 us. */
static struct messages exchange(double drift, uint64_t offset)
{
	struct messages m = { .nr_above = MESSAGES, .nr_below = MESSAGES };
	uint64_t ns = 1000000, trip;
	size_t i;

	for (i = 0; i < MESSAGES; i++) {
		trip = 100000 + (uint64_t)(rand() % 1000000);
		m.above[i] = (struct clock_point){ ns, other(ns + trip, drift, offset) };
		ns += (uint64_t)(rand() % 100000000);
		trip = 100000 + (uint64_t)(rand() % 1000000);
		m.below[i] = (struct clock_point){ ns + trip, other(ns, drift, offset) };
		ns += (uint64_t)(rand() % 100000000);
	}
	return m;
}

/*
 * The steepest line through a point below and a later one above; the flattest through a point above
 * and a later one below.
 */
static double search(const struct messages *m, bool steepest)
{
	double found = steepest ? INFINITY : -INFINITY, drift, x;
	size_t i, j;

	for (i = 0; i < m->nr_above; i++) {
		for (j = 0; j < m->nr_below; j++) {
			x = (double)(int64_t)(m->above[i].x_ns - m->below[j].x_ns);
			if (steepest ? x <= 0 : x >= 0)
				continue;
			drift = ((double)(int64_t)(m->above[i].y_ns - m->below[j].y_ns) - x) / x;
			if (steepest ? drift < found : drift > found)
				found = drift;
		}
	}
	return found;
}

static struct clock_fit fit(struct messages m)
{
	struct clock_fit fit;

	clock_fit(m.above, m.nr_above, m.below, m.nr_below, &fit);
	return fit;
}

static void random_messages(void **state)
{
	struct messages m;
	struct clock_fit f;
	double drift;
	int i;

	(void)state;
	srand(1);
	for (i = 0; i < 1000; i++) {
		drift = (double)(rand() % 200001 - 100000) / 1e9;
		m = exchange(drift, 1ULL << (i % 60));
		f = fit(m);
		assert_int_equal(f.quality, CLOCK_ACCURATE);
		assert_true(fabs(f.most - search(&m, true)) < 1e-15);
		assert_true(fabs(f.least - search(&m, false)) < 1e-15);
		assert_true(f.least <= drift && drift <= f.most);
		assert_true(fabs(f.line.drift - (f.least + f.most) / 2) < 1e-15);
	}
}

/* No message is received before it was sent, and the line is off by half a round trip at most. */
static void causes_before_effects(void **state)
{
	const uint64_t middle = 3000000000;
	struct messages m = exchange(4e-5, 123456789);
	struct clock_fit f = fit(m);
	uint64_t ns;
	size_t i;

	(void)state;
	for (i = 0; i < MESSAGES; i++) {
		assert_true(clock_line_map(&f.line, m.above[i].x_ns) <= m.above[i].y_ns);
		assert_true(clock_line_map(&f.line, m.below[i].x_ns) >= m.below[i].y_ns);
	}
	ns = clock_line_map(&f.line, middle);
	assert_true(fabs((double)(int64_t)(ns - other(middle, 4e-5, 123456789))) <
		    f.half_trip_ns + 1);
	assert_true(f.half_trip_ns >= 100000 && f.half_trip_ns < 300000);
}

/* With one clock changed by a known line, the fit is changed by the same. */
static void changed_clock(void **state)
{
	struct messages m = exchange(0, 0), changed = m;
	struct clock_fit before = fit(m), after;
	uint64_t ns, from_ns;
	size_t i;

	(void)state;
	for (i = 0; i < MESSAGES; i++) {
		changed.above[i].x_ns = other(m.above[i].x_ns, 5e-5, 123456789);
		changed.below[i].x_ns = other(m.below[i].x_ns, 5e-5, 123456789);
	}
	after = fit(changed);
	assert_int_equal(after.quality, CLOCK_ACCURATE);
	for (ns = 1000000; ns < 6000000000; ns += 123456789) {
		from_ns = clock_line_map(&after.line, other(ns, 5e-5, 123456789));
		assert_true(fabs((double)(int64_t)(from_ns -
						   clock_line_map(&before.line, ns))) <= 3);
	}
}

static void qualities(void **state)
{
	struct messages m = exchange(0, 1000000000);
	struct clock_fit f;

	(void)state;
	m.nr_below = 0;
	assert_int_equal(fit(m).quality, CLOCK_INCOMPLETE);
	m.nr_above = 0;
	assert_int_equal(fit(m).quality, CLOCK_ABSENT);
	m.nr_above = m.nr_below = MESSAGES;
	m.above[30].y_ns -= 3000000; /* received 2 ms before it was sent */
	assert_int_equal(fit(m).quality, CLOCK_FAIL);
	/* One question and its answer say nothing about the drift. */
	m = (struct messages){ { { 1300, 400 } }, { { 1150, 100 } }, 1, 1 };
	f = fit(m);
	assert_int_equal(f.quality, CLOCK_APPROXIMATE);
	assert_int_equal(clock_line_map(&f.line, 1150), 175);
	assert_true(fabs(f.half_trip_ns - 75) < 0.001);
	m.above[0].y_ns = 200;
	assert_int_equal(fit(m).quality, CLOCK_FAIL);
}

/* Messages too close to each other allow any drift: that of no clock is not taken. */
static void short_exchange(void **state)
{
	struct messages m = {
		.above = { { 1450, 500 }, { 1001450, 1000500 } },
		.below = { { 1001150, 1000100 } },
		.nr_above = 2,
		.nr_below = 1,
	};
	struct clock_fit f = fit(m);

	(void)state;
	assert_true(f.most > 0.3);
	assert_int_equal(f.quality, CLOCK_APPROXIMATE);
	assert_true(fabs(f.line.drift) < 1e-3);
	assert_true(clock_line_map(&f.line, 1001450) <= 1000500);
	assert_true(clock_line_map(&f.line, 1001150) >= 1000100);
}

/* Both clocks may be at the end of their range, and a time may be before a clock began. */
static void ends(void **state)
{
	const struct clock_line line = { 1000, 10, 0.5 };
	const struct clock_line back = clock_line_invert(&line);
	const struct clock_line both = clock_line_join(&line, &back);

	(void)state;
	assert_int_equal(clock_line_map(&line, 1000), 10);
	assert_int_equal(clock_line_map(&line, 1100), 160);
	assert_int_equal(clock_line_map(&line, 10), 0);
	assert_int_equal(clock_line_map(&back, 160), 1100);
	assert_int_equal(clock_line_map(&both, 123456), 123456);
}

/* Products of differences need more than 64 bits. */
static void far_apart(void **state)
{
	const uint64_t day = 86400000000000ULL, year = 365 * day;
	struct messages m = { { { 0, 1000 }, { year, year + 1000 }, { 2 * year, 2 * year + 1001 } },
			      { { 1000, 0 }, { year + 1000, year }, { 2 * year + 1000, 2 * year } },
			      3,
			      3 };
	struct clock_fit f = fit(m);

	(void)state;
	assert_int_equal(f.quality, CLOCK_ACCURATE);
	assert_true(fabs(f.line.drift) < 1e-12);
	m.above[1].y_ns -= 2001;
	assert_int_equal(fit(m).quality, CLOCK_FAIL);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(random_messages),
		cmocka_unit_test(causes_before_effects),
		cmocka_unit_test(changed_clock),
		cmocka_unit_test(qualities),
		cmocka_unit_test(short_exchange),
		cmocka_unit_test(ends),
		cmocka_unit_test(far_apart),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
