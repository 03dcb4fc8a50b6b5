// SPDX-License-Identifier: GPL-2.0-only
/* The output of an export: other exports to the same name, and what is there already. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <cmocka.h>

#include <dirent.h>
#include <errno.h>
#include <fcntl.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "lib/cli.h"
#include "lib/output.h"

static char folder[] = "/tmp/ktau-output-XXXXXX", path[40], partial[60];
static int create_error;

int __real_mkostemp64(char *name, int flags);
int __wrap_mkostemp64(char *name, int flags);

/* Root can write everywhere, so the test says what the folder permits. */
int __wrap_mkostemp64(char *name, int flags)
{
	if (!create_error)
		return __real_mkostemp64(name, flags);
	errno = create_error;
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

static mode_t mode_of(const char *name)
{
	struct stat st;

	assert_int_equal(lstat(name, &st), 0);
	return st.st_mode;
}

static void assert_is(const char *name, mode_t permissions)
{
	assert_int_equal(mode_of(name) & 0777, permissions);
}

static int nr_files(void)
{
	DIR *dir = opendir(folder);
	int nr = -2;

	assert_non_null(dir);
	while (readdir(dir))
		nr++;
	closedir(dir);
	return nr;
}

static struct output *create(void)
{
	struct output *o = output_create(path, false);

	assert_non_null(o);
	assert_string_not_equal(output_path(o), path);
	assert_int_equal(strncmp(output_path(o), path, strlen(path)), 0);
	assert_string_equal(output_name(o), path);
	return o;
}

static void test_file(void **state)
{
	struct output *o = create();
	mode_t mask = umask(0);

	(void)state;
	umask(mask);
	fputs("new", output_file(o));
	assert_int_equal(access(path, F_OK), -1);
	assert_is(output_path(o), 0600);
	assert_int_equal(output_commit(o), 0);
	assert_contents(path, "new");
	assert_is(path, 0666 & ~mask);
	o = create();
	fputs("thrown away", output_file(o));
	output_discard(o);
	assert_contents(path, "new");
	assert_int_equal(nr_files(), 1);
}

/* Two exports do not write to the same file: the last one is left. */
static void test_two(void **state)
{
	struct output *first = create(), *second = create();

	(void)state;
	fputs("first", output_file(first));
	fputs("second", output_file(second));
	assert_int_equal(output_commit(second), 0);
	assert_contents(path, "second");
	assert_int_equal(output_commit(first), 0);
	assert_contents(path, "first");
	assert_int_equal(nr_files(), 1);
}

/* A file that is replaced keeps its permissions. */
static void test_mode(void **state)
{
	static const mode_t modes[] = { 0600, 0664, 0444 };
	size_t i;

	(void)state;
	for (i = 0; i < sizeof(modes) / sizeof(*modes); i++) {
		assert_int_equal(chmod(path, modes[i]), 0);
		assert_int_equal(output_commit(create()), 0);
		assert_is(path, modes[i]);
	}
	assert_int_equal(unlink(path), 0);
}

/* Files that an export might have left, or a link in place of one, stay as they are. */
static void test_neighbours(void **state)
{
	(void)state;
	put(partial, "somebody's own");
	assert_int_equal(output_commit(create()), 0);
	assert_contents(partial, "somebody's own");
	assert_int_equal(unlink(partial), 0);
	assert_int_equal(symlink("elsewhere", partial), 0);
	assert_int_equal(output_commit(create()), 0);
	assert_true(S_ISLNK(mode_of(partial)));
	assert_int_equal(unlink(partial), 0);
	assert_int_equal(nr_files(), 1);
	assert_int_equal(unlink(path), 0);
}

/* What a killed command has left is removed, but not what others have prepared. */
static void test_stale(void **state)
{
	char mark[100], link_name[100];
	struct output *o;

	(void)state;
	assert_int_equal(mkdir(partial, 0755), 0);
	snprintf(mark, sizeof(mark), "%s/.ktau-output", partial);
	snprintf(link_name, sizeof(link_name), "%s/link", partial);
	put(mark, "");
	assert_int_equal(symlink(folder, link_name), 0);
	if (!geteuid()) {
		assert_int_equal(lchown(mark, 65534, 65534), 0);
		assert_null(output_create(path, true));
		assert_int_equal(access(mark, F_OK), 0);
		assert_int_equal(lchown(mark, 0, 0), 0);
	}
	o = output_create(path, true);
	assert_non_null(o);
	assert_int_not_equal(access(link_name, F_OK), 0);
	assert_int_equal(access(folder, F_OK), 0);
	output_discard(o);
	assert_int_equal(nr_files(), 0);
}

/* If the folder is not writable, a file in it may be. */
static void test_in_place(void **state)
{
	struct output *o;

	(void)state;
	create_error = EACCES;
	assert_null(output_create(path, false));
	create_error = 0;
	put(path, "longer than the output");
	assert_int_equal(chmod(path, 0600), 0);
	create_error = ENOSPC;
	assert_null(output_create(path, false));
	assert_contents(path, "longer than the output");
	create_error = EACCES;
	o = output_create(path, false);
	assert_non_null(o);
	assert_string_equal(output_path(o), path);
	fputs("output", output_file(o));
	assert_int_equal(output_commit(o), 0);
	assert_contents(path, "output");
	assert_is(path, 0600);
	output_discard(output_create(path, false));
	assert_int_equal(access(path, F_OK), 0);
	create_error = 0;
	assert_int_equal(unlink(path), 0);
}

/* What is not a regular file is not renamed or removed. */
static void test_special(void **state)
{
	char fifo[40];
	struct output *first, *second;
	int reader;

	(void)state;
	snprintf(fifo, sizeof(fifo), "%s/fifo", folder);
	assert_int_equal(mkfifo(fifo, 0600), 0);
	reader = open(fifo, O_RDONLY | O_NONBLOCK);
	assert_true(reader >= 0);
	first = output_create(fifo, false);
	second = output_create(fifo, false);
	assert_non_null(first);
	assert_non_null(second);
	assert_int_equal(nr_files(), 1);
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

	(void)state;
	snprintf(link, sizeof(link), "%s/link", folder);
	put(path, "longer than the output");
	assert_int_equal(symlink(path, link), 0);
	o = output_create(link, false);
	assert_non_null(o);
	fputs("output", output_file(o));
	assert_int_equal(output_commit(o), 0);
	assert_true(S_ISLNK(mode_of(link)));
	assert_contents(path, "output");
	output_discard(output_create(link, false));
	assert_true(S_ISLNK(mode_of(link)));
	assert_int_equal(unlink(link), 0);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_file),
		cmocka_unit_test(test_two),
		cmocka_unit_test(test_mode),
		cmocka_unit_test(test_neighbours),
		cmocka_unit_test(test_stale),
		cmocka_unit_test(test_in_place),
		cmocka_unit_test(test_special),
		cmocka_unit_test(test_link),
	};
	int err;

	cli_init("test_output_file");
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
