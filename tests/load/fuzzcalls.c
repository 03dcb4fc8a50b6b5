// SPDX-License-Identifier: GPL-2.0-only
/*
 * fuzzcalls COUNT [SEED]: calls to /proc/ktau/profile and /proc/ktau/trace at random:
 * ioctl, read, lseek, poll, close, words into control. The seed is printed; the same one
 * makes the same calls. Afterwards a stream read by the rules has to be whole: the
 * script that runs this looks at that, and at what the kernel has said.
 */
#include <errno.h>
#include <fcntl.h>
#include <inttypes.h>
#include <poll.h>
#include <signal.h>
#include <stdlib.h>
#include <string.h>
#include <sys/ioctl.h>
#include <sys/mman.h>
#include <sys/time.h>
#include <sys/wait.h>
#include <time.h>
#include <unistd.h>

#include <linux/ktau.h>

#include "tell.h"

#define NR_FDS 8
#define MEMORY (256 * 1024)

static uint64_t state;
static int fds[NR_FDS];
static char *memory;		/* MEMORY bytes, nothing behind them */
static unsigned long errors[256];

static uint32_t any(void)
{
	/* xorshift64* */
	state ^= state >> 12;
	state ^= state << 25;
	state ^= state >> 27;
	return (uint32_t)(state * 0x2545f4914f6cdd1dULL >> 32);
}

static bool one_in(uint32_t n)
{
	return any() % n == 0;
}

/* Small, near a power of two, or anything. */
static uint64_t number(void)
{
	switch (any() % 4) {
	case 0:
		return any() % 8;
	case 1:
		return (1ULL << any() % 64) - 1 + any() % 3;
	case 2:
		return any();
	default:
		return (uint64_t)any() << 32 | any();
	}
}

/* Somewhere in the memory, or now and then at its end, in the kernel, nowhere. */
static void *address(size_t bytes)
{
	switch (any() % 16) {
	case 0:
		return (void *)(uintptr_t)number();
	case 1:
		return memory + MEMORY - any() % 64;
	case 2:
		return memory + any() % MEMORY;
	default:
		return memory + any() % (MEMORY - (bytes < MEMORY ? bytes : MEMORY - 1)) / 8 * 8;
	}
}

static int open_any(void)
{
	return open(one_in(2) ? "/proc/ktau/profile" : "/proc/ktau/trace",
		    (one_in(2) ? O_RDONLY : O_RDWR) | O_CLOEXEC);
}

/* Tids that are there, that may be there, and that cannot be. */
static uint32_t fill_pids(int32_t *pids)
{
	uint32_t nr = one_in(50) ? KTAU_MAX_PIDS : any() % 20 + 1, i;

	for (i = 0; i < nr; i++)
		pids[i] = one_in(4) ? (int32_t)number() : (int32_t)(any() % 300);
	return nr;
}

static long call_select(int fd)
{
	const uint32_t which[] = { 0, KTAU_TARGET_SELF, KTAU_TARGET_LIST, KTAU_TARGET_ALL,
				   KTAU_TARGET_CHANGED };
	struct ktau_select select = {
		.size = sizeof(select),
		.target = which[any() % 5] | (any() & 0x38),
		.flags = any() & KTAU_SELECT_VALID,
		.exited_since = one_in(2) ? 0 : number(),
		.since_ticks = one_in(2) ? 0 : number(),
	};
	char *at = address(sizeof(select));
	uint32_t value;

	if (select.flags & KTAU_SELECT_CGROUP)
		select.cgroup = number();
	if (select.flags & KTAU_SELECT_UID)
		select.uid = one_in(2) ? 0 : (uint32_t)number();
	if (select.flags & KTAU_SELECT_TAG)
		select.tag = (uint32_t)number();
	if (select.target & KTAU_TARGET_LIST) {
		select.nr_pids = fill_pids((int32_t *)memory);
		select.pids = (uintptr_t)memory;
	}
	if (one_in(3) && at >= memory + KTAU_MAX_PIDS && at < memory + MEMORY - sizeof(select)) {
		memcpy(at, &select, sizeof(select));
		value = (uint32_t)number();
		memcpy(at + any() % (sizeof(select) / 4) * 4, &value, sizeof(value));
	} else if (one_in(20)) {
		return ioctl(fd, KTAU_IOC_SELECT, address(sizeof(select)));
	} else {
		at = (char *)&select;
	}
	return ioctl(fd, one_in(50) ? number() : KTAU_IOC_SELECT, at);
}

/* KTAU_IOC_INFO, with a size that is good now and then. */
static long call_info(int fd)
{
	char *at = address(sizeof(struct ktau_info));
	uint32_t size = one_in(2) ? sizeof(struct ktau_info) : (uint32_t)number();

	if (at >= memory && at <= memory + MEMORY - sizeof(size))
		memcpy(at, &size, sizeof(size));
	return ioctl(fd, KTAU_IOC_INFO, at);
}

