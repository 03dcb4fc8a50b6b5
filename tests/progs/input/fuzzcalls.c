// SPDX-License-Identifier: GPL-2.0-only
/*
 * fuzzcalls COUNT [SEED [UID]]: random calls on /proc/ktau/profile and /proc/ktau/trace:
 * ioctl, read, lseek, poll, close, and words written to control. The seed is printed; the
 * same seed makes the same calls. With UID the calls are made as that user, which must never
 * get data that requires a capability. The calling script then checks that valid streams are
 * still consistent, and the kernel's log.
 */
#include <errno.h>
#include <fcntl.h>
#include <inttypes.h>
#include <poll.h>
#include <sched.h>
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
#include <linux/ktau_area.h>
#include <stdio.h>

#include "fuzz.h"
#include "tap.h"

#define NR_FDS 8
#define MEMORY (512 * 1024)

static int fds[NR_FDS];
static char *memory; /* MEMORY bytes, followed by unmapped memory */
static uid_t user;
static unsigned long errors[256];
static unsigned long accepted[32]; /* selections, by bit of @target and @flags */
static unsigned long nr_infos;
static unsigned long wrong;

/* An address in the memory, or sometimes at its end, in the kernel, or unmapped. */
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
		    (user || one_in(2) ? O_RDONLY : O_RDWR) | O_CLOEXEC);
}

/* Note the accepted fields, to show that valid calls occur. */
static void note_select(const struct ktau_select *select)
{
	unsigned int bit;

	for (bit = 0; bit < 16; bit++) {
		accepted[bit] += select->target >> bit & 1;
		accepted[16 + bit] += select->flags >> bit & 1;
	}
	wrong += user && (select->flags & KTAU_SELECT_CONSUME);
}

static long call_select(int fd)
{
	uint32_t room = one_in(50) ? KTAU_MAX_PIDS : FUZZ_PIDS;
	struct ktau_select select;
	long ret;
	char *at;

	fuzz_select(&select, (int32_t *)memory, room);
	if (one_in(20))
		return ioctl(fd, KTAU_IOC_SELECT, address(sizeof(select)));
	/* Put @select after the list; a longer argument sometimes crosses the end of the memory. */
	at = memory + MEMORY - 2 * FUZZ_PAGE;
	memcpy(at, &select, sizeof(select));
	if (one_in(3))
		fuzz_size(at, sizeof(select));
	if (one_in(20))
		at = memmove(memory + MEMORY - sizeof(select), at, sizeof(select));
	/* A random request; some are valid for every file. */
	if (one_in(50))
		return ioctl(fd, number(), at);
	ret = ioctl(fd, KTAU_IOC_SELECT, at);
	if (!ret)
		note_select((struct ktau_select *)at);
	return ret;
}

/* Check the answer, and that no byte after the size is written. */
static void check_info(const char *at, uint32_t size)
{
	const uint32_t never = KTAU_ACCESS_ALL | KTAU_ACCESS_CONSUME;
	const struct ktau_info *info = (const struct ktau_info *)at;
	uint32_t i;

	nr_infos++;
	wrong += info->size != sizeof(*info) || info->version != KTAU_ABI_VERSION ||
		 info->nr_ranges > KTAU_INFO_RANGES;
	wrong += user && ((info->access & never) || info->memory_bytes);
	for (i = sizeof(*info); i < size; i++)
		wrong += at[i] != 0;
	wrong += at[size] != 'x';
}

/* KTAU_IOC_INFO, with a size that is usually valid. */
static long call_info(int fd)
{
	char *at = memory + MEMORY - 2 * FUZZ_PAGE;
	uint32_t size;
	long ret;

	if (one_in(10))
		return ioctl(fd, KTAU_IOC_INFO, address(sizeof(struct ktau_info)));
	memset(at, 'x', 2 * FUZZ_PAGE);
	fuzz_size(at, sizeof(struct ktau_info));
	memset(at + FUZZ_PAGE, 'x', FUZZ_PAGE);
	memcpy(&size, at, sizeof(size));
	if (size <= FUZZ_PAGE)
		memset(at + size, 'x', 1);
	ret = ioctl(fd, KTAU_IOC_INFO, at);
	if (!ret)
		check_info(at, size);
	return ret;
}

/* Map the figures in any way; they must never become writable. */
static void look_at_figures(int fd)
{
	const size_t pages = 1 + KTAU_AREA_CELLS_BYTES / FUZZ_PAGE;
	const size_t bytes = one_in(4) ? 1 + number() % (4 * pages * FUZZ_PAGE) : pages * FUZZ_PAGE;
	const int prot = one_in(4) ? any() % 8 : PROT_READ;
	const off_t at = one_in(4) ? any() % 5 * FUZZ_PAGE : FUZZ_PAGE;
	const struct ktau_area_header *header;

	header = mmap(NULL, bytes, prot, one_in(8) ? MAP_PRIVATE : MAP_SHARED, fd, at);
	if (header == MAP_FAILED)
		return;
	if (at == FUZZ_PAGE) {
		wrong += prot & PROT_WRITE;
		wrong += (prot & PROT_READ) && header->magic != KTAU_AREA_MAGIC;
		wrong += !mprotect((void *)header, FUZZ_PAGE, PROT_READ | PROT_WRITE);
	}
	if (one_in(2))
		munmap((void *)header, bytes);
}

