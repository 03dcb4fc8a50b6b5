// SPDX-License-Identifier: GPL-2.0-only
/* The archive of ktau-land: which parts are appended, and which names are refused. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <cmocka.h>

#include <fcntl.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/resource.h>
#include <sys/stat.h>
#include <unistd.h>

#include "ship/append.h"

static char folder[] = "/tmp/test_append.XXXXXX";
static int dir;

static int make(void **state)
{
	(void)state;
	umask(0);
	strcpy(strrchr(folder, '.'), ".XXXXXX");
	if (!mkdtemp(folder))
		return -1;
	dir = open(folder, O_RDONLY | O_DIRECTORY);
	return dir < 0;
}

static int clean(void **state)
{
	char command[64];

	(void)state;
	close(dir);
	snprintf(command, sizeof(command), "rm -rf %s", folder);
	return system(command);
}

static enum append_result put(const char *host, const char *file, const char *offset,
			      const char *data, struct append_state *after)
{
	const struct append_part part = {
		.host = host,
		.file = file,
		.offset = offset,
		.data = data,
		.bytes = strlen(data),
	};
	struct append_state ignored;

	return append(dir, &part, after ? after : &ignored);
}

static void has(const char *path, const char *text)
{
	char have[100] = "";
	int fd = openat(dir, path, O_RDONLY);
	struct stat st;

	assert_true(fd >= 0);
	assert_int_equal(read(fd, have, sizeof(have)), strlen(text));
	assert_string_equal(have, text);
	assert_int_equal(fstat(fd, &st), 0);
	assert_int_equal(st.st_mode & 07777, 0640);
	close(fd);
}

static void test_parts(void **state)
{
	struct append_state after;

	(void)state;
	assert_int_equal(put("a", "x.ktau", "0", "one", &after), APPEND_LANDED);
	assert_int_equal(after.bytes, 3);
	assert_int_equal(put("a", "x.ktau", "0", "one", &after), APPEND_DUPLICATE);
	assert_int_equal(put("a", "x.ktau", "1", "n", &after), APPEND_DUPLICATE);
	assert_int_equal(put("a", "x.ktau", "4", "two", &after), APPEND_GAP);
	assert_int_equal(after.bytes, 3);
	assert_int_equal(put("a", "x.ktau", "3", "two", &after), APPEND_LANDED);
	/* It overlaps what is there. */
	assert_int_equal(put("a", "x.ktau", "4", "wo and three", &after), APPEND_LANDED);
	assert_int_equal(after.bytes, 16);
	assert_int_equal(after.head_bytes, 16);
	assert_memory_equal(after.head, "onetwo and three", 16);
	assert_int_equal(put("a", "x.ktau", "0", "other", &after), APPEND_OTHER);
	assert_int_equal(put("a", "x.ktau", "14", "exx", &after), APPEND_OTHER);
	has("a/x.ktau", "onetwo and three");
	assert_int_equal(put("b", "x.ktau", "0", "another host", NULL), APPEND_LANDED);
	has("b/x.ktau", "another host");
}

static void test_names(void **state)
{
	static const char *const hosts[] = {
		"",
		".",
		"..",
		"a/b",
		"a.b",
		"-a",
		"a b",
		"\n",
		"*",
		">",
	};
	static const char *const files[] = {
		"",
		".ktau",
		".x.ktau",
		"x",
		"../x.ktau",
		"/etc/x.ktau",
		"a/x.ktau",
		"a..ktau",
		"-x.ktau",
		"x.ktau ",
		"x\n.ktau",
		"x*.ktau",
		"x.ktau.gz",
	};
	static const char *const offsets[] = {
		"",
		"-1",
		"0x0",
		" 0",
		"0 ",
		"9223372036854775807",
		"18446744073709551616",
	};
	char longest[200];
	size_t i;

	(void)state;
	for (i = 0; i < sizeof(hosts) / sizeof(*hosts); i++)
		assert_int_equal(put(hosts[i], "x.ktau", "0", "x", NULL), APPEND_REFUSED);
	for (i = 0; i < sizeof(files) / sizeof(*files); i++)
		assert_int_equal(put("h", files[i], "0", "x", NULL), APPEND_REFUSED);
	for (i = 0; i < sizeof(offsets) / sizeof(*offsets); i++)
		assert_int_equal(put("h", "x.ktau", offsets[i], "x", NULL), APPEND_REFUSED);
	assert_int_equal(put("h", NULL, "0", "x", NULL), APPEND_REFUSED);
	assert_int_equal(put("h", "x.ktau", NULL, "x", NULL), APPEND_REFUSED);
	assert_int_equal(put("h", "x.ktau", "0", "", NULL), APPEND_REFUSED);
	memset(longest, 'x', sizeof(longest));
	strcpy(longest + TARGET_FILE - 5, ".ktau");
	assert_int_equal(put("h", longest, "0", "x", NULL), APPEND_REFUSED);
	assert_int_equal(put("h", longest + 1, "0", "x", NULL), APPEND_LANDED);
}

/* The links lead out of the archive, to a folder of this test: it stays empty. */
static void test_links(void **state)
{
	char outside[] = "/tmp/test_append_outside.XXXXXX", file[64];

	(void)state;
	assert_non_null(mkdtemp(outside));
	snprintf(file, sizeof(file), "%s/x.ktau", outside);
	assert_int_equal(mkdirat(dir, "h", 0750), 0);
	assert_int_equal(symlinkat(outside, dir, "away"), 0);
	assert_int_equal(symlinkat(file, dir, "h/link.ktau"), 0);
	assert_int_equal(mkdirat(dir, "h/dir.ktau", 0750), 0);
	assert_int_equal(mkfifoat(dir, "h/fifo.ktau", 0600), 0);
	assert_int_equal(put("away", "x.ktau", "0", "x", NULL), APPEND_REFUSED);
	assert_int_equal(put("h", "link.ktau", "0", "x", NULL), APPEND_REFUSED);
	assert_int_equal(put("h", "dir.ktau", "0", "x", NULL), APPEND_REFUSED);
	assert_int_equal(put("h", "fifo.ktau", "0", "x", NULL), APPEND_REFUSED);
	assert_int_equal(rmdir(outside), 0);
}

/* A part that does not fit is not written at all. */
static void test_full(void **state)
{
	struct rlimit before, limit;

	(void)state;
	signal(SIGXFSZ, SIG_IGN);
	assert_int_equal(getrlimit(RLIMIT_FSIZE, &before), 0);
	limit = before;
	limit.rlim_cur = 5;
	assert_int_equal(put("h", "x.ktau", "0", "one", NULL), APPEND_LANDED);
	assert_int_equal(setrlimit(RLIMIT_FSIZE, &limit), 0);
	assert_int_equal(put("h", "x.ktau", "3", "three", NULL), APPEND_FULL);
	assert_int_equal(setrlimit(RLIMIT_FSIZE, &before), 0);
	has("h/x.ktau", "one");
	assert_int_equal(put("h", "x.ktau", "3", "three", NULL), APPEND_LANDED);
	has("h/x.ktau", "onethree");
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test_setup_teardown(test_parts, make, clean),
		cmocka_unit_test_setup_teardown(test_names, make, clean),
		cmocka_unit_test_setup_teardown(test_links, make, clean),
		cmocka_unit_test_setup_teardown(test_full, make, clean),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
