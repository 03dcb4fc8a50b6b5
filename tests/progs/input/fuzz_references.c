// SPDX-License-Identifier: GPL-2.0-only
/*
 * fuzz_references COUNT [SEED [UID]]: random calls on /proc/ktau/references. Processes that check
 * their memory are traced meanwhile, by sessions that nobody may read, and are killed. With UID the
 * calls are made as that user, which must not be able to trace others. The seed is printed; the
 * same seed makes the same calls. Afterwards all memory of the sessions must be free.
 */
#include <errno.h>
#include <inttypes.h>
#include <poll.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <sys/mman.h>
#include <sys/prctl.h>
#include <sys/wait.h>
#include <time.h>

#include <linux/ktau_references.h>

#include "fuzz.h"
#include "tap.h"

enum { NR_FDS = 6,
       NR_WORKERS = 3,
       NR_PAGES = 80,
       MEMORY = 64 * 1024 };

static int fds[NR_FDS];
static pid_t workers[NR_WORKERS];
static char *memory; /* MEMORY bytes, followed by unmapped memory */
static uid_t user;
static unsigned long errors[256], started, wrong;

/* Change and check pages for ever. */
static void work(char *pages)
{
	unsigned char version[NR_PAGES] = { 0 };
	unsigned int page;

	for (;;) {
		page = any() % NR_PAGES;
		if (pages[page * FUZZ_PAGE] != (char)version[page])
			_exit(1);
		pages[page * FUZZ_PAGE] = (char)++version[page];
		if (one_in(500)) {
			madvise(pages + page * FUZZ_PAGE, FUZZ_PAGE, MADV_DONTNEED);
			version[page] = 0;
		}
		if (one_in(5000) && !fork())
			_exit(pages[page * FUZZ_PAGE] != (char)version[page]);
	}
}

static void start_worker(unsigned int i)
{
	workers[i] = fork();
	if (workers[i])
		return;
	signal(SIGCHLD, SIG_IGN);
	prctl(PR_SET_PDEATHSIG, SIGKILL);
	fuzz_seed(i + 1);
	work(mmap(NULL, NR_PAGES * FUZZ_PAGE, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS,
		  -1, 0));
}

static void end_worker(unsigned int i)
{
	int status;

	kill(workers[i], SIGKILL);
	if (waitpid(workers[i], &status, 0) != workers[i] || !WIFSIGNALED(status) ||
	    WTERMSIG(status) != SIGKILL)
		wrong++;
}

static uint32_t list_of_pids(int32_t *pids)
{
	uint32_t nr = 1 + any() % 3, i;

	for (i = 0; i < nr; i++) {
		pids[i] = workers[(any() + i) % NR_WORKERS];
		if (one_in(20))
			pids[i] = one_in(3) ? getpid() : one_in(2) ? 1 : (int32_t)number();
	}
	return nr;
}

/* A request that is usually valid. */
static struct ktau_references a_request(void)
{
	static const uint32_t windows[] = { 0, 16, 64, 512, 65536 };
	struct ktau_references r = {
		.size = sizeof(r), .op = one_in(10) ? (uint32_t)number() : 1 + any() % 4,
		.window = one_in(20) ? (uint32_t)number() : windows[any() % 5],
		.ring_slots = one_in(20) ? (uint32_t)number() : 4096U << any() % 3,
		.policy = any() % 2, .when_full = !one_in(10), .pids = (uintptr_t)memory,
	};

	r.flags = one_in(20) ? (uint32_t)number() : any() & 7;
	if (one_in(10))
		r.flags = KTAU_REFERENCES_COUNT;
	if (one_in(50))
		r.flags |= KTAU_REFERENCES_ALL;
	if (one_in(50))
		r.cgroup = number();
	if (!r.cgroup && !(r.flags & KTAU_REFERENCES_ALL))
		r.nr_pids = list_of_pids((int32_t *)memory);
	if (one_in(20))
		r.hi = number() & ~(FUZZ_PAGE - 1ULL);
	if (one_in(40))
		r.pids = number();
	return r;
}

/* Whether a user has got what requires a capability, or belongs to root. */
static bool is_wrong(const struct ktau_references *r)
{
	const int32_t *pids = (const int32_t *)memory;
	uint32_t i;

	if (!user || r->op != KTAU_REFERENCES_START || r->pids != (uintptr_t)memory)
		return false;
	for (i = 0; i < r->nr_pids && i < 3; i++)
		if (pids[i] == 1)
			return true;
	return r->cgroup || r->flags & KTAU_REFERENCES_ALL;
}

