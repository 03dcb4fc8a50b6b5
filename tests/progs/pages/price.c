// SPDX-License-Identifier: GPL-2.0-only
/* price: what a reference costs, in ticks. With exact time these are instructions, and bounded. */
#include <inttypes.h>
#include <stdio.h>
#include <sys/mman.h>
#include <x86intrin.h>

#include "tap.h"
#include "tracer.h"

enum { PAGES = 256,
       ROUNDS = 20 };

/* What the child has measured: ticks, and the number of references. */
static volatile uint64_t *result;

static void loads(struct tracer *t)
{
	size_t nr = (size_t)(uintptr_t)t->arg, i, round;
	uint64_t start;

	for (i = 0; i < nr; i++)
		load(i);
	start = __rdtsc();
	for (round = 0; round < ROUNDS; round++)
		for (i = 0; i < nr; i++)
			load(i);
	result[0] = __rdtsc() - start;
	result[1] = ROUNDS * nr;
}

static void first_stores(struct tracer *t)
{
	size_t nr = (size_t)(uintptr_t)t->arg, i;
	uint64_t start;

	for (i = 0; i < nr; i++)
		load(i);
	start = __rdtsc();
	for (i = 0; i < nr; i++)
		store(i, 1);
	result[0] = __rdtsc() - start;
	result[1] = nr;
}

static void price(const char *what, void (*work)(struct tracer *t), size_t pages, uint32_t policy,
		  uint64_t bound)
{
	struct tracer t = { .pages = PAGES, .touched = 1, .small = 1, .work = work };
	uint64_t ticks;

	t.arg = (void *)(uintptr_t)pages;
	t.request.window = 64;
	t.request.policy = policy;
	t.request.ring_slots = 1 << 16;
	t.request.lo = (uintptr_t)TRACER_BASE;
	t.request.hi = (uintptr_t)TRACER_BASE + PAGES * TRACER_PAGE;
	tracer_run(&t);
	tracer_free(&t);
	ticks = result[0] / result[1];
	if (tap_exact_time())
		tap_ok(!t.status && ticks <= bound,
		       "%s: %" PRIu64 " instructions, at most %" PRIu64,
		       what, ticks, bound);
	else
		printf("# %s: %" PRIu64 " ticks\n", what, ticks);
}

int main(void)
{
	result = mmap(NULL, 4096, PROT_READ | PROT_WRITE, MAP_SHARED | MAP_ANONYMOUS, -1, 0);
	if (result == MAP_FAILED)
		return 2;
	price("a reference with an eviction", loads, PAGES, KTAU_REFERENCES_FIFO, 1900);
	price("the same with CLOCK", loads, PAGES, KTAU_REFERENCES_CLOCK, 2600);
	price("a first store", first_stores, 48, KTAU_REFERENCES_FIFO, 1600);
	price("a reference inside the window", loads, 48, KTAU_REFERENCES_FIFO, 10);
	return tap_done();
}
