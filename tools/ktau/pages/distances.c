// SPDX-License-Identifier: GPL-2.0-only
/*
 * Mattson's stack distances. LRU keeps the pages that were used last, so a memory of any size has
 * a page if at most that many pages have been used since its last use, itself included. This
 * number, its distance, is the number of pages whose last use is not older. A Fenwick tree counts
 * them in O(log pages).
 *
 * Positions are times without gaps. When they run out, the last uses of the pages get the first
 * positions in the same order, so the tree has a size of twice the pages at most.
 */
#include <stdlib.h>
#include <string.h>

#include "lib/cli.h"
#include "distances.h"
#include "numbering.h"

enum { FIRST_POSITIONS = 4096 };

static void tree_add(struct distances *d, uint32_t position, uint32_t value)
{
	for (; position <= d->position_room; position += position & -position)
		d->tree[position] += value;
}

/* The number of last uses up to a position. */
static uint32_t tree_sum(const struct distances *d, uint32_t position)
{
	uint32_t sum = 0;

	for (; position; position -= position & -position)
		sum += d->tree[position];
	return sum;
}

/* Move the last uses to the first positions, and make room for as many more. */
static void renumber(struct distances *d)
{
	uint32_t *page_at = cli_alloc(NULL, (size_t)d->position + 1, sizeof(*page_at));
	uint32_t i, next = 0, room = FIRST_POSITIONS;

	memset(page_at, 0, ((size_t)d->position + 1) * sizeof(*page_at));
	for (i = 0; i < d->nr_pages; i++)
		if (d->last[i])
			page_at[d->last[i]] = i + 1;
	for (i = 1; i <= d->position; i++)
		if (page_at[i])
			d->last[page_at[i] - 1] = ++next;
	free(page_at);
	if (2 * d->nr_pages > room)
		room = 2 * d->nr_pages;
	d->tree = cli_alloc(d->tree, (size_t)room + 1, sizeof(*d->tree));
	memset(d->tree, 0, ((size_t)room + 1) * sizeof(*d->tree));
	d->position_room = room;
	d->position = next;
	for (i = 1; i <= next; i++)
		tree_add(d, i, 1);
}

static void add_page(struct distances *d)
{
	uint32_t room;

	if (d->nr_pages == d->page_room) {
		room = d->page_room ? d->page_room * 2 : FIRST_POSITIONS;
		d->last = numbering_grow(d->last, d->page_room, room, sizeof(*d->last));
		d->seen = numbering_grow(d->seen, d->page_room, room, sizeof(*d->seen));
		d->page_room = room;
	}
	d->nr_pages++;
}

void distances_touch(struct distances *d, uint32_t page)
{
	uint32_t last;

	if (page == d->nr_pages)
		add_page(d);
	if (d->position == d->position_room)
		renumber(d);
	last = d->last[page];
	if (last) {
		d->seen[d->nr_pages - tree_sum(d, last - 1) - 1]++;
		tree_add(d, last, -1U);
	}
	d->last[page] = ++d->position;
	tree_add(d, d->position, 1);
	d->references++;
}

uint64_t distances_misses(const struct distances *d, uint64_t size)
{
	uint64_t hits = 0;
	uint32_t i;

	for (i = 0; i < d->nr_pages && i < size; i++)
		hits += d->seen[i];
	return d->references - hits;
}

void distances_deinit(struct distances *d)
{
	free(d->last);
	free(d->tree);
	free(d->seen);
	*d = (struct distances){ 0 };
}