static long call_request(int fd)
{
	const struct ktau_references r = a_request();
	char *at = memory + MEMORY - 2 * FUZZ_PAGE;
	struct ktau_references sent;
	long ret;

	memcpy(at, &r, sizeof(r));
	if (one_in(10))
		fuzz_size(at, sizeof(r));
	if (one_in(50))
		at = memmove(memory + MEMORY - sizeof(r) + any() % 8, at, sizeof(r) - 8);
	if (one_in(100))
		return ioctl(fd, number(), at);
	ret = ioctl(fd, KTAU_IOC_REFERENCES, at);
	if (ret < 0)
		return ret;
	memcpy(&sent, at, sizeof(sent));
	started += sent.op == KTAU_REFERENCES_START;
	wrong += is_wrong(&sent);
	return 0;
}

static long call_read(int fd)
{
	size_t bytes = one_in(20) ? number() : any() % (MEMORY / 2);

	return read(fd, one_in(20) ? memory + MEMORY - any() % 64 : memory + MEMORY / 4, bytes);
}

static int open_any(void)
{
	return open("/proc/ktau/references", O_RDONLY | O_CLOEXEC | O_NONBLOCK);
}

static void call(void)
{
	unsigned int i = any() % NR_FDS, what = any() % 1000, worker = any() % NR_WORKERS;
	struct pollfd p = { .fd = fds[i], .events = (short)any() };
	long ret = 0;

	if (what < 500) {
		ret = call_request(fds[i]);
	} else if (what < 900) {
		ret = call_read(fds[i]);
	} else if (what < 940) {
		ret = poll(&p, 1, 1);
	} else if (what < 980) {
		close(fds[i]);
		fds[i] = open_any();
		ret = fds[i];
	} else {
		end_worker(worker);
		start_worker(worker);
	}
	errors[ret < 0 ? errno & 255 : 0]++;
}

static void check_errors(unsigned long count)
{
	static const int expected[] = { 0, EPERM, ESRCH, EINTR, EBADF, EAGAIN, E2BIG, ENOMEM,
					EFAULT, EBUSY, EINVAL, ENOTTY };
	unsigned long bad = 0;
	size_t i;

	for (i = 0; i < sizeof(expected) / sizeof(*expected); i++) {
		printf("# %lu: %s\n", errors[expected[i]], strerror(expected[i]));
		errors[expected[i]] = 0;
	}
	for (i = 0; i < 256; i++) {
		if (errors[i])
			printf("# %lu: %s\n", errors[i], strerror((int)i));
		bad += errors[i];
	}
	tap_ok(!bad, "%lu random calls, only documented errors", count);
	tap_ok(started > count / 100, "%lu sessions have been started", started);
	tap_ok(!wrong, "the processes are right, and no session has others: %lu", wrong);
}

static unsigned long memory_bytes(void)
{
	FILE *file = fopen("/proc/ktau/stats", "r");
	unsigned long bytes = 0;
	char line[128];

	while (file && fgets(line, sizeof(line), file))
		sscanf(line, "memory_bytes %lu", &bytes);
	if (file)
		fclose(file);
	return bytes;
}

static void check_memory(unsigned long before)
{
	int try;

	/* It is freed a grace period later. */
	for (try = 0; memory_bytes() > before && try < 100; try++)
		usleep(100000);
	tap_ok(memory_bytes() <= before, "memory: %lu bytes, %lu before", memory_bytes(), before);
}

/* The calls, in a process of its own, because a user cannot become root again. */
static int run(unsigned long count)
{
	unsigned long n;
	unsigned int i;

	if (user && (setgid(user) || setuid(user) || prctl(PR_SET_DUMPABLE, 1)))
		return 1;
	memory = mmap(NULL, MEMORY + FUZZ_PAGE, PROT_READ | PROT_WRITE,
		      MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
	if (memory == MAP_FAILED || munmap(memory + MEMORY, FUZZ_PAGE))
		return 1;
	for (i = 0; i < NR_WORKERS; i++)
		start_worker(i);
	for (i = 0; i < NR_FDS; i++)
		fds[i] = open_any();
	for (n = 0; n < count; n++)
		call();
	for (i = 0; i < NR_WORKERS; i++)
		end_worker(i);
	check_errors(count);
	return 0;
}

int main(int argc, char **argv)
{
	const unsigned long count = argc > 1 ? strtoul(argv[1], NULL, 0) : 0;
	const unsigned long before = memory_bytes();
	uint64_t seed = argc > 2 ? strtoull(argv[2], NULL, 0) : (uint64_t)time(NULL);
	int status;
	pid_t pid;

	if (!count) {
		fprintf(stderr, "usage: fuzz_references COUNT [SEED [UID]]\n");
		return 2;
	}
	user = argc > 3 ? (uid_t)atoi(argv[3]) : 0;
	printf("# seed %" PRIu64 "\n", seed);
	fflush(stdout);
	fuzz_seed(seed);
	pid = fork();
	if (!pid)
		exit(run(count));
	if (waitpid(pid, &status, 0) != pid)
		return 2;
	tap_ok(!status, "the calls end: status %x", status);
	check_memory(before);
	return tap_done();
}
