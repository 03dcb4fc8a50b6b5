// SPDX-License-Identifier: GPL-2.0-only
/*
 * FIFO evicts the page that was loaded first, CLOCK the first one in a circle that was not used
 * since the hand passed it (loading is a use), OPT the page that is used again last.
 */
#include <stdbool.h>
#include <stdlib.h>
#include <string.h>

#include "lib/cli.h"
#include "policies.h"

static void *zeros(size_t nr, size_t size)
{
	void *array = cli_alloc(NULL, nr + 1, size);

	return memset(array, 0, (nr + 1) * size);
}

void string_link(struct page_string *s)
{
	uint32_t *later = cli_alloc(NULL, (size_t)s->nr_pages + 1, sizeof(*later));
	uint32_t i;

	memset(later, 0xff, ((size_t)s->nr_pages + 1) * sizeof(*later));
	s->next = cli_alloc(NULL, (size_t)s->nr + 1, sizeof(*s->next));
	for (i = s->nr; i--;) {
		s->next[i] = later[s->pages[i]];
		later[s->pages[i]] = i;
	}
	free(later);
}

uint64_t fifo_misses(const struct page_string *s, uint32_t size)
{
	uint32_t *queue, i, page, hand = 0;
	uint64_t misses = 0;
	bool *resident;

	if (size > s->nr_pages)
		size = s->nr_pages;
	queue = zeros(size, sizeof(*queue));
	resident = zeros(s->nr_pages, sizeof(*resident));
	for (i = 0; i < s->nr; i++) {
		page = s->pages[i];
		if (resident[page])
			continue;
		if (misses >= size)
			resident[queue[hand]] = false;
		resident[page] = true;
		queue[hand] = page;
		hand = hand + 1 < size ? hand + 1 : 0;
		misses++;
	}
	free(queue);
	free(resident);
	return misses;
}

/* Bits of a page in the circle. */
enum { RESIDENT = 1, USED = 2 };

uint64_t clock_misses(const struct page_string *s, uint32_t size)
{
	uint32_t *circle, i, page, hand = 0;
	uint64_t misses = 0;
	uint8_t *bits;

	if (size > s->nr_pages)
		size = s->nr_pages;
	circle = zeros(size, sizeof(*circle));
	bits = zeros(s->nr_pages, sizeof(*bits));
	for (i = 0; i < s->nr; i++) {
		page = s->pages[i];
		if (bits[page]) {
			bits[page] |= USED;
			continue;
		}
		while (misses >= size && bits[circle[hand]] & USED) {
			bits[circle[hand]] &= ~USED;
			hand = hand + 1 < size ? hand + 1 : 0;
		}
		if (misses >= size)
			bits[circle[hand]] = 0;
		bits[page] = RESIDENT | USED;
		circle[hand] = page;
		hand = hand + 1 < size ? hand + 1 : 0;
		misses++;
	}
	free(circle);
	free(bits);
	return misses;
}

/**
 * struct heap - resident pages by their next use, the latest first
 * @next: next uses
 * @page: their pages
 * @nr: number of entries
 *
 * A page that was used again has an entry for each use. All but the newest are in the past, and
 * the others are in the future, so an entry of the past is never the first while a page is
 * resident. They are removed when the heap is full.
 */
struct heap {
	uint32_t *next, *page;
	size_t nr;
};

static void set_entry(struct heap *h, size_t at, uint32_t next, uint32_t page)
{
	h->next[at] = next;
	h->page[at] = page;
}

static void heap_push(struct heap *h, uint32_t next, uint32_t page)
{
	size_t at = h->nr++, up;

	for (; at; at = up) {
		up = (at - 1) / 2;
		if (h->next[up] >= next)
			break;
		set_entry(h, at, h->next[up], h->page[up]);
	}
	set_entry(h, at, next, page);
}

/* Move an entry from @at down to its place. */
static void sift(struct heap *h, size_t at, uint32_t next, uint32_t page)
{
	size_t down;

	for (; (down = 2 * at + 1) < h->nr; at = down) {
		if (down + 1 < h->nr && h->next[down + 1] > h->next[down])
			down++;
		if (h->next[down] <= next)
			break;
		set_entry(h, at, h->next[down], h->page[down]);
	}
	set_entry(h, at, next, page);
}

static uint32_t heap_pop(struct heap *h)
{
	uint32_t page = h->page[0];

	h->nr--;
	sift(h, 0, h->next[h->nr], h->page[h->nr]);
	return page;
}

/* Remove the entries of the past, those before @now. */
static void heap_clean(struct heap *h, uint32_t now)
{
	size_t i, nr = 0;

	for (i = 0; i < h->nr; i++)
		if (h->next[i] > now)
			set_entry(h, nr++, h->next[i], h->page[i]);
	h->nr = nr;
	for (i = nr / 2; i--;)
		sift(h, i, h->next[i], h->page[i]);
}

uint64_t opt_misses(const struct page_string *s, uint32_t size)
{
	struct heap h = { 0 };
	uint64_t misses = 0;
	bool *resident;
	uint32_t i;
	size_t room;

	if (size > s->nr_pages)
		size = s->nr_pages;
	room = 2 * (size_t)size + 64;
	h.next = zeros(room, sizeof(*h.next));
	h.page = zeros(room, sizeof(*h.page));
	resident = zeros(s->nr_pages, sizeof(*resident));
	for (i = 0; i < s->nr; i++) {
		if (!resident[s->pages[i]]) {
			if (misses >= size)
				resident[heap_pop(&h)] = false;
			resident[s->pages[i]] = true;
			misses++;
		}
		if (h.nr == room)
			heap_clean(&h, i);
		heap_push(&h, s->next[i], s->pages[i]);
	}
	free(h.next);
	free(h.page);
	free(resident);
	return misses;
}
