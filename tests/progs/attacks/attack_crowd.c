// SPDX-License-Identifier: GPL-2.0-only
/*
 * attack_crowd [PROCESSES]: a user's idle processes, and those of uid 0 without capabilities, try
 * to use up KTAU's memory. The next process of root must have a profile and a trace. Run as root.
 */
#include <signal.h>
#include <stdlib.h>
#include <sys/prctl.h>
#include <sys/wait.h>
#include <unistd.h>

#include "attack.h"
#include "subject.h"
#include "tap.h"

#define CALLS 600
#define MIN_LIMIT (6U << 20)
#define PROCESS_BYTES 30000 /* bytes of a process when the attack worked, rounded down */
#define IDLE 50
#define IDLE_BYTES 12288

static struct seen seen;
static unsigned int nr_processes, nr_calls;

/* Start the processes and return once all have made their calls. */
static void crowd(void)
{
	int ends[2];
	unsigned int i;
	char byte;

	if (pipe(ends))
		_exit(1);
	for (i = 0; i < nr_processes; i++) {
		pid_t pid = fork();

		if (pid < 0)
			_exit(1);
		if (!pid) {
			prctl(PR_SET_PDEATHSIG, SIGKILL);
			make_calls(nr_calls);
			if (write(ends[1], "d", 1) != 1)
				_exit(1);
			for (;;)
				pause();
		}
	}
	for (i = 0; i < nr_processes; i++)
		if (read(ends[0], &byte, 1) != 1)
			_exit(1);
}

static void next_process(void)
{
	make_calls(CALLS);
}

/* Bytes in use, once pending frees have been done. */
static uint64_t settled_bytes(void)
{
	uint64_t before, now = stat_of("memory_bytes");
	unsigned int i;

	for (i = 0; i < 20; i++) {
		usleep(100000);
		before = now;
		now = stat_of("memory_bytes");
		if (now == before)
			break;
	}
	return now;
}

static void small_rings(void)
{
	uint64_t before = settled_bytes(), each;
	struct helper user;
	unsigned int wanted = nr_processes;

	nr_processes = IDLE;
	nr_calls = 1;
	user = helper_start(ATTACKER, crowd);
	helper_step(&user);
	each = (stat_of("memory_bytes") - before) / IDLE;
	tap_ok(each <= IDLE_BYTES, "attack crowd: an idle process uses %llu bytes",
	       (unsigned long long)each);
	helper_end(&user);
	nr_processes = wanted;
}

/* Lower the limit so that fewer processes would fill it, with room for one user's share. */
static void lower_limit(void)
{
	uint64_t bytes = settled_bytes(), limit = 4 * bytes;

	if (limit < MIN_LIMIT)
		limit = MIN_LIMIT;
	control("memory_limit=%llu", (unsigned long long)limit);
	nr_processes = (unsigned int)((limit - bytes) / PROCESS_BYTES) + 20;
}

/* The root of a container without a user namespace. */
static void crowd_as_root(void)
{
	if (!subject_caps(0))
		_exit(1);
	crowd();
}

/* Let @attacker use up the memory, and see what is left for root. */
static void attack(const char *name, uid_t id, void (*attacker)(void))
{
	struct helper user, root;
	uint64_t calls, traced;

	user = helper_start(id, attacker);
	tap_ok(helper_step(&user), "attack crowd: %u processes of %s are started", nr_processes,
	       name);
	root = helper_start(0, next_process);
	helper_step(&root);
	seen_get(PROFILE, OF_LIST, root.pid, &seen);
	calls = seen_total(&seen, CALLED);
	tap_ok(calls == CALLS, "attack crowd: root's next process has a profile with %llu of %d "
			       "calls",
	       (unsigned long long)calls, CALLS);
	seen_get(TRACE, OF_LIST, root.pid, &seen);
	traced = seen_traced(&seen, seen_tid(&seen, root.pid), CALLED);
	tap_ok(traced >= 100, "attack crowd: root's next process has a trace with %llu of them",
	       (unsigned long long)traced);
	helper_end(&root);
	helper_end(&user);
	settled_bytes();
}

int main(int argc, char **argv)
{
	if (argc > 1)
		nr_processes = (unsigned int)atoi(argv[1]);
	control("exited_limit=64k");
	control("groups=syscall trace=on ring=1024");
	small_rings();

	/* The full number of processes reaches the default limit. */
	if (argc == 1)
		lower_limit();
	nr_calls = 1500;
	attack("a user", ATTACKER, crowd);
	attack("uid 0 without capabilities", 0, crowd_as_root);
	control("memory_limit=64M");
	control("exited_limit=16M");
	control("groups=none trace=off");
	return tap_done();
}
