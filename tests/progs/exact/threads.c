// SPDX-License-Identifier: GPL-2.0-only
/*
 * threads: streams of all threads of this process. Each thread that lives throughout is in a
 * stream once, also if others exit meanwhile, and the time for a thread does not depend on their
 * number.
 */
#include <errno.h>
#include <limits.h>
#include <pthread.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>
#include <unistd.h>

#include "self.h"
#include "tap.h"

#define FEW	1000
#define MANY	4000
#define MAX_TID (1 << 22)

static pthread_t threads[MANY];
static pid_t tids[MANY];
static pthread_mutex_t leave[2] = { PTHREAD_MUTEX_INITIALIZER, PTHREAD_MUTEX_INITIALIZER };
static unsigned char seen[MAX_TID];

/* Threads with an odd number leave by the second lock. */
static void *stay(void *arg)
{
	size_t nr = (size_t)(uintptr_t)arg;

	__atomic_store_n(&tids[nr], gettid(), __ATOMIC_RELEASE);
	pthread_mutex_lock(&leave[nr % 2]);
	pthread_mutex_unlock(&leave[nr % 2]);
	return NULL;
}

static void start(size_t from, size_t to)
{
	pthread_attr_t attr;
	int err;

	pthread_attr_init(&attr);
	pthread_attr_setstacksize(&attr, PTHREAD_STACK_MIN);
	for (; from < to; from++) {
		err = pthread_create(&threads[from], &attr, stay, (void *)(uintptr_t)from);
		if (err)
			self_die("pthread_create", -err);
		while (!__atomic_load_n(&tids[from], __ATOMIC_ACQUIRE))
			sched_yield();
	}
	pthread_attr_destroy(&attr);
}

static void join(size_t first, size_t step)
{
	for (; first < MANY; first += step)
		pthread_join(threads[first], NULL);
}

static void look(void)
{
	const struct ktau_query query = { .content = KTAU_REC_PROFILE,
					  .target = KTAU_TARGET_SELF,
					  .flags = KTAU_SELECT_THREADS };

	memset(seen, 0, sizeof(seen));
	self_start(&query);
}

/* Read up to @nr profiles of the stream, and note whose they are. */
static unsigned int read_profiles(unsigned int nr)
{
	union ktau_record record;
	unsigned int got = 0;

	while (got < nr && self_next(&record) > 0) {
		if (record.rec->type == KTAU_REC_OWNER) {
			const struct ktau_rec_owner *owner = record.owner;

			if (owner->tgid == getpid() && owner->tid < MAX_TID)
				seen[owner->tid]++;
		}
		got += record.rec->type == KTAU_REC_PROFILE;
	}
	return got;
}

/* Threads with a number from @first on, in steps, that are in the stream once. */
static unsigned int nr_once(size_t first, size_t step, size_t nr)
{
	unsigned int once = 0;

	for (; first < nr; first += step)
		once += seen[tids[first]] == 1;
	return once;
}

/* The shortest time to read @nr threads and the initial one, for each, in ns. */
static double time_of(unsigned int nr)
{
	double best = 0, ns;
	unsigned int got = 0;
	int i;

	for (i = 0; i < 5; i++) {
		struct timespec from, to;

		clock_gettime(CLOCK_THREAD_CPUTIME_ID, &from);
		look();
		got = read_profiles(MANY + 2);
		clock_gettime(CLOCK_THREAD_CPUTIME_ID, &to);
		ns = (to.tv_sec - from.tv_sec) * 1e9 + (to.tv_nsec - from.tv_nsec);
		if (!i || ns < best)
			best = ns;
	}
	self_expect("threads in a stream", got, nr + 1);
	self_expect("each once", nr_once(0, 1, nr), nr);
	self_expect("the initial thread once", seen[getpid()], 1);
	return best / nr;
}

int main(void)
{
	double few, many;

	self_open();
	pthread_mutex_lock(&leave[0]);
	pthread_mutex_lock(&leave[1]);
	start(0, FEW);
	few = time_of(FEW);
	start(FEW, MANY);
	many = time_of(MANY);
	/* A search among all threads for each makes it three to four times as long */
	tap_ok(many < 2 * few, "threads: the time for each of %d and %d: %.0f and %.0f ns", FEW,
	       MANY, few, many);
	look();
	read_profiles(MANY / 4);
	pthread_mutex_unlock(&leave[1]);
	join(1, 2);
	read_profiles(MANY + 2);
	self_expect("threads that stay while others exit, once", nr_once(0, 2, MANY), MANY / 2);
	pthread_mutex_unlock(&leave[0]);
	join(0, 2);
	self_close();
	return tap_done();
}
