// SPDX-License-Identifier: GPL-2.0-only
/*
 * regions: regions of programs with known figures. Each thread stores the numbers of its
 * regions itself, so that nothing but the calls of the test is accounted to them.
 *
 *	regions			all tests; as root, with the groups of the account enabled
 *	regions exec		the second half of a test: the program that was executed
 *	regions as UID		ioctl() as a user: prints its errno, 0 for success
 */
#include <errno.h>
#include <fcntl.h>
#include <inttypes.h>
#include <pthread.h>
#include <signal.h>
#include <stdlib.h>
#include <string.h>
#include <sys/ioctl.h>
#include <sys/mman.h>
#include <sys/syscall.h>
#include <sys/time.h>
#include <sys/wait.h>
#include <unistd.h>

#include "self.h"
#include "tap.h"

#define NR_REGIONS	64
#define NR_THREADS	8
#define NR_CHANGES	(1000000 / NR_THREADS)

struct area {
	volatile uint32_t *word;
	int fd;
};

/* The regions of one profile. */
struct look {
	struct ktau_rec_profile *profile;
	struct ktau_rec_region *region[NR_REGIONS];
};

static int request(struct ktau_regions *args)
{
	int fd = open("/proc/ktau/profile", O_RDONLY | O_CLOEXEC), area;

	if (fd < 0)
		return -errno;
	area = ioctl(fd, KTAU_IOC_REGIONS, args);
	if (area < 0)
		area = -errno;
	close(fd);
	return area;
}

static volatile uint32_t *map(int fd)
{
	void *page = mmap(NULL, getpagesize(), PROT_READ | PROT_WRITE, MAP_SHARED, fd, 0);

	return page == MAP_FAILED ? NULL : page;
}

static struct area begin(void)
{
	struct ktau_regions args = { .size = sizeof(args) };
	struct area area = { .fd = request(&args) };

	if (area.fd < 0)
		self_die("KTAU_IOC_REGIONS", area.fd);
	area.word = map(area.fd);
	if (!area.word)
		self_die("mmap", -errno);
	return area;
}

static void look_free(struct look *look)
{
	unsigned int i;

	ktau_record_free(look->profile);
	for (i = 0; i < NR_REGIONS; i++)
		ktau_record_free(look->region[i]);
}

/* Read the profile and the regions of a thread; 0 is the caller. */
static struct look look_at(pid_t tid)
{
	const struct ktau_query query = {
		.content = KTAU_REC_PROFILE,
		.target = tid ? KTAU_TARGET_LIST : KTAU_TARGET_SELF,
		.tids = tid ? &tid : NULL,
		.nr_tids = tid ? 1 : 0,
	};
	struct look look = { 0 };
	union ktau_record record;

	self_start(&query);
	while (self_next(&record) > 0) {
		if (record.rec->type == KTAU_REC_PROFILE && !look.profile)
			look.profile = ktau_record_dup(record.rec);
		if (record.rec->type == KTAU_REC_REGION && record.region->region < NR_REGIONS)
			look.region[record.region->region] = ktau_record_dup(record.rec);
	}
	if (!look.profile)
		self_die("no profile", -ENODATA);
	return look;
}

static struct ktau_entry in_region(const struct look *look, unsigned int region, uint32_t id)
{
	const struct ktau_rec_region *r = look->region[region];
	const struct ktau_entry none = { 0 };
	uint32_t i;

	for (i = 0; r && i < r->nr_entries; i++)
		if (ktau_region_entries(r)[i].id == id)
			return ktau_region_entries(r)[i];
	return none;
}

static uint64_t count(const struct look *look, unsigned int region, uint32_t id)
{
	return in_region(look, region, id).count;
}

/* The identity: no event has more in its regions than in the profile. */
static bool within(const struct look *look)
{
	const struct ktau_entry *e = ktau_profile_entries(look->profile);
	struct ktau_entry part;
	unsigned int i, k;

	for (i = 0; i < look->profile->nr_entries; i++) {
		struct ktau_entry left = e[i];

		for (k = 1; k < NR_REGIONS; k++) {
			part = in_region(look, k, e[i].id);
			if (part.count > left.count || part.incl > left.incl ||
			    (!left.kind && part.excl > left.excl)) {
				printf("# event %u of region %u: %llu %llu %llu\n", e[i].id, k,
				       part.count, part.incl, part.excl);
				return false;
			}
			left.count -= part.count;
			left.incl -= part.incl;
			left.excl -= part.excl;
		}
	}
	return true;
}

