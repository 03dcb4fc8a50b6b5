// SPDX-License-Identifier: GPL-2.0-only
/* A single instance: the pid file and its lock. */
#include <errno.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/file.h>
#include <unistd.h>

#include <cmocka.h>

#include "daemon.h"

static char path[64];
static int nr_removed, nr_flocks;

int __real_flock(int fd, int how);
int __wrap_flock(int fd, int how);

/* The previous owner may remove the file after it was opened and before it is locked. */
int __wrap_flock(int fd, int how)
{
	nr_flocks++;
	if (nr_removed) {
		nr_removed--;
		assert_int_equal(unlink(path), 0);
	}
	return __real_flock(fd, how);
}

static int setup(void **state)
{
	char dir[] = "/tmp/test_daemon.XXXXXX";

	(void)state;
	assert_non_null(mkdtemp(dir));
	snprintf(path, sizeof(path), "%s/pid", dir);
	nr_removed = 0;
	nr_flocks = 0;
	return 0;
}

static int teardown(void **state)
{
	(void)state;
	unlink(path);
	*strrchr(path, '/') = '\0';
	return rmdir(path);
}

static int pid_in_file(void)
{
	FILE *file = fopen(path, "r");
	int pid;

	assert_non_null(file);
	assert_int_equal(fscanf(file, "%d", &pid), 1);
	fclose(file);
	return pid;
}

static void test_once(void **state)
{
	int fd = pidfile_lock(path);

	(void)state;
	assert_true(fd >= 0);
	assert_int_equal(pid_in_file(), getpid());
	assert_int_equal(pidfile_lock(path), -EEXIST);
	assert_int_equal(pid_in_file(), getpid());
	pidfile_unlock(path, fd);
	assert_int_equal(access(path, F_OK), -1);
	fd = pidfile_lock(path);
	assert_true(fd >= 0);
	pidfile_unlock(path, fd);
}

/* If the file is removed before it is locked, the new one is locked. */
static void test_removed(void **state)
{
	int fd;

	(void)state;
	nr_removed = 3;
	fd = pidfile_lock(path);
	assert_true(fd >= 0);
	assert_int_equal(nr_flocks, 4);
	assert_int_equal(pidfile_lock(path), -EEXIST);
	pidfile_unlock(path, fd);
}

/* A pid file left by a crash is not locked. */
static void test_stale(void **state)
{
	FILE *file = fopen(path, "w");
	int fd;

	(void)state;
	assert_non_null(file);
	fprintf(file, "1234567890\n");
	fclose(file);
	fd = pidfile_lock(path);
	assert_true(fd >= 0);
	assert_int_equal(pid_in_file(), getpid());
	pidfile_unlock(path, fd);
}

static void write_file(const char *text)
{
	FILE *file = fopen(path, "w");

	assert_non_null(file);
	fputs(text, file);
	fclose(file);
}

static void expect_text(const char *text)
{
	FILE *file = fopen(path, "r");
	char found[64] = "";

	assert_non_null(file);
	assert_true(fread(found, 1, sizeof(found) - 1, file) > 0);
	fclose(file);
	assert_string_equal(found, text);
}

/* A file that is not a pid file is neither overwritten nor removed. */
static void test_other_file(void **state)
{
	static const char *const texts[] = {
		"root:x:0:0::/root:/bin/sh\n", "12 34\n", "12\n\n", "-1\n", "123456789012345678\n",
	};
	size_t i;
	int fd;

	(void)state;
	for (i = 0; i < sizeof(texts) / sizeof(*texts); i++) {
		write_file(texts[i]);
		assert_int_equal(pidfile_lock(path), -EEXIST);
		expect_text(texts[i]);
	}
	write_file("");
	fd = pidfile_lock(path);
	assert_true(fd >= 0);
	/* Another program has replaced the file. */
	unlink(path);
	write_file("mine\n");
	pidfile_unlock(path, fd);
	expect_text("mine\n");
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test_setup_teardown(test_once, setup, teardown),
		cmocka_unit_test_setup_teardown(test_removed, setup, teardown),
		cmocka_unit_test_setup_teardown(test_stale, setup, teardown),
		cmocka_unit_test_setup_teardown(test_other_file, setup, teardown),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
