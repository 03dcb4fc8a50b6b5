// SPDX-License-Identifier: GPL-2.0-only
/*
 * moved: pages that the kernel moves, swaps or merges without an access. Those in the window
 * remain accessible, those outside do not. Memory that cannot be traced. Needs root, and
 * /dev/ram0 as swap space.
 */
#include <fcntl.h>
#include <linux/kvm.h>
#include <linux/userfaultfd.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/ioctl.h>
#include <sys/mman.h>
#include <sys/swap.h>
#include <sys/syscall.h>
#include <sys/wait.h>
#include <unistd.h>

#include "tap.h"
#include "tracer.h"

#define SWAP "/dev/ram0"

enum { WINDOW = 16,
       HUGE = 512,
       NOT_POSSIBLE = 77 };

static char *at(size_t page)
{
	return TRACER_BASE + page * TRACER_PAGE;
}

static void must(bool good)
{
	if (!good)
		_exit(1);
}

static uint64_t pagemap(size_t page)
{
	int fd = open("/proc/self/pagemap", O_RDONLY);
	uint64_t entry = 0;

	must(pread(fd, &entry, 8, (off_t)((uintptr_t)at(page) / TRACER_PAGE * 8)) == 8);
	close(fd);
	return entry;
}

static void write_to(const char *path, const char *text)
{
	int fd = open(path, O_WRONLY);

	must(fd >= 0 && write(fd, text, strlen(text)) == (ssize_t)strlen(text));
	close(fd);
}

static size_t nr_swapped(size_t pages)
{
	size_t i, nr = 0;

	for (i = 0; i < pages; i++)
		nr += pagemap(i) >> 62 & 1;
	return nr;
}

static void load_all(size_t pages)
{
	size_t i;

	for (i = 0; i < pages; i++)
		load(i);
}

static void swap_out(size_t pages)
{
	must(!madvise(at(0), pages * TRACER_PAGE, MADV_PAGEOUT));
	must(nr_swapped(pages) > pages / 2);
}

/* Pages 48 to 63 are in the window. */
static void swap(struct tracer *t)
{
	load_all(t->pages);
	store(50, 7);
	swap_out(t->pages);
	load(60);
	load(3);
	store(50, 8);
	store(60, 1);
	must(*at(3) == 1 && *at(50) == 8);
}

static void swap_off(struct tracer *t)
{
	load_all(t->pages);
	swap_out(t->pages);
	must(!swapoff(SWAP) && !nr_swapped(t->pages));
	load(3);
	load(60);
}

static void compact(struct tracer *t)
{
	static uint64_t before[4096];
	size_t i, try, moved = 0;

	for (i = 0; i < t->pages; i += 2)
		must(!madvise(at(i), TRACER_PAGE, MADV_DONTNEED));
	for (i = 1; i < 64; i += 2)
		load(i);
	for (i = 1; i < t->pages; i += 2)
		before[i] = pagemap(i);
	for (try = 0; try < 5 && !moved; try++) {
		write_to("/proc/sys/vm/compact_memory", "1");
		for (i = 1; i < t->pages; i += 2)
			moved += before[i] != pagemap(i);
	}
	printf("# compaction has moved %zu of %zu pages\n", moved, t->pages / 2);
	fflush(stdout);
	load(63);
	load(1);
	must(*at(1) == 1 && *at(63) == 1);
	if (!moved)
		_exit(NOT_POSSIBLE);
}

/* The first half is none of KTAU's business any more. Return: the descriptor. */
static int register_userfaultfd(struct uffdio_range half)
{
	struct uffdio_api api = { .api = UFFD_API };
	struct uffdio_register range = { .range = half, .mode = UFFDIO_REGISTER_MODE_MISSING };
	int fd = (int)syscall(SYS_userfaultfd, O_CLOEXEC);

	load(1);
	must(fd >= 0 && !ioctl(fd, UFFDIO_API, &api) && !ioctl(fd, UFFDIO_REGISTER, &range));
	load(2);
	store(3, 9);
	load(40);
	must(*at(2) == 1 && *at(3) == 9 && *at(40) == 1);
	return fd;
}

static void use_userfaultfd(struct tracer *t)
{
	register_userfaultfd((struct uffdio_range){ (uintptr_t)at(0), t->pages / 2 * TRACER_PAGE });
}

/* At the end it is KTAU's business again. Page 1 has been in the window meanwhile. */
static void end_userfaultfd(struct tracer *t)
{
	struct uffdio_range half = { (uintptr_t)at(0), t->pages / 2 * TRACER_PAGE };
	int fd = register_userfaultfd(half);

	must(!ioctl(fd, UFFDIO_UNREGISTER, &half));
	load(1);
	load(2);
	store(3, 5);
	must(*at(2) == 1 && *at(3) == 5);
}

