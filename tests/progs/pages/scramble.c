// SPDX-License-Identifier: GPL-2.0-only
/*
 * scramble STEPS [SEED]: change random pages in all ways that change their mappings, and check
 * every byte.
 * scramble threads THREADS TOUCHES: threads that write words of their own to the same pages.
 *
 * The results do not depend on whether references are traced.
 */
#include <pthread.h>
#include <stdbool.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/wait.h>
#include <unistd.h>

enum { PAGES = 3000,
       BUSY = 400,
       PAGE = 4096,
       WORDS = PAGE / 8,
       THREADS = 16,
       SHARED = 512 };

static char *memory;
static uint64_t seed = 1;
static uint32_t version[PAGES]; /* of the contents of a page; 0: zeros */
static unsigned long wrong;

static uint32_t draw(void)
{
	seed = seed * 6364136223846793005 + 1442695040888963407;
	return seed >> 33;
}

static char *at(uint32_t page)
{
	return memory + (size_t)page * PAGE;
}

static uint64_t word(uint32_t page, uint32_t i)
{
	return version[page] ? version[page] * 0x9e3779b97f4a7c15 + i : 0;
}

static void put(uint32_t page)
{
	uint64_t *words = (uint64_t *)at(page);
	uint32_t i;

	version[page] = draw() | 1;
	for (i = 0; i < WORDS; i++)
		words[i] = word(page, i);
}

static void check(uint32_t page)
{
	const uint64_t *words = (const uint64_t *)at(page);
	uint32_t i;

	for (i = 0; i < WORDS && words[i] == word(page, i); i++)
		;
	if (i < WORDS && wrong++ < 5)
		fprintf(stderr, "page %u, word %u: %lx, not %lx\n", page, i,
			(unsigned long)words[i], (unsigned long)word(page, i));
}

static void map(uint32_t page, uint32_t pages)
{
	if (mmap(at(page), (size_t)pages * PAGE, PROT_READ | PROT_WRITE,
		 MAP_PRIVATE | MAP_ANONYMOUS | MAP_FIXED, -1, 0) == MAP_FAILED)
		abort();
	memset(version + page, 0, pages * sizeof(*version));
}

static void drop(uint32_t page, uint32_t pages)
{
	madvise(at(page), (size_t)pages * PAGE, MADV_DONTNEED);
	memset(version + page, 0, pages * sizeof(*version));
}

static void remap(uint32_t page, uint32_t pages)
{
	munmap(at(page), (size_t)pages * PAGE);
	map(page, pages);
}

static void protect(uint32_t page, uint32_t pages)
{
	mprotect(at(page), (size_t)pages * PAGE, PROT_READ);
	check(page);
	mprotect(at(page), (size_t)pages * PAGE, PROT_READ | PROT_WRITE);
}

/* Move pages, which become one more. */
static void move(uint32_t page, uint32_t pages)
{
	uint32_t to = draw() % (PAGES - pages - 1);
	size_t bytes = (size_t)pages * PAGE;

	if (to < page + pages && page < to + pages + 1)
		return;
	if (mremap(at(page), bytes, bytes + PAGE, MREMAP_MAYMOVE | MREMAP_FIXED, at(to)) ==
	    MAP_FAILED) {
		/* The range has several mappings; the new place may be gone already. */
		map(to, pages + 1);
		return;
	}
	memmove(version + to, version + page, pages * sizeof(*version));
	version[to + pages] = 0;
	map(page, pages);
	check(to);
	check(to + pages);
}

static void fork_off(uint32_t page)
{
	int status, i;
	pid_t pid = fork();

	if (!pid) {
		for (i = 0; i < 300; i++)
			i & 1 ? put(draw() % PAGES) : check(draw() % PAGES);
		_exit(wrong > 0);
	}
	put(page);
	put((page + 7) % PAGES);
	if (waitpid(pid, &status, 0) != pid || status)
		wrong++;
}

static void step(void)
{
	uint32_t what = draw() % 1000, page = draw() % (draw() & 1 ? PAGES : BUSY), pages;

	pages = draw() % 20 + 1;
	if (page + pages > PAGES)
		pages = PAGES - page;
	if (what < 400)
		put(page);
	else if (what < 940)
		check(page);
	else if (what < 960)
		drop(page, pages);
	else if (what < 975)
		remap(page, pages);
	else if (what < 985)
		protect(page, pages);
	else if (what < 998)
		move(page, pages);
	else
		fork_off(page);
}

static uint32_t nr_touches, stores[THREADS];

static void *run(void *arg)
{
	uint32_t id = (uint32_t)(uintptr_t)arg, i, u;
	uint64_t own = id * 77 + 1;
	volatile uint32_t *w;

	for (i = 0; i < nr_touches; i++) {
		own = own * 6364136223846793005 + 1442695040888963407;
		u = own >> 33;
		w = (uint32_t *)(at(u % SHARED) + id * 64);
		if (u & 1 << 20) {
			*w += 1;
			stores[id]++;
		} else {
			(void)*w;
		}
	}
	return NULL;
}

static void run_threads(uint32_t nr)
{
	pthread_t threads[THREADS];
	uint32_t id, i, sum;

	for (id = 0; id < nr; id++)
		if (pthread_create(&threads[id], NULL, run, (void *)(uintptr_t)id))
			abort();
	for (id = 0; id < nr; id++)
		pthread_join(threads[id], NULL);
	for (id = 0; id < nr; id++) {
		for (sum = i = 0; i < SHARED; i++)
			sum += *(uint32_t *)(at(i) + id * 64);
		wrong += sum != stores[id];
		printf("%u\n", sum);
	}
}

int main(int argc, char **argv)
{
	bool threads = argc == 4;
	uint32_t i, steps;

	memory = mmap(NULL, (size_t)PAGES * PAGE, PROT_READ | PROT_WRITE,
		      MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
	if (argc < 2 || memory == MAP_FAILED)
		return 2;
	if (threads) {
		nr_touches = (uint32_t)atoi(argv[3]);
		run_threads((uint32_t)atoi(argv[2]) % (THREADS + 1));
	} else {
		seed = argc > 2 ? strtoull(argv[2], NULL, 0) : 1;
		for (steps = (uint32_t)atoi(argv[1]); steps; steps--)
			step();
		for (i = 0; i < PAGES; i++)
			check(i);
	}
	printf("%lu pages wrong\n", wrong);
	return wrong > 0;
}
