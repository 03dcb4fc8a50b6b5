// SPDX-License-Identifier: GPL-2.0-only
/* libktau-user without a kernel: regions, their names, and traces. */
#include <errno.h>
#include <fcntl.h>
#include <pthread.h>
#include <setjmp.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/resource.h>
#include <sys/stat.h>
#include <sys/wait.h>
#include <unistd.h>

#include <ktau_user.h>

#include "../../../libktau/user/trace_format.h"
#include "user_fake.h"

#define NR_FDS	20

static void inner(uint32_t region)
{
	KTAU_USER_SCOPE("inner");

	assert_int_equal(*seen, region);
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

/* Let no file of this process become longer than its file of names and @more bytes. */
static void limit_files(unsigned int more)
{
	struct rlimit limit;
	char path[300];
	struct stat st;

	names_path(getpid(), gettid(), path);
	assert_int_equal(stat(path, &st), 0);
	limit.rlim_cur = limit.rlim_max = (rlim_t)st.st_size + more;
	assert_int_equal(setrlimit(RLIMIT_FSIZE, &limit), 0);
}

static void expect_child(pid_t child)
{
	int status;

	assert_int_equal(waitpid(child, &status, 0), child);
	assert_int_equal(status, 0);
}

/* A name beyond the limit of file sizes, or for which there is no space, is not written. */
static void *no_room_thread(void *arg)
{
	unsigned int i;
	pid_t child;

	for (i = 0; i < 3; i++) {
		child = fork();
		if (!child) {
			inner(1);
			if (i < 2)
				limit_files(i * 5);
			disk_full = i == 2;
			called(2);
			disk_full = false;
			inner(1);
			_exit(strcmp(names(getpid(), gettid()), "region 1 0 inner\n"));
		}
		expect_child(child);
	}
	return arg;
}

/* The program closes all files, and opens others with the same numbers. */
static void *closing_thread(void *arg)
{
	int *fds = arg, i;

	inner(1);
	close_range(STDERR_FILENO + 1, ~0U, 0);
	for (i = 0; i < NR_FDS; i++)
		fds[i] = memfd_create("other", MFD_CLOEXEC);
	called(2);
	return NULL;
}

static void *reused_thread(void *arg)
{
	int fds[NR_FDS], i;
	pthread_t thread;
	struct stat st;
	pid_t child;

	child = fork();
	if (!child) {
		pthread_create(&thread, NULL, closing_thread, fds);
		pthread_join(thread, NULL);
		for (i = 0; i < NR_FDS; i++)
			if (fstat(fds[i], &st) || st.st_size)
				_exit(1);
		_exit(0);
	}
	expect_child(child);
	return arg;
}

static void writes(void **state)
{
	(void)state;
	in_thread(no_room_thread);
	in_thread(reused_thread);
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

static void *secure_thread(void *arg)
{
	KTAU_USER_SCOPE("outer");
	int status;
	pid_t pid;

	assert_int_equal(ktau_user_status(), -EACCES);
	pid = fork();
	if (!pid) {
		KTAU_USER_SCOPE("child");

		_exit(seen || ktau_user_status() != -EACCES);
	}
	assert_int_equal(waitpid(pid, &status, 0), pid);
	assert_int_equal(status, 0);
	return arg;
}

/* A set-uid program, and the children that it forks, have no regions. */
static void secures(void **state)
{
	(void)state;
	secure = true;
	in_thread(secure_thread);
	secure = false;
}

/* The trace of a thread. */
struct trace {
	struct ktau__trace_header header;
	struct ktau__trace_slot slot[KTAU__TRACE_MIN_SLOTS];
};

static int open_trace(pid_t pid, pid_t tid, int flags)
{
	char path[300];
	int fd;

	trace_path(pid, tid, path);
	fd = open(path, flags);
	assert_true(fd >= 0);
	return fd;
}

static void read_trace(pid_t pid, pid_t tid, struct trace *trace)
{
	int fd = open_trace(pid, tid, O_RDONLY);

	assert_int_equal(read(fd, trace, sizeof(*trace)), sizeof(*trace));
	close(fd);
	assert_int_equal(trace->header.magic, KTAU__TRACE_MAGIC);
	assert_int_equal(trace->header.serial, 4711);
	assert_int_equal(trace->header.nr_slots, KTAU__TRACE_MIN_SLOTS);
}

/* Test that the slots from number @from on, as text, are as wanted. */
static void expect_trace(const struct trace *trace, uint64_t from, const char *wanted)
{
	const struct ktau__trace_slot *s;
	char text[1000] = "";
	uint64_t ticks = 0;

	for (; from < trace->header.written; from++) {
		s = &trace->slot[from % KTAU__TRACE_MIN_SLOTS];
		assert_true(s->ticks >= ticks);
		ticks = s->ticks;
		snprintf(text + strlen(text), sizeof(text) - strlen(text), "%c%d",
			 " rmvM"[s->type], s->number);
		if (s->type > KTAU__TRACE_MARK)
			snprintf(text + strlen(text), sizeof(text) - strlen(text), "=%d",
				 (int)s->value);
		if (s->type == KTAU__TRACE_MESSAGE)
			snprintf(text + strlen(text), sizeof(text) - strlen(text), ",%d",
				 s->peer);
		strcat(text, " ");
	}
	assert_string_equal(text, wanted);
}

/* r256 and above: the library itself is at work in a region. */
static void *traced_thread(void *arg)
{
	static struct ktau_user_point message = { "message", 0 };
	struct trace trace;
	pid_t child, me = gettid();
	int i, status;

	{
		KTAU_USER_SCOPE("outer");

		for (i = 0; i < 2; i++)
			inner(2);
		KTAU_USER_MARK("mark");
		KTAU_USER_VALUE("value", 5);
		ktau_user_message(&message, 3, 100);
		KTAU_USER_MARK("mark");
		child = fork();
		if (!child) {
			inner(2);
			_exit(*seen != 1);
		}
		assert_int_equal(waitpid(child, &status, 0), child);
		assert_int_equal(status, 0);
	}
	assert_int_equal(*seen, 0);
	read_trace(getpid(), me, &trace);
	expect_trace(&trace, 0, "r256 r1 r257 r2 r1 r2 r1 m0 r257 r1 v1=5 r257 r1 M2=100,3 r257 r1 "
		     "m3 r257 r1 r0 ");
	read_trace(child, child, &trace);
	expect_trace(&trace, 0, "r1 r2 r1 ");
	expect_names("region 1 0 outer\nregion 2 1 inner\nevent 0 mark\nevent 1 value\n"
		     "event 2 message\nevent 3 mark\n");
	for (i = 0; i < KTAU__TRACE_MIN_SLOTS; i++)
		inner(3);
	read_trace(getpid(), me, &trace);
	assert_int_equal(trace.header.written, 20 + 1 + 2 * KTAU__TRACE_MIN_SLOTS);
	expect_trace(&trace, trace.header.written - 3, "r0 r3 r0 ");
	assert_int_equal(ktau_user_refused(), 0);
	return arg;
}

static void *too_many_thread(void *arg)
{
	static struct ktau_user_point point[KTAU__TRACE_EVENTS + 2];
	struct trace trace;
	int i;

	for (i = 0; i < KTAU__TRACE_EVENTS + 2; i++) {
		point[i].name = "many";
		ktau_user_mark(&point[i]);
	}
	assert_int_equal(ktau_user_refused(), 2);
	read_trace(getpid(), gettid(), &trace);
	assert_int_equal(trace.header.written, 3 * KTAU__TRACE_EVENTS);
	return arg;
}

/* Another process of the user may write to the file. */
static void *overwritten_thread(void *arg)
{
	struct ktau__trace_header header = { .written = 1U << 30 };
	int fd;

	inner(1);
	fd = open_trace(getpid(), gettid(), O_RDWR);
	assert_int_equal(pwrite(fd, &header, sizeof(header), 0), sizeof(header));
	inner(1);
	assert_int_equal(pread(fd, &header, sizeof(header), 0), sizeof(header));
	assert_int_equal(header.written, (1U << 30) + 2);
	close(fd);
	return arg;
}

/* An event whose name cannot be written does not change errno. */
static void *errno_thread(void *arg)
{
	int status;
	pid_t child;

	inner(1);
	child = fork();
	if (!child) {
		close_range(STDERR_FILENO + 1, ~0U, 0);
		errno = 0;
		KTAU_USER_MARK("new");
		_exit(errno);
	}
	assert_int_equal(waitpid(child, &status, 0), child);
	assert_int_equal(status, 0);
	return arg;
}

/* A process that may not write a file of this size has no trace. */
static void *limited_thread(void *arg)
{
	struct rlimit limit, old;

	assert_int_equal(getrlimit(RLIMIT_FSIZE, &old), 0);
	limit = old;
	limit.rlim_cur = 65536;
	assert_int_equal(setrlimit(RLIMIT_FSIZE, &limit), 0);
	inner(1);
	assert_false(ktau_user_is_traced());
	assert_int_equal(setrlimit(RLIMIT_FSIZE, &old), 0);
	return arg;
}

static void traced(void **state)
{
	(void)state;
	assert_int_equal(setenv("KTAU_USER_TRACE", "1", 1), 0);
	in_thread(traced_thread);
	in_thread(too_many_thread);
	in_thread(overwritten_thread);
	in_thread(errno_thread);
	in_thread(tree_thread);
	in_thread(jumps_thread);
	assert_int_equal(setenv("KTAU_USER_TRACE", "4096", 1), 0);
	in_thread(limited_thread);
	unsetenv("KTAU_USER_TRACE");
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(tree),	   cmocka_unit_test(jumps),   cmocka_unit_test(limits),
		cmocka_unit_test(forks),   cmocka_unit_test(signals), cmocka_unit_test(refused),
		cmocka_unit_test(secures), cmocka_unit_test(traced),  cmocka_unit_test(writes),
	};

	return run_user_tests(tests);
}
