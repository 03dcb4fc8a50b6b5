// SPDX-License-Identifier: GPL-2.0-only
/*
 * Many processes, and reading their profiles, for make bench.
 *
 *	many_tasks read NUMBER BATCHES	NUMBER processes sleep; read their profiles, then
 *					their /proc/PID/stat
 *	many_tasks live NUMBER AWAKE	NUMBER processes live until the end; AWAKE of them make
 *					a dozen calls each second, the others sleep
 *
 * "read" prints a line for each batch: ticks of the cycle counter for all profiles, ticks for
 * all stat files, bytes of the profiles, profiles. If the emulator counts instructions,
 * ticks are instructions. The first batch only warms up.
 */
#include <err.h>
#include <fcntl.h>
#include <linux/ktau.h>
#include <poll.h>
#include <signal.h>
#include <stdbool.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/ioctl.h>
#include <sys/mman.h>
#include <sys/prctl.h>
#include <sys/wait.h>
#include <time.h>
#include <unistd.h>
#include <x86intrin.h>

#include "number.h"

static char buffer[1 << 20] __attribute__((aligned(8)));
static pid_t *pids;
static unsigned long nr_pids;

/* Calls that give a profile of about twenty events. */
static void typical_calls(void)
{
	struct timespec moment = { .tv_nsec = 1000 };
	struct pollfd pfd = { .fd = 0, .events = POLLIN };
	int fd = open("/dev/null", O_RDWR);
	char *page = mmap(NULL, 4096, PROT_READ | PROT_WRITE,
			  MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);

	if (fd < 0 || page == MAP_FAILED)
		_exit(1);
	page[0] = 1;
	if (write(fd, page, 1) != 1 || read(fd, page, 1) < 0 || lseek(fd, 0, SEEK_SET) < 0)
		_exit(1);
	poll(&pfd, 1, 0);
	nanosleep(&moment, NULL);
	munmap(page, 4096);
	close(fd);
	getppid();
}

static _Noreturn void member(bool awake, int ready)
{
	struct timespec second = { .tv_sec = 1 };

	prctl(PR_SET_PDEATHSIG, SIGKILL);
	typical_calls();
	if (write(ready, "", 1) != 1)
		_exit(1);
	close(ready);
	for (;;) {
		if (!awake)
			pause();
		nanosleep(&second, NULL);
		typical_calls();
	}
}

static void disperse(void)
{
	unsigned long i;

	for (i = 0; i < nr_pids; i++)
		kill(pids[i], SIGKILL);
	while (wait(NULL) > 0)
		;
}

/* Start them, and wait until each sleeps. */
static void gather(unsigned long n, unsigned long awake)
{
	unsigned long i;
	int ready[2];
	char c;

	pids = calloc(n, sizeof(*pids));
	if (!pids || pipe(ready))
		err(1, NULL);
	for (i = 0; i < n; i++) {
		pid_t pid = fork();

		if (pid < 0) {
			warn("fork %lu", i);
			disperse();
			exit(1);
		}
		if (!pid)
			member(i < awake, ready[1]);
		pids[nr_pids++] = pid;
	}
	close(ready[1]);
	for (i = 0; i < n; i++)
		if (read(ready[0], &c, 1) != 1)
			errx(1, "a process has exited");
	close(ready[0]);
	usleep(100000);
}

static uint64_t read_profiles(uint64_t *bytes, unsigned long *profiles)
{
	struct ktau_select select = {
		.size = sizeof(select),
		.target = KTAU_TARGET_LIST,
		.pids = (uintptr_t)pids,
		.nr_pids = nr_pids,
	};
	uint64_t from = __rdtsc();
	int fd = open("/proc/ktau/profile", O_RDONLY);
	ssize_t n;
	uint64_t ticks;

	if (fd < 0 || ioctl(fd, KTAU_IOC_SELECT, &select))
		err(1, "/proc/ktau/profile");
	*bytes = 0;
	while ((n = read(fd, buffer, sizeof(buffer))) > 0) {
		*bytes += n;
		if (n >= (ssize_t)sizeof(struct ktau_rec_end))
			*profiles = ((struct ktau_rec_end *)(buffer + n) - 1)->nr_records;
	}
	close(fd);
	ticks = __rdtsc() - from;
	if (n < 0 || *profiles != nr_pids)
		errx(1, "/proc/ktau/profile: %lu profiles of %lu", *profiles, nr_pids);
	return ticks;
}

static uint64_t read_stats(void)
{
	uint64_t from = __rdtsc();
	unsigned long i;
	char path[64];
	int fd;

	for (i = 0; i < nr_pids; i++) {
		snprintf(path, sizeof(path), "/proc/%d/stat", pids[i]);
		fd = open(path, O_RDONLY);
		if (fd < 0 || read(fd, buffer, sizeof(buffer)) <= 0)
			err(1, "%s", path);
		close(fd);
	}
	return __rdtsc() - from;
}

static void read_crowd(unsigned long batches)
{
	unsigned long i, profiles = 0;
	uint64_t bytes, ticks, stats;

	for (i = 0; i <= batches; i++) {
		ticks = read_profiles(&bytes, &profiles);
		stats = read_stats();
		if (i)
			printf("%llu %llu %llu %lu\n", (unsigned long long)ticks,
			       (unsigned long long)stats, (unsigned long long)bytes, profiles);
	}
}

int main(int argc, char **argv)
{
	bool live = argc == 4 && !strcmp(argv[1], "live");
	unsigned long n, second;

	if (argc != 4 || (!live && strcmp(argv[1], "read"))) {
		fprintf(stderr, "usage: many_tasks read NUMBER BATCHES\n"
				"       many_tasks live NUMBER AWAKE\n");
		return 2;
	}
	n = number(argv[2]);
	second = number(argv[3]);
	gather(n, live ? second : 0);
	if (live) {
		puts("ready");
		fflush(stdout);
		pause();
	} else {
		read_crowd(second);
	}
	disperse();
	return 0;
}
