// SPDX-License-Identifier: GPL-2.0-only
/*
 * KTAU: the window of an address space: the pages that it can access without a fault.
 *
 * A page enters the first segment, a FIFO. When that is full, its oldest page passes to the
 * second one, which is a FIFO too, or a CLOCK: there, a page that has been accessed since it
 * was last looked at is spared for another round. The page that leaves comes from the second
 * segment.
 *
 * Pages that are unmapped stay in the window, marked as stale, so that the order in which
 * others leave does not depend on unmapping.
 *
 * Nothing here knows about page tables or locks.
 */
#include <linux/hash.h>
#include <linux/log2.h>
#include <linux/string.h>

#include "window.h"

static unsigned int nr_entries(unsigned int pages)
{
	return pages + KTAU_WINDOW_SLACK;
}

/* Twice as many heads as entries. */
static unsigned int hash_bits(unsigned int pages)
{
	return ilog2(roundup_pow_of_two(nr_entries(pages))) + 1;
}

/**
 * ktau_window_bytes() - the memory that a window needs
 *
 * Context: Any.
 * Return: Bytes.
 */
size_t ktau_window_bytes(unsigned int pages)
{
	return nr_entries(pages) * sizeof(struct ktau_window_entry) +
	       (sizeof(struct hlist_head) << hash_bits(pages));
}

/**
 * ktau_window_init() - set up an empty window
 * @memory: ktau_window_bytes() bytes, which remain the caller's
 * @pages: size of the window
 * @first_pages: size of its first segment, less than @pages
 * @clock: the second segment is a CLOCK
 *
 * Context: Any.
 */
void ktau_window_init(struct ktau_window *window, void *memory, unsigned int pages,
		      unsigned int first_pages, bool clock)
{
	*window = (struct ktau_window) {
		.pages = pages,
		.first_pages = first_pages,
		.clock = clock,
		.entries = memory,
		.nr_entries = nr_entries(pages),
		.hash_bits = hash_bits(pages),
	};
	window->hash = (void *)(window->entries + window->nr_entries);
	ktau_window_clear(window);
}

/**
 * ktau_window_clear() - remove all pages
 *
 * Context: The caller's lock is held.
 */
void ktau_window_clear(struct ktau_window *window)
{
	unsigned int i;

	memset(window->entries, 0, ktau_window_bytes(window->pages));
	INIT_LIST_HEAD(&window->first);
	INIT_LIST_HEAD(&window->second);
	INIT_LIST_HEAD(&window->free);
	for (i = 0; i < window->nr_entries; i++)
		list_add_tail(&window->entries[i].list, &window->free);
	window->used = 0;
	window->nr_first = 0;
	window->chances = window->pages;
}

static struct hlist_head *head_of(const struct ktau_window *window, unsigned long page)
{
	return &window->hash[hash_long(page, window->hash_bits)];
}

static struct ktau_window_entry *find(const struct ktau_window *window, unsigned long page)
{
	struct ktau_window_entry *entry;

	hlist_for_each_entry(entry, head_of(window, page), hash)
		if (entry->page == page)
			return entry;
	return NULL;
}

static void remove(struct ktau_window *window, struct ktau_window_entry *entry)
{
	hlist_del_init(&entry->hash);
	list_move(&entry->list, &window->free);
	if (!entry->second)
		window->nr_first--;
	window->used--;
}

static struct ktau_window_entry *oldest(const struct ktau_window *window)
{
	return list_first_entry(list_empty(&window->second) ? &window->first : &window->second,
				struct ktau_window_entry, list);
}

static struct ktau_window_entry *insert(struct ktau_window *window, unsigned long page)
{
	struct ktau_window_entry *entry;

	if (list_empty(&window->free)) {
		window->nr_overrun++;
		remove(window, oldest(window));
	}
	entry = list_first_entry(&window->free, struct ktau_window_entry, list);
	entry->page = page;
	entry->written = false;
	entry->stale = false;
	entry->second = false;
	list_move_tail(&entry->list, &window->first);
	hlist_add_head(&entry->hash, head_of(window, page));
	window->used++;
	window->nr_first++;
	return entry;
}

/**
 * ktau_window_has() - whether a reference is one inside the window
 * @store: the reference is a store
 *
 * Context: The caller's lock is held.
 * Return: Whether ktau_window_touch() would return KTAU_TOUCH_INSIDE.
 */
bool ktau_window_has(const struct ktau_window *window, unsigned long page, bool store)
{
	const struct ktau_window_entry *entry = find(window, page);

	return entry && !entry->stale && (entry->written || !store);
}

/**
 * ktau_window_is_accessible() - whether a page may be accessible
 *
 * Context: The caller's lock is held.
 * Return: Whether it is in the window, possibly unmapped or about to be accessed.
 */
bool ktau_window_is_accessible(const struct ktau_window *window, unsigned long page)
{
	return find(window, page);
}

/**
 * ktau_window_touch() - a page has been accessed
 * @window: the window, which the page enters unless it is in it
 * @store: the access was a store
 *
 * The window may then be too full: see ktau_window_step().
 *
 * Context: The caller's lock is held.
 * Return: What the access was to the window.
 */
