// SPDX-License-Identifier: GPL-2.0-only
/* Names with arbitrary bytes, as printed. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <cmocka.h>

#include <stdio.h>
#include <stdlib.h>

#include "text.h"

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

int main(void)
{
	static const struct CMUnitTest tests[] = { cmocka_unit_test(test_escaped) };

	return cmocka_run_group_tests(tests, NULL, NULL);
}
