/* SPDX-License-Identifier: GPL-2.0-only */
/* Two recordings compared, judged against the spread between their periods. */
#ifndef KTAU_TOOLS_COMPARE_H
#define KTAU_TOOLS_COMPARE_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

/**
 * struct sample - one figure in the periods of a recording
 * @sum: of the values
 * @squares: of their squares
 * @nr: periods in which it was not 0: the others are known from their number
 */
struct sample {
	double sum, squares;
	uint64_t nr;
};

void sample_add(struct sample *s, double value);

/**
 * struct judged - a figure of two recordings
 * @mean: of each
 * @error: standard error of each mean
 * @ratio: difference of the means by its standard error; NAN: a recording has one period,
 *	INFINITY: all periods of each are alike and the means are not
 * @changed: the difference is more than chance explains in 99 of 100 comparisons of
 *	recordings that do not differ
 */
struct judged {
	double mean[2], error[2];
	double ratio;
	bool changed;
};

/**
 * compare_judge() - is there more between two samples than their spread?
 * @a: in the first recording
 * @b: in the second
 * @periods: of each recording; periods without a value count as 0
 *
 * Welch's t test, two-sided, with the Welch-Satterthwaite degrees of freedom.
 */
struct judged compare_judge(const struct sample *a, const struct sample *b,
			    const uint64_t periods[2]);

#endif
