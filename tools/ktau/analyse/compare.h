/* SPDX-License-Identifier: GPL-2.0-only */
/* Statistical comparison of two recordings, based on the variation between their periods. */
#ifndef KTAU_TOOLS_COMPARE_H
#define KTAU_TOOLS_COMPARE_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

/**
 * struct sample - one figure in all periods of a recording
 * @sum: sum of the values
 * @squares: sum of their squares
 * @nr: number of periods in which the figure was not 0
 */
struct sample {
	double sum, squares;
	uint64_t nr;
};

void sample_add(struct sample *s, double value);

/**
 * struct judged - a figure in two recordings
 * @mean: mean in each recording; NAN: it has no period in which the figure was measured
 * @error: standard error of each mean
 * @ratio: difference of the means in standard errors; NAN: a recording has only one period;
 *	INFINITY: the means differ but neither recording varies
 * @changed: the difference is significant; for recordings that do not differ, 1 of 100
 *	comparisons gives true
 */
struct judged {
	double mean[2], error[2];
	double ratio;
	bool changed;
};

/**
 * compare_judge() - do two samples differ by more than their variation explains?
 * @a: figure in the first recording
 * @b: figure in the second recording
 * @periods: number of periods of each recording in which the figure was measured; a period
 *	without a value counts as 0
 *
 * Welch's t test, two-sided, with the Welch-Satterthwaite degrees of freedom.
 */
struct judged compare_judge(const struct sample *a, const struct sample *b,
			    const uint64_t periods[2]);

#endif
