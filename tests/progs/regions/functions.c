// SPDX-License-Identifier: GPL-2.0-only
/*
 * functions: a program compiled with -finstrument-functions, which runs with
 * libktau-finstrument.
 *
 *	functions known		twice, foo makes 1000 getppid() calls and calls bar, which writes
 *				300 times; a static function and an inlined one
 *	functions odd		longjmp(), deep recursion, signal handlers
 *	functions threads	foo in four threads and a forked child
 *	functions unload FIRST SECOND
 *				functions of two shared objects that are loaded and unloaded in
 *				turn
 */
#include <dlfcn.h>
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

#define noinline	__attribute__((noinline))

static int null;

static noinline void bar(void)
{
	int i;

	for (i = 0; i < 300; i++)
		if (write(null, "x", 1) != 1)
			exit(1);
}

/* Inlined, it is still a function to the compiler's hooks. */
static inline __attribute__((always_inline)) void inlined(void)
{
	int i;

	for (i = 0; i < 70; i++)
		syscall(SYS_getuid);
}

static noinline void foo(void)
{
	int i;

	for (i = 0; i < 500; i++)
		syscall(SYS_getppid);
	bar();
	inlined();
	for (i = 0; i < 500; i++)
		syscall(SYS_getppid);
}

static jmp_buf back;
static volatile int leaves = 1;

static noinline void jump(int deep)
{
	if (deep)
		jump(deep - 1);
	else if (leaves)
		longjmp(back, 1);
	syscall(SYS_getgid);
}

static noinline void called(void)
{
	int i;

	for (i = 0; i < 10; i++)
		syscall(SYS_geteuid);
}

static noinline void jumps(void)
{
	volatile int i;

	/* Leaves more levels than a thread can have. */
	for (i = 0; i < 200; i++)
		if (!setjmp(back))
			jump(300);
		else
			called();
	syscall(SYS_getegid);
}

static noinline void deep(int depth)
{
	syscall(SYS_getppid);
	if (depth)
		deep(depth - 1);
	syscall(SYS_getppid);
}

/* A system call is all that it makes, which is allowed in a signal handler. */
static void on_signal(int sig) /* NOLINT(bugprone-signal-handler) */
{
	(void)sig;
	syscall(SYS_getpid); /* NOLINT(bugprone-signal-handler) */
}

static noinline void odd(void)
{
	struct itimerval timer = { { 0, 1000 }, { 0, 1000 } };

	signal(SIGALRM, on_signal);
	setitimer(ITIMER_REAL, &timer, NULL);
	jumps();
	deep(1000);
	foo();
	timer = (struct itimerval){ { 0, 0 }, { 0, 0 } };
	setitimer(ITIMER_REAL, &timer, NULL);
	syscall(SYS_getsid, 0);
}

static void *thread(void *arg)
{
	foo();
	return arg;
}

static noinline void threads(void)
{
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

static noinline void unload(const char *first, const char *second)
{
	void *object;
	int i;

	for (i = 0; i < 10; i++) {
		object = dlopen(i % 2 ? second : first, RTLD_NOW);
		if (!object)
			exit(1);
		((void (*)(void))dlsym(object, i % 2 ? "second" : "first"))();
		dlclose(object);
	}
}

int main(int argc, char **argv)
{
	null = open("/dev/null", O_WRONLY);
	if (argc > 1 && !strcmp(argv[1], "odd")) {
		odd();
	} else if (argc > 1 && !strcmp(argv[1], "threads")) {
		threads();
	} else if (argc > 3) {
		unload(argv[2], argv[3]);
	} else {
		foo();
		foo();
	}
	return 0;
}
