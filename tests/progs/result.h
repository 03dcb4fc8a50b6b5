/* SPDX-License-Identifier: GPL-2.0-only */
/* A line "ok - " or "not ok - " for each thing tested. */
#ifndef TESTS_LOAD_RESULT_H
#define TESTS_LOAD_RESULT_H

#include <stdarg.h>
#include <stdbool.h>
#include <stdio.h>

static int tell_failures;

__attribute__((format(printf, 2, 3))) static inline bool tell(bool good, const char *format, ...)
{
	va_list args;

	tell_failures += !good;
	printf("%sok - ", good ? "" : "not ");
	va_start(args, format);
	vprintf(format, args);
	va_end(args);
	putchar('\n');
	fflush(stdout);
	return good;
}

#endif /* TESTS_LOAD_RESULT_H */