enum ktau_touch ktau_window_touch(struct ktau_window *window, unsigned long page, bool store)
{
	struct ktau_window_entry *entry = find(window, page);

	if (entry && entry->stale) {
		remove(window, entry);
		entry = NULL;
	}
	if (!entry) {
		insert(window, page)->written = store;
		return KTAU_TOUCH_ENTERED;
	}
	if (!store || entry->written)
		return KTAU_TOUCH_INSIDE;
	entry->written = true;
	return KTAU_TOUCH_STORE;
}

/**
 * ktau_window_expect() - a page is accessible now, and the access itself is still to come
 *
 * Context: The caller's lock is held.
 */
void ktau_window_expect(struct ktau_window *window, unsigned long page)
{
	if (!find(window, page))
		insert(window, page)->stale = true;
}

/**
 * ktau_window_remove() - remove a page
 * @page: the page, which may not be in it
 *
 * Context: The caller's lock is held.
 */
void ktau_window_remove(struct ktau_window *window, unsigned long page)
{
	struct ktau_window_entry *entry = find(window, page);

	if (entry)
		remove(window, entry);
}

/**
 * ktau_window_unmap() - pages have been unmapped
 * @first: the first page
 * @end: the page after the last one
 *
 * Context: The caller's lock is held.
 */
void ktau_window_unmap(struct ktau_window *window, unsigned long first, unsigned long end)
{
	struct ktau_window_entry *entry;
	unsigned long page;
	unsigned int i;

	if (end - first <= window->nr_entries) {
		for (page = first; page < end; page++) {
			entry = find(window, page);
			if (entry)
				entry->stale = true;
		}
		return;
	}
	for (i = 0; i < window->nr_entries; i++) {
		entry = &window->entries[i];
		if (entry->page >= first && entry->page < end)
			entry->stale = true;	/* a free one does not matter */
	}
}

/**
 * ktau_window_move() - pages are at other addresses now
 * @first: the first page
 * @end: the page after the last one
 * @to: the first one's new place
 *
 * They keep their places in the order.
 *
 * Context: The caller's lock is held.
 */
void ktau_window_move(struct ktau_window *window, unsigned long first, unsigned long end,
		      unsigned long to)
{
	struct ktau_window_entry *entry;
	struct hlist_node *next;
	HLIST_HEAD(moving);	/* old and new places may overlap */
	unsigned int i;

	for (i = 0; i < window->nr_entries; i++) {
		entry = &window->entries[i];
		if (hlist_unhashed(&entry->hash) || entry->stale ||
		    entry->page < first || entry->page >= end)
			continue;
		hlist_del_init(&entry->hash);
		hlist_add_head(&entry->hash, &moving);
	}
	hlist_for_each_entry_safe(entry, next, &moving, hash) {
		hlist_del_init(&entry->hash);
		entry->page += to - first;
		/* What was there has been unmapped. */
		ktau_window_remove(window, entry->page);
		hlist_add_head(&entry->hash, head_of(window, entry->page));
	}
}

/**
 * ktau_window_is_over() - whether ktau_window_step() has something to do
 *
 * Context: The caller's lock is held.
 * Return: Whether a segment is too full.
 */
bool ktau_window_is_over(const struct ktau_window *window)
{
	return window->nr_first > window->first_pages || window->used > window->pages;
}

/**
 * ktau_window_step() - make one step towards a window that is not too full
 * @page: receives the page that has to be dealt with
 *
 * Context: The caller's lock is held. It may be released between two steps.
 * Return: What to do about the page.
 */
enum ktau_window_step ktau_window_step(struct ktau_window *window, unsigned long *page)
{
	struct ktau_window_entry *entry;

	if (window->nr_first > window->first_pages) {
		entry = list_first_entry(&window->first, struct ktau_window_entry, list);
		entry->second = true;
		list_move_tail(&entry->list, &window->second);
		window->nr_first--;
		*page = entry->page;
		return KTAU_WINDOW_PASSED;
	}
	if (window->used <= window->pages) {
		window->chances = window->pages;
		return KTAU_WINDOW_DONE;
	}
	entry = oldest(window);
	*page = entry->page;
	if (window->clock && entry->second && !entry->stale && window->chances)
		return KTAU_WINDOW_TEST;
	remove(window, entry);
	window->chances = window->pages;
	return KTAU_WINDOW_LEFT;
}

/**
 * ktau_window_tested() - the answer to KTAU_WINDOW_TEST
 * @accessed: whether it has been accessed since it was last looked at
 *
 * A page that was not is evicted by the next ktau_window_step(), unless another task has
 * moved the hand meanwhile.
 *
 * Context: The caller's lock is held.
 */
void ktau_window_tested(struct ktau_window *window, unsigned long page, bool accessed)
{
	struct ktau_window_entry *entry = find(window, page);

	if (!accessed || !entry || !entry->second) {
		window->chances = 0;
		return;
	}
	window->chances--;
	list_move_tail(&entry->list, &window->second);
}
