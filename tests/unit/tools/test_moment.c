// SPDX-License-Identifier: GPL-2.0-only
/* Times and numbers of seconds given by the user. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdlib.h>
#include <time.h>

#include <cmocka.h>

#include "lib/moment.h"

#define MS	1000000ULL
#define SECOND	(1000 * MS)

static void test_seconds(void **state)
{
	static const char *const bad[] = {
		"", "s", "x", "-1", "1.", ".5", "1e3", "0x10", "1ss", "1 s",
	};
	uint64_t ns;
	size_t i;

	(void)state;
	assert_int_equal(seconds_parse("0.5", &ns), 0);
	assert_int_equal(ns, 500 * MS);
	assert_int_equal(seconds_parse("10.000000001s", &ns), 0);
	assert_int_equal(ns, 10 * SECOND + 1);
	for (i = 0; i < sizeof(bad) / sizeof(*bad); i++)
		assert_int_equal(seconds_parse(bad[i], &ns), -1);
}

static void test_moments(void **state)
{
	static const char *const bad[] = {
		"", "+", "@", "+x", "@-1", "@1.", "@1.x", "@1e9", "+20000000000", "yesterday",
		"12:00x", "2023-11-14 22:13:20+", "2023-11-14 22:13:20+0100x",
		"2023-11-14 22:13:20.", "2023-11-14.5", "2023-11-14 22:13:20 CET",
		/* Moments that do not exist. */
		"2026-02-30", "2026-02-30 10:00:00", "2025-02-29 10:00:00Z", "2026-04-31",
		"2026-03-29 02:30:00",
	};
	static const struct {
		const char *text;
		uint64_t ns;
	} dates[] = {
		/* What report, dump, and the page print, and the name of a file of ktaud. */
		{ "2023-11-14 23:13:20.007+0100", 1700000000 * SECOND + 7 * MS + 999999 },
		{ "2023-11-14T22:13:20.000000001Z", 1700000000 * SECOND + 1 },
		{ "2023-11-14 22:13:20 UTC", 1700000000 * SECOND },
		{ "20231114T221320.123Z", 1700000000 * SECOND + 123 * MS + 999999 },
		{ "2023-11-14 23:13:20", 1700000000 * SECOND },
		{ "2023-11-14T17:13:20-05:00", 1700000000 * SECOND },
		{ "2024-02-29 00:00", 1709161200 * SECOND },
		/* The two hours from 02:00 to 03:00 at the end of summer time. */
		{ "2026-10-25 02:15:00+0200", 1792887300 * SECOND },
		{ "2026-10-25 02:15:00+0100", 1792890900 * SECOND },
		{ "@1700000000.000000001", 1700000000 * SECOND + 1 },
	};
	struct moment m;
	size_t i;

	(void)state;
	assert_int_equal(moment_parse("+1.5", &m), 0);
	assert_true(m.given && m.relative && m.ns == 1500 * MS);
	assert_int_equal(moment_parse("@1700000000", &m), 0);
	assert_true(!m.relative && m.ns == 1700000000 * SECOND);
	assert_int_equal(moment_parse("2023-11-14 22:13:20", &m), 0);
	assert_int_equal(moment_parse("2600-01-01", &m), 0);
	assert_true(m.ns == UINT64_MAX);
	setenv("TZ", "CET-1CEST,M3.5.0,M10.5.0/3", 1);
	tzset();
	for (i = 0; i < sizeof(dates) / sizeof(*dates); i++) {
		assert_int_equal(moment_parse(dates[i].text, &m), 0);
		assert_false(m.relative);
		assert_int_equal(m.ns, dates[i].ns);
	}
	for (i = 0; i < sizeof(bad) / sizeof(*bad); i++)
		assert_int_equal(moment_parse(bad[i], &m), -1);
	unsetenv("TZ");
	tzset();
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_seconds),
		cmocka_unit_test(test_moments),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
