// SPDX-License-Identifier: GPL-2.0-only
/*
 * Many processes on one CPU make their first calls at the same time, without a fork or an exit in
 * between, which would fill the CPU's reserve of chunks. No activation may be refused.
 */
#include <err.h>
#include <fcntl.h>
#include <poll.h>
#include <sched.h>
#include <stdio.h>
#include <stdlib.h>
#include <sys/mman.h>
#include <sys/wait.h>
#include <time.h>
#include <unistd.h>

#include "tap.h"

#define NR_CHILDREN 400

static unsigned long long refused(void)
{
	FILE *file = fopen("/proc/ktau/stats", "r");
	unsigned long long value;
	char line[256];

	if (!file)
		err(1, "/proc/ktau/stats");
	while (fgets(line, sizeof(line), file))
		if (sscanf(line, "refused_no_chunk %llu", &value) == 1) {
			fclose(file);
			return value;
		}
	errx(1, "/proc/ktau/stats: no refused_no_chunk");
}

/* Make calls whose events are spread over the table. */
static void calls(void)
{
	struct timespec moment = { .tv_nsec = 1000 };
	struct pollfd none = { .fd = -1 };
	int fd = open("/dev/null", O_RDWR);
	char *page = mmap(NULL, 4096, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);

	if (fd < 0 || page == MAP_FAILED)
		_exit(1);
	page[0] = 1;
	if (write(fd, page, 1) != 1 || lseek(fd, 0, SEEK_SET) < 0 || poll(&none, 1, 0) < 0)
		_exit(1);
	nanosleep(&moment, NULL);
	munmap(page, 4096);
	close(fd);
	getppid();
}

static _Noreturn void child(int start)
{
	char c;

	if (read(start, &c, 1)) /* until the parent closes the other end */
		_exit(1);
	calls();
	_exit(0);
}

int main(void)
{
	unsigned long long before, after;
	int i, status, start[2], failed = 0;
	cpu_set_t first;

	CPU_ZERO(&first);
	CPU_SET(0, &first);
	if (sched_setaffinity(0, sizeof(first), &first) || pipe(start))
		err(1, NULL);
	before = refused();
	for (i = 0; i < NR_CHILDREN; i++) {
		pid_t pid = fork();

		if (pid < 0)
			err(1, "fork %d", i);
		if (!pid) {
			close(start[1]);
			child(start[0]);
		}
	}
	close(start[0]);
	close(start[1]);
	for (i = 0; i < NR_CHILDREN; i++)
		failed += wait(&status) < 0 || status;
	after = refused();
	tap_ok(!failed, "%d processes have made their calls", NR_CHILDREN);
	tap_ok(after == before, "no activation of %d processes on one CPU was refused: %llu",
	       NR_CHILDREN, after - before);
	return tap_done();
}