/* From then on its pages have other page tables, too. */
static void create_vm(struct tracer *t)
{
	int fd = open("/dev/kvm", O_RDWR | O_CLOEXEC);

	(void)t;
	load(1);
	if (fd < 0 || ioctl(fd, KVM_CREATE_VM, 0) < 0)
		_exit(NOT_POSSIBLE);
	load(2);
	store(3, 9);
	must(*at(2) == 1 && *at(3) == 9);
}

static size_t nr_merged(void)
{
	FILE *file = fopen("/sys/kernel/mm/ksm/pages_sharing", "r");
	size_t nr = 0;

	must(file && fscanf(file, "%zu", &nr) == 1);
	fclose(file);
	return nr;
}

/*
 * All pages are equal, so that the kernel tries to merge them. 6.1 does not merge pages that cannot
 * be accessed, later versions do. Pages 48 to 63 are in the window.
 */
static void merge(struct tracer *t)
{
	int try;

	load_all(t->pages);
	must(!madvise(at(0), t->pages * TRACER_PAGE, MADV_MERGEABLE));
	write_to("/sys/kernel/mm/ksm/sleep_millisecs", "1");
	write_to("/sys/kernel/mm/ksm/run", "1");
	for (try = 0; nr_merged() < t->pages / 2 && try < 200; try++)
		usleep(10000);
	printf("# %zu pages share another one\n", nr_merged());
	fflush(stdout);
	load(60);
	load(3);
	store(50, 8);
	must(*at(50) == 8 && *at(51) == 1 && *at(3) == 1);
	/* 2: no page is shared any more */
	write_to("/sys/kernel/mm/ksm/run", "2");
	must(!nr_merged() && *at(50) == 8 && *at(60) == 1);
}

/* Memory of hugetlbfs behind the pages */
static void map_hugetlb(struct tracer *t)
{
	char *huge = at(HUGE);

	load(1);
	write_to("/proc/sys/vm/nr_hugepages", "1");
	must(mmap(huge, HUGE * TRACER_PAGE, PROT_READ | PROT_WRITE,
		  MAP_PRIVATE | MAP_ANONYMOUS | MAP_FIXED_NOREPLACE | MAP_HUGETLB, -1,
		  0) == huge);
	store(HUGE, 9);
	load(2 * HUGE - 1);
	must(*huge == 9 && *at(t->pages - 1) == 1);
	must(!munmap(huge, HUGE * TRACER_PAGE));
	write_to("/proc/sys/vm/nr_hugepages", "0");
}

/* Huge pages are split, so each page is seen. */
static void huge(struct tracer *t)
{
	load_all(t->pages);
}

static size_t count(const struct tracer *t, int64_t page, uint8_t flags)
{
	size_t i, nr = 0;

	for (i = 0; i < t->nr; i++)
		nr += t->slots[i].type == KTAU_TRACE_REFERENCE &&
		      (page < 0 || t->slots[i].page == page) && t->slots[i].flags == flags;
	return nr;
}

/* How often the mapping that begins at a page was left out for this reason. */
static size_t count_skipped(const struct tracer *t, int64_t page, uint32_t why)
{
	size_t i, nr = 0;

	for (i = 0; i < t->nr; i++)
		nr += t->slots[i].type == KTAU_TRACE_SKIPPED && t->slots[i].page == page &&
		      t->slots[i].flags == why >> 8;
	return nr;
}

/* References from a page on */
static size_t count_from(const struct tracer *t, int64_t page)
{
	size_t i, nr = 0;

	for (i = 0; i < t->nr; i++)
		nr += t->slots[i].type == KTAU_TRACE_REFERENCE && t->slots[i].page >= page;
	return nr;
}

static int is_possible(const struct tracer *t)
{
	return !(WIFEXITED(t->status) && WEXITSTATUS(t->status) == NOT_POSSIBLE);
}

static void run(struct tracer *t, size_t pages, void (*work)(struct tracer *t))
{
	*t = (struct tracer){ .pages = pages, .touched = 1, .small = work != huge, .work = work };
	t->request.window = WINDOW;
	t->request.lo = (uintptr_t)at(0);
	t->request.hi = (uintptr_t)at(pages);
	t->request.ring_slots = 1 << 16;
	tracer_run(t);
}