static void bar(const struct area *area, int fd)
{
	const uint32_t outer = *area->word;
	int i;

	*area->word = 2;
	for (i = 0; i < 300; i++)
		if (write(fd, "x", 1) != 1)
			self_die("write", -errno);
	*area->word = outer;
}

static void foo(const struct area *area, int fd)
{
	const uint32_t outer = *area->word;
	int i;

	*area->word = 1;
	for (i = 0; i < 500; i++)
		syscall(SYS_getppid);
	bar(area, fd);
	for (i = 0; i < 500; i++)
		syscall(SYS_getppid);
	*area->word = outer;
}

static void test_known(const struct area *area, const char *when)
{
	int fd = open("/dev/null", O_WRONLY);
	struct look before = look_at(0), after;

	printf("# %s\n", when);
	foo(area, fd);
	syscall(SYS_getppid);
	after = look_at(0);
	self_expect("foo => getppid",
		    count(&after, 1, SYS_getppid) - count(&before, 1, SYS_getppid), 1000);
	self_expect("bar => write",
		    count(&after, 2, SYS_write) - count(&before, 2, SYS_write), 300);
	self_expect("bar => getppid", count(&after, 2, SYS_getppid), 0);
	self_expect("foo => write", count(&after, 1, SYS_write), 0);
	tap_ok(within(&after), "no event has more in its regions than in the profile");
	look_free(&before);
	look_free(&after);
	close(fd);
}

static volatile sig_atomic_t nr_signals;

static void on_signal(int sig)
{
	(void)sig;
	nr_signals++;
}

static void test_signals(const struct area *area)
{
	struct itimerval timer = { { 0, 1000 }, { 0, 1000 } };

	signal(SIGALRM, on_signal);
	setitimer(ITIMER_REAL, &timer, NULL);
	while (nr_signals < 5)
		;
	test_known(area, "under a timer signal of 1 kHz");
	timer = (struct itimerval){ { 0, 0 }, { 0, 0 } };
	setitimer(ITIMER_REAL, &timer, NULL);
	tap_ok(nr_signals >= 5, "%d signals", (int)nr_signals);
}

struct worker {
	pthread_t thread;
	pid_t tid;
	unsigned int seed;
	uint64_t calls[NR_REGIONS];
	pthread_barrier_t *done, *seen;
};

/* Random regions, some of which do not exist, and a system call in every fourth. */
static void *change(void *arg)
{
	struct worker *w = arg;
	struct area area = begin();
	uint32_t region;
	int i;

	w->tid = gettid();
	/* Each CPU has a limited number of chunks in reserve: new regions come slowly. */
	for (i = 1; i < NR_REGIONS; i++) {
		usleep(4000);
		*area.word = i;
		syscall(SYS_getppid);
		w->calls[i]++;
		*area.word = 0;
	}
	for (i = 0; i < NR_CHANGES; i++) {
		region = rand_r(&w->seed) % (NR_REGIONS + 8);
		*area.word = region;
		if (rand_r(&w->seed) % 4)
			continue;
		syscall(SYS_getppid);
		if (region < NR_REGIONS)
			w->calls[region]++;
	}
	*area.word = 0;
	pthread_barrier_wait(w->done);
	pthread_barrier_wait(w->seen);
	return NULL;
}

/* What could not be accounted, for lack of a chunk, is counted. Returns how many calls. */
static uint64_t check_worker(const struct worker *w, bool *identity, bool *exact)
{
	struct look look = look_at(w->tid);
	uint64_t missing = 0, less;
	unsigned int i;

	*identity &= within(&look);
	for (i = 1; i < NR_REGIONS; i++) {
		less = w->calls[i] - count(&look, i, SYS_getppid);
		*exact &= !less || (look.region[i] && look.region[i]->refused >= less);
		missing += less;
	}
	*exact &= look.region[0] && look.region[0]->refused;
	look_free(&look);
	return missing;
}

