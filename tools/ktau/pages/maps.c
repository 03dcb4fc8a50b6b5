// SPDX-License-Identifier: GPL-2.0-only
/* A sorted array: a process has at most some ten thousand mappings, and they change rarely. */
#include <stdlib.h>
#include <string.h>

#include "lib/bisect.h"
#include "lib/cli.h"
#include "maps.h"

/**
 * struct page_maps - the mappings of spaces that have the same
 * @refs: spaces that use them
 * @list: the mappings, in ascending order
 * @nr: number of mappings
 * @room: allocated number
 */
struct page_maps {
	size_t refs;
	struct page_mapping *list;
	size_t nr, room;
};

struct page_maps *maps_create(void)
{
	struct page_maps *m = cli_alloc(NULL, 1, sizeof(*m));

	*m = (struct page_maps){ .refs = 1 };
	return m;
}

struct page_maps *maps_get(struct page_maps *m)
{
	m->refs++;
	return m;
}

void maps_put(struct page_maps *m)
{
	if (--m->refs)
		return;
	free(m->list);
	free(m);
}

static bool ends_before(const void *list, size_t i, const void *page)
{
	return ((const struct page_mapping *)list)[i].last < *(const uint64_t *)page;
}

/* The first mapping that ends at @page or later. */
static size_t first_from(const struct page_maps *m, uint64_t page)
{
	return bisect(m->list, m->nr, &page, ends_before);
}

const struct page_mapping *maps_find(const struct page_maps *m, uint64_t page)
{
	size_t i = first_from(m, page);

	return i < m->nr && m->list[i].first <= page ? &m->list[i] : NULL;
}

/* The part of a mapping from @first to @last. */
static struct page_mapping part_of(const struct page_mapping *from, uint64_t first, uint64_t last)
{
	struct page_mapping part = *from;

	part.pgoff += first - from->first;
	part.first = first;
	part.last = last;
	return part;
}

static struct page_maps *own(struct page_maps *m)
{
	struct page_maps *copy;

	if (m->refs == 1)
		return m;
	copy = maps_create();
	copy->list = cli_alloc(NULL, m->nr ? m->nr : 1, sizeof(*copy->list));
	if (m->nr)
		memcpy(copy->list, m->list, m->nr * sizeof(*m->list));
	copy->nr = copy->room = m->nr;
	m->refs--;
	return copy;
}

/* Replace @old mappings at @at by @nr. */
static void replace(struct page_maps *m, size_t at, size_t old, const struct page_mapping *with,
		    size_t nr)
{
	size_t total = m->nr - old + nr;

	if (total > m->room) {
		m->room = total + total / 2 + 16;
		m->list = cli_alloc(m->list, m->room, sizeof(*m->list));
	}
	memmove(m->list + at + nr, m->list + at + old, (m->nr - at - old) * sizeof(*m->list));
	memcpy(m->list + at, with, nr * sizeof(*with));
	m->nr = total;
}

/* Map @first to @last by @mapping, or by nothing if it is NULL, unless a mapping would be split. */
static struct page_maps *set(struct page_maps *m, uint64_t first, uint64_t last,
			     const struct page_mapping *mapping)
{
	struct page_mapping with[3];
	size_t at, end, nr = 0;

	at = first_from(m, first);
	for (end = at; end < m->nr && m->list[end].first <= last; end++)
		;
	if (!mapping && (at == end || (m->list[at].first < first && m->list[at].last > last)))
		return m;
	m = own(m);
	if (at < end && m->list[at].first < first)
		with[nr++] = part_of(&m->list[at], m->list[at].first, first - 1);
	if (mapping)
		with[nr++] = *mapping;
	if (at < end && m->list[end - 1].last > last)
		with[nr++] = part_of(&m->list[end - 1], last + 1, m->list[end - 1].last);
	replace(m, at, end - at, with, nr);
	return m;
}

struct page_maps *maps_add(struct page_maps *m, const struct page_mapping *mapping)
{
	return set(m, mapping->first, mapping->last, mapping);
}

struct page_maps *maps_drop(struct page_maps *m, uint64_t first, uint64_t last)
{
	return set(m, first, last, NULL);
}

uint64_t maps_count(const struct page_maps *m, const struct page_mapping *like)
{
	uint64_t nr = 0, first, last;
	size_t i;

	for (i = first_from(m, like->first); i < m->nr && m->list[i].first <= like->last; i++) {
		if (m->list[i].vm_flags != like->vm_flags)
			continue;
		first = m->list[i].first > like->first ? m->list[i].first : like->first;
		last = m->list[i].last < like->last ? m->list[i].last : like->last;
		nr += last - first + 1;
	}
	return nr;
}

struct page_maps *maps_move(struct page_maps *m, uint64_t page, uint64_t to, uint64_t pages)
{
	uint64_t last = page + pages - 1, from_page, to_page;
	struct page_mapping *parts;
	size_t at, end, i;

	at = first_from(m, page);
	for (end = at; end < m->nr && m->list[end].first <= last; end++)
		;
	parts = cli_alloc(NULL, end - at + 1, sizeof(*parts));
	for (i = at; i < end; i++) {
		from_page = m->list[i].first > page ? m->list[i].first : page;
		to_page = m->list[i].last < last ? m->list[i].last : last;
		parts[i - at] = part_of(&m->list[i], from_page, to_page);
		parts[i - at].first += to - page;
		parts[i - at].last += to - page;
	}
	for (i = 0; i < end - at; i++)
		m = maps_add(m, &parts[i]);
	free(parts);
	return m;
}
