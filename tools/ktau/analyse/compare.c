// SPDX-License-Identifier: GPL-2.0-only
/* Statistical test for a difference. */
#include <math.h>

#include "compare.h"

void sample_add(struct sample *s, double value)
{
	s->sum += value;
	s->squares += value * value;
	s->nr++;
}

/*
 * Two-sided 1 % quantile of Student's t. Between two entries the one with fewer degrees of
 * freedom is used, which errs towards "no change".
 */
static double quantile(double degrees)
{
	static const struct {
		double degrees, t;
	} table[] = {
		{ 120, 2.617 }, { 60, 2.660 }, { 30, 2.750 }, { 20, 2.845 }, { 15, 2.947 },
		{ 12, 3.055 },	{ 10, 3.169 }, { 9, 3.250 },  { 8, 3.355 },  { 7, 3.499 },
		{ 6, 3.707 },	{ 5, 4.032 },  { 4, 4.604 },  { 3, 5.841 },  { 2, 9.925 },
	};
	unsigned int i;

	for (i = 0; i < sizeof(table) / sizeof(*table); i++)
		if (degrees >= table[i].degrees)
			return table[i].t;
	return 63.657;
}

/* Squared standard error of the mean. Rounding may make the variance slightly negative. */
static double error_squared(const struct sample *s, double periods)
{
	double mean = s->sum / periods;
	double variance = (s->squares - periods * mean * mean) / (periods - 1);

	return variance > 1e-12 * mean * mean ? variance / periods : 0;
}

struct judged compare_judge(const struct sample *a, const struct sample *b,
			    const uint64_t periods[2])
{
	double n = (double)periods[0], m = (double)periods[1], va, vb, difference, degrees;
	struct judged j = { .mean = { a->sum / n, b->sum / m }, .ratio = (double)NAN };

	j.error[0] = j.error[1] = (double)NAN;
	if (periods[0] < 2 || periods[1] < 2)
		return j;
	va = error_squared(a, n);
	vb = error_squared(b, m);
	j.error[0] = sqrt(va);
	j.error[1] = sqrt(vb);
	difference = j.mean[1] - j.mean[0];
	if (va + vb <= 0) {
		j.changed = fabs(difference) > 1e-9 * (fabs(j.mean[0]) + fabs(j.mean[1]));
		j.ratio = j.changed ? copysign((double)INFINITY, difference) : 0;
		return j;
	}
	j.ratio = difference / sqrt(va + vb);
	degrees = (va + vb) * (va + vb) / (va * va / (n - 1) + vb * vb / (m - 1));
	j.changed = fabs(j.ratio) > quantile(degrees);
	return j;
}
