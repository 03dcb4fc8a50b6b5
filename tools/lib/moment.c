// SPDX-License-Identifier: GPL-2.0-only
/* Times given by the user. */
#include <ctype.h>
#include <errno.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>

#include "moment.h"

#define NSEC	1000000000ULL

/*
 * Parse the digits after a point, at most nine of them. Return: what follows, or NULL if there is
 * no digit. *ns is set to the nanoseconds, *unit_ns to the weight of the last digit.
 */
static const char *parse_fraction(const char *text, uint64_t *ns, uint64_t *unit_ns)
{
	const char *s = text;

	*ns = 0;
	for (*unit_ns = NSEC; isdigit((unsigned char)*s); s++) {
		if (*unit_ns == 1)
			continue;
		*unit_ns /= 10;
		*ns += (uint64_t)(*s - '0') * *unit_ns;
	}
	return s == text ? NULL : s;
}

int seconds_parse(const char *text, uint64_t *ns)
{
	uint64_t seconds, fraction = 0, unit;
	char *end;

	if (!isdigit((unsigned char)*text))
		return -1;
	errno = 0;
	seconds = strtoull(text, &end, 10);
	text = *end == '.' ? parse_fraction(end + 1, &fraction, &unit) : end;
	if (!text || (*text && strcmp(text, "s")) || errno || seconds > 18000000000)
		return -1;
	*ns = seconds * NSEC + fraction;
	return 0;
}

/* The offset from UTC in seconds: "Z", " UTC", "+0100" or "+01:00"; none means local time. */
static int parse_zone(const char *text, bool *given, long *offset)
{
	struct tm tm = { .tm_gmtoff = 0 };
	const char *end;

	*offset = 0;
	*given = *text;
	if (!*text || !strcmp(text, "Z") || !strcmp(text, " UTC"))
		return 0;
	if (*text != '+' && *text != '-')
		return -1;
	end = strptime(text, "%z", &tm);
	*offset = tm.tm_gmtoff;
	return end && !*end ? 0 : -1;
}

/* Whether a local time occurs twice, at the end of summer time. */
static bool occurs_twice(const struct tm *given)
{
	struct tm summer = *given, winter = *given;

	summer.tm_isdst = 1;
	winter.tm_isdst = 0;
	return mktime(&summer) != mktime(&winter) && summer.tm_isdst > 0 && !winter.tm_isdst &&
	       summer.tm_hour == winter.tm_hour && summer.tm_min == winter.tm_min;
}

/* mktime() and timegm() turn a date that does not exist, such as 30 February, into another. */
static int to_seconds(const struct tm *given, bool zone, long offset, uint64_t *seconds)
{
	struct tm tm = *given;
	time_t t = zone ? timegm(&tm) : mktime(&tm);

	if (tm.tm_mon != given->tm_mon || tm.tm_mday != given->tm_mday ||
	    tm.tm_hour != given->tm_hour || tm.tm_min != given->tm_min ||
	    tm.tm_sec != given->tm_sec || t - offset < 0 || (!zone && occurs_twice(given)))
		return -1;
	*seconds = (uint64_t)(t - offset);
	return 0;
}

/*
 * Parse a date and time in a format that any of the tools prints. What they print is cut off at the
 * last digit: to mean the same moment, it stands for the whole unit of that digit.
 */
static int parse_date(const char *text, uint64_t *ns)
{
	enum { NR_WITH_SECONDS = 3 };
	static const char *const formats[] = {
		"%Y-%m-%d %H:%M:%S", "%Y-%m-%dT%H:%M:%S", "%Y%m%dT%H%M%S", "%Y-%m-%d %H:%M",
		"%Y-%m-%d",
	};
	struct tm tm = { 0 };
	uint64_t seconds, fraction = 0, unit = 1;
	const char *end = NULL;
	bool zone;
	long offset;
	size_t i;

	for (i = 0; !end && i < sizeof(formats) / sizeof(*formats); i++) {
		tm = (struct tm){ .tm_isdst = -1 };
		end = strptime(text, formats[i], &tm);
	}
	if (end && *end == '.' && i <= NR_WITH_SECONDS)
		end = parse_fraction(end + 1, &fraction, &unit);
	if (!end || parse_zone(end, &zone, &offset) || to_seconds(&tm, zone, offset, &seconds))
		return -1;
	/* Nothing is recorded after the last moment that fits, in the year 2554. */
	if (__builtin_mul_overflow(seconds, NSEC, ns) ||
	    __builtin_add_overflow(*ns, fraction + unit - 1, ns))
		*ns = UINT64_MAX;
	return 0;
}

int moment_parse(const char *text, struct moment *moment)
{
	moment->given = true;
	moment->relative = *text == '+';
	if (*text == '+' || *text == '@')
		return seconds_parse(text + 1, &moment->ns);
	return parse_date(text, &moment->ns);
}
