// SPDX-License-Identifier: GPL-2.0-only
/*
 * regions_user: a program with scopes of libktau-user.
 *
 *	regions_user kill	twice, foo makes 1000 getppid() calls and calls bar, which writes
 *				300 times; then the program kills itself
 *	regions_user threads	the same in four threads and a forked child
 *	regions_user odd	longjmp(), scopes in signal handlers, recursion, many scopes
 *	regions_user read [UID]	the program reads its own figures, as a user
 *	regions_user counter	the same for a counter that has values in several regions
 */
#include <fcntl.h>
#include <pthread.h>
#include <setjmp.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/syscall.h>
#include <sys/time.h>
#include <sys/wait.h>
#include <unistd.h>

#include <ktau_user.h>

static int null;

static void bar(void)
{
	KTAU_USER_SCOPE("bar");
	int i;

	for (i = 0; i < 300; i++)
		if (write(null, "x", 1) != 1)
			exit(1);
}

static void foo(void)
{
	KTAU_USER_SCOPE("foo");
	int i;

	for (i = 0; i < 500; i++)
		syscall(SYS_getppid);
	bar();
	for (i = 0; i < 500; i++)
		syscall(SYS_getppid);
}

static void *thread(void *arg)
{
	KTAU_USER_SCOPE("thread");

	foo();
	return arg;
}

static void threads(void)
{
	KTAU_USER_SCOPE("main");
	pthread_t t[4];
	int i;

	for (i = 0; i < 4; i++)
		pthread_create(&t[i], NULL, thread, NULL);
	for (i = 0; i < 4; i++)
		pthread_join(t[i], NULL);
	if (!fork()) {
		foo();
		_exit(0);
	}
	wait(NULL);
}

static jmp_buf back;
static volatile int leaves = 1;

static __attribute__((noinline)) void jumps(int deep)
{
	KTAU_USER_SCOPE("jumps");

	if (deep)
		jumps(deep - 1);
	else if (leaves)
		longjmp(back, 1);
}

/* The library may be called from signal handlers. */
static void on_signal(int sig) /* NOLINT(bugprone-signal-handler) */
{
	KTAU_USER_SCOPE("signal");

	(void)sig;
	syscall(SYS_getpid); /* NOLINT(bugprone-signal-handler) */
}

static void recursive(int deep)
{
	KTAU_USER_SCOPE("recursive");

	syscall(SYS_getppid);
	if (deep)
		recursive(deep - 1);
}

static void odd(void)
{
	struct itimerval timer = { { 0, 1000 }, { 0, 1000 } };
	struct ktau_user_point point[200] = { 0 };
	struct ktau_user_frame frame;
	char name[200][8];
	volatile int i;

	signal(SIGALRM, on_signal);
	setitimer(ITIMER_REAL, &timer, NULL);
	{
		KTAU_USER_SCOPE("odd");

		for (i = 0; i < 50; i++)
			if (!setjmp(back))
				jumps(5);
			else
				syscall(SYS_getuid);
		foo();
		recursive(20);
	}
	timer = (struct itimerval){ { 0, 0 }, { 0, 0 } };
	setitimer(ITIMER_REAL, &timer, NULL);
	for (i = 0; i < 200; i++) {
		snprintf(name[i], sizeof(name[i]), "p%d", i);
		point[i].name = name[i];
		ktau_user_enter(&frame, &point[i]);
		syscall(SYS_getgid);
		ktau_user_exit(&frame);
	}
	printf("refused %llu\n", (unsigned long long)ktau_user_refused());
}

static uint64_t read_here(const char *what, uint32_t event)
{
	uint64_t count = 0, incl = 0, excl = 0;
	int ret = ktau_user_read_region(event, &count, &incl, &excl);

	printf("%s: %d, %llu\n", what, ret, (unsigned long long)count);
	if (!ret && (!excl || excl > incl))
		printf("%s: inconsistent times\n", what);
	return count;
}

static void read_figures(void)
{
	KTAU_USER_SCOPE("read");
	uint64_t before, after, incl, excl, more, named = 0;
	int i, ret;

	ret = ktau_user_read(SYS_getppid, &before, &incl, &excl);
	for (i = 0; i < 1000; i++)
		syscall(SYS_getppid);
	ret |= ktau_user_read(SYS_getppid, &after, &incl, &excl);
	printf("all: %d, %llu\n", ret, (unsigned long long)(after - before));
	printf("excl of incl: %d\n", excl && excl <= incl);
	read_here("read", SYS_getppid);
	{
		KTAU_USER_SCOPE("inner");

		for (i = 0; i < 70; i++)
			syscall(SYS_getppid);
		read_here("inner", SYS_getppid);
	}
	ret = ktau_user_read(SYS_getppid, &more, NULL, NULL);
	printf("all: %d, %llu\n", ret, (unsigned long long)(more - after));
	printf("getppid is %d\n", ktau_user_event("sys_getppid") == SYS_getppid);
	printf("sethostname is %d\n", ktau_user_event("sys_sethostname") == SYS_sethostname);
	printf("no event: %d\n", ktau_user_event("sys_nothing"));
	ret = ktau_user_read_name("sys_getppid", &named, &incl, &excl);
	printf("by name: %d, %llu\n", ret, (unsigned long long)(named - more));
	printf("no name: %d\n", ktau_user_read_name("sys_nothing", NULL, NULL, NULL));
	printf("hz %d\n", ktau_user_hz() > 1000);
	printf("mapped %d\n", ktau_user_is_mapped());
	fflush(stdout);
	if (write(null, "begin", 5) != 5)
		exit(1);
	for (i = 0; i < 100; i++) {
		ktau_user_read(SYS_getppid, &after, &incl, &excl);
		ktau_user_read_region(SYS_getppid, &after, &incl, &excl);
		ktau_user_read_name("sys_getppid", &after, &incl, &excl);
	}
	if (write(null, "end", 3) != 3)
		exit(1);
}

/* The counter sys_none has the numbers of system calls that do not exist. */
static void read_counter(void)
{
	KTAU_USER_SCOPE("outer");
	uint64_t count, sum, min;
	int event, i, ret;

	syscall(9000);
	event = ktau_user_event("sys_none");
	for (i = 0; i < 3; i++) {
		KTAU_USER_SCOPE("inner");

		syscall(8000 + i);
	}
	ret = ktau_user_read(event, &count, &sum, &min);
	printf("counter: %d, %llu, %llu, %llu\n", ret, (unsigned long long)count,
	       (unsigned long long)sum, (unsigned long long)min);
	printf("mapped %d\n", ktau_user_is_mapped());
}

int main(int argc, char **argv)
{
	if (argc > 2 && (setgid(atoi(argv[2])) || setuid(atoi(argv[2]))))
		return 1;
	null = open("/dev/null", O_WRONLY);
	if (argc > 1 && !strcmp(argv[1], "threads")) {
		threads();
	} else if (argc > 1 && !strcmp(argv[1], "odd")) {
		odd();
	} else if (argc > 1 && !strcmp(argv[1], "read")) {
		read_figures();
	} else if (argc > 1 && !strcmp(argv[1], "counter")) {
		read_counter();
	} else {
		KTAU_USER_SCOPE("main");

		foo();
		foo();
		kill(getpid(), SIGKILL);
	}
	printf("status %d\n", ktau_user_status());
	return 0;
}
