// SPDX-License-Identifier: GPL-2.0-only
/* Addresses in a byte stream are replaced by names; all other bytes stay the same. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <cmocka.h>

#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "addrs.h"

static const char map64[] =
	"ffffffff81000000 T _stext\n"
	"ffffffff81001000 T do_one\n"
	"ffffffff81002000 t do_two\n"
	"ffffffff81003000 T _etext\n"
	"ffffffff81003000 D data\n"
	"ffffffffc0000000 t mod_fn\t[mod]\n";

static const char map32[] =
	"c0000000 T _stext\n"
	"c0001000 T do_one\n"
	"c0002000 T _etext\n";

struct output {
	char text[65536];
	size_t bytes;
};

static int collect(void *arg, const char *data, size_t size)
{
	struct output *o = arg;

	if (size > sizeof(o->text) - o->bytes)
		return -ENOSPC;
	memcpy(o->text + o->bytes, data, size);
	o->bytes += size;
	return 0;
}

static struct ktau_symtab *load(const char *map)
{
	struct ktau_symtab *symtab;

	assert_int_equal(ktau_symtab_create(&symtab), 0);
	assert_int_equal(ktau_symtab_load_memory(symtab, map, strlen(map), "map"), 0);
	return symtab;
}

/* Feed @in in pieces of @piece bytes. */
static struct addrs_counts run(const struct ktau_symtab *symtab, const char *in, size_t bytes,
			       size_t piece, struct output *out)
{
	struct addrs *a = addrs_create(symtab, collect, out);
	struct addrs_counts counts;
	size_t room, n;
	char *to;

	assert_non_null(a);
	out->bytes = 0;
	while (bytes) {
		n = bytes < piece ? bytes : piece;
		to = addrs_space(a, &room);
		if (n > room)
			n = room;
		memcpy(to, in, n);
		assert_int_equal(addrs_feed(a, n), 0);
		in += n;
		bytes -= n;
	}
	assert_int_equal(addrs_feed(a, 0), 0);
	counts = *addrs_counts(a);
	addrs_destroy(a);
	return counts;
}

struct substitution {
	const char *in, *out;
};

static const struct substitution wide[] = {
	{ "", "" },
	{ "\n", "\n" },
	{ "no address here", "no address here" },
	{ "ffffffff81001000", "do_one" },
	{ "0xffffffff81001000", "do_one" },
	{ "0XFFFFFFFF81001000", "do_one" },
	{ "FFFFffff81001000", "do_one" },
	{ "ffffffff81001010", "do_one+0x10" },
	{ "ffffffff81002fff", "do_two+0xfff" },
	{ "ffffffff81001000 ffffffff81002000", "do_one do_two" },
	{ "ffffffff81001000,0xffffffff81002000;", "do_one,do_two;" },
	{ " [<ffffffff81001234>] ", " [<do_one+0x234>] " },
	{ "a=0xffffffff81001000/0x40", "a=do_one/0x40" },
	{ "ffffffffc0000010", "mod_fn+0x10[mod]" },
	{ "123 ffffffff81001000 1\r\n", "123 do_one 1\r\n" },
	/* Parts of words and of longer numbers are not addresses. */
	{ "xffffffff81001000", "xffffffff81001000" },
	{ "1xffffffff81001000", "1xffffffff81001000" },
	{ "a0xffffffff81001000", "a0xffffffff81001000" },
	{ "_ffffffff81001000", "_ffffffff81001000" },
	{ "ffffffff81001000g", "ffffffff81001000g" },
	{ "ffffffff81001000_", "ffffffff81001000_" },
	{ "0ffffffff81001000", "0ffffffff81001000" },
	{ "ffffffff810010000", "ffffffff810010000" },
	{ "ffffffff81001000ffffffff81001000", "ffffffff81001000ffffffff81001000" },
	/* Numbers of the right length outside all functions. */
	{ "0000000000001000", "0000000000001000" },
	{ "ffffffff81003000", "ffffffff81003000" },
	{ "fffffffe81001000", "fffffffe81001000" },
	{ "81001000", "81001000" },
	{ "0x", "0x" },
	{ "0xffffffff8100", "0xffffffff8100" },
};

