// SPDX-License-Identifier: GPL-2.0-only
/* The output of an export: other exports to the same name, and those that were killed. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <cmocka.h>

#include <errno.h>
#include <fcntl.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/file.h>
#include <sys/stat.h>
#include <unistd.h>

#include "cli.h"
#include "export_output.h"

static char folder[] = "/tmp/ktau-output-XXXXXX", path[40], partial[60];

/* Before the file is locked, this happens to it once. */
static int (*meanwhile)(void);
static int lock_error;

int __real_flock(int fd, int operation);
int __wrap_flock(int fd, int operation);

int __wrap_flock(int fd, int operation)
{
	int (*call)(void) = meanwhile;

	meanwhile = NULL;
	if (call)
		assert_int_equal(call(), 0);
	if (!lock_error)
		return __real_flock(fd, operation);
	errno = lock_error;
	return -1;
}

static void put(const char *name, const char *text)
{
	FILE *file = fopen(name, "w");

	assert_non_null(file);
	assert_true(fputs(text, file) >= 0);
	assert_int_equal(fclose(file), 0);
}

static void assert_contents(const char *name, const char *want)
{
	char text[64] = "";
	FILE *file = fopen(name, "r");

	assert_non_null(file);
	text[fread(text, 1, sizeof(text) - 1, file)] = '\0';
	fclose(file);
	assert_string_equal(text, want);
}

static struct output *create(void)
{
	struct output *o = output_create(path, false);

	assert_non_null(o);
	assert_string_equal(output_path(o), partial);
	assert_string_equal(output_name(o), path);
	return o;
}

static void test_file(void **state)
{
	struct output *o = create();
	mode_t mask = umask(0);
	struct stat st;

	(void)state;
	umask(mask);
	fputs("new", output_file(o));
	assert_int_equal(access(path, F_OK), -1);
	assert_int_equal(output_commit(o), 0);
	assert_contents(path, "new");
	assert_int_equal(stat(path, &st), 0);
	assert_int_equal(st.st_mode & 0777, 0666 & ~mask);
	o = create();
	fputs("thrown away", output_file(o));
	output_discard(o);
	assert_contents(path, "new");
	assert_int_equal(access(partial, F_OK), -1);
}

/* While an export writes the file, a second one fails and leaves the first one alone. */
static void test_two(void **state)
{
	struct output *first = create();

	(void)state;
	fputs("first", output_file(first));
	assert_null(output_create(path, false));
	assert_int_equal(access(partial, F_OK), 0);
	fflush(output_file(first));
	assert_null(output_create(path, false));
	assert_int_equal(output_commit(first), 0);
	assert_contents(path, "first");
	assert_int_equal(output_commit(create()), 0);
	assert_contents(path, "");
}

static void test_killed(void **state)
{
	struct output *o;

	(void)state;
	put(partial, "more than the next export writes");
	o = create();
	fputs("less", output_file(o));
	assert_int_equal(output_commit(o), 0);
	assert_contents(path, "less");
}

static int commit_other(void)
{
	return rename(partial, path);
}

static int remove_other(void)
{
	return unlink(partial);
}

/* Another export ends between the opening and the locking of its file. */
static void test_ended_meanwhile(void **state)
{
	struct output *o;

	(void)state;
	put(partial, "other");
	meanwhile = commit_other;
	o = create();
	fputs("own", output_file(o));
	fflush(output_file(o));
	assert_contents(path, "other");
	assert_contents(partial, "own");
	assert_int_equal(output_commit(o), 0);
	assert_contents(path, "own");
	meanwhile = remove_other;
	o = create();
	assert_int_equal(output_commit(o), 0);
	assert_contents(path, "");
}

static void test_no_locks(void **state)
{
	struct output *o;

	(void)state;
	lock_error = EOPNOTSUPP;
	o = create();
	lock_error = 0;
	fputs("unlocked", output_file(o));
	assert_int_equal(output_commit(o), 0);
	assert_contents(path, "unlocked");
}

/* What is not a regular file is not locked, renamed or removed. */
static void test_special(void **state)
{
	char fifo[40], fifo_partial[60];
	struct output *first, *second;
	int reader;

	(void)state;
	snprintf(fifo, sizeof(fifo), "%s/fifo", folder);
	snprintf(fifo_partial, sizeof(fifo_partial), "%s.partial", fifo);
	assert_int_equal(mkfifo(fifo, 0600), 0);
	reader = open(fifo, O_RDONLY | O_NONBLOCK);
	assert_true(reader >= 0);
	first = output_create(fifo, false);
	second = output_create(fifo, false);
	assert_non_null(first);
	assert_non_null(second);
	assert_int_equal(access(fifo_partial, F_OK), -1);
	assert_int_equal(output_commit(first), 0);
	output_discard(second);
	close(reader);
	assert_int_equal(unlink(fifo), 0);
}

/* The file behind a link, such as that of a redirected /dev/stdout, is written, not the link. */
static void test_link(void **state)
{
	char link[40];
	struct output *o;
	struct stat st;

	(void)state;
	snprintf(link, sizeof(link), "%s/link", folder);
	put(path, "longer than the output");
	assert_int_equal(symlink(path, link), 0);
	o = output_create(link, false);
	assert_non_null(o);
	fputs("output", output_file(o));
	assert_int_equal(output_commit(o), 0);
	assert_int_equal(lstat(link, &st), 0);
	assert_true(S_ISLNK(st.st_mode));
	assert_contents(path, "output");
	output_discard(output_create(link, false));
	assert_int_equal(lstat(link, &st), 0);
	assert_int_equal(unlink(link), 0);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_file),
		cmocka_unit_test(test_two),
		cmocka_unit_test(test_killed),
		cmocka_unit_test(test_ended_meanwhile),
		cmocka_unit_test(test_no_locks),
		cmocka_unit_test(test_special),
		cmocka_unit_test(test_link),
	};
	int err;

	cli_init("test_export_output");
	if (!mkdtemp(folder))
		return 1;
	snprintf(path, sizeof(path), "%s/file", folder);
	snprintf(partial, sizeof(partial), "%s.partial", path);
	err = cmocka_run_group_tests(tests, NULL, NULL);
	unlink(path);
	unlink(partial);
	rmdir(folder);
	return err;
}
