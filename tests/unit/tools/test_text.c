// SPDX-License-Identifier: GPL-2.0-only
/* Names with arbitrary bytes, as printed. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <cmocka.h>

#include <stdio.h>
#include <stdlib.h>

#include "lib/text.h"
#include "lib/text_cut.h"

static void test_escaped(void **state)
{
	static const struct {
		const char *text, *expected;
	} cases[] = {
		{ "", "" },
		{ "kworker/0:1", "kworker/0:1" },
		{ "x\nend rec\033[31m", "x\\nend rec\\033[31m" },
		{ "a\\n", "a\\\\n" },
		{ "\t\r\a\x7f ~", "\\011\\015\\007\\177 ~" },
		{ "gr\xc3\xbc\xc3\x9f, \xe2\x82\xac", "gr\xc3\xbc\xc3\x9f, \xe2\x82\xac" },
		/* A control sequence introducer, as a character and as a byte. */
		{ "\xc2\x9b" "31m\xc2\xa0", "\\302\\233" "31m\xc2\xa0" },
		{ "\x9b" "31m", "\\233" "31m" },
		/* Characters that change the direction. */
		{ "\xe2\x80\xaetxt", "\\342\\200\\256txt" },
		{ "\xe2\x81\xa6\xd8\x9c", "\\342\\201\\246\\330\\234" },
		/* Truncated within a character. */
		{ "\xe2\x82", "\\342\\202" },
	};
	size_t size, i;
	char *text;
	FILE *out;

	(void)state;
	for (i = 0; i < sizeof(cases) / sizeof(*cases); i++) {
		out = open_memstream(&text, &size);
		assert_non_null(out);
		print_escaped(cases[i].text, out);
		fclose(out);
		assert_string_equal(text, cases[i].expected);
		free(text);
	}
}

static void test_columns(void **state)
{
	static const struct {
		const char *text;
		int columns;
	} cases[] = {
		{ "", 0 },
		{ "server", 6 },
		{ "f\xc3\xbcnf", 4 },
		{ "\xe6\x97\xa5\xe6\x9c\xac", 4 },	/* two ideographs */
		{ "cafe\xcc\x81", 4 },		/* a combining accent */
		{ "\xf0\x9f\x90\xa7", 2 },		/* a penguin */
		{ "\xff\xc3", 2 },
	};
	size_t i;

	(void)state;
	for (i = 0; i < sizeof(cases) / sizeof(*cases); i++)
		assert_int_equal(text_columns(cases[i].text), cases[i].columns);
}

static void test_cut(void **state)
{
	static const struct {
		const char *text;
		int columns;
		const char *cut;
	} cases[] = {
		{ "short", 5, "short" },
		{ "/system.slice/a.service", 12, "/sy..service" },
		{ "/system.slice/a.service", 13, "/sy...service" },
		{ "/system.slice", 9, "/system.s" },
		{ "abcdefgh", 1, "a" },
		/* No half of an ideograph, and no accent without its letter. */
		{ "\xe6\x97\xa5\xe6\x9c\xac\xe8\xaa\x9e", 5, "\xe6\x97\xa5\xe6\x9c\xac" },
		{ "abcdefghe\xcc\x81tuvwxyz", 11, "abc..uvwxyz" },
		{ "abcdefghe\xcc\x81tuvwxyz", 10, "ab..uvwxyz" },
	};
	size_t i;
	char *cut;

	(void)state;
	for (i = 0; i < sizeof(cases) / sizeof(*cases); i++) {
		assert_int_equal(text_cut(cases[i].text, cases[i].columns, &cut),
				 text_columns(cases[i].cut));
		assert_string_equal(cut, cases[i].cut);
		free(cut);
	}
}

static void test_distinct(void **state)
{
	static const char *const names[] = { "a-pod-1-of-all", "a-pod-2-of-all", "a-pod-1-of-all" };

	(void)state;
	assert_int_equal(text_distinct(names, 1, 8), 8);
	assert_int_equal(text_distinct(names, 2, 6), 7);
	/* Texts that are the same stay so. */
	assert_int_equal(text_distinct(names, 3, 20), 20);
	assert_int_equal(text_distinct(names, 0, 8), 8);
}

static void test_guard(void **state)
{
	static const char *const formulas[] = { "=1+2", "+cmd|'x'!A", "-2+3", "@SUM(A1)", "-x" };
	static const char *const others[] = { "", "-", "-12", "+0.5", "-1e9", "a=b", "'=1", "sh" };
	size_t i;

	(void)state;
	for (i = 0; i < sizeof(formulas) / sizeof(*formulas); i++)
		assert_string_equal(csv_guard(formulas[i]), "'");
	for (i = 0; i < sizeof(others) / sizeof(*others); i++)
		assert_string_equal(csv_guard(others[i]), "");
}

int main(void)
{
	static const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_escaped),
		cmocka_unit_test(test_columns),
		cmocka_unit_test(test_cut),
		cmocka_unit_test(test_distinct),
		cmocka_unit_test(test_guard),
	};

	text_use_utf8();
	return cmocka_run_group_tests(tests, NULL, NULL);
}
