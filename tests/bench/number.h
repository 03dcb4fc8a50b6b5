/* SPDX-License-Identifier: GPL-2.0-only */
/* An argument of a load: ends the program if it is not a number above 0. */
#ifndef KTAU_TESTS_NUMBER_H
#define KTAU_TESTS_NUMBER_H

#include <err.h>
#include <stdlib.h>

static inline unsigned long number(const char *text)
{
	char *end;
	unsigned long n = strtoul(text, &end, 10);

	if (*end || !n)
		errx(2, "%s: not a number above 0", text);
	return n;
}

#endif /* KTAU_TESTS_NUMBER_H */