/*
 * KTAU_IOC_REGIONS, and any number in the page, which stays mapped or not. A process has only one
 * page, so most of these calls are those of children.
 */
static long call_regions(int fd)
{
	char *at = memory + MEMORY - 2 * FUZZ_PAGE;
	struct ktau_regions args = { .nr_regions = any() % 300 };
	volatile uint32_t *page;
	long ret;

	if (one_in(10))
		return ioctl(fd, KTAU_IOC_REGIONS, address(sizeof(args)));
	memcpy(at, &args, sizeof(args));
	fuzz_size(at, sizeof(args));
	ret = ioctl(fd, KTAU_IOC_REGIONS, at);
	if (ret < 0)
		return ret;
	page = mmap(NULL, FUZZ_PAGE, PROT_READ | PROT_WRITE, MAP_SHARED, (int)ret, 0);
	look_at_figures((int)ret);
	close((int)ret);
	if (page == MAP_FAILED)
		return -1;
	*page = one_in(4) ? any() : any() % 64;
	sched_yield();
	*page = any() % 64;
	if (one_in(2))
		munmap((void *)page, FUZZ_PAGE);
	return 0;
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

static long call_control(void)
{
	char line[256] = "";

	fuzz_words(line, sizeof(line));
	if (one_in(4))
		line[any() % sizeof(line)] = (char)any();
	return fuzz_control(line, one_in(10) ? sizeof(line) : strlen(line));
}

/* A short-lived process that reads its own data. */
static void call_fork(int fd)
{
	pid_t pid = fork();
	int status;

	if (!pid) {
		wrong = 0;
		call_regions(fd);
		call_read(fd);
		_exit(wrong > 0);
	}
	if (pid > 0 && waitpid(pid, &status, 0) == pid)
		wrong += status != 0;
}

static void call(void)
{
	unsigned int i = any() % NR_FDS, what = any() % 1000;
	long ret = 0;

	if (what < 400) {
		ret = call_read(fds[i]);
	} else if (what < 740) {
		ret = call_select(fds[i]);
	} else if (what < 795) {
		ret = call_info(fds[i]);
	} else if (what < 800) {
		ret = call_regions(fds[i]);
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

/* Signals interrupt calls. */
static void tick(int sig)
{
	(void)sig;
}

/* Check that each part of a selection was accepted at least once; a user cannot consume. */
static void check_accepted(void)
{
	unsigned int bit, nr = 0, want = 0;

	for (bit = 0; bit < 16; bit++) {
		nr += accepted[bit] && (KTAU_TARGET_VALID >> bit & 1);
		nr += accepted[16 + bit] && (KTAU_SELECT_VALID >> bit & 1);
		want += (KTAU_TARGET_VALID >> bit & 1) + (KTAU_SELECT_VALID >> bit & 1);
	}
	want -= user != 0;
	tap_ok(nr >= want && nr_infos, "%u of %u targets and flags were accepted, and %lu sizes "
				       "of INFO",
	       nr, want, nr_infos);
	tap_ok(!wrong, "no data without the required capability, no wrong answer: %lu", wrong);
}

static void check_errors(unsigned long count)
{
	static const int expected[] = { 0, EPERM, ENOENT, ESRCH, EINTR, EBADF, E2BIG, ENOMEM,
					EFAULT, EINVAL, ENOTTY, EEXIST, ENODATA, EBUSY };
	unsigned long bad = 0;
	size_t i;

	for (i = 0; i < sizeof(expected) / sizeof(*expected); i++) {
		printf("%lu: %s\n", errors[expected[i]], strerror(expected[i]));
		errors[expected[i]] = 0;
	}
	/* EACCES depends on the level, which a user's process does not know. */
	if (user)
		errors[EACCES] = 0;
	for (i = 0; i < 256; i++) {
		if (errors[i])
			printf("%lu: %s\n", errors[i], strerror((int)i));
		bad += errors[i];
	}
	tap_ok(!bad, "%lu random calls, only documented errors", count);
}

int main(int argc, char **argv)
{
	const struct itimerval timer = { { 0, 7001 }, { 0, 7001 } };
	unsigned long count = argc > 1 ? strtoul(argv[1], NULL, 0) : 0, n;
	uint64_t seed;
	size_t i;

	if (!count) {
		fprintf(stderr, "usage: fuzzcalls COUNT [SEED [UID]]\n");
		return 2;
	}
	seed = argc > 2 ? strtoull(argv[2], NULL, 0) : (uint64_t)time(NULL) << 16 | getpid();
	user = argc > 3 ? (uid_t)atoi(argv[3]) : 0;
	printf("seed %" PRIu64 "\n", seed);
	fflush(stdout);
	fuzz_seed(seed);
	if (user && (setgid(user) || setuid(user)))
		return 1;
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
	check_errors(count);
	check_accepted();
	return tap_done();
}
