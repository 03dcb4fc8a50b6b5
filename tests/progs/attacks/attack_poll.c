// SPDX-License-Identifier: GPL-2.0-only
/*
 * attack_poll [ENTRIES]: two processes of a user poll a trace, each with very many entries of
 * one descriptor. Waking them must not take long with interrupts off. And poll must not show
 * a user that rings of other users fill. Run as root.
 */
#include <errno.h>
#include <fcntl.h>
#include <poll.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/resource.h>
#include <sys/wait.h>
#include <unistd.h>

#include "attack.h"
#include "tap.h"

#define POLLERS 2
#define MAX_US 20000
#define MAX_TRIES 4
#define FOREIGN_MS 500

static struct seen seen;
static unsigned int nr_entries = 200000;

struct result {
	volatile unsigned int ready;
	int opened;
	int polled;
	int revents;
};

static struct result *result;

static void poll_many(void)
{
	struct pollfd *entries = calloc(nr_entries, sizeof(*entries));
	int fd = seen_open(TRACE, OF_SELF, 0);
	unsigned int i;

	if (fd < 0 || !entries)
		_exit(0); /* denied: no attack */
	seen_read(fd, &seen);
	for (i = 0; i < nr_entries; i++)
		entries[i] = (struct pollfd){ .fd = fd, .events = POLLIN };
	result->ready++;
	poll(entries, nr_entries, 60000);
	_exit(0);
}

/* Wait until @pid has all its entries in the wait queue, or has exited. */
static void await_sleep(pid_t pid)
{
	char path[32], state = 'R';
	unsigned int i;
	FILE *file;

	snprintf(path, sizeof(path), "/proc/%d/stat", pid);
	for (i = 0; i < 1000 && state != 'S' && state != 'Z'; i++) {
		usleep(20000);
		file = fopen(path, "re");
		if (!file || fscanf(file, "%*d (%*[^)]) %c", &state) != 1)
			state = 'Z';
		if (file)
			fclose(file);
	}
}

/* A new task's ring reaches its watermark. */
static void fill_ring(void)
{
	pid_t pid = fork();

	if (!pid) {
		make_calls(10000);
		_exit(0);
	}
	waitpid(pid, NULL, 0);
}

/* Rings of the pollers' own user fill. */
static void fill_rings(void)
{
	pid_t pid[POLLERS];
	unsigned int i;

	for (i = 0; i < POLLERS; i++) {
		pid[i] = fork();
		if (!pid[i])
			poll_many();
		await_sleep(pid[i]);
	}
	helper_reached();
	fill_ring();
	usleep(300000);
	for (i = 0; i < POLLERS; i++)
		waitpid(pid[i], NULL, WNOHANG);
}

/* Microseconds that the CPUs have spent in interrupt handlers. */
static uint64_t interrupt_us(void)
{
	uint64_t ticks = 0;
	size_t i, j;

	seen_get(PROFILE, OF_CPUS, 0, &seen);
	for (i = 0; i < seen.nr_owners; i++)
		for (j = 0; j < seen.owner[i].nr_entries; j++) {
			const struct seen_entry *entry =
				&seen.entry[seen.owner[i].first_entry + j];

			if (seen_is_interrupt(entry))
				ticks += entry->excl;
		}
	return seen.clock_hz ? ticks / (seen.clock_hz / 1000000) : 0;
}

/* How long interrupt handlers have run while pollers were woken, and for a while before. */
static void wake_many(uint64_t *woken, uint64_t *idle)
{
	struct helper user = helper_start(ATTACKER, fill_rings);
	uint64_t before;

	result->ready = 0;
	helper_step(&user);
	before = interrupt_us();
	usleep(400000);
	*idle = interrupt_us() - before;
	before = interrupt_us();
	helper_step(&user);
	*woken = interrupt_us() - before;
	helper_end(&user);
}

/* A busy host may take the CPU from a handler, but not in each of some tries. */
static void many_entries(void)
{
	const struct rlimit limit = { nr_entries + 64, nr_entries + 64 };
	uint64_t us, idle, most;
	int tries = 0;

	setrlimit(RLIMIT_NOFILE, &limit);
	set_level(0);
	/* A watermark that only fill_ring() reaches. */
	control("watermark=4096");
	control("groups=syscall,irq trace=on ring=8192");
	do {
		wake_many(&us, &idle);
		most = idle + (MAX_US > 20 * idle ? MAX_US : 20 * idle);
	} while (us >= most && ++tries < MAX_TRIES);
	tap_ok(result->ready == POLLERS || !result->ready, "attack poll: %u pollers are ready",
	       result->ready);
	tap_ok(us < most,
	       "attack poll: interrupt handlers took %llu us while %u pollers of "
	       "%u entries were woken, and %llu us before",
	       (unsigned long long)us, POLLERS, nr_entries, (unsigned long long)idle);
}

static void poll_one(void)
{
	struct pollfd one = { .events = POLLIN };

	result->opened = one.fd = seen_open(TRACE, OF_SELF, 0);
	result->polled = 0;
	result->revents = 0;
	if (one.fd < 0)
		return;
	seen_read(one.fd, &seen);
	result->polled = poll(&one, 1, FOREIGN_MS);
	result->revents = one.revents;
}

static void busy(void)
{
	for (;;)
		fill_ring();
}

/* Poll while rings of another user fill continuously. */
static void foreign_rings(int level)
{
	struct helper user = helper_start(ATTACKER, poll_one);
	struct helper other = helper_start(VICTIM, busy);

	set_level(level);
	if (write(other.go, "g", 1) != 1)
		return;
	helper_step(&user);
	if (level > 0)
		tap_ok(result->opened < 0 || (result->polled == 1 && (result->revents & POLLERR)),
		       "attack poll: level %d: a user that polls a trace gets: %s, %d", level,
		       result->opened < 0 ? strerror(-result->opened) : "a descriptor",
		       result->revents);
	else
		tap_ok(!(result->revents & POLLIN),
		       "attack poll: level %d: a foreign ring fills, poll returns %d, events %d",
		       level, result->polled, result->revents);
	helper_end(&user);
	helper_end(&other);
}

int main(int argc, char **argv)
{
	if (argc > 1)
		nr_entries = (unsigned int)atoi(argv[1]);
	result = shared_alloc(sizeof(*result));
	many_entries();
	control("watermark=512");
	control("groups=syscall ring=1024");
	foreign_rings(2);
	foreign_rings(0);
	set_level(2);
	control("groups=none trace=off");
	return tap_done();
}
