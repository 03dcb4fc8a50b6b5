// SPDX-License-Identifier: GPL-2.0-only
/*
 * pressure DISK SWAP: waits of this thread that require another thread, a disk or full
 * memory. Its profile must name the function of each. DISK is an empty block device, SWAP
 * one with a swap signature.
 *
 * Run as root with all groups enabled, on a kernel with swap and compaction.
 */
#include <errno.h>
#include <fcntl.h>
#include <pthread.h>
#include <stdatomic.h>
#include <stdlib.h>
#include <sys/mman.h>
#include <sys/swap.h>
#include <unistd.h>

#include "self.h"
#include "tap.h"

#define MIB (1UL << 20)
#define PAGE 4096UL
#define READS 10

static atomic_bool stop;
static char *region;
static int file;

static void check(int failed, const char *what)
{
	if (failed)
		self_die(what, -errno);
}

static char *map(size_t bytes)
{
	char *p = mmap(NULL, bytes, PROT_READ | PROT_WRITE,
		       MAP_PRIVATE | MAP_ANONYMOUS | MAP_NORESERVE, -1, 0);

	check(p == MAP_FAILED, "mmap");
	return p;
}

static void touch(char *p, size_t bytes)
{
	for (size_t at = 0; at < bytes; at += PAGE)
		*(volatile char *)(p + at) = 1;
}

/* Activations of @event in this thread since @before, which is not freed. */
static uint64_t times(const struct ktau_rec_profile *before, const char *event)
{
	struct ktau_rec_profile *now = self_profile(0);
	uint64_t count = self_entry(now, event).count - self_entry(before, event).count;

	ktau_record_free(now);
	return count;
}

static void expect_some(const struct ktau_rec_profile *before, const char *event)
{
	tap_ok(times(before, event) > 0, "%s: this thread has waited in it", event);
}

/* Let @holder hold a lock most of the time, and call @want until this thread had to wait. */
static void contend(const char *event, void *(*holder)(void *), void (*want)(int))
{
	struct ktau_rec_profile *before = self_profile(0);
	pthread_t thread;

	stop = false;
	check(pthread_create(&thread, NULL, holder, NULL), "thread");
	for (int i = 0; i < 200 && !times(before, event); i++)
		want(i);
	stop = true;
	pthread_join(thread, NULL);
	expect_some(before, event);
	ktau_record_free(before);
}

/* The lock of a file's inode. */
static void *hold_inode(void *arg)
{
	while (!stop)
		if (fallocate(file, 0, 0, 16 * MIB) || ftruncate(file, 0))
			self_die("fallocate", -errno);
	return arg;
}

static void want_inode(int i)
{
	for (int n = 0; n < 100; n++)
		check(pwrite(file, "x", 1, i) != 1, "pwrite");
}

/* The lock of the address space: half of @region is mapped in, the other half is not. */
static void *hold_mmap(void *arg)
{
	for (int i = 0; !stop; i++)
		if (mprotect(region, 64 * MIB, i % 2 ? PROT_READ | PROT_WRITE : PROT_READ))
			self_die("mprotect", -errno);
	return arg;
}

static void want_mmap(int i)
{
	for (size_t at = 0; at < 32; at++)
		(void)*(volatile char *)(region + 32 * MIB + ((size_t)i * 32 + at) * PAGE);
}

static void test_locks(void)
{
	file = memfd_create("pressure", 0);
	check(file < 0, "memfd_create");
	contend("rwsem_down_write_slowpath", hold_inode, want_inode);
	close(file);
	region = map(64 * MIB);
	madvise(region, 64 * MIB, MADV_NOHUGEPAGE);
	touch(region, 32 * MIB);
	contend("rwsem_down_read_slowpath", hold_mmap, want_mmap);
	munmap(region, 64 * MIB);
}

static void test_disk(const char *path)
{
	int fd = open(path, O_RDONLY | O_DIRECT | O_CLOEXEC);
	struct ktau_rec_profile *before;
	char *buffer = map(PAGE);

	check(fd < 0, path);
	before = self_profile(0);
	for (int i = 0; i < READS; i++)
		check(pread(fd, buffer, PAGE, i * (off_t)PAGE) != (ssize_t)PAGE, "pread");
	self_expect("submit_bio", times(before, "submit_bio"), READS);
	ktau_record_free(before);
	close(fd);
}

/* Number of pages of @p in swap space. */
static uint64_t swapped(const char *p, size_t bytes)
{
	int fd = open("/proc/self/pagemap", O_RDONLY | O_CLOEXEC);
	uint64_t entry, nr = 0;

	for (size_t at = 0; at < bytes; at += PAGE) {
		check(pread(fd, &entry, sizeof(entry),
			    (off_t)(((uintptr_t)p + at) / PAGE * sizeof(entry))) !=
			      (ssize_t)sizeof(entry),
		      "pagemap");
		nr += entry >> 62 & 1;
	}
	close(fd);
	return nr;
}

static void test_swap(const char *path)
{
	struct ktau_rec_profile *before;
	char *p = map(MIB);
	uint64_t nr;

	check(swapon(path, 0), path);
	madvise(p, MIB, MADV_NOHUGEPAGE);
	touch(p, MIB);
	check(madvise(p, MIB, MADV_PAGEOUT), "MADV_PAGEOUT");
	nr = swapped(p, MIB);
	if (nr < 100)
		self_die("swapping out", -EAGAIN);
	before = self_profile(0);
	touch(p, MIB);
	self_expect("do_swap_page", times(before, "do_swap_page"), nr);
	ktau_record_free(before);
	munmap(p, MIB);
}

/* Fill the page cache with reclaimable pages of a disk. */
static void fill_cache(const char *path)
{
	static char buffer[MIB];
	int fd = open(path, O_RDONLY | O_CLOEXEC);

	check(fd < 0, path);
	while (read(fd, buffer, sizeof(buffer)) > 0)
		;
	close(fd);
}

/* Use up huge pages, then single ones until the kernel must reclaim. */
static void test_memory(const char *path)
{
	struct ktau_rec_profile *before = self_profile(0);
	size_t bytes = 2 * (size_t)sysconf(_SC_PHYS_PAGES) * PAGE, at;
	char *p = map(bytes);

	fill_cache(path);
	madvise(p, bytes, MADV_HUGEPAGE);
	for (at = 0; at < bytes && !times(before, "try_to_compact_pages"); at += 2 * MIB)
		touch(p + at, PAGE);
	expect_some(before, "try_to_compact_pages");
	madvise(p, bytes, MADV_NOHUGEPAGE);
	for (at = 0; at < bytes && !times(before, "try_to_free_pages"); at += MIB / 4)
		touch(p + at, MIB / 4);
	expect_some(before, "try_to_free_pages");
	munmap(p, bytes);
	ktau_record_free(before);
}

int main(int argc, char **argv)
{
	if (argc != 3) {
		fputs("usage: pressure DISK SWAP\n", stderr);
		return 2;
	}
	self_open();
	test_locks();
	test_disk(argv[1]);
	test_swap(argv[2]);
	test_memory(argv[1]);
	self_close();
	return tap_done();
}
