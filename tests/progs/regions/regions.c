// SPDX-License-Identifier: GPL-2.0-only
/*
 * regions: regions of programs with known figures. Each thread stores the numbers of its
 * regions itself, so that nothing but the calls of the test is accounted to them.
 *
 *	regions			all tests; as root, with the groups of the account enabled
 *	regions exec		the second half of a test: the program that was executed
 *	regions as UID		ioctl() as a user: prints its errno, 0 for success
 *	regions suid FILE UID	as a user, executes the set-uid program FILE (this one) while
 *				another process has its pages
 *	regions calls		that program: 1000 calls
 */
#include <errno.h>
#include <fcntl.h>
#include <inttypes.h>
#include <setjmp.h>
#include <pthread.h>
#include <sched.h>
#include <signal.h>
#include <stdlib.h>
#include <string.h>
#include <sys/ioctl.h>
#include <sys/mman.h>
#include <sys/syscall.h>
#include <sys/time.h>
#include <sys/wait.h>
#include <unistd.h>

#include <linux/ktau_area.h>

#include "self.h"
#include "tap.h"

#define NR_REGIONS	64
#define NR_THREADS	8
#define NR_CHANGES	(1000000 / NR_THREADS)

#define FIGURES_BYTES	(getpagesize() + KTAU_AREA_CELLS_BYTES)

struct area {
	volatile uint32_t *word;
	const struct ktau_area_header *header;
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
	area.header = mmap(NULL, FIGURES_BYTES, PROT_READ, MAP_SHARED, area.fd, getpagesize());
	if (!area.word || area.header == MAP_FAILED)
		self_die("mmap", -errno);
	return area;
}

static const volatile struct ktau_area_cell *block(const struct area *area, unsigned int nr)
{
	return (const struct ktau_area_cell *)((const char *)area->header +
					       area->header->cells_at) +
	       nr * KTAU_AREA_BLOCK_CELLS;
}

/* The mapped cell of an event in a region. */
static struct ktau_area_cell cell(const struct area *area, unsigned int region, uint32_t id)
{
	const struct ktau_area_cell none = { 0 };
	unsigned int nr = area->header->region[region].index;

	if (nr)
		nr = ((const volatile struct ktau_area_index *)block(area, nr))
			     ->block[id / KTAU_AREA_BLOCK_CELLS];
	return nr ? block(area, nr)[id % KTAU_AREA_BLOCK_CELLS] : none;
}

static struct ktau_area_cell cell_sum(const struct area *area, uint32_t id)
{
	struct ktau_area_cell sum = { 0 }, part;
	unsigned int i;

