// SPDX-License-Identifier: GPL-2.0-only
/*
 * Programs whose active path is known.
 *
 *	active family MS
 *		master: creates c1, computes for 4 MS, waits for it, computes for MS; c1: computes
 *		for MS, creates c2, waits for it, computes for 2 MS; c2: computes for 2 MS
 *	active early MS
 *		the child ends long before its parent waits, which computes for 2 MS
 *	active timer MS
 *		sleeps for MS
 *	active mutex MS
 *		a thread waits for MS for a mutex whose owner computes
 *	active pipeline MS
 *		10 pieces of work pass through stage1, stage2 and sink, which compute for MS, 2 MS
 *		and MS / 2 on each
 *	active burn MS [MS]
 *		computes, then sleeps
 *
 * Words such as c1 are names of tasks. All computing is measured in the thread's own CPU time.
 * Prints the CPU time of the first task in ns, its start included.
 */
#include <pthread.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/prctl.h>
#include <sys/wait.h>
#include <time.h>
#include <unistd.h>

static uint32_t unit_us;

static void fail(const char *what)
{
	perror(what);
	exit(1);
}

static void name(const char *text)
{
	prctl(PR_SET_NAME, text, 0, 0, 0);
}

static uint64_t cpu_ns(void)
{
	struct timespec t;

	clock_gettime(CLOCK_THREAD_CPUTIME_ID, &t);
	return (uint64_t)t.tv_sec * 1000000000 + (uint64_t)t.tv_nsec;
}

static void burn(uint32_t us)
{
	uint64_t end = cpu_ns() + us * UINT64_C(1000);
	volatile int i;

	while (cpu_ns() < end)
		for (i = 0; i < 2000; i++)
			;
}

static void rest(uint32_t us)
{
	struct timespec t = { us / 1000000, us % 1000000 * 1000L };

	nanosleep(&t, NULL);
}

static void start(void (*run)(void))
{
	pid_t pid = fork();

	if (pid < 0)
		fail("fork");
	if (pid)
		return;
	run();
	exit(0);
}

static void c2(void)
{
	name("c2");
	burn(2 * unit_us);
}

static void c1(void)
{
	name("c1");
	burn(unit_us);
	start(c2);
	wait(NULL);
	burn(2 * unit_us);
}

static void family(void)
{
	name("master");
	start(c1);
	burn(4 * unit_us);
	wait(NULL);
	burn(unit_us);
}

static void nothing(void)
{
	name("child");
}

static void early(void)
{
	start(nothing);
	burn(2 * unit_us);
	wait(NULL);
}

static void timer(void)
{
	rest(unit_us);
}

static pthread_mutex_t mutex = PTHREAD_MUTEX_INITIALIZER;

static void *own(void *barrier)
{
	name("owner");
	pthread_mutex_lock(&mutex);
	pthread_barrier_wait(barrier);
	burn(unit_us);
	pthread_mutex_unlock(&mutex);
	return NULL;
}

static void lock(void)
{
	pthread_barrier_t barrier;
	pthread_t thread;

	pthread_barrier_init(&barrier, NULL, 2);
	if (pthread_create(&thread, NULL, own, &barrier))
		fail("pthread_create");
	pthread_barrier_wait(&barrier);
	pthread_mutex_lock(&mutex);
	pthread_mutex_unlock(&mutex);
	pthread_join(thread, NULL);
}

static int first[2], second[2];

static void pass_on(int out)
{
	if (write(out, "x", 1) != 1)
		fail("write");
}

static void stage1(void)
{
	int i;

	name("stage1");
	for (i = 0; i < 10; i++) {
		burn(unit_us);
		pass_on(first[1]);
	}
}

static void stage2(void)
{
	char piece;

	name("stage2");
	close(first[1]);
	while (read(first[0], &piece, 1) == 1) {
		burn(2 * unit_us);
		pass_on(second[1]);
	}
}

static void sink(void)
{
	char piece;

	name("sink");
	close(first[1]);
	close(second[1]);
	while (read(second[0], &piece, 1) == 1)
		burn(unit_us / 2);
}

static void pipeline(void)
{
	if (pipe(first) || pipe(second))
		fail("pipe");
	start(sink);
	start(stage2);
	start(stage1);
}

int main(int argc, char **argv)
{
	static const struct {
		const char *name;
		void (*run)(void);
	} kinds[] = {
		{ "family", family }, { "early", early }, { "timer", timer },
		{ "mutex", lock }, { "pipeline", pipeline },
	};
	size_t i;

	if (argc < 3 || argc > 4)
		return 2;
	unit_us = (uint32_t)strtoul(argv[2], NULL, 10) * 1000;
	if (!strcmp(argv[1], "burn")) {
		burn(unit_us);
		if (argc == 4)
			rest((uint32_t)strtoul(argv[3], NULL, 10) * 1000);
		return 0;
	}
	for (i = 0; i < sizeof(kinds) / sizeof(*kinds); i++) {
		if (strcmp(argv[1], kinds[i].name))
			continue;
		kinds[i].run();
		close(first[1]);
		close(second[1]);
		while (wait(NULL) > 0)
			;
		printf("%llu\n", (unsigned long long)cpu_ns());
		return 0;
	}
	return 2;
}
