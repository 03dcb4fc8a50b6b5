// SPDX-License-Identifier: GPL-2.0-only
/*
 * attack_preempt [TRIES]: tasks of the scheduling class SCHED_IDLE lose their CPU wherever they
 * are, perhaps for long. On a preemptible kernel they must not hold then what others wait for: the
 * fork, exec and exit of other tasks and the reads of root must take as long as without them, but
 * for the wait for attackers that are ending, which is bounded. Run as root, on one CPU, with
 * preempt=full.
 */
#include <fcntl.h>
#include <sched.h>
#include <signal.h>
#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/wait.h>
#include <time.h>
#include <unistd.h>

#include "attack.h"
#include "tap.h"

#define SPIN_NS 30000000
#define PAUSE_NS 3000000
#define LIMIT_NS 15000000 /* more than without attackers */
#define ENDING_NS 100000000 /* that a reader of exited tasks waits for those that are ending */
#define GROWING_CALLS 3000
#define COPY "/run/attack_preempt_copy"

static const char *self;
static unsigned int nr_tries = 4;
static volatile unsigned int *spins;

static uint64_t now_ns(void)
{
	struct timespec t;

	clock_gettime(CLOCK_MONOTONIC, &t);
	return (uint64_t)t.tv_sec * 1000000000 + (uint64_t)t.tv_nsec;
}

static void pause_ns(long ns)
{
	const struct timespec t = { .tv_nsec = ns };

	nanosleep(&t, NULL);
}

static void set_class(int class, int priority)
{
	const struct sched_param param = { .sched_priority = priority };

	if (sched_setscheduler(0, class, &param))
		perror("sched_setscheduler");
}

/* Leaves the CPU to the attackers for a moment, and takes it away wherever they are then. */
static void spin(void)
{
	uint64_t end;

	for (;;) {
		++*spins;
		for (end = now_ns() + SPIN_NS; now_ns() < end;)
			;
		pause_ns(PAUSE_NS);
	}
}

static void read_file(const char *path, size_t max)
{
	static char bytes[1 << 16];
	int fd = open(path, O_RDONLY | O_CLOEXEC);
	ssize_t got = 1;

	while (fd >= 0 && got > 0 && max) {
		got = read(fd, bytes, max < sizeof(bytes) ? max : sizeof(bytes));
		max -= got > 0 ? (size_t)got : 0;
	}
	close(fd);
}

static void read_control(void)
{
	read_file("/proc/ktau/control", SIZE_MAX);
}

static void read_begin(void)
{
	read_file(PROFILE, 64);
}

static void read_profiles(void)
{
	read_file(PROFILE, SIZE_MAX);
}

static void read_own_trace(void)
{
	make_calls(20);
	read_file(TRACE, SIZE_MAX);
}

/* Run @body in a child and wait for it. */
static void in_child(void (*body)(void))
{
	pid_t pid = fork();

	if (!pid) {
		body();
		_exit(0);
	}
	waitpid(pid, NULL, 0);
}

static void grow_own(void)
{
	make_calls(GROWING_CALLS);
}

static void grow(void)
{
	in_child(grow_own);
}

/* The exec ends the profile of a task that has given up root's rights. */
static void exec_as_user(void)
{
	if (setresgid(ATTACKER, ATTACKER, ATTACKER) || setresuid(ATTACKER, ATTACKER, ATTACKER))
		_exit(1);
	execl(self, self, "again", (char *)NULL);
	_exit(1);
}

static void run_exec(void)
{
	in_child(exec_as_user);
}

static void exit_now(void)
{
}

static void run_fork(void)
{
	in_child(exit_now);
}

static void consume(void)
{
	static char bytes[1 << 16];
	int fd = seen_open(TRACE, OF_ALL | CONSUME, 0);

	while (fd >= 0 && read(fd, bytes, sizeof(bytes)) > 0)
		;
	close(fd);
}

static pid_t start_spinner(void)
{
	pid_t pid = fork();

	if (pid)
		return pid;
	set_class(SCHED_OTHER, 0);
	for (;;)
		spin();
}

