// SPDX-License-Identifier: GPL-2.0-only
/* Significance of differences, from the spread between periods. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <cmocka.h>

#include <math.h>

#include "analyse/compare.h"

static struct sample sample_of(const double *values, size_t nr)
{
	struct sample s = { 0 };
	size_t i;

	for (i = 0; i < nr; i++)
		if (values[i] > 0)
			sample_add(&s, values[i]);
	return s;
}

static struct judged judge(const double *a, const double *b, uint64_t nr_a, uint64_t nr_b)
{
	const uint64_t periods[2] = { nr_a, nr_b };
	struct sample x = sample_of(a, nr_a), y = sample_of(b, nr_b);

	return compare_judge(&x, &y, periods);
}

static void assert_near(double got, double wanted)
{
	assert_true(fabs(got - wanted) < 1e-6);
}

/* Figures worked out by hand. */
static void test_known(void **state)
{
	static const double a[] = { 10, 12, 11 }, b[] = { 20, 22, 21 }, c[] = { 5, 30, 10 };
	static const double zeros[] = { 0, 0, 6 };
	struct judged j = judge(a, b, 3, 3);

	(void)state;
	assert_near(j.mean[0], 11);
	assert_near(j.mean[1], 21);
	assert_near(j.error[0], sqrt(1.0 / 3));
	assert_near(j.ratio, 10 / sqrt(2.0 / 3));
	assert_true(j.changed);
	j = judge(a, c, 3, 3);
	assert_near(j.mean[1], 15);
	assert_false(j.changed);
	/* A period without the figure counts as 0. */
	j = judge(zeros, a, 3, 3);
	assert_near(j.mean[0], 2);
	assert_near(j.error[0], 2);
	assert_false(j.changed);
}

static void test_edges(void **state)
{
	static const double same[] = { 4, 4, 4 }, other[] = { 5, 5, 5 };
	struct judged j = judge(same, same, 3, 3);

	(void)state;
	assert_false(j.changed);
	assert_near(j.ratio, 0);
	j = judge(same, other, 3, 3);
	assert_true(j.changed);
	assert_true(isinf(j.ratio) && j.ratio > 0);
	j = judge(other, same, 3, 3);
	assert_true(isinf(j.ratio) && j.ratio < 0);
	/* One period has no spread. */
	j = judge(same, other, 1, 3);
	assert_true(isnan(j.ratio));
	assert_false(j.changed);
}

/* Approximately normal: the sum of twelve uniform numbers has the variance 1. */
static double noise(uint32_t *seed)
{
	double sum = -6;
	int i;

	for (i = 0; i < 12; i++) {
		*seed = *seed * 1664525 + 1013904223;
		sum += (double)*seed / 4294967296.0;
	}
	return sum;
}

/* Number of 2,000 pairs of recordings, the second @shift larger, reported as different. */
static int nr_changed(double shift, uint64_t nr_a, uint64_t nr_b)
{
	double a[32], b[32];
	uint32_t seed = 1;
	int changed = 0, i;
	uint64_t k;

	for (i = 0; i < 2000; i++) {
		for (k = 0; k < nr_a; k++)
			a[k] = 100 + noise(&seed);
		for (k = 0; k < nr_b; k++)
			b[k] = 100 + shift + noise(&seed);
		changed += judge(a, b, nr_a, nr_b).changed;
	}
	return changed;
}

/* False positives at the level of 1 %, and the differences that it detects. */
static void test_level(void **state)
{
	(void)state;
	assert_true(nr_changed(0, 5, 5) <= 40);
	assert_true(nr_changed(0, 30, 5) <= 40);
	assert_true(nr_changed(0, 20, 20) <= 40);
	assert_true(nr_changed(0, 20, 20) >= 4);
	assert_true(nr_changed(5, 6, 6) >= 1980);
	assert_true(nr_changed(2, 30, 30) >= 1980);
}

int main(void)
{
	static const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_known),
		cmocka_unit_test(test_edges),
		cmocka_unit_test(test_level),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
