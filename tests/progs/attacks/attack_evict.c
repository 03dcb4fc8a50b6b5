// SPDX-License-Identifier: GPL-2.0-only
/*
 * attack_evict [THREADS]: threads of one user exit to get another user's exited task
 * evicted. Only the first user's own tasks may be evicted. Run as root.
 */
#include <pthread.h>
#include <stdlib.h>
#include <sys/wait.h>
#include <unistd.h>

#include "attack.h"
#include "tap.h"

#define VICTIM_CALLS 7
#define CALLS 3

static struct seen seen;
static unsigned int nr_threads = 400;

static void *thread(void *unused)
{
	make_calls(CALLS);
	return unused;
}

static void attack(void)
{
	pthread_t one;
	unsigned int i;

	for (i = 0; i < nr_threads; i++)
		if (pthread_create(&one, NULL, thread, NULL) || pthread_join(one, NULL))
			_exit(1);
}

/* Let a process of another user make a few calls and exit. Returns its serial, or 0. */
static uint64_t exited(void)
{
	const struct seen_owner *owner;
	pid_t pid = fork();

	if (!pid) {
		become(VICTIM);
		make_calls(VICTIM_CALLS);
		_exit(0);
	}
	waitpid(pid, NULL, 0);
	seen_get(PROFILE, OF_EXITED, 0, &seen);
	owner = seen_tid(&seen, pid);
	return owner ? owner->serial : 0;
}

static uint64_t all_calls(void)
{
	seen_get(PROFILE, OF_ALL | OF_EXITED | OF_EVICTED, 0, &seen);
	return seen_total(&seen, CALLED);
}

int main(int argc, char **argv)
{
	uint64_t before, added, lost, victim;
	const uint64_t smallest = 2 * CALLS; /* slots of one thread */
	struct helper attacker;

	if (argc > 1)
		nr_threads = (unsigned int)atoi(argv[1]);
	else
		control("exited_limit=256k");
	control("groups=syscall trace=on ring=64");
	attacker = helper_start(ATTACKER, attack);
	before = all_calls();
	lost = stat_of("lost_evicted");
	victim = exited();
	tap_ok(victim, "attack evict: another user's task exits first");
	tap_ok(helper_step(&attacker), "attack evict: %u threads exit", nr_threads);

	seen_get(PROFILE, OF_EXITED, 0, &seen);
	added = seen_count(&seen, seen_serial(&seen, victim), CALLED);
	tap_ok(added == VICTIM_CALLS,
	       "attack evict: another user's exited task is kept with %llu of %d calls",
	       (unsigned long long)added, VICTIM_CALLS);
	added = all_calls() - before;
	tap_ok(added == VICTIM_CALLS + CALLS * nr_threads,
	       "attack evict: live, exited and evicted tasks have %llu of %u calls",
	       (unsigned long long)added, VICTIM_CALLS + CALLS * nr_threads);
	lost = stat_of("lost_evicted") - lost;
	tap_ok(lost >= smallest * nr_threads / 2,
	       "attack evict: %llu unread slots are counted as lost", (unsigned long long)lost);
	helper_end(&attacker);
	control("exited_limit=16M");
	control("groups=none trace=off ring=1024");
	return tap_done();
}
