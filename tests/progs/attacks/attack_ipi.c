// SPDX-License-Identifier: GPL-2.0-only
/*
 * attack_ipi [ROUNDS [INSIDE]]: a reader reads a task that was preempted in the kernel, ROUNDS
 * times. This must not interrupt the CPU on which the task last ran. INSIDE reads must find the
 * task inside an update, and no more are made than that takes; this requires a fully preemptible
 * kernel, and no trace. Without the option -singlestep QEMU interrupts its guest at branches only,
 * of which an update has few. Run as root, with two CPUs.
 */
#include <sched.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "attack.h"
#include "tap.h"

#define LEAST_ROUNDS 150
#define MAX_CALLS 5 /* the kernel sends some for its own purposes */

static struct seen seen;

/* The task that runs on the CPU of the preempted one. */
struct hog {
	volatile int spins;
};

static struct hog *hog;

static void preempted(void)
{
	pin(1);
	for (;;)
		make_calls(1000);
}

static void preempts(void)
{
	const struct sched_param param = { .sched_priority = 1 };
	unsigned int i;

	pin(1);
	if (sched_setscheduler(0, SCHED_FIFO, &param))
		_exit(1);
	for (i = 0;; i++) {
		usleep(1000 + i * 37 % 1009);
		hog->spins = 1;
		while (hog->spins)
			;
	}
}

/* Function-call interrupts of CPU 1. */
static unsigned long calls_of_cpu1(void)
{
	FILE *file = fopen("/proc/interrupts", "re");
	unsigned long cpu0, cpu1, calls = 0;
	char line[256];

	while (file && fgets(line, sizeof(line), file))
		if (sscanf(line, " CAL: %lu %lu", &cpu0, &cpu1) == 2)
			calls = cpu1;
	if (file)
		fclose(file);
	return calls;
}

int main(int argc, char **argv)
{
	unsigned long inside = argc > 2 ? strtoul(argv[2], NULL, 10) : 0;
	int rounds = argc > 1 ? atoi(argv[1]) : LEAST_ROUNDS, i, fd;
	unsigned long most = 0, sum = 0, torn = 0, calls;
	struct helper task, other;

	if (sysconf(_SC_NPROCESSORS_ONLN) < 2)
		return 77;
	hog = shared_alloc(sizeof(*hog));
	pin(0);
	control("groups=syscall trace=off");
	task = helper_start(0, preempted);
	other = helper_start(0, preempts);
	if (write(task.go, "g", 1) != 1 || write(other.go, "g", 1) != 1)
		return 1;
	for (i = 0; i < rounds && !(inside && torn >= inside && i >= LEAST_ROUNDS); i++) {
		while (!hog->spins)
			usleep(500);
		calls = calls_of_cpu1();
		fd = seen_open(PROFILE, OF_LIST, task.pid);
		seen_read(fd, &seen);
		close(fd);
		calls = calls_of_cpu1() - calls;
		sum += calls;
		torn += seen.torn;
		most = calls > most ? calls : most;
		hog->spins = 0;
	}
	tap_ok(torn >= inside,
	       "attack ipi: %lu reads found the task inside an update, at least %lu required", torn,
	       inside);
	tap_ok(most <= MAX_CALLS,
	       "attack ipi: %d reads; one interrupted the other CPU at most %lu times, "
	       "all of them %lu times",
	       i, most, sum);
	helper_end(&other);
	helper_end(&task);
	control("groups=none");
	return tap_done();
}
