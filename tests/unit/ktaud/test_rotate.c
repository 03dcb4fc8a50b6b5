// SPDX-License-Identifier: GPL-2.0-only
/* Names of files: which files belong to ktaud, and which one expires. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include <cmocka.h>
#include <ktau.h>

#include "config.h"
#include "rotate.h"

#define LEN(a)	(sizeof(a) / sizeof((a)[0]))

static void test_name(void **state)
{
	char name[ROTATE_NAME];
	struct rotate rotate;

	(void)state;
	rotate_init(&rotate, "node7");
	rotate_name(&rotate, 1767225600ULL * NSEC_PER_SEC + 42999999, name);
	assert_string_equal(name, "node7-20260101T000000.042Z.ktau");
	assert_true(rotate_is_ours(&rotate, name));
	rotate_deinit(&rotate);
}

/* No host name moves the file to another directory. */
static void test_hosts(void **state)
{
	static const struct {
		const char *host;
		const char *prefix;
	} hosts[] = {
		{ "a.b-c_d", "a.b-c_d-" },
		{ "../etc/x", "_._etc_x-" },
		{ "", "unknown-" },
		{ "a b\n", "a_b_-" },
		{ "0123456789012345678901234567890123456789012345678901234567890123",
		  "0123456789012345678901234567890123456789012345678901234567890123-" },
	};
	char name[ROTATE_NAME];
	struct rotate rotate;
	size_t i;

	(void)state;
	for (i = 0; i < LEN(hosts); i++) {
		rotate_init(&rotate, hosts[i].host);
		rotate_name(&rotate, 0, name);
		assert_int_equal(strncmp(name, hosts[i].prefix, strlen(hosts[i].prefix)), 0);
		assert_null(strchr(name, '/'));
		assert_true(rotate_is_ours(&rotate, name));
		rotate_deinit(&rotate);
	}
}

static void test_not_ours(void **state)
{
	static const char *const names[] = {
		"", "n", "n-", "n-20260101T000000.000Z.ktau.gz", "n-20260101T000000.000Z.kta",
		"n-20260101T000000Z.ktau", "m-20260101T000000.000Z.ktau",
		"n-x-20260101T000000.000Z.ktau", "n-2026o101T000000.000Z.ktau",
		"n_20260101T000000.000Z.ktau",
	};
	struct rotate rotate;
	size_t i;

	(void)state;
	rotate_init(&rotate, "n");
	for (i = 0; i < LEN(names); i++)
		if (rotate_is_ours(&rotate, names[i]))
			fail_msg("%s", names[i]);
	rotate_deinit(&rotate);
}

static void expect_expired(struct rotate *rotate, uint64_t keep, const char *expected)
{
	char *name = rotate_expire(rotate, keep);

	if (expected)
		assert_string_equal(name, expected);
	else
		assert_null(name);
	free(name);
}

struct content {
	const char *name;
	unsigned int boot;	/* 0: the current one; 9: not a recording */
	uint64_t ticks;		/* 0: no stream yet */
};

static void boot_of(unsigned int boot, uint8_t id[16])
{
	memset(id, boot, 16);
	if (!boot)
		ktau_boot_id(id);
}

/* A boot with a higher number began earlier. */
static void put_stream(struct ktau_writer *writer, const struct content *content)
{
	struct ktau_rec_stream stream = {
		.rec = { sizeof(stream), KTAU_REC_STREAM, sizeof(stream) },
		.magic = KTAU_MAGIC,
		.version = KTAU_ABI_VERSION,
		.word_bits = 64,
		.content = KTAU_REC_PROFILE,
		.clock_hz = 1000000000,
		.nr_cpus = 1,
		.ticks = content->ticks,
		.boot_realtime_ns = (20 - content->boot) * NSEC_PER_SEC,
	};

	boot_of(content->boot, stream.boot_id);
	assert_int_equal(ktau_writer_put(writer, &stream), 0);
}

static void make_file(const char *dir, const struct content *content)
{
	struct ktau_writer *writer;
	uint8_t boot_id[16];
	char path[256];
	FILE *file;

	snprintf(path, sizeof(path), "%s/%s", dir, content->name);
	if (content->boot == 9) {
		file = fopen(path, "w");
		assert_non_null(file);
		fclose(file);
		return;
	}
	boot_of(content->boot, boot_id);
	assert_int_equal(ktau_writer_create(&writer), 0);
	assert_int_equal(ktau_writer_open(writer, path, 0, boot_id), 0);
	if (content->ticks)
		put_stream(writer, content);
	assert_int_equal(ktau_writer_close(writer), 0);
	ktau_writer_destroy(writer);
}

static void make_files(char *dir, const struct content *contents, size_t nr,
		       struct rotate *rotate)
{
	size_t i;

	assert_non_null(mkdtemp(dir));
	for (i = 0; i < nr; i++)
		make_file(dir, &contents[i]);
	rotate_init(rotate, "n");
	assert_int_equal(rotate_scan(rotate, dir), 0);
}

