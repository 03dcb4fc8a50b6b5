// SPDX-License-Identifier: GPL-2.0-only
/* ktau mark on a machine that is short of memory. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <cmocka.h>

#include <errno.h>
#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/types.h>
#include <sys/wait.h>
#include <unistd.h>

#include "commands/subcommand.h"

extern const struct subcommand subcommand_mark;

int __real_setenv(const char *name, const char *value, int overwrite);
int __wrap_setenv(const char *name, const char *value, int overwrite);
int __wrap_asprintf(char **text, const char *format, ...);
pid_t __real_fork(void);
pid_t __wrap_fork(void);

/* The variable that cannot be set; what else fails. */
static const char *unset;
static bool no_text, no_process;

int __wrap_setenv(const char *name, const char *value, int overwrite)
{
	if (!unset || strcmp(name, unset))
		return __real_setenv(name, value, overwrite);
	errno = ENOMEM;
	return -1;
}

int __wrap_asprintf(char **text, const char *format, ...)
{
	va_list args;
	int bytes;

	if (no_text)
		return -1;
	va_start(args, format);
	bytes = vasprintf(text, format, args);
	va_end(args);
	return bytes;
}

pid_t __wrap_fork(void)
{
	if (!no_process)
		return __real_fork();
	errno = EAGAIN;
	return -1;
}

/* Run "ktau mark x true" in a child, whose messages go to @said. Return: its exit status. */
static int mark(char said[1000])
{
	char *argv[] = { "mark", "x", "true", NULL };
	int ends[2], status;
	ssize_t bytes;
	pid_t pid;

	assert_int_equal(pipe(ends), 0);
	pid = __real_fork();
	if (!pid) {
		dup2(ends[1], STDERR_FILENO);
		_exit(subcommand_mark.run(3, argv));
	}
	close(ends[1]);
	assert_int_equal(waitpid(pid, &status, 0), pid);
	bytes = read(ends[0], said, 999);
	assert_true(bytes >= 0);
	said[bytes] = 0;
	close(ends[0]);
	assert_true(WIFEXITED(status));
	return WEXITSTATUS(status);
}

static void test_variables(void **state)
{
	static const char *const names[] = { "KTAU_USER_DIR", "KTAU_USER_MARK", "LD_PRELOAD" };
	char said[1000], wanted[100];
	size_t i;

	(void)state;
	for (i = 0; i < sizeof(names) / sizeof(*names); i++) {
		unset = names[i];
		assert_int_equal(mark(said), 125);
		snprintf(wanted, sizeof(wanted), "cannot set %s: Cannot allocate memory\n", unset);
		assert_non_null(strstr(said, wanted));
	}
	unset = NULL;
	assert_int_equal(mark(said), 0);
	assert_null(strstr(said, "cannot set"));
}

static void test_text(void **state)
{
	char said[1000];

	(void)state;
	__real_setenv("KTAU_USER_MARK", "outer", 1);
	assert_int_equal(mark(said), 0);
	no_text = true;
	assert_int_equal(mark(said), 125);
	assert_non_null(strstr(said, "cannot set KTAU_USER_MARK: out of memory\n"));
	no_text = false;
	unsetenv("KTAU_USER_MARK");
}

static void test_process(void **state)
{
	char said[1000];

	(void)state;
	no_process = true;
	assert_int_equal(mark(said), 0);
	assert_non_null(strstr(said, "cannot find out whether region x is measured\n"));
	no_process = false;
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_variables),
		cmocka_unit_test(test_text),
		cmocka_unit_test(test_process),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
