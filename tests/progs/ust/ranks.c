// SPDX-License-Identifier: GPL-2.0-only
/*
 * ranks: two threads with the events of an MPI program in LTTng-UST. Rank 0 works for 30 ms of its
 * CPU time in each of 4 cycles, rank 1 for 10 ms, and they wait for each other in a barrier. It
 * prints the CPU time of each work:
 *
 *	work RANK CYCLE NANOSECONDS
 *
 *	cc -o ranks ranks.c -llttng-ust -ldl -lpthread
 */
#include <pthread.h>
#include <stdint.h>
#include <stdio.h>
#include <sys/prctl.h>
#include <time.h>

#define LTTNG_UST_TRACEPOINT_CREATE_PROBES
#define LTTNG_UST_TRACEPOINT_DEFINE
#include "ranks_events.h"

enum { RANKS = 2,
       CYCLES = 4 };

static const uint64_t steps_ns[RANKS] = { 30000000, 10000000 };
static pthread_barrier_t barrier;
static uint64_t worked_ns[RANKS][CYCLES];

static uint64_t cpu_ns(void)
{
	struct timespec now;

	clock_gettime(CLOCK_THREAD_CPUTIME_ID, &now);
	return (uint64_t)now.tv_sec * 1000000000 + (uint64_t)now.tv_nsec;
}

static void *run(void *arg)
{
	const int rank = *(const int *)arg;
	int steps[2] = { rank, -1 }, cycle;
	uint64_t begin;

	prctl(PR_SET_NAME, "rank");
	pthread_barrier_wait(&barrier);
	for (cycle = 0; cycle < CYCLES; cycle++) {
		lttng_ust_tracepoint(mpi, work, rank, cycle, "node \"7\"", 0.25 + rank, steps);
		begin = cpu_ns();
		while (cpu_ns() < begin + steps_ns[rank])
			;
		worked_ns[rank][cycle] = cpu_ns() - begin;
		lttng_ust_tracepoint(mpi, wait, rank, (unsigned long)cycle + 1);
		pthread_barrier_wait(&barrier);
	}
	return NULL;
}

int main(void)
{
	static const int ranks[RANKS] = { 0, 1 };
	pthread_t threads[RANKS];
	int rank, cycle;

	pthread_barrier_init(&barrier, NULL, RANKS);
	for (rank = 0; rank < RANKS; rank++)
		pthread_create(&threads[rank], NULL, run, (void *)&ranks[rank]);
	for (rank = 0; rank < RANKS; rank++)
		pthread_join(threads[rank], NULL);
	for (rank = 0; rank < RANKS; rank++)
		for (cycle = 0; cycle < CYCLES; cycle++)
			printf("work %d %d %llu\n", rank, cycle,
			       (unsigned long long)worked_ns[rank][cycle]);
	return 0;
}
