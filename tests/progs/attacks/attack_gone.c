// SPDX-License-Identifier: GPL-2.0-only
/*
 * attack_gone [ROUNDS]: a user's threads exit and are folded after streams of its descriptors
 * have shown them, and none of these streams is read to its end. The kernel's list for these
 * descriptors must be charged to the user and must not exceed the user's share; a stream that is
 * then read to its end must report that the list is incomplete. Run as root.
 */
#include <linux/membarrier.h>
#include <pthread.h>
#include <stdio.h>
#include <stdlib.h>
#include <sys/syscall.h>
#include <unistd.h>

#include "attack.h"
#include "tap.h"

#define NR_FDS 8
#define NR_THREADS 8
#define SOME_BYTES (256U << 10)
#define FEW_BYTES (64U << 10)
#define REST_BYTES 256 /* END, and the end of the record before it */

static unsigned int nr_rounds = 100;

/* @taken: bytes freed by reading the list; @kept: additional bytes that stay charged. */
struct result {
	int64_t taken;
	int64_t kept;
	uint64_t share;
	uint64_t most;
	uint64_t listed;
	uint64_t refused;
	int err;
};

static struct result *result;

static void *thread(void *unused)
{
	make_calls(1);
	return unused;
}

static void run_threads(unsigned int nr)
{
	pthread_t one;

	while (nr--)
		if (pthread_create(&one, NULL, thread, NULL) || pthread_join(one, NULL))
			_exit(1);
}

/* Begin a new stream and read @bytes of it, or all. Return: number of bytes read. */
static size_t read_some(int fd, size_t bytes)
{
	static char buffer[1 << 16];
	size_t done = 0, want;
	ssize_t got;

	if (lseek(fd, 0, SEEK_SET))
		_exit(1);
	do {
		want = bytes - done < sizeof(buffer) ? bytes - done : sizeof(buffer);
		got = read(fd, buffer, want);
		done += got > 0 ? (size_t)got : 0;
	} while (got > 0 && done < bytes);
	return done;
}

/* Read all kept tasks, but not END, from each descriptor. */
static void show(const int fds[NR_FDS])
{
	int other = seen_open(PROFILE, OF_EXITED, 0), i;
	size_t bytes = read_some(other, SIZE_MAX);

	close(other);
	for (i = 0; i < NR_FDS; i++)
		read_some(fds[i], bytes - REST_BYTES);
}

static void attacker(void)
{
	static struct seen seen;
	uint64_t before, now = 0;
	unsigned int round;
	int fds[NR_FDS], i;

	for (i = 0; i < NR_FDS; i++)
		fds[i] = seen_open(PROFILE, OF_EXITED, 0);
	run_threads(10 * NR_THREADS);
	before = user_bytes(fds[0]);
	for (round = 0; round < nr_rounds; round++) {
		show(fds);
		run_threads(NR_THREADS);
		/* A thread is folded when a grace period of RCU has passed, not evicted. */
		syscall(SYS_membarrier, MEMBARRIER_CMD_GLOBAL, 0, 0);
		now = user_bytes(fds[0]);
		result->most = now > result->most ? now : result->most;
	}
	result->share = user_limit(fds[0]);
	for (i = 0; i < NR_FDS; i++) {
		lseek(fds[i], 0, SEEK_SET);
		if (seen_read(fds[i], &seen))
			result->err++;
		result->listed += seen.gone;
		result->refused += seen.refused_gone;
	}
	/* Reading to the end frees the list; eviction may have freed other bytes since @before. */
	result->taken = (int64_t)(now - user_bytes(fds[0]));
	result->kept = (int64_t)(user_bytes(fds[0]) - before);
}

int main(int argc, char **argv)
{
	static struct seen seen;
	struct helper user;
	int tries = 6000;

	if (argc > 1)
		nr_rounds = (unsigned int)atoi(argv[1]);
	result = shared_alloc(sizeof(*result));
	set_level(2);
	/* Memory of earlier attacks may exceed the new limit until RCU has freed it. */
	control("exited_limit=0");
	while (stat_of("memory_bytes") > 3 << 20 && tries--)
		usleep(10000);
	control("groups=syscall memory_limit=4M exited_limit=256k");
	user = helper_start(ATTACKER, attacker);
	helper_step(&user);
	tap_ok(result->taken >= SOME_BYTES && result->most <= result->share,
	       "attack gone: %lld kB are charged for unread lists, at most %llu of %llu kB",
	       (long long)result->taken >> 10, (unsigned long long)result->most >> 10,
	       (unsigned long long)result->share >> 10);
	tap_ok(!result->err && result->listed && result->refused,
	       "attack gone: at the end %llu tasks are listed and %llu counted as not listed",
	       (unsigned long long)result->listed, (unsigned long long)result->refused);
	tap_ok(result->kept <= FEW_BYTES, "attack gone: %lld kB are charged after reading",
	       (long long)result->kept >> 10);
	tap_ok(!seen_get(PROFILE, OF_SELF, 0, &seen) && seen_profiles(&seen) == 1,
	       "attack gone: root can still read");
	helper_end(&user);
	control("groups=none memory_limit=64M exited_limit=16M");
	return tap_done();
}