	for (i = 0; i < area->header->nr_regions; i++) {
		part = cell(area, i, id);
		sum.count += part.count;
		sum.incl += part.incl;
		sum.excl += part.excl;
	}
	return sum;
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

/* Whether each region's record equals the mapped cells; interrupts are only in the record. */
static bool same_figures(const struct area *area, const struct look *look)
{
	const struct ktau_entry *e;
	struct ktau_area_cell c;
	unsigned int i, k;

	for (k = 1; k < NR_REGIONS; k++) {
		e = look->region[k] ? ktau_region_entries(look->region[k]) : NULL;
		for (i = 0; e && i < look->region[k]->nr_entries; i++, e++) {
			if (e->id >= KTAU_AREA_EVENTS)
				continue;
			c = cell(area, k, e->id);
			if (e->id >= 512 ? c.count <= e->count :
					   c.count == e->count && c.incl == e->incl &&
						   c.excl == e->excl && c.longest == e->longest)
				continue;
			printf("# event %u of region %u: %llu of %llu\n", e->id, k, c.count,
			       e->count);
			return false;
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
	tap_ok(same_figures(area, &after), "the mapped figures equal the records");
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

/* Everything that the thread does from its first call on is in a region or in region 0. */
static void *total(void *arg)
{
	struct area area = begin();
	struct ktau_area_cell before, sum;
	const struct ktau_entry *e;
	unsigned int i;
	struct look look;

	syscall(SYS_getsid, 0);
	before = cell_sum(&area, SYS_getsid);
	for (i = 1; i < 4000; i++) {
		*area.word = i % (NR_REGIONS + 3);	/* some do not exist */
		syscall(SYS_getsid, 0);
	}
	*area.word = 0;
	sum = cell_sum(&area, SYS_getsid);
	look = look_at(0);
	self_expect("the first call", before.count, 1);
	self_expect("calls in all regions", sum.count, 4000);
	e = ktau_profile_entries(look.profile);
	for (i = 0; i < look.profile->nr_entries; i++, e++) {
		if (e->id != SYS_getsid)
			continue;
		self_expect("calls in the profile", e->count, 4000);
		tap_ok(sum.incl == e->incl && sum.excl == e->excl, "their times");
	}
	look_free(&look);
	return arg;
}

/* The area gets more pages before it runs out. Interrupts need a reserve, which may run out. */
static void *many_events(void *arg)
{
	static const long calls[] = { SYS_getppid, SYS_getuid, SYS_sched_yield, SYS_times,
				      SYS_getpriority, SYS_getrandom, SYS_gettid };
	const unsigned int nr = sizeof(calls) / sizeof(*calls);
	uint64_t refused = 0, reserve = self_stat("refused_no_chunk");
	struct area area = begin();
	unsigned int i, k;
	bool exact = true;

	for (i = 0; i < NR_REGIONS; i++) {
		for (k = 0; k < nr; k++) {
			*area.word = i;
			syscall(calls[k], 0, 0, 0);
			*area.word = 0;
		}
	}
	for (i = 1; i < NR_REGIONS; i++) {
		for (k = 0; k < nr; k++)
			exact &= cell(&area, i, calls[k]).count == 1;
		refused += area.header->region[i].refused;
	}
	tap_ok(exact, "%u system calls in each of %u regions", nr, NR_REGIONS - 1);
	tap_ok(refused <= self_stat("refused_no_chunk") - reserve, "refused: %" PRIu64, refused);
	return arg;
}

static void in_thread(void *(*fn)(void *arg))
{
	pthread_t thread;

	pthread_create(&thread, NULL, fn, NULL);
	pthread_join(thread, NULL);
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
	self_expect("figures that can be written",
		    failed_mmap(page, prot, MAP_SHARED, area->fd, page), EACCES);
	self_expect("figures that can be executed",
		    failed_mmap(page, PROT_EXEC, MAP_SHARED, area->fd, page), EPERM);
	self_expect("a private mapping of the figures",
		    failed_mmap(page, PROT_READ, MAP_PRIVATE, area->fd, page), EINVAL);
	self_expect("too many pages of the figures",
		    failed_mmap(FIGURES_BYTES + page, PROT_READ, MAP_SHARED, area->fd, page),
		    EINVAL);
	self_expect("another offset",
		    failed_mmap(page, PROT_READ, MAP_SHARED, area->fd, 2L * page), EINVAL);
	self_expect("an offset beyond the end",
		    failed_mmap(page, PROT_READ, MAP_SHARED, area->fd, (off_t)page << 40), EINVAL);
	self_expect("figures that become writable",
		    mprotect((void *)area->header, page, prot) ? errno : 0, EACCES);
	self_expect("figures that become executable",
		    mprotect((void *)area->header, page, PROT_READ | PROT_EXEC) ? errno : 0,
		    EACCES);
}

static sigjmp_buf no_page;

static void on_bus(int sig)
{
	(void)sig;
	siglongjmp(no_page, 1);
}

/* Pages that do not exist cannot be read, and no page can be written by other means. */
static void test_pages(const struct area *area)
{
	const char *end = (const char *)area->header + FIGURES_BYTES;
	int fd = open("/proc/self/mem", O_RDWR | O_CLOEXEC);
	volatile uint32_t number = 1;

	signal(SIGBUS, on_bus);
	if (!sigsetjmp(no_page, 1))
		number = *(volatile const uint32_t *)(end - 4096);
	signal(SIGBUS, SIG_DFL);
	self_expect("a page that does not exist yet", number, 1);
	tap_ok(pwrite(fd, "x", 1, (off_t)(uintptr_t)area->header) < 0, "writing by /proc/self/mem");
	self_expect("the header", area->header->magic, KTAU_AREA_MAGIC);
	close(fd);
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
		if (failed_mmap(getpagesize(), PROT_READ, MAP_SHARED, area->fd, getpagesize()) !=
		    EPERM)
			_exit(5);
		if (!msync((void *)area->header, getpagesize(), MS_ASYNC) || errno != ENOMEM)
			_exit(6);
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

static uint64_t shown;

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
	shown += cell(&area, 4, SYS_getppid).count;
	munmap((void *)area.header, FIGURES_BYTES);
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
	self_expect("calls until all pages were unmapped", count(&look, 4, SYS_getppid), 30);
	self_expect("calls until then, as mapped", shown, 30);
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
	munmap((void *)area.header, FIGURES_BYTES);
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
	uint64_t found = 0, *serial = mmap(NULL, 8, PROT_WRITE, MAP_SHARED | MAP_ANONYMOUS, -1, 0);
	union ktau_record record;
	uint32_t i;
	pid_t child = fork();

	if (!child) {
		struct area area = begin();

		*serial = area.header->serial;
		*area.word = 33;
		for (i = 0; i < 77; i++)
			syscall(SYS_getppid);
		kill(getpid(), SIGKILL);
	}
	waitpid(child, NULL, 0);
	self_start(&query);
	while (self_next(&record) > 0) {
		const struct ktau_entry *e;

		if (record.rec->type != KTAU_REC_REGION || record.region->region != 33 ||
		    record.region->serial != *serial)
			continue;
		e = ktau_region_entries(record.region);
		for (i = 0; i < record.region->nr_entries; i++)
			if (e[i].id == SYS_getppid)
				found = e[i].count;
	}
	self_expect("calls of a process that was killed", found, 77);
}

/* The pages are also mapped by another process, which keeps them longer than the thread. */
static struct area of_child;
static const char *program;

static int execute(void *arg)
{
	of_child = begin();
	*of_child.word = 1;
	syscall(SYS_getppid);
	execl(program, "regions", "calls", NULL);
	return arg ? 127 : 126;
}

/* After the exec the kernel no longer writes to pages that another process may still have. */
static int set_uid(const char *file, const char *uid)
{
	static char stack[65536] __attribute__((aligned(16)));
	int id = atoi(uid), status;
	pid_t child;

	program = file;
	if (setgid(id) || setuid(id))
		return 1;
	child = clone(execute, stack + sizeof(stack), CLONE_VM | SIGCHLD, NULL);
	if (child < 0 || waitpid(child, &status, 0) != child)
		return 2;
	tap_ok(WIFEXITED(status) && !WEXITSTATUS(status), "the set-uid program (status %#x)",
	       status);
	self_expect("calls before the exec", cell(&of_child, 1, SYS_getppid).count, 1);
	self_expect("calls of the set-uid program in its caller's pages",
		    cell_sum(&of_child, SYS_getppid).count, 1);
	self_expect("its execve()", cell_sum(&of_child, SYS_execve).count, 0);
	return tap_done();
}

static int calls(void)
{
	int i;

	for (i = 0; i < 1000; i++)
		syscall(SYS_getppid);
	return geteuid() == 0 ? 0 : 1;
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

	if (argc > 3)
		return set_uid(argv[2], argv[3]);
	if (argc > 2)
		return as_user(argv[2]);
	if (argc > 1 && !strcmp(argv[1], "calls"))
		return calls();
	if (argc > 1)
		return after_exec();
	self_open();
	area = begin();
	test_known(&area, "known calls");
	test_signals(&area);
	in_thread(total);
	in_thread(many_events);
	test_pages(&area);
	test_errors(&area);
	test_fork(&area);
	test_exec();
	test_unmap();
	test_exited();
	test_threads();
	test_fuzz();
	return tap_done();
}
