/* SPDX-License-Identifier: GPL-2.0-only */
/* The pages that were used within some time, for several such times at once. */
#ifndef KTAU_TOOLS_RECENT_H
#define KTAU_TOOLS_RECENT_H

#include "numbering.h"

enum { RECENT_SETS_MAX = 8 };

/* No page. */
#define RECENT_NONE	UINT32_MAX

/**
 * struct recent_set - the pages of one tau
 * @oldest: the page in it that was used least recently, RECENT_NONE if it is empty
 * @nr: number of pages
 * @nr_files: number of those that belong to files
 */
struct recent_set {
	uint32_t oldest;
	uint32_t nr, nr_files;
};

/**
 * struct recent - pages in the order of their last use
 * @pages: their numbers
 * @last_ns: time of the last use of each
 * @newer: the page that was used next after it
 * @older: the page that was used next before it
 * @room: for how many pages there is room
 * @newest: the page that was used last
 * @sets: a set for each tau; each is the newest part of the list
 * @nr_sets: their number
 */
struct recent {
	struct numbering pages;
	uint64_t *last_ns;
	uint32_t *newer, *older, room, newest;
	struct recent_set sets[RECENT_SETS_MAX];
	unsigned int nr_sets;
};

void recent_init(struct recent *r, unsigned int nr_sets);
void recent_deinit(struct recent *r);

/*
 * A page is used at @now_ns, which must not be earlier than in the call before. Return: 0, or -1
 * with a message.
 */
int recent_touch(struct recent *r, uint64_t page, bool of_file, uint64_t now_ns);

/* Remove the pages from set @i that were last used at @until_ns or before. */
void recent_expire(struct recent *r, unsigned int i, uint64_t until_ns);

#endif
