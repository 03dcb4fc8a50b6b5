// SPDX-License-Identifier: GPL-2.0-only
/* One table as text, CSV and JSON. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <cmocka.h>

#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "lib/table.h"
#include "lib/text.h"

enum { SECRET, SHARE, NUMBER, SIGNED, HEX, TIME, NAME, NR };

static const struct column columns[NR] = {
	[SECRET] = { "secret", NULL, COLUMN_SMALL },
	[SHARE] = { "share", "share", COLUMN_SHARE },
	[NUMBER] = { "number", "number", COLUMN_NUMBER },
	[SIGNED] = { "signed", "signed", COLUMN_SIGNED },
	[HEX] = { "hex", "hex", COLUMN_HEX },
	[TIME] = { "time_ns", "time ms", COLUMN_NS },
	[NAME] = { "name", "name", COLUMN_TEXT },
};

static void add(struct table *t, uint64_t number, const char *name)
{
	union cell *row = table_row(t);

	row[SECRET].number = 42;
	row[SHARE].share = 0.5;
	row[NUMBER].number = number;
	row[SIGNED].sign = -1;
	row[HEX].number = 0xffffffff81000000;
	row[TIME].number = 1234567890;
	row[NAME].text = name;
}

static void with_table(void (*print)(const struct table *t, FILE *out), const char *name,
		       const char *expected)
{
	size_t size;
	struct table t;
	char *text;
	FILE *out;

	out = open_memstream(&text, &size);
	assert_non_null(out);
	table_init(&t, "rows", columns, NR);
	add(&t, 0, name);
	add(&t, UINT64_MAX, NULL);
	print(&t, out);
	fclose(out);
	table_deinit(&t);
	assert_string_equal(text, expected);
	free(text);
}

static void print_text(const struct table *t, FILE *out)
{
	table_text(t, 0, t->nr_rows, "  ", out);
}

static void test_text(void **state)
{
	(void)state;
	with_table(print_text, "one",
		   "  share                number  signed               hex   time ms  name\n"
		   "  50.0%                     0      -1  ffffffff81000000  1234.567  one\n"
		   "  50.0%  18446744073709551615      -1  ffffffff81000000  1234.567  \n");
}

static void test_csv(void **state)
{
	(void)state;
	with_table(table_csv, "a \"b\", c",
		   "secret,share,number,signed,hex,time_ns,name\n"
		   "42,0.500000,0,-1,ffffffff81000000,1234567890,\"a \"\"b\"\", c\"\n"
		   "42,0.500000,18446744073709551615,-1,ffffffff81000000,1234567890,\n");
}

/* A name that a spreadsheet would run as a formula; numbers stay numbers. */
static void test_csv_formula(void **state)
{
	(void)state;
	with_table(table_csv, "=1+2,3",
		   "secret,share,number,signed,hex,time_ns,name\n"
		   "42,0.500000,0,-1,ffffffff81000000,1234567890,\"'=1+2,3\"\n"
		   "42,0.500000,18446744073709551615,-1,ffffffff81000000,1234567890,\n");
}

/* Bytes with a meaning for a terminal or a line-based reader. */
static void test_csv_bytes(void **state)
{
	(void)state;
	with_table(table_csv, "\033[2J\r,\n",
		   "secret,share,number,signed,hex,time_ns,name\n"
		   "42,0.500000,0,-1,ffffffff81000000,1234567890,\"\\033[2J\\015,\\n\"\n"
		   "42,0.500000,18446744073709551615,-1,ffffffff81000000,1234567890,\n");
}

static void test_json(void **state)
{
	(void)state;
	with_table(table_json, "a\"b\\\n",
		   "\"rows\": [\n"
		   "  {\"secret\": 42, \"share\": 0.500000, \"number\": \"0\", \"signed\": -1, "
		   "\"hex\": \"ffffffff81000000\", \"time_ns\": \"1234567890\", "
		   "\"name\": \"a\\\"b\\\\\\u000a\"},\n"
		   "  {\"secret\": 42, \"share\": 0.500000, \"number\": \"18446744073709551615\", "
		   "\"signed\": -1, \"hex\": \"ffffffff81000000\", \"time_ns\": \"1234567890\", "
		   "\"name\": \"\"}\n]");
}

