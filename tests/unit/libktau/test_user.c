// SPDX-License-Identifier: GPL-2.0-only
/*
 * libktau-user without a kernel: ioctl() returns a file of one page, in which the test sees the
 * number that the kernel would read.
 */
#include <errno.h>
#include <fcntl.h>
#include <pthread.h>
#include <setjmp.h>
#include <signal.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/ioctl.h>
#include <sys/mman.h>
#include <sys/wait.h>
#include <unistd.h>

#include <cmocka.h>
#include <ktau_user.h>
#include <linux/ktau.h>

int __real_open64(const char *path, int flags, ...);
int __wrap_open64(const char *path, int flags, ...);
int __wrap_ioctl(int fd, unsigned long request, ...);

static int kernel_error;
static uint32_t given;
static __thread volatile uint32_t *seen;	/* the thread's page */
static char folder[] = "/tmp/ktau-user-XXXXXX";

int __wrap_open64(const char *path, int flags, ...)
{
	va_list more;
	int mode;

	va_start(more, flags);
	mode = flags & O_CREAT ? va_arg(more, int) : 0;
	va_end(more);
	if (!strcmp(path, "/proc/ktau/profile"))
		path = "/dev/null";
	return __real_open64(path, flags, mode);
}

int __wrap_ioctl(int fd, unsigned long request, ...)
{
	struct ktau_regions *args;
	va_list more;
	int area;

	(void)fd;
	va_start(more, request);
	args = va_arg(more, struct ktau_regions *);
	va_end(more);
	assert_int_equal(request, KTAU_IOC_REGIONS);
	assert_int_equal(args->size, sizeof(*args));
	if (kernel_error) {
		errno = kernel_error;
		return -1;
	}
	if (given)
		args->nr_regions = given;
	args->serial = 4711;
	area = memfd_create("area", MFD_CLOEXEC);
	assert_int_equal(ftruncate(area, getpagesize()), 0);
	seen = mmap(NULL, getpagesize(), PROT_READ, MAP_SHARED, area, 0);
	assert_ptr_not_equal(seen, MAP_FAILED);
	return area;
}

/* The lines of the thread's file from the first region on; the caller frees them. */
static char *names(pid_t pid, pid_t tid)
{
	char path[300], host[65] = "", *text = calloc(1, 65536), *from;
	FILE *file;

	gethostname(host, sizeof(host) - 1);
	snprintf(path, sizeof(path), "%s/ktau-user.%s.%d.%d", folder, host, pid, tid);
	file = fopen(path, "r");
	assert_non_null(file);
	assert_true(fread(text, 1, 65535, file) > 0);
	fclose(file);
	assert_int_equal(strncmp(text, "ktau-user 1\nboot ", 17), 0);
	assert_non_null(strstr(text, "\nserial 4711\n"));
	from = strstr(text, "\nregion");
	memmove(text, from ? from + 1 : "", from ? strlen(from) : 1);
	return text;
}

static void expect_names(const char *wanted)
{
	char *text = names(getpid(), gettid());

	assert_string_equal(text, wanted);
	free(text);
}

static void inner(uint32_t region)
{
	KTAU_USER_SCOPE("inner");

	assert_int_equal(*seen, region);
}

/* Each test runs in a thread of its own, which begins without an area. */
static void in_thread(void *(*fn)(void *arg))
{
	pthread_t thread;

	assert_int_equal(pthread_create(&thread, NULL, fn, NULL), 0);
	assert_int_equal(pthread_join(thread, NULL), 0);
}

static void *tree_thread(void *arg)
{
	struct ktau_user_frame frame;
	static struct ktau_user_point other = { "other\nname", 0 };

	assert_int_equal(ktau_user_status(), -EAGAIN);
	{
		KTAU_USER_SCOPE("outer");

		assert_int_equal(ktau_user_status(), 0);
		assert_int_equal(*seen, 1);
		inner(2);
		assert_int_equal(*seen, 1);
		inner(2);
	}
	assert_int_equal(*seen, 0);
	inner(3);
	ktau_user_enter(&frame, &other);
	assert_int_equal(*seen, 4);
	inner(5);
	ktau_user_exit(&frame);
	assert_int_equal(*seen, 0);
	ktau_user_exit(&frame);	/* ignored */
	assert_int_equal(ktau_user_refused(), 0);
	expect_names("region 1 0 outer\nregion 2 1 inner\nregion 3 0 inner\n"
		     "region 4 0 other?name\nregion 5 4 inner\n");
	return arg;
}

static void tree(void **state)
{
	(void)state;
	in_thread(tree_thread);
}

static jmp_buf back;
static volatile int leaves = 1;

static __attribute__((noinline)) void jump(int deep)
{
	KTAU_USER_SCOPE("jump");

	if (deep)
		jump(deep - 1);
	else if (leaves)
		longjmp(back, 1);
}