static long call_read(int fd)
{
	size_t bytes = one_in(20) ? number() : any() % (one_in(4) ? 100000 : 2000);

	return one_in(10) ? pread(fd, address(bytes), bytes, (off_t)number()) :
			    read(fd, address(bytes), bytes);
}

static long call_poll(int fd)
{
	struct pollfd pfd = { .fd = fd, .events = (short)any() };

	return poll(&pfd, 1, one_in(100) ? 1 : 0);
}

/* Sizes stay small, so that the guest has room for the next call. */
static long call_control(void)
{
	static const char *const words[] = {
		"+all", "-all", "+sched", "-syscall", "groups=tcp,irq", "trace=on", "trace=off",
		"profile=on", "profile=off", "filter=none", "filter=pid:", "inherit=on",
		"inherit=off", "filter+=pid:1", "filter=pid:1+uid:0", "filter-=pid:1+tag:7",
		"filter=uid:0,1000+tag:7", "filter+=cgroup:/", "filter+=cgroup:/no", "tag=1:7",
		"tag=none", "task_groups=1:sched+syscall", "task_groups=1:", "task_groups=none",
		"ring=16", "ring=100", "watermark=1", "watermark=999", "memory_limit=1",
		"memory_limit=32M", "exited_limit=0", "exited_limit=1M", "nonsense", "=", "+",
		"ring=", "filter=pid:99999", "\t", "task_groups=1:+", "filter+=", "tag=1",
		"restore", "restore tag=99999:1",
	};
	char line[256] = "";
	int i, nr = (int)(any() % 4), fd, ret;

	for (i = 0; i < nr; i++) {
		strcat(line, words[any() % (sizeof(words) / sizeof(*words))]);
		strcat(line, " ");
	}
	if (one_in(4))
		line[any() % sizeof(line)] = (char)any();
	fd = open("/proc/ktau/control", O_WRONLY | O_CLOEXEC);
	ret = (int)write(fd, line, one_in(10) ? sizeof(line) : strlen(line));
	close(fd);
	return ret;
}

/* A process that lives for a moment and looks at itself. */
static void call_fork(int fd)
{
	pid_t pid = fork();

	if (!pid) {
		call_read(fd);
		_exit(0);
	}
	if (pid > 0)
		waitpid(pid, NULL, 0);
}

static void call(void)
{
	unsigned int i = any() % NR_FDS, what = any() % 1000;
	long ret = 0;

	if (what < 400) {
		ret = call_read(fds[i]);
	} else if (what < 780) {
		ret = call_select(fds[i]);
	} else if (what < 800) {
		ret = call_info(fds[i]);
	} else if (what < 900) {
		ret = lseek(fds[i], one_in(2) ? 0 : (off_t)number(), one_in(2) ? 0 : (int)any());
	} else if (what < 960) {
		ret = call_poll(fds[i]);
	} else if (what < 995) {
		close(fds[i]);
		fds[i] = open_any();
	} else if (what < 997) {
		call_fork(fds[i]);
	} else {
		ret = call_control();
	}
	errors[ret < 0 ? errno & 255 : 0]++;
}

/* Signals come in the middle of calls. */
static void tick(int sig)
{
	(void)sig;
}

int main(int argc, char **argv)
{
	static const int expected[] = { 0, EPERM, ENOENT, ESRCH, EINTR, EBADF, E2BIG, ENOMEM,
					EFAULT, EINVAL, ENOTTY };
	const struct itimerval timer = { { 0, 7001 }, { 0, 7001 } };
	unsigned long count = argc > 1 ? strtoul(argv[1], NULL, 0) : 0, n, bad = 0;
	size_t i;

	if (!count) {
		fprintf(stderr, "usage: fuzzcalls COUNT [SEED]\n");
		return 2;
	}
	state = argc > 2 ? strtoull(argv[2], NULL, 0) : (uint64_t)time(NULL) << 16 | getpid();
	printf("seed %" PRIu64 "\n", state);
	fflush(stdout);
	state = state ?: 1;
	memory = mmap(NULL, MEMORY + 4096, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS,
		      -1, 0);
	if (memory == MAP_FAILED || munmap(memory + MEMORY, 4096))
		return 1;
	signal(SIGALRM, tick);
	setitimer(ITIMER_REAL, &timer, NULL);
	for (i = 0; i < NR_FDS; i++)
		fds[i] = open_any();
	for (n = 0; n < count; n++)
		call();
	for (i = 0; i < sizeof(expected) / sizeof(*expected); i++) {
		printf("%lu: %s\n", errors[expected[i]], strerror(expected[i]));
		errors[expected[i]] = 0;
	}
	for (i = 0; i < 256; i++) {
		if (errors[i])
			printf("%lu: %s\n", errors[i], strerror((int)i));
		bad += errors[i];
	}
	return !tell(!bad, "%lu calls at random, no error but those that are documented", count);
}