/* Names of tasks are arbitrary bytes; the output is always valid JSON. */
static void test_json_bytes(void **state)
{
	static const struct {
		const char *in, *out;
	} strings[] = {
		{ "\x01\x7f", "\"\\u0001\\u007f\"" },
		{ "\xc3\xa4", "\"\xc3\xa4\"" },
		{ "\xff", "\"\\u00ff\"" },
		{ "\xc3", "\"\\u00c3\"" },
		{ "\xed\xa0\x80", "\"\\u00ed\\u00a0\\u0080\"" },
		{ "\xf0\x9f\x90\xa7", "\"\xf0\x9f\x90\xa7\"" },
		{ "\xc0\xaf", "\"\\u00c0\\u00af\"" },
	};
	size_t i, size;
	char *text;
	FILE *out;

	(void)state;
	for (i = 0; i < sizeof(strings) / sizeof(*strings); i++) {
		out = open_memstream(&text, &size);
		assert_non_null(out);
		json_string(strings[i].in, out);
		fclose(out);
		assert_string_equal(text, strings[i].out);
		free(text);
	}
}

static void expect(const struct table *t, enum table_format format, const char *expected)
{
	size_t size;
	char *text;
	FILE *out;

	out = open_memstream(&text, &size);
	assert_non_null(out);
	table_print(t, format, out);
	fclose(out);
	assert_string_equal(text, expected);
	free(text);
}

/* Unknown values, and tables that are too wide. */
static void test_width(void **state)
{
	static const struct column cells[] = {
		{ "name", "name", COLUMN_TEXT },
		{ NULL, "share", COLUMN_SHARE },
		{ "s", "s", COLUMN_SECONDS },
		{ "in", "in", COLUMN_TEXT },
		{ "more", NULL, COLUMN_NUMBER },
	};
	struct table t;
	union cell *row;

	(void)state;
	table_init(&t, "t", cells, sizeof(cells) / sizeof(*cells));
	row = table_row(&t);
	row[0].text = "a\tname that is long";
	row[1].share = 0.125;
	row[2].number = 1500000000;
	row[3].text = "read";
	row = table_row(&t);
	row[0].text = "b";
	row[1].share = (double)NAN;
	row[2].number = CELL_NONE;
	row[3].text = "-";
	row[4].number = 7;
	t.width = 60;
	expect(&t, FORMAT_TEXT, "name                    share     s  in\n"
	       "a\\011name that is long  12.5%  1.50  read\n"
	       "b                         n/a   n/a  -\n");
	t.width = 35;
	t.spare = 1 << 3;
	expect(&t, FORMAT_TEXT, "name                share    s in\n"
	       "a\\011..that is long 12.5% 1.50 read\n"
	       "b                     n/a  n/a -\n");
	t.width = 20;
	expect(&t, FORMAT_TEXT, "name      share    s\n"
	       "a\\011name 12.5% 1.50\n"
	       "b           n/a  n/a\n");
	t.hidden = 1 << 1;
	t.width = 0;
	expect(&t, FORMAT_TEXT, "name                       s  in\n"
	       "a\\011name that is long  1.50  read\n"
	       "b                        n/a  -\n");
	expect(&t, FORMAT_CSV,
	       "name,s,in,more\na\\011name that is long,1500000000,read,0\nb,,-,7\n");
	table_deinit(&t);
}

/* A character of several bytes takes one column, and is not cut in two. */
static void test_characters(void **state)
{
	static const struct column cells[] = {
		{ "name", "name", COLUMN_TEXT },
		{ "n", "n", COLUMN_SMALL },
	};
	struct table t;
	union cell *row;

	(void)state;
	table_init(&t, "t", cells, sizeof(cells) / sizeof(*cells));
	row = table_row(&t);
	row[0].text = "f\xc3\xbcnf \xe2\x82\xac";
	row = table_row(&t);
	row[0].text = "six";
	expect(&t, FORMAT_TEXT, "name    n\nf\xc3\xbcnf \xe2\x82\xac  0\nsix     0\n");
	t.width = 7;
	expect(&t, FORMAT_TEXT, "name  n\nf\xc3\xbcnf  0\nsix   0\n");
	table_deinit(&t);
}