static void test_threads(void)
{
	struct worker w[NR_THREADS] = { 0 };
	bool identity = true, exact = true;
	pthread_barrier_t done, seen;
	uint64_t missing = 0;
	int i;

	pthread_barrier_init(&done, NULL, NR_THREADS + 1);
	pthread_barrier_init(&seen, NULL, NR_THREADS + 1);
	for (i = 0; i < NR_THREADS; i++) {
		w[i].seed = i + 1;
		w[i].done = &done;
		w[i].seen = &seen;
		pthread_create(&w[i].thread, NULL, change, &w[i]);
	}
	/* Meanwhile the copies of running threads are consistent. */
	for (i = 0; i < 200; i++) {
		pid_t tid = w[i % NR_THREADS].tid;
		struct look look;

		if (!tid)
			continue;
		look = look_at(tid);
		identity &= within(&look);
		look_free(&look);
	}
	tap_ok(identity, "the identity of running threads");
	pthread_barrier_wait(&done);
	for (i = 0; i < NR_THREADS; i++)
		missing += check_worker(&w[i], &identity, &exact);
	pthread_barrier_wait(&seen);
	for (i = 0; i < NR_THREADS; i++)
		pthread_join(w[i].thread, NULL);
	tap_ok(identity, "the identity after %d changes", NR_THREADS * NR_CHANGES);
	tap_ok(exact, "the calls of each region are exact, or counted as refused");
	tap_ok(missing < NR_THREADS * NR_CHANGES / 400, "%" PRIu64 " calls refused, below 1 %%",
	       missing);
}

static int failed_mmap(size_t bytes, int prot, int flags, int fd, off_t at)
{
	return mmap(NULL, bytes, prot, flags, fd, at) == MAP_FAILED ? errno : 0;
}

static void test_errors(const struct area *area)
{
	const int prot = PROT_READ | PROT_WRITE, page = getpagesize();
	struct {
		struct ktau_regions args;
		uint64_t more;
	} big = { .args.size = sizeof(big), .more = 1 };
	struct ktau_regions args = { .size = 16 };

	self_expect("a short size", -request(&args), EINVAL);
	args = (struct ktau_regions){ .size = sizeof(args), .flags = 1 };
	self_expect("unknown flags", -request(&args), EINVAL);
	args = (struct ktau_regions){ .size = sizeof(args), .reserved = 1 };
	self_expect("a reserved field", -request(&args), EINVAL);
	args = (struct ktau_regions){ .size = sizeof(args), .nr_regions = KTAU_REGIONS_MAX + 1 };
	self_expect("too many regions", -request(&args), E2BIG);
	self_expect("unknown fields", -request(&big.args), E2BIG);
	self_expect("no memory to read", -request((void *)4), EFAULT);
	args = (struct ktau_regions){ .size = sizeof(args) };
	self_expect("a second area", -request(&args), EEXIST);
	self_expect("a private mapping", failed_mmap(page, prot, MAP_PRIVATE, area->fd, 0),
		    EINVAL);
	self_expect("two pages", failed_mmap(2 * page, prot, MAP_SHARED, area->fd, 0), EINVAL);
	self_expect("another offset", failed_mmap(page, prot, MAP_SHARED, area->fd, page),
		    EINVAL);
}

/* A child has the mapping of its parent, but not its regions. */
static void test_fork(const struct area *area)
{
	struct ktau_regions args = { .size = sizeof(args) };
	struct look look;
	pid_t child;
	int status, i, fd;

	child = fork();
	if (!child) {
		*area->word = 5;
		for (i = 0; i < 7; i++)
			syscall(SYS_getppid);
		if (failed_mmap(getpagesize(), PROT_READ, MAP_SHARED, area->fd, 0) != EPERM)
			_exit(1);
		self_close();
		self_open();
		look = look_at(0);
		for (i = 0; i < NR_REGIONS; i++)
			if (look.region[i])
				_exit(2);
		fd = request(&args);
		if (fd < 0 || !map(fd))
			_exit(3);
		*map(fd) = 3;
		for (i = 0; i < 11; i++)
			syscall(SYS_getppid);
		*map(fd) = 0;
		look = look_at(0);
		_exit(count(&look, 3, SYS_getppid) == 11 ? 0 : 4);
	}
	waitpid(child, &status, 0);
	tap_ok(WIFEXITED(status) && !WEXITSTATUS(status),
	       "a child is in no region until it asks (status %#x)", status);
	self_expect("the child wrote to the parent's page", *area->word, 5);
	*area->word = 0;
}

