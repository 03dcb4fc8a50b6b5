// SPDX-License-Identifier: GPL-2.0-only
/*
 * scramble STEPS [SEED]: change random pages in all ways that change their mappings, and check
 * every byte.
 * scramble threads THREADS TOUCHES: threads that write words of their own to the same pages.
 * scramble stress THREADS SECONDS: the same, while the process is forked again and again, and its
 *	pages are swapped out. Each copy must have what the threads had written, and each child must
 *	find its own stores.
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
#include <time.h>
#include <unistd.h>

enum { PAGES = 3000,
       BUSY = 400,
       PAGE = 4096,
       WORDS = PAGE / 8,
       THREADS = 16,
       SHARED = 512,
       CHILDREN = 4 };

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

static uint32_t nr_threads, nr_touches;
static volatile uint32_t stores[THREADS];
static volatile bool over;

static void *run(void *arg)
{
	uint32_t id = (uint32_t)(uintptr_t)arg, i, u;
	uint64_t own = id * 77 + 1;
	volatile uint32_t *w;

	for (i = 0; i < nr_touches && !over; i++) {
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

/* What a thread has stored, at least. */
static uint32_t sum_of(uint32_t id)
{
	uint32_t i, sum = 0;

	for (i = 0; i < SHARED; i++)
		sum += *(uint32_t *)(at(i) + id * 64);
	return sum;
}

static void swap_out(void)
{
	madvise(at(draw() % SHARED), (size_t)(draw() % SHARED) * PAGE, MADV_PAGEOUT);
}

/*
 * The copy of a process whose threads go on. Its counts are at lower addresses than the pages, so
 * they are copied first: of each thread one store may be in a page and not in the count.
 */
static void check_copy(void)
{
	uint32_t id, i;

	for (id = 0; id < nr_threads; id++)
		wrong += sum_of(id) - stores[id] > 1;
	for (i = 0; i < SHARED; i++) {
		wrong += *(uint32_t *)(at(i) + PAGE / 2) != 0;
		*(uint32_t *)(at(i) + PAGE / 2) = i + 1;
	}
	swap_out();
	for (i = 0; i < SHARED; i++)
		wrong += *(uint32_t *)(at(i) + PAGE / 2) != i + 1;
}

static void fork_copies(void)
{
	pid_t pids[CHILDREN];
	int i, status;

	for (i = 0; i < CHILDREN; i++) {
		swap_out();
		pids[i] = fork();
		if (!pids[i]) {
			check_copy();
			_exit(wrong > 0);
		}
	}
	for (i = 0; i < CHILDREN; i++)
		if (waitpid(pids[i], &status, 0) != pids[i] || status)
			wrong++;
}

/* Fork for a time; 0: do not. */
static void run_threads(unsigned int seconds)
{
	time_t end = time(NULL) + seconds;
	pthread_t threads[THREADS];
	uint32_t id;

	for (id = 0; id < nr_threads; id++)
		if (pthread_create(&threads[id], NULL, run, (void *)(uintptr_t)id))
			abort();
	while (seconds && time(NULL) < end)
		fork_copies();
	over = seconds;
	for (id = 0; id < nr_threads; id++)
		pthread_join(threads[id], NULL);
	for (id = 0; id < nr_threads; id++) {
		wrong += sum_of(id) != stores[id];
		if (!seconds)
			printf("%u\n", stores[id]);
	}
}

static void run_steps(unsigned int steps)
{
	uint32_t i;

	for (; steps; steps--)
		step();
	for (i = 0; i < PAGES; i++)
		check(i);
}

int main(int argc, char **argv)
{
	uint32_t number;

	memory = mmap(NULL, (size_t)PAGES * PAGE, PROT_READ | PROT_WRITE,
		      MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
	if (argc < 2 || memory == MAP_FAILED)
		return 2;
	if (argc == 4) {
		nr_threads = (uint32_t)atoi(argv[2]) % (THREADS + 1);
		number = (uint32_t)atoi(argv[3]);
		nr_touches = strcmp(argv[1], "stress") ? number : UINT32_MAX;
		run_threads(strcmp(argv[1], "stress") ? 0 : number);
	} else {
		seed = argc > 2 ? strtoull(argv[2], NULL, 0) : 1;
		run_steps((uint32_t)atoi(argv[1]));
	}
	printf("%lu pages wrong\n", wrong);
	return wrong > 0;
}