static void remove_file(const char *dir, const char *name)
{
	char path[256];

	snprintf(path, sizeof(path), "%s/%s", dir, name);
	assert_int_equal(unlink(path), 0);
}

/*
 * The order is that of the boots and of the times in a boot, because the clock may have been set.
 * Files of this boot are this host's, however it was called.
 */
static void test_keep(void **state)
{
	static const struct content contents[] = {
		{ "n-20260107T000000.000Z.ktau", 3, 1 },
		{ "n-20260103T000000.000Z.ktau", 0, 300 },
		{ "n-20260101T000000.000Z.ktau", 0, 0 },
		{ "n-20260102T000000.000Z.ktau", 0, 400 },
		{ "localhost-20260104T000000.000Z.ktau", 0, 200 },
		{ "n-20260105T000000.000Z.ktau", 2, 500 },
		{ "n-20260106T000000.000Z.ktau", 2, 400 },
		{ "other-20250101T000000.000Z.ktau", 2, 100 },
		{ "other-20250102T000000.000Z.ktau", 9, 0 },
		{ "notes", 9, 0 },
	};
	static const char *const oldest_first[] = {
		"n-20260107T000000.000Z.ktau", "n-20260106T000000.000Z.ktau",
		"n-20260105T000000.000Z.ktau", "localhost-20260104T000000.000Z.ktau",
		"n-20260103T000000.000Z.ktau", "n-20260102T000000.000Z.ktau",
		"n-20260101T000000.000Z.ktau",
	};
	char dir[] = "/tmp/test_rotate.XXXXXX";
	struct rotate rotate;
	size_t i;

	(void)state;
	make_files(dir, contents, LEN(contents), &rotate);
	assert_int_equal(rotate.nr, LEN(oldest_first));
	expect_expired(&rotate, 0, NULL);
	expect_expired(&rotate, 7, NULL);

	/* The clock was set back: the current file is still the newest. */
	assert_int_equal(rotate_add(&rotate, "n-20200101T000000.000Z.ktau"), 0);
	for (i = 0; i < LEN(oldest_first); i++) {
		expect_expired(&rotate, 7 - i, oldest_first[i]);
		if (i < 6)
			expect_expired(&rotate, 7 - i, NULL);
	}
	expect_expired(&rotate, 1, NULL);
	rotate_deinit(&rotate);

	for (i = 0; i < LEN(contents); i++)
		remove_file(dir, contents[i].name);
	rmdir(dir);
}

static void test_missing(void **state)
{
	static const struct content contents[] = {
		{ "n-20260101T000000.000Z.ktau", 0, 1 },
		{ "n-20260102T000000.000Z.ktau", 0, 2 },
		{ "n-20260103T000000.000Z.ktau", 0, 3 },
	};
	char dir[] = "/tmp/test_rotate.XXXXXX";
	struct rotate rotate;

	(void)state;
	make_files(dir, contents, LEN(contents), &rotate);
	rotate_forget_missing(&rotate, dir);
	assert_int_equal(rotate.nr, 3);

	/* With two files and a limit of two, both are kept. */
	remove_file(dir, contents[1].name);
	rotate_forget_missing(&rotate, dir);
	expect_expired(&rotate, 2, NULL);
	expect_expired(&rotate, 1, contents[0].name);

	/* A file whose existence cannot be checked is not missing. */
	rotate_forget_missing(&rotate, "/proc/self/status");
	assert_int_equal(rotate.nr, 1);
	remove_file(dir, contents[0].name);
	remove_file(dir, contents[2].name);
	rotate_forget_missing(&rotate, dir);
	expect_expired(&rotate, 1, NULL);
	rotate_deinit(&rotate);
	rmdir(dir);
}

static void test_due(void **state)
{
	static const struct {
		uint64_t rotate_bytes, rotate_ns, bytes, age_ns;
		bool due;
	} cases[] = {
		{ 0, 0, UINT64_MAX, UINT64_MAX, false },
		{ 100, 0, 99, UINT64_MAX, false },
		{ 100, 0, 100, 0, true },
		{ 0, 5, UINT64_MAX, 4, false },
		{ 0, 5, 0, 5, true },
		{ 100, 5, 99, 4, false },
		{ 100, 5, 99, 6, true },
	};
	struct config config = { 0 };
	size_t i;

	(void)state;
	for (i = 0; i < LEN(cases); i++) {
		config.rotate_bytes = cases[i].rotate_bytes;
		config.rotate_ns = cases[i].rotate_ns;
		if (rotate_is_due(&config, cases[i].bytes, cases[i].age_ns) != cases[i].due)
			fail_msg("case %zu", i);
	}
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_name),
		cmocka_unit_test(test_hosts),
		cmocka_unit_test(test_not_ours),
		cmocka_unit_test(test_keep),
		cmocka_unit_test(test_missing),
		cmocka_unit_test(test_due),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
