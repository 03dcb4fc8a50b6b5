// SPDX-License-Identifier: GPL-2.0-only
/*
 * KTAU: tests of the window of references to pages, run by KUnit at boot.
 *
 * The window is compared with a model that has arrays instead of lists and a hash, and that
 * knows at once whether a page has been accessed.
 */
#include <linux/string.h>

#include "references/window.h"
#include "ktau_test.h"

#define PAGES		256
#define TOUCHES		20000

/**
 * struct model - a window
 * @size: pages of both segments
 * @first: pages of the first one
 * @clock: the second one is a CLOCK
 * @order: its pages, those of both segments, the oldest first
 * @nr: their number
 * @nr_first: how many of the last ones are in the first segment
 * @inside: whether a page is in the window
 * @written: it has been written there
 * @again: it has been accessed in the second segment
 */
struct model {
	unsigned int	size, first;
	bool		clock;
	unsigned int	order[PAGES + 1], nr, nr_first;
	bool		inside[PAGES], written[PAGES], again[PAGES];
};

struct fixture {
	struct ktau_window	window;
	struct model		model;
	unsigned int		nr_wrong;
	u64			seed;
};

static unsigned int take_oldest(struct model *m)
{
	unsigned int page = m->order[0];

	memmove(m->order, m->order + 1, --m->nr * sizeof(m->order[0]));
	return page;
}

static void spare(struct model *m, unsigned int page)
{
	unsigned int end = m->nr - m->nr_first;

	memmove(m->order + end + 1, m->order + end, m->nr_first * sizeof(m->order[0]));
	m->order[end] = page;
	m->nr++;
	m->again[page] = false;
}

/* Return: the page that leaves. */
static unsigned int model_evict(struct model *m)
{
	unsigned int page, chances = m->clock ? m->size : 0;

	while (page = take_oldest(m), chances && m->again[page]) {
		chances--;
		spare(m, page);
	}
	m->inside[page] = false;
	return page;
}

static enum ktau_touch model_touch(struct model *m, unsigned int page, bool store)
{
	bool first_store = store && !m->written[page];

	if (m->inside[page]) {
		m->again[page] = true;
		m->written[page] |= store;
		return first_store ? KTAU_TOUCH_STORE : KTAU_TOUCH_INSIDE;
	}
	m->inside[page] = true;
	m->written[page] = store;
	m->order[m->nr++] = page;
	if (++m->nr_first > m->first) {
		m->nr_first--;
		m->again[m->order[m->nr - 1 - m->nr_first]] = false;
	}
	return KTAU_TOUCH_ENTERED;
}

/* Shrink the window, which has no PTEs: the model knows which pages have been accessed. */
static void shrink(struct fixture *f)
{
	bool again[PAGES], leaves = f->model.nr > f->model.size;
	enum ktau_window_step step;
	unsigned long page;

	memcpy(again, f->model.again, sizeof(again));
	if (leaves)
		leaves = model_evict(&f->model) < PAGES;
	while ((step = ktau_window_step(&f->window, &page)) != KTAU_WINDOW_DONE) {
		if (step == KTAU_WINDOW_TEST) {
			ktau_window_tested(&f->window, page, again[page]);
			again[page] = false;
		} else if (step == KTAU_WINDOW_LEFT) {
			f->nr_wrong += !leaves || f->model.inside[page];
			leaves = false;
		}
	}
	f->nr_wrong += leaves;
}

static u32 next_random(struct fixture *f)
{
	f->seed = f->seed * 6364136223846793005ULL + 1442695040888963407ULL;
	return f->seed >> 33;
}

static void touch(struct fixture *f, unsigned int page, bool store)
{
	enum ktau_touch want = model_touch(&f->model, page, store);

	f->nr_wrong += ktau_window_has(&f->window, page, store) != (want == KTAU_TOUCH_INSIDE);
	f->nr_wrong += ktau_window_touch(&f->window, page, store) != want;
	if (want == KTAU_TOUCH_ENTERED)
		shrink(f);
}

static void set_up(struct kunit *test, unsigned int size, unsigned int first, bool clock)
{
	struct fixture *f = test->priv;
	void *memory = kunit_kzalloc(test, ktau_window_bytes(size), GFP_KERNEL);

	KUNIT_ASSERT_NOT_NULL(test, memory);
	*f = (struct fixture) {
		.model = { .size = size, .first = first, .clock = clock },
		.seed = 12345,
	};
	ktau_window_init(&f->window, memory, size, first, clock);
}

static void compare(struct kunit *test, unsigned int size, unsigned int first, bool clock)
{
	struct fixture *f = test->priv;
	unsigned int i;
	u32 random;

	set_up(test, size, first, clock);
	for (i = 0; i < TOUCHES; i++) {
		random = next_random(f);
		/* Half of the touches are near each other. */
		touch(f, (random >> 3) % (random & BIT(28) ? size : PAGES), (random & 7) < 2);
	}
	KUNIT_EXPECT_EQ_MSG(test, f->nr_wrong, 0u, "window of %u, first part of %u", size, first);
	KUNIT_EXPECT_EQ(test, f->window.nr_overrun, 0u);
}