/* The longest of some runs, each of which begins when the attackers have just lost the CPU. */
static uint64_t longest(void (*body)(void))
{
	uint64_t begin, max = 0;
	unsigned int i, seen;

	for (i = 0; i < nr_tries; i++) {
		for (seen = *spins; *spins == seen;)
			pause_ns(1000000);
		begin = now_ns();
		body();
		begin = now_ns() - begin;
		max = begin > max ? begin : max;
	}
	return max;
}

static const struct {
	const char *name;
	void (*body)(void);
	uint64_t limit_ns;
} victims[] = {
	{ "fork and exit", run_fork, LIMIT_NS },
	{ "exec", run_exec, LIMIT_NS },
	{ "a read of control", read_control, LIMIT_NS },
	{ "a read of profiles", read_profiles, LIMIT_NS + ENDING_NS },
	{ "consuming traces", consume, LIMIT_NS },
};

/* Those of root are execs of tasks that are not root's. */
static const struct {
	bool is_root;
	void (*body)(void);
} attackers[] = {
	{ false, read_control },
	{ false, read_begin },
	{ false, read_profiles },
	{ false, read_own_trace },
	{ false, grow },
	{ true, run_exec },
};

#define NR(a) (sizeof(a) / sizeof(*(a)))

/*
 * Start attacker @i as a program of its own, from the file @copy. It must share no page with the
 * victims: a task waits for the pages and mappings of others when it forks and when a page fault
 * loads the file, with KTAU or without.
 */
static pid_t start_attacker(const char *copy, unsigned int i)
{
	char number[12];
	pid_t pid = fork();

	if (pid)
		return pid;
	snprintf(number, sizeof(number), "%u", i);
	execl(copy, copy, "attack", number, (char *)NULL);
	perror(copy);
	_exit(1);
}

static int attack(unsigned int i)
{
	set_class(SCHED_IDLE, 0);
	if (i >= NR(attackers))
		return 1;
	if (!attackers[i].is_root)
		become(ATTACKER);
	for (;;)
		attackers[i].body();
}

static void copy_self(const char *copy)
{
	static char bytes[1 << 16];
	int from = open(self, O_RDONLY | O_CLOEXEC);
	int to = open(copy, O_WRONLY | O_CREAT | O_TRUNC | O_CLOEXEC, 0755);
	ssize_t got;

	while ((got = read(from, bytes, sizeof(bytes))) > 0)
		if (write(to, bytes, (size_t)got) != got)
			perror(copy);
	close(from);
	close(to);
}

int main(int argc, char **argv)
{
	pid_t spinner, attacker[NR(attackers)];
	uint64_t alone[NR(victims)], attacked;
	size_t i;

	if (argc > 1 && !strcmp(argv[1], "again"))
		return execl(argv[0], argv[0], "exit", (char *)NULL);
	if (argc > 1 && !strcmp(argv[1], "exit"))
		return 0;
	self = argv[0][0] == '/' ? argv[0] : "/proc/self/exe";
	if (argc > 2)
		return attack((unsigned int)atoi(argv[2]));
	if (argc > 1)
		nr_tries = (unsigned int)atoi(argv[1]);
	pin(0);
	spins = shared_alloc(sizeof(*spins));
	set_level(0);
	control("groups=all trace=on ring=16384");
	set_class(SCHED_FIFO, 1);
	copy_self(COPY);
	spinner = start_spinner();
	for (i = 0; i < NR(victims); i++)
		alone[i] = longest(victims[i].body);
	for (i = 0; i < NR(attackers); i++)
		attacker[i] = start_attacker(COPY, (unsigned int)i);
	for (i = 0; i < NR(victims); i++) {
		attacked = longest(victims[i].body);
		tap_ok(attacked <= 3 * alone[i] + victims[i].limit_ns,
		       "attack preempt: %s takes %llu us at most, %llu us alone", victims[i].name,
		       (unsigned long long)attacked / 1000, (unsigned long long)alone[i] / 1000);
	}
	for (i = 0; i < NR(attackers); i++)
		kill(attacker[i], SIGKILL);
	kill(spinner, SIGKILL);
	while (wait(NULL) > 0)
		;
	unlink(COPY);
	set_class(SCHED_OTHER, 0);
	set_level(2);
	control("groups=none trace=off");
	return tap_done();
}
