// SPDX-License-Identifier: GPL-2.0-or-later
#include <ctype.h>
#include <string.h>

#include "value.h"

#define NSEC_PER_MSEC	1000000ULL
#define NSEC_PER_SEC	1000000000ULL

/* Parse decimal digits at *text; false if there are none or too many. */
static bool digits(const char **text, uint64_t *number)
{
	const char *c = *text;

	*number = 0;
	for (; isdigit((unsigned char)*c); c++)
		if (__builtin_mul_overflow(*number, 10, number) ||
		    __builtin_add_overflow(*number, *c - '0', number))
			return false;
	if (c == *text)
		return false;
	*text = c;
	return true;
}

bool value_size(const char *text, uint64_t *size)
{
	static const char suffixes[] = "kMG";
	const char *suffix;

	if (!digits(&text, size))
		return false;
	if (!*text)
		return true;
	suffix = strchr(suffixes, *text == 'K' ? 'k' : *text);
	if (!suffix || text[1])
		return false;
	return !__builtin_mul_overflow(*size, 1ULL << 10 * (suffix - suffixes + 1), size);
}

static bool unit_ns(const char *text, uint64_t *ns)
{
	static const struct {
		const char *name;
		uint64_t ns;
	} units[] = {
		{ "", NSEC_PER_SEC },
		{ "ms", NSEC_PER_MSEC },
		{ "s", NSEC_PER_SEC },
		{ "m", 60 * NSEC_PER_SEC },
		{ "h", 3600 * NSEC_PER_SEC },
		{ "d", 86400 * NSEC_PER_SEC },
	};
	size_t i;

	for (i = 0; i < sizeof(units) / sizeof(units[0]); i++) {
		if (!strcmp(text, units[i].name)) {
			*ns = units[i].ns;
			return true;
		}
	}
	return false;
}

bool value_duration(const char *text, uint64_t *ns)
{
	uint64_t whole, fraction = 0, unit, scale = 1;

	if (!digits(&text, &whole))
		return false;
	if (*text == '.') {
		const char *first = ++text;

		if (!digits(&text, &fraction) || text - first > 6)
			return false;
		for (; first < text; first++)
			scale *= 10;
	}
	if (!unit_ns(text, &unit) || __builtin_mul_overflow(whole, unit, ns))
		return false;
	/* Computed in microseconds, so that a day with six decimals fits into 64 bits. */
	fraction = fraction * (unit / 1000) / scale * 1000;
	return !__builtin_add_overflow(*ns, fraction, ns);
}

bool value_bool(const char *text, bool *flag)
{
	*flag = !strcmp(text, "yes");
	return *flag || !strcmp(text, "no");
}