static void test_userfaultfd(void)
{
	const uint8_t written = KTAU_REFERENCE_WRITE;
	struct tracer t;

	run(&t, 64, use_userfaultfd);
	tap_ok(!t.status && count(&t, 1, 0) == 1 && !count(&t, 2, 0) && !count(&t, 3, written) &&
		       count(&t, 40, 0) == 1 &&
		       count_skipped(&t, 0, KTAU_SKIPPED_USERFAULTFD) == 1,
	       "userfaultfd: loads %zu of 1, %zu of 2, %zu of 40, status %x", count(&t, 1, 0),
	       count(&t, 2, 0), count(&t, 40, 0), t.status);
	tracer_free(&t);
	run(&t, 64, end_userfaultfd);
	tap_ok(!t.status && count(&t, 1, 0) == 1 && count(&t, 2, 0) == 1 &&
		       count(&t, 3, written) == 1,
	       "the end of userfaultfd: loads %zu of 1, %zu of 2, stores %zu of 3, status %x",
	       count(&t, 1, 0), count(&t, 2, 0), count(&t, 3, written), t.status);
	tracer_free(&t);
}

static void test_hugetlb(void)
{
	struct tracer t;

	run(&t, HUGE, map_hugetlb);
	tap_ok(!t.status && count_skipped(&t, HUGE, KTAU_SKIPPED_HUGETLB) == 1 &&
		       !count_from(&t, HUGE) && count(&t, 1, 0) == 1,
	       "hugetlb: left out %zu times, %zu references, status %x",
	       count_skipped(&t, HUGE, KTAU_SKIPPED_HUGETLB), count_from(&t, HUGE), t.status);
	tracer_free(&t);
}

static void test_vm(void)
{
	struct tracer t;

	run(&t, 64, create_vm);
	if (!is_possible(&t))
		tap_skip("a virtual machine", "there is no KVM");
	else
		tap_ok(!t.status && count(&t, 1, 0) == 1 && !count_from(&t, 2) &&
			       count_skipped(&t, 0, KTAU_SKIPPED_SHARED) == 1,
		       "a virtual machine: left out %zu times, %zu references, status %x",
		       count_skipped(&t, 0, KTAU_SKIPPED_SHARED), count_from(&t, 2), t.status);
	tracer_free(&t);
}

static void test_swap(void)
{
	const uint8_t first_store = KTAU_REFERENCE_WRITE | KTAU_REFERENCE_FIRST_STORE;
	struct tracer t;

	must(!swapon(SWAP, 0));
	run(&t, 64, swap);
	tap_ok(!t.status && count(&t, 60, 0) == 1 && count(&t, 3, 0) == 2 &&
		       count(&t, 50, first_store) == 1 && count(&t, 60, first_store) == 1,
	       "swapped pages: loads %zu of 60, %zu of 3; first stores %zu of 50, %zu of 60",
	       count(&t, 60, 0), count(&t, 3, 0), count(&t, 50, first_store),
	       count(&t, 60, first_store));
	tracer_free(&t);
	run(&t, 64, swap_off);
	tap_ok(!t.status && count(&t, 3, 0) == 2 && count(&t, 60, 0) == 1,
	       "swapoff: loads %zu of 3, %zu of 60", count(&t, 3, 0), count(&t, 60, 0));
	tracer_free(&t);
}

/* The store to a page that was merged is a copy on write, after which the page is a new one. */
static void test_merged(void)
{
	const uint8_t first_store = KTAU_REFERENCE_WRITE | KTAU_REFERENCE_FIRST_STORE;
	struct tracer t;
	size_t stores;

	run(&t, 64, merge);
	stores = count(&t, 50, first_store) + count(&t, 50, KTAU_REFERENCE_WRITE);
	tap_ok(!t.status && count(&t, 60, 0) == 1 && count(&t, 3, 0) == 2 && stores == 1,
	       "equal pages: loads %zu of 60, %zu of 3, stores %zu of 50, status %x",
	       count(&t, 60, 0), count(&t, 3, 0), stores, t.status);
	tracer_free(&t);
}

static void test_compaction(void)
{
	struct tracer t;

	run(&t, 4096, compact);
	if (!is_possible(&t))
		tap_skip("compaction", "it has moved nothing");
	else
		tap_ok(!t.status && count(&t, 1, 0) == 2 && count(&t, 63, 0) == 1,
		       "compaction: loads %zu of 1, %zu of 63, status %x", count(&t, 1, 0),
		       count(&t, 63, 0), t.status);
	tracer_free(&t);
}

int main(void)
{
	struct tracer t;

	run(&t, 2 * HUGE, huge);
	tap_ok(!t.status && count(&t, -1, 0) == 2 * HUGE, "huge pages: %zu loads",
	       count(&t, -1, 0));
	tracer_free(&t);
	test_swap();
	test_userfaultfd();
	test_hugetlb();
	test_vm();
	test_merged();
	test_compaction();
	return tap_done();
}