static const struct substitution narrow[] = {
	{ "c0001004", "do_one+0x4" },
	{ "0xc0001004 c0001000.", "do_one+0x4 do_one." },
	{ "00000000c0001004", "do_one+0x4" },
	{ "c000100", "c000100" },
	{ "d0001000", "d0001000" },
};

static void substitute_all(const char *map, const struct substitution *s, size_t nr)
{
	struct ktau_symtab *symtab = load(map);
	struct output *out = calloc(1, sizeof(*out));
	size_t i, piece;

	assert_non_null(out);
	for (i = 0; i < nr; i++) {
		for (piece = 1; piece <= strlen(s[i].in) + 1; piece++) {
			run(symtab, s[i].in, strlen(s[i].in), piece, out);
			assert_int_equal(out->bytes, strlen(s[i].out));
			assert_memory_equal(out->text, s[i].out, out->bytes);
		}
	}
	free(out);
	ktau_symtab_destroy(symtab);
}

static void test_wide(void **state)
{
	(void)state;
	substitute_all(map64, wide, sizeof(wide) / sizeof(*wide));
}

static void test_narrow(void **state)
{
	(void)state;
	substitute_all(map32, narrow, sizeof(narrow) / sizeof(*narrow));
}

static void test_counts(void **state)
{
	static const char in[] = "ffffffff81001000 ffffffff00000000 1234567812345678 0x10\n";
	struct ktau_symtab *symtab = load(map64);
	struct output *out = calloc(1, sizeof(*out));
	struct addrs_counts counts;

	(void)state;
	assert_non_null(out);
	counts = run(symtab, in, strlen(in), 1000, out);
	assert_int_equal(counts.resolved, 1);
	assert_int_equal(counts.unresolved, 1);
	free(out);
	ktau_symtab_destroy(symtab);
}

/* Bytes of all values, in pieces of any size, are copied unchanged. */
static void test_bytes_exact(void **state)
{
	struct ktau_symtab *symtab = load(map64);
	struct output *out = calloc(1, sizeof(*out));
	unsigned char *in = malloc(40000);
	uint32_t seed = 1;
	size_t i, piece;

	(void)state;
	assert_non_null(out);
	assert_non_null(in);
	for (i = 0; i < 40000; i++) {
		seed = seed * 1664525 + 1013904223;
		/* Half of them are digits, so that runs of all lengths occur. */
		in[i] = (unsigned char)(seed >> 16);
		if (seed >> 31)
			in[i] = (unsigned char)"0123456789abcdefxX"[in[i] % 18];
	}
	for (piece = 1; piece < 40000; piece = piece * 3 + 1) {
		run(symtab, (const char *)in, 40000, piece, out);
		assert_int_equal(out->bytes, 40000);
		assert_memory_equal(out->text, in, 40000);
	}
	free(in);
	free(out);
	ktau_symtab_destroy(symtab);
}

static int refuse(void *arg, const char *data, size_t size)
{
	(void)arg;
	(void)data;
	(void)size;
	return -ENOSPC;
}

static void test_write_error(void **state)
{
	struct ktau_symtab *symtab = load(map64);
	struct addrs *a = addrs_create(symtab, refuse, NULL);
	size_t room;

	(void)state;
	assert_non_null(a);
	memcpy(addrs_space(a, &room), "x\n", 2);
	assert_int_equal(addrs_feed(a, 2), -ENOSPC);
	addrs_destroy(a);
	ktau_symtab_destroy(symtab);
}

int main(void)
{
	static const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_wide),
		cmocka_unit_test(test_narrow),
		cmocka_unit_test(test_counts),
		cmocka_unit_test(test_bytes_exact),
		cmocka_unit_test(test_write_error),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