/* Its frame is where that of jump() was. */
static __attribute__((noinline)) void called(uint32_t region)
{
	KTAU_USER_SCOPE("called");

	assert_int_equal(*seen, region);
}

static void *jumps_thread(void *arg)
{
	KTAU_USER_SCOPE("outer");
	volatile int i;

	for (i = 0; i < 200; i++)
		if (!setjmp(back))
			jump(5);
	/* The next scope, or the end of this one, closes what was left. */
	assert_int_equal(*seen, 2);
	called(3);
	assert_int_equal(*seen, 1);
	if (!setjmp(back))
		jump(5);
	inner(4);
	assert_int_equal(*seen, 1);
	assert_int_equal(ktau_user_refused(), 0);
	expect_names("region 1 0 outer\nregion 2 1 jump\nregion 3 1 called\n"
		     "region 4 1 inner\n");
	return arg;
}

static void jumps(void **state)
{
	(void)state;
	in_thread(jumps_thread);
}

static void deeper(int deep)
{
	static struct ktau_user_point point[2] = { { "even", 0 }, { "odd", 0 } };
	struct ktau_user_frame frame;

	ktau_user_enter(&frame, &point[deep % 2]);
	if (deep)
		deeper(deep - 1);
	ktau_user_exit(&frame);
}

static void *limits_thread(void *arg)
{
	struct ktau_user_point point[20] = { 0 };
	struct ktau_user_frame frame;
	int i;

	for (i = 0; i < 20; i++) {
		point[i].name = "point";
		ktau_user_enter(&frame, &point[i]);
		assert_int_equal(*seen, i < 7 ? i + 1 : 0);
		ktau_user_exit(&frame);
		assert_int_equal(*seen, 0);
	}
	assert_int_equal(ktau_user_refused(), 13);
	deeper(100);
	assert_int_equal(*seen, 0);
	assert_true(ktau_user_refused() >= 13 + 100);
	return arg;
}

static void limits(void **state)
{
	(void)state;
	given = 8;
	in_thread(limits_thread);
	given = 0;
}

static void *fork_thread(void *arg)
{
	KTAU_USER_SCOPE("outer");
	volatile uint32_t *parents = seen;
	int status;
	pid_t pid;

	inner(2);
	pid = fork();
	if (!pid) {
		char *text = names(getpid(), gettid());

		_exit(seen == parents || *seen != 1 ||
		      strcmp(text, "region 1 0 outer\nregion 2 1 inner\n"));
	}
	assert_int_equal(waitpid(pid, &status, 0), pid);
	assert_int_equal(status, 0);
	assert_int_equal(*seen, 1);
	return arg;
}

static void forks(void **state)
{
	(void)state;
	in_thread(fork_thread);
}

static void on_signal(int sig)
{
	(void)sig;
	inner(2);
}

/* A handler on a stack of its own, wherever that is, is inside the scope that it interrupts. */
static void *signal_thread(void *arg)
{
	static char below[65536];
	struct sigaction action = { .sa_handler = on_signal, .sa_flags = SA_ONSTACK };
	stack_t stack = { .ss_sp = below, .ss_size = sizeof(below) };
	KTAU_USER_SCOPE("outer");

	assert_int_equal(sigaltstack(&stack, NULL), 0);
	assert_int_equal(sigaction(SIGUSR1, &action, NULL), 0);
	pthread_kill(pthread_self(), SIGUSR1);
	assert_int_equal(*seen, 1);
	inner(2);
	stack.ss_flags = SS_DISABLE;
	sigaltstack(&stack, NULL);
	return arg;
}

static void signals(void **state)
{
	(void)state;
	in_thread(signal_thread);
}

static void *refused_thread(void *arg)
{
	const int err = *(int *)arg;
	KTAU_USER_SCOPE("outer");

	assert_int_equal(ktau_user_status(), -err);
	return arg;
}

static void refused(void **state)
{
	static int errors[] = { EACCES, ENOTTY, ENODATA };
	pthread_t thread;
	size_t i;

	(void)state;
	for (i = 0; i < sizeof(errors) / sizeof(*errors); i++) {
		kernel_error = errors[i];
		pthread_create(&thread, NULL, refused_thread, &errors[i]);
		pthread_join(thread, NULL);
	}
	kernel_error = 0;
}

static int remove_files(void **state)
{
	char command[100];

	(void)state;
	snprintf(command, sizeof(command), "rm -rf %s", folder);
	return system(command) ? -1 : 0;
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(tree),	   cmocka_unit_test(jumps),   cmocka_unit_test(limits),
		cmocka_unit_test(forks),   cmocka_unit_test(signals), cmocka_unit_test(refused),
	};

	if (!mkdtemp(folder) || setenv("KTAU_USER_DIR", folder, 1))
		return 1;
	return cmocka_run_group_tests(tests, NULL, remove_files);
}
