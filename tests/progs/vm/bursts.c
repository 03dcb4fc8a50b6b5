// SPDX-License-Identifier: GPL-2.0-only
/*
 *	bursts NR MS PERIOD-MS
 *
 * A real-time task that has the CPU for MS in each period. It prints the cycle counter at the start
 * and the end of each time.
 */
#include <err.h>
#include <sched.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <sys/prctl.h>
#include <time.h>
#include <x86intrin.h>

enum { MAX_BURSTS = 1000, NS_PER_MS = 1000000, NS_PER_S = 1000000000 };

static uint64_t now_ns(void)
{
	struct timespec now;

	clock_gettime(CLOCK_MONOTONIC, &now);
	return (uint64_t)now.tv_sec * NS_PER_S + (uint64_t)now.tv_nsec;
}

static void sleep_until(uint64_t ns)
{
	struct timespec at = { (time_t)(ns / NS_PER_S), (long)(ns % NS_PER_S) };

	clock_nanosleep(CLOCK_MONOTONIC, TIMER_ABSTIME, &at, NULL);
}

int main(int argc, char **argv)
{
	static uint64_t at[MAX_BURSTS][2];
	const struct sched_param param = { 50 };
	uint64_t length, period, next, end;
	int nr, i;

	if (argc != 4 || (nr = atoi(argv[1])) < 1 || nr > MAX_BURSTS)
		errx(2, "usage: bursts NR MS PERIOD-MS");
	length = strtoull(argv[2], NULL, 10) * NS_PER_MS;
	period = strtoull(argv[3], NULL, 10) * NS_PER_MS;
	prctl(PR_SET_NAME, "hog");
	if (sched_setscheduler(0, SCHED_FIFO, &param))
		err(1, "SCHED_FIFO");
	next = now_ns();
	for (i = 0; i < nr; i++) {
		next += period;
		sleep_until(next);
		at[i][0] = __rdtsc();
		for (end = now_ns() + length; now_ns() < end;)
			;
		at[i][1] = __rdtsc();
	}
	for (i = 0; i < nr; i++)
		printf("%llu %llu\n", (unsigned long long)at[i][0], (unsigned long long)at[i][1]);
	return 0;
}