/* What another program did has nothing to do with the regions of this one. */
static void test_exec(void)
{
	pid_t child = fork();
	int status;

	if (!child) {
		struct area area = begin();

		*area.word = 9;
		syscall(SYS_getppid);
		execl("/proc/self/exe", "regions", "exec", NULL);
		_exit(127);
	}
	waitpid(child, &status, 0);
	tap_ok(WIFEXITED(status) && !WEXITSTATUS(status),
	       "an exec drops the regions (status %#x)", status);
}

static int after_exec(void)
{
	struct area area;
	struct look look;
	unsigned int i;

	self_open();
	syscall(SYS_getppid);
	look = look_at(0);
	for (i = 0; i < NR_REGIONS; i++)
		if (look.region[i])
			return 1;
	area = begin();
	*area.word = 9;
	syscall(SYS_getppid);
	syscall(SYS_getppid);
	*area.word = 0;
	look = look_at(0);
	return count(&look, 9, SYS_getppid) == 2 && within(&look) ? 0 : 2;
}

/* The kernel does not depend on the mapping. */
static void *unmap(void *arg)
{
	struct area area = begin();
	struct look *look = arg;
	int i;

	*area.word = 4;
	for (i = 0; i < 10; i++)
		syscall(SYS_getppid);
	close(area.fd);
	for (i = 0; i < 10; i++)
		syscall(SYS_getppid);
	munmap((void *)area.word, getpagesize());
	for (i = 0; i < 10; i++)
		syscall(SYS_getppid);
	*look = look_at(0);
	return NULL;
}

static void test_unmap(void)
{
	struct look look;
	pthread_t thread;

	pthread_create(&thread, NULL, unmap, &look);
	pthread_join(thread, NULL);
	self_expect("calls until the page was unmapped", count(&look, 4, SYS_getppid), 20);
	look_free(&look);
}

/* Threads that come and go with their areas, while others write to their pages. */
static void *scribble(void *arg)
{
	struct area area = begin();
	uint32_t *page = (uint32_t *)area.word;
	unsigned int seed = (uintptr_t)arg, i;

	for (i = 0; i < 2000; i++) {
		page[0] = rand_r(&seed) * 2654435761U;
		page[rand_r(&seed) % 1024] = rand_r(&seed);
		if (!(i % 100))
			syscall(SYS_getppid);
	}
	if (seed % 2)
		munmap(page, getpagesize());
	return NULL;
}

static void test_fuzz(void)
{
	pthread_t thread[8];
	unsigned int i, k;

	for (k = 0; k < 20; k++) {
		for (i = 0; i < 8; i++)
			pthread_create(&thread[i], NULL, scribble, (void *)(uintptr_t)(k * 8 + i));
		for (i = 0; i < 8; i++)
			pthread_join(thread[i], NULL);
	}
	tap_ok(true, "any bytes in the page");
}

/* An exited thread keeps its regions. */
static void test_exited(void)
{
	const struct ktau_query query = { .content = KTAU_REC_PROFILE,
					  .target = KTAU_TARGET_EXITED };
	union ktau_record record;
	uint64_t found = 0;
	uint32_t i;
	pid_t child = fork();

	if (!child) {
		struct area area = begin();

		*area.word = 33;
		for (i = 0; i < 77; i++)
			syscall(SYS_getppid);
		kill(getpid(), SIGKILL);
	}
	waitpid(child, NULL, 0);
	self_start(&query);
	while (self_next(&record) > 0) {
		const struct ktau_entry *e;

		if (record.rec->type != KTAU_REC_REGION || record.region->region != 33)
			continue;
		e = ktau_region_entries(record.region);
		for (i = 0; i < record.region->nr_entries; i++)
			if (e[i].id == SYS_getppid)
				found = e[i].count;
	}
	self_expect("calls of a process that was killed", found, 77);
}

static int as_user(const char *uid)
{
	struct ktau_regions args = { .size = sizeof(args) };
	int id = atoi(uid), fd;

	if (setgid(id) || setuid(id))
		return 1;
	fd = request(&args);
	printf("%d\n", fd < 0 ? -fd : 0);
	return 0;
}

int main(int argc, char **argv)
{
	struct area area;

	if (argc > 2)
		return as_user(argv[2]);
	if (argc > 1)
		return after_exec();
	self_open();
	area = begin();
	test_known(&area, "known calls");
	test_signals(&area);
	test_errors(&area);
	test_fork(&area);
	test_exec();
	test_unmap();
	test_exited();
	test_threads();
	test_fuzz();
	return tap_done();
}
