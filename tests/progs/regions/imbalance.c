// SPDX-License-Identifier: GPL-2.0-only
/*
 * imbalance: four workers compute for different times, and then wait for each other.
 *
 *	imbalance futex		the workers are threads, whose barrier sleeps
 *	imbalance poll		its barrier is a loop of poll()
 *	mpirun -np 4 imbalance	they are ranks, whose barrier is MPI_Barrier()
 *
 * There are 8 cycles, and the work of each rank rotates: in cycle C, rank R works for
 * ((R + C) % 4 + 1) * 25 ms of its CPU time. Threads note when they begin to work and to wait. It
 * prints the CPU time of each work, by the thread's clock, and how often each thread polled:
 *
 *	work RANK CYCLE NANOSECONDS
 *	polls RANK NUMBER
 */
#include <poll.h>
#include <pthread.h>
#include <stdbool.h>
#include <stdint.h>
#include <stdio.h>
#include <string.h>
#include <sys/prctl.h>
#include <time.h>
#include <unistd.h>

#include <ktau_user.h>
#include <mpi.h>

#define RANKS	4
#define CYCLES	8
#define STEP_NS	25000000

struct worker {
	int rank;
	unsigned int polls;
	uint64_t work_ns[CYCLES];
};

static struct worker workers[RANKS];
static pthread_barrier_t sleeping;
static unsigned int arrived;
static bool polling;
static int fds[2];

static uint64_t cpu_ns(void)
{
	struct timespec now;

	clock_gettime(CLOCK_THREAD_CPUTIME_ID, &now);
	return (uint64_t)now.tv_sec * 1000000000 + (uint64_t)now.tv_nsec;
}

static void work(struct worker *w, int cycle)
{
	const uint64_t begin = cpu_ns();
	const uint64_t end = begin + (uint64_t)((w->rank + cycle) % RANKS + 1) * STEP_NS;
	volatile int i;

	while (cpu_ns() < end)
		for (i = 0; i < 5000; i++)
			;
	w->work_ns[cycle] = cpu_ns() - begin;
}

static void barrier(struct worker *w, unsigned int cycle)
{
	struct pollfd fd = { .fd = fds[0], .events = POLLIN };

	if (!polling) {
		pthread_barrier_wait(&sleeping);
		return;
	}
	__atomic_add_fetch(&arrived, 1, __ATOMIC_SEQ_CST);
	while (__atomic_load_n(&arrived, __ATOMIC_SEQ_CST) < RANKS * cycle) {
		poll(&fd, 1, 0);
		w->polls++;
	}
}

static void *thread(void *arg)
{
	struct worker *w = arg;
	int cycle;

	prctl(PR_SET_NAME, "worker");
	pthread_barrier_wait(&sleeping);
	for (cycle = 0; cycle < CYCLES; cycle++) {
		KTAU_USER_VALUE("mpi:work(rank)", (uint64_t)w->rank);
		work(w, cycle);
		KTAU_USER_VALUE("mpi:wait(rank)", (uint64_t)w->rank);
		barrier(w, (unsigned int)cycle + 1);
	}
	KTAU_USER_VALUE("mpi:idle(rank)", (uint64_t)w->rank);
	return NULL;
}

static void print(const struct worker *w)
{
	int cycle;

	for (cycle = 0; cycle < CYCLES; cycle++)
		printf("work %d %d %llu\n", w->rank, cycle, (unsigned long long)w->work_ns[cycle]);
	printf("polls %d %u\n", w->rank, w->polls);
}

static int run_threads(void)
{
	pthread_t threads[RANKS];
	int i;

	if (pipe(fds) || pthread_barrier_init(&sleeping, NULL, RANKS))
		return 1;
	for (i = 0; i < RANKS; i++) {
		workers[i].rank = i;
		if (pthread_create(&threads[i], NULL, thread, &workers[i]))
			return 1;
	}
	for (i = 0; i < RANKS; i++) {
		pthread_join(threads[i], NULL);
		print(&workers[i]);
	}
	return 0;
}

static int run_rank(int *argc, char ***argv)
{
	struct worker *w = workers;
	int cycle;

	MPI_Init(argc, argv);
	MPI_Comm_rank(MPI_COMM_WORLD, &w->rank);
	MPI_Barrier(MPI_COMM_WORLD);
	for (cycle = 0; cycle < CYCLES; cycle++) {
		work(w, cycle);
		MPI_Barrier(MPI_COMM_WORLD);
	}
	MPI_Finalize();
	print(w);
	return 0;
}

int main(int argc, char **argv)
{
	if (argc < 2)
		return run_rank(&argc, &argv);
	polling = !strcmp(argv[1], "poll");
	return run_threads();
}
