/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * KTAU: the window: the pages of an address space that it accesses without a fault.
 */
#ifndef _KERNEL_KTAU_WINDOW_H
#define _KERNEL_KTAU_WINDOW_H

#include <linux/list.h>
#include <linux/types.h>

/* Pages that may be in a window beyond its size, while threads are in the middle of faults. */
#define KTAU_WINDOW_SLACK	64

/* What a reference is to a window. */
enum ktau_touch {
	KTAU_TOUCH_INSIDE,	/* the page was in it already */
	KTAU_TOUCH_STORE,	/* likewise, but this is its first store */
	KTAU_TOUCH_ENTERED,
};

/* What has to be done about a page so that the window is no longer too full. */
enum ktau_window_step {
	KTAU_WINDOW_DONE,	/* nothing, about no page */
	KTAU_WINDOW_PASSED,	/* it has passed to the second segment: forget its accesses */
	KTAU_WINDOW_TEST,	/* find out whether it has been accessed: ktau_window_tested() */
	KTAU_WINDOW_LEFT,	/* it has left the window: make it inaccessible */
};

struct ktau_window_entry {
	struct hlist_node	hash;	/* unhashed if it is free */
	struct list_head	list;
	unsigned long		page;
	bool			written;
	bool			stale;	/* the next reference counts as one from outside */
	bool			second;	/* in the second segment */
};

/**
 * struct ktau_window - a window; the caller serialises all calls
 * @pages: its size
 * @first_pages: size of its first segment
 * @clock: the second segment is a CLOCK, not a FIFO
 * @used: pages in both segments
 * @nr_first: pages in the first one
 * @chances: pages that the hand may still spare in this round
 * @first: entries of the first segment, the oldest first
 * @second: likewise
 * @free: entries not in use
 * @entries: all entries
 * @nr_entries: their number
 * @hash: entries by page
 * @hash_bits: binary logarithm of the size of @hash
 * @nr_overrun: pages that had to be dropped, although accessible, for lack of entries
 */
struct ktau_window {
	unsigned int			pages;
	unsigned int			first_pages;
	bool				clock;
	unsigned int			used;
	unsigned int			nr_first;
	unsigned int			chances;
	struct list_head		first;
	struct list_head		second;
	struct list_head		free;
	struct ktau_window_entry	*entries;
	unsigned int			nr_entries;
	struct hlist_head		*hash;
	unsigned int			hash_bits;
	unsigned int			nr_overrun;
};

size_t ktau_window_bytes(unsigned int pages);
void ktau_window_init(struct ktau_window *window, void *memory, unsigned int pages,
		      unsigned int first_pages, bool clock);
void ktau_window_clear(struct ktau_window *window);
bool ktau_window_has(const struct ktau_window *window, unsigned long page, bool store);
bool ktau_window_is_accessible(const struct ktau_window *window, unsigned long page);
enum ktau_touch ktau_window_touch(struct ktau_window *window, unsigned long page, bool store);
void ktau_window_expect(struct ktau_window *window, unsigned long page);
void ktau_window_remove(struct ktau_window *window, unsigned long page);
void ktau_window_unmap(struct ktau_window *window, unsigned long first, unsigned long end);
void ktau_window_move(struct ktau_window *window, unsigned long first, unsigned long end,
		      unsigned long to);
bool ktau_window_is_over(const struct ktau_window *window);
enum ktau_window_step ktau_window_step(struct ktau_window *window, unsigned long *page);
void ktau_window_tested(struct ktau_window *window, unsigned long page, bool accessed);

#endif /* _KERNEL_KTAU_WINDOW_H */
