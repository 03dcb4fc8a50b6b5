/* SPDX-License-Identifier: GPL-2.0-only */
/* A time given by the user: a date, or a number of seconds since 1970 or since the start. */
#ifndef KTAU_TOOLS_MOMENT_H
#define KTAU_TOOLS_MOMENT_H

#include <stdbool.h>
#include <stdint.h>

/**
 * struct moment - a time given by the user
 * @given: false if no time was given
 * @relative: @ns counts from the first stream, not from 1970
 */
struct moment {
	bool given;
	bool relative;
	uint64_t ns;
};

/* Parse a number of seconds such as "0.5" or "10s", at most 18e9. Return: 0 or -1. */
int seconds_parse(const char *text, uint64_t *ns);

/* Parse "+12.5" (since the first stream), "@1700000000" or "2026-01-31 13:00:05" (local time). */
int moment_parse(const char *text, struct moment *moment);

#endif
