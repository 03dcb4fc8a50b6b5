// SPDX-License-Identifier: GPL-2.0-only
/*
 * windows: strings of references, and what a window leaves of them: all slots, in order.
 */
#include <inttypes.h>
#include <stdlib.h>
#include <string.h>

#include "tap.h"
#include "tracer.h"
#include "window_model.h"

static uint64_t seed = 12345;

static uint32_t draw(void)
{
	seed = seed * 6364136223846793005 + 1442695040888963407;
	return seed >> 33;
}

/**
 * struct string - a string of references
 * @pages: number of pages
 * @touches: number of references
 * @random: they are random; otherwise all pages in order, again and again
 * @stores: not random: all are stores
 * @skewed: random: half of them go to as many pages as are in the window
 * @window: size of the window
 */
struct string {
	uint32_t pages, touches, window;
	bool random, stores, skewed;
};

/* The reference number @i, a page, and whether it is a store. */
static uint32_t reference(const struct string *s, uint32_t i, bool *write)
{
	uint32_t u, page;

	*write = s->stores;
	if (!s->random)
		return i % s->pages;
	u = draw();
	*write = (u & 7) < 2;
	page = (u >> 3) % s->pages;
	return s->skewed && (u & 1 << 28) ? page % s->window : page;
}

static void touch_all(struct tracer *t)
{
	const struct string *s = t->arg;
	uint32_t i, page;
	bool write;

	for (i = 0; i < s->touches; i++) {
		page = reference(s, i, &write);
		if (write)
			store(page, i);
		else
			load(page);
	}
}

/* What a slot is to the model, MODEL_NONE if it is none of the string. */
static enum model_reference kind_of(const struct tracer_slot *slot)
{
	if (slot->type != KTAU_TRACE_REFERENCE)
		return MODEL_NONE;
	if (slot->flags & KTAU_REFERENCE_FIRST_STORE)
		return MODEL_FIRST_STORE;
	return slot->flags & KTAU_REFERENCE_WRITE ? MODEL_STORE : MODEL_LOAD;
}

/* Compare the slots with the model. Return: the number of slots; @bad: how many are wrong. */
static uint32_t compare(const struct tracer *t, const struct string *s, uint32_t *bad)
{
	struct window_model *model = calloc(1, sizeof(*model));
	uint32_t i, page, nr = 0;
	enum model_reference want;
	size_t at = 0;
	bool write;

	model->size = s->window;
	model->first = t->request.first;
	model->clock = t->request.policy == KTAU_REFERENCES_CLOCK;
	*bad = 0;
	for (i = 0; i < s->touches; i++) {
		page = reference(s, i, &write);
		want = model_touch(model, page, write);
		if (want == MODEL_NONE)
			continue;
		nr++;
		while (at < t->nr && kind_of(&t->slots[at]) == MODEL_NONE)
			at++;
		*bad += at == t->nr || kind_of(&t->slots[at]) != want ||
			t->slots[at].page != page;
		at += at < t->nr;
	}
	for (; at < t->nr; at++)
		*bad += kind_of(&t->slots[at]) != MODEL_NONE;
	free(model);
	return nr;
}

static void check(const char *what, struct tracer *t, struct string *s, uint32_t want)
{
	uint64_t before = seed;
	uint32_t nr, bad;

	t->request.window = s->window;
	t->request.first = 8;
	t->request.ring_slots = 1 << 18;
	t->request.lo = (uintptr_t)TRACER_BASE;
	t->request.hi = (uintptr_t)TRACER_BASE + s->pages * TRACER_PAGE;
	t->pages = s->pages;
	t->work = touch_all;
	t->arg = s;
	tracer_run(t);
	seed = before;
	nr = compare(t, s, &bad);
	tap_ok(!bad && nr == want && !t->lost && !t->status,
	       "%s: window %u, %u references to %u pages: %u slots, %u wrong, %" PRIu64 " lost",
	       what, s->window, s->touches, s->pages, nr, bad, t->lost);
	tracer_free(t);
}

static void in_order(void)
{
	static const char *const what[] = { "loads", "stores", "loads of used pages",
					    "stores to used pages" };
	struct string s = { .pages = 256, .touches = 3 * 256, .window = 64 };
	int i;

	for (i = 0; i < 4; i++) {
		struct tracer t = { .touched = i & 2 };

		s.stores = i & 1;
		check(what[i], &t, &s, 768);
	}
}

static void around(uint32_t window, uint32_t pages, uint32_t times, uint32_t want)
{
	struct string s = { .pages = pages, .touches = times * pages, .window = window };
	struct tracer t = { .touched = 1 };

	check("in order", &t, &s, want);
}

static void at_random(uint32_t window, bool shared, uint32_t want)
{
	struct string s = { .pages = 256, .touches = 50000, .window = window, .random = true };
	struct tracer t = { .touched = !shared, .shared = shared };

	check(shared ? "shared, random" : "random", &t, &s, want);
}

static void with_clock(uint32_t window, uint32_t pages, uint32_t want)
{
	struct string s = { .pages = pages, .touches = 30000, .window = window };
	struct tracer t = { .touched = 1, .request.policy = KTAU_REFERENCES_CLOCK };

	s.random = true;
	s.skewed = true;
	check("random, CLOCK", &t, &s, want);
}

int main(void)
{
	in_order();
	around(64, 32, 10, 32);
	around(256, 256, 3, 256);
	around(255, 256, 3, 768);
	at_random(32, false, 44864);
	at_random(64, false, 39756);
	at_random(128, false, 29278);
	at_random(64, true, 39850);
	with_clock(32, 128, 19728);
	with_clock(64, 256, 19468);
	return tap_done();
}