static void fifo(struct kunit *test)
{
	compare(test, 16, 8, false);
	compare(test, 64, 8, false);
	compare(test, 128, 64, false);
}

static void clock(struct kunit *test)
{
	compare(test, 16, 8, true);
	compare(test, 64, 8, true);
	compare(test, 128, 64, true);
}

/* An unmapped page keeps its place, and the next reference to it is one from outside. */
static void unmapped(struct kunit *test)
{
	struct fixture *f = test->priv;
	struct ktau_window *w = &f->window;

	set_up(test, 16, 8, false);
	ktau_window_touch(w, 1, true);
	ktau_window_touch(w, 2, false);
	ktau_window_unmap(w, 0, 2);
	KUNIT_EXPECT_FALSE(test, ktau_window_has(w, 1, false));
	KUNIT_EXPECT_TRUE(test, ktau_window_is_accessible(w, 1));
	KUNIT_EXPECT_TRUE(test, ktau_window_has(w, 2, false));
	KUNIT_EXPECT_EQ(test, w->used, 2u);
	KUNIT_EXPECT_EQ(test, ktau_window_touch(w, 1, false), KTAU_TOUCH_ENTERED);
	KUNIT_EXPECT_EQ(test, ktau_window_touch(w, 1, true), KTAU_TOUCH_STORE);
	KUNIT_EXPECT_EQ(test, w->used, 2u);
	/* More pages than entries */
	ktau_window_unmap(w, 0, 1UL << 30);
	KUNIT_EXPECT_FALSE(test, ktau_window_has(w, 1, false));
	KUNIT_EXPECT_FALSE(test, ktau_window_has(w, 2, false));
}

/* Pages move with their places, also onto their own old addresses. */
static void moved(struct kunit *test)
{
	struct fixture *f = test->priv;
	struct ktau_window *w = &f->window;

	set_up(test, 16, 8, false);
	ktau_window_touch(w, 10, true);
	ktau_window_touch(w, 11, false);
	ktau_window_touch(w, 12, false);
	ktau_window_move(w, 10, 13, 11);
	KUNIT_EXPECT_FALSE(test, ktau_window_is_accessible(w, 10));
	KUNIT_EXPECT_TRUE(test, ktau_window_has(w, 11, true));
	KUNIT_EXPECT_TRUE(test, ktau_window_has(w, 12, false));
	KUNIT_EXPECT_FALSE(test, ktau_window_has(w, 12, true));
	KUNIT_EXPECT_TRUE(test, ktau_window_has(w, 13, false));
	KUNIT_EXPECT_EQ(test, w->used, 3u);
}

/* A page that becomes accessible before its access counts as one from outside. */
static void expected(struct kunit *test)
{
	struct fixture *f = test->priv;
	struct ktau_window *w = &f->window;

	set_up(test, 16, 8, false);
	ktau_window_expect(w, 5);
	KUNIT_EXPECT_TRUE(test, ktau_window_is_accessible(w, 5));
	KUNIT_EXPECT_FALSE(test, ktau_window_has(w, 5, false));
	KUNIT_EXPECT_EQ(test, ktau_window_touch(w, 5, true), KTAU_TOUCH_ENTERED);
	ktau_window_expect(w, 5);
	KUNIT_EXPECT_TRUE(test, ktau_window_has(w, 5, true));
	ktau_window_remove(w, 5);
	ktau_window_remove(w, 6);
	KUNIT_EXPECT_EQ(test, w->used, 0u);
}

/* More pages than entries: the oldest one is dropped, and counted. */
static void overrun(struct kunit *test)
{
	struct fixture *f = test->priv;
	struct ktau_window *w = &f->window;
	unsigned long page;

	set_up(test, 16, 8, false);
	for (page = 0; page < 16 + KTAU_WINDOW_SLACK; page++)
		ktau_window_touch(w, page, false);
	KUNIT_EXPECT_EQ(test, w->nr_overrun, 0u);
	ktau_window_touch(w, page, false);
	KUNIT_EXPECT_EQ(test, w->nr_overrun, 1u);
	KUNIT_EXPECT_FALSE(test, ktau_window_is_accessible(w, 0));
	ktau_window_clear(w);
	KUNIT_EXPECT_EQ(test, w->used, 0u);
	KUNIT_EXPECT_FALSE(test, ktau_window_is_accessible(w, page));
}

static int window_init(struct kunit *test)
{
	test->priv = kunit_kzalloc(test, sizeof(struct fixture), GFP_KERNEL);
	return test->priv ? 0 : -ENOMEM;
}

static struct kunit_case window_cases[] = {
	KUNIT_CASE(fifo),
	KUNIT_CASE(clock),
	KUNIT_CASE(unmapped),
	KUNIT_CASE(moved),
	KUNIT_CASE(expected),
	KUNIT_CASE(overrun),
	{ }
};

static struct kunit_suite window_suite = {
	.name = "ktau_window",
	.init = window_init,
	.test_cases = window_cases,
};

kunit_test_suite(window_suite);