static void one_column(struct table *t, int width, const char *const *names, size_t nr)
{
	static const struct column cells[] = {
		{ "name", "name", COLUMN_TEXT },
		{ "n", "n", COLUMN_SMALL },
	};
	size_t i;

	table_init(t, "t", cells, sizeof(cells) / sizeof(*cells));
	for (i = 0; i < nr; i++)
		table_row(t)->text = names[i];
	t->width = width;
}

/* Names are cut in the middle; a table that shows two of them alike becomes wider. */
static void test_alike(void **state)
{
	static const char *const names[] = {
		"/kubepods.slice/pod-a.slice/app.scope", "/kubepods.slice/pod-b.slice/app.scope",
		"/",
	};
	struct table t;

	(void)state;
	one_column(&t, 12, names, 3);
	expect(&t, FORMAT_TEXT, "name                        n\n"
	       "/kubepod..a.slice/app.scope 0\n"
	       "/kubepod..b.slice/app.scope 0\n"
	       "/                           0\n");
	table_deinit(&t);
}

/* Names of characters with two columns or none, and of more than fit into a line. */
static void test_columns(void **state)
{
	static const char *const names[] = {
		"\xe6\x97\xa5\xe6\x9c\xac\xe8\xaa\x9e", "server", "cafe\xcc\x81",
		"\xe2\x80\xaetxt",
	};
	char path[301], line[700];
	const char *long_name = path;
	struct table t;

	(void)state;
	one_column(&t, 0, names, 4);
	expect(&t, FORMAT_TEXT, "name             n\n"
	       "\xe6\x97\xa5\xe6\x9c\xac\xe8\xaa\x9e           0\n"
	       "server           0\n"
	       "cafe\xcc\x81             0\n"
	       "\\342\\200\\256txt  0\n");
	table_deinit(&t);
	memset(path, 'x', 300);
	path[300] = 0;
	one_column(&t, 0, &long_name, 1);
	snprintf(line, sizeof(line), "name%*s  n\n%s  0\n", 296, "", path);
	expect(&t, FORMAT_TEXT, line);
	table_deinit(&t);
}

/* A sum over tasks of more than 64 bits. */
static void test_wide(void **state)
{
	static const struct column cells[] = {
		{ "life_ns", "life s", COLUMN_SECONDS },
		{ "user_ns", "user ms", COLUMN_NS },
		{ "n", "n", COLUMN_NUMBER },
	};
	const ktau_sum_t number = (ktau_sum_t)UINT64_MAX * 1000;
	struct table t;
	union cell *row;

	(void)state;
	if (sizeof(number) == sizeof(uint64_t))
		skip();
	table_init(&t, "t", cells, sizeof(cells) / sizeof(*cells));
	row = table_row(&t);
	row[0].number = row[1].number = row[2].number = number;
	expect(&t, FORMAT_TEXT,
	       "           life s                user ms                        n\n"
	       "18446744073709.55  18446744073709551.615  18446744073709551615000\n");
	expect(&t, FORMAT_CSV, "life_ns,user_ns,n\n18446744073709551615000,"
	       "18446744073709551615000,18446744073709551615000\n");
	expect(&t, FORMAT_JSON, "{\"t\": [\n  {\"life_ns\": \"18446744073709551615000\", "
	       "\"user_ns\": \"18446744073709551615000\", "
	       "\"n\": \"18446744073709551615000\"}\n]}\n");
	table_deinit(&t);
}

static void test_formats(void **state)
{
	enum table_format format;

	(void)state;
	assert_int_equal(table_parse_format("csv", &format), 0);
	assert_int_equal(format, FORMAT_CSV);
	assert_int_equal(table_parse_format("xml", &format), -1);
	assert_int_equal(table_parse_format("", &format), -1);
}

int main(void)
{
	static const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_text),
		cmocka_unit_test(test_csv),
		cmocka_unit_test(test_csv_formula),
		cmocka_unit_test(test_csv_bytes),
		cmocka_unit_test(test_json),
		cmocka_unit_test(test_json_bytes),
		cmocka_unit_test(test_width),
		cmocka_unit_test(test_characters),
		cmocka_unit_test(test_alike),
		cmocka_unit_test(test_columns),
		cmocka_unit_test(test_wide),
		cmocka_unit_test(test_formats),
	};

	text_use_utf8();
	return cmocka_run_group_tests(tests, NULL, NULL);
}
