// SPDX-License-Identifier: GPL-2.0-only
/*
 * A list of all pages in the order of their last use. Each set is the newest part of it, so it is
 * known by its oldest page: a use and an expiry take constant time, whatever the size of the set.
 */
#include <stdlib.h>

#include "lib/cli.h"
#include "recent.h"

void recent_init(struct recent *r, unsigned int nr_sets)
{
	unsigned int i;

	*r = (struct recent){ .newest = RECENT_NONE, .nr_sets = nr_sets };
	for (i = 0; i < nr_sets; i++)
		r->sets[i].oldest = RECENT_NONE;
}

void recent_deinit(struct recent *r)
{
	numbering_deinit(&r->pages);
	free(r->last_ns);
	free(r->newer);
	free(r->older);
}

static void count(const struct recent *r, struct recent_set *set, uint32_t page, uint32_t change)
{
	set->nr += change;
	if (r->pages.of_file[page])
		set->nr_files += change;
}

/* The page is about to become the newest one. */
static void join(const struct recent *r, struct recent_set *set, uint32_t page, bool is_new)
{
	bool is_member = !is_new && set->oldest != RECENT_NONE &&
			 r->last_ns[page] >= r->last_ns[set->oldest];

	if (!is_member)
		count(r, set, page, 1);
	if (set->oldest == RECENT_NONE)
		set->oldest = page;
	else if (set->oldest == page && r->newer[page] != RECENT_NONE)
		set->oldest = r->newer[page];
}

static void unlink_page(struct recent *r, uint32_t page)
{
	uint32_t newer = r->newer[page], older = r->older[page];

	if (newer == RECENT_NONE)
		r->newest = older;
	else
		r->older[newer] = older;
	if (older != RECENT_NONE)
		r->newer[older] = newer;
}

static void link_newest(struct recent *r, uint32_t page)
{
	r->older[page] = r->newest;
	r->newer[page] = RECENT_NONE;
	if (r->newest != RECENT_NONE)
		r->newer[r->newest] = page;
	r->newest = page;
}

static void make_room(struct recent *r)
{
	uint32_t old = r->room;

	if (r->pages.room == old)
		return;
	r->room = r->pages.room;
	r->last_ns = numbering_grow(r->last_ns, old, r->room, sizeof(*r->last_ns));
	r->newer = numbering_grow(r->newer, old, r->room, sizeof(*r->newer));
	r->older = numbering_grow(r->older, old, r->room, sizeof(*r->older));
}

int recent_touch(struct recent *r, uint64_t page, bool of_file, uint64_t now_ns)
{
	uint32_t number, before = r->pages.nr;
	unsigned int i;
	bool is_new;

	if (numbering_get(&r->pages, page, of_file, &number))
		return -1;
	make_room(r);
	is_new = r->pages.nr > before;
	for (i = 0; i < r->nr_sets; i++)
		join(r, &r->sets[i], number, is_new);
	if (!is_new)
		unlink_page(r, number);
	link_newest(r, number);
	r->last_ns[number] = now_ns;
	return 0;
}

void recent_expire(struct recent *r, unsigned int i, uint64_t until_ns)
{
	struct recent_set *set = &r->sets[i];

	while (set->oldest != RECENT_NONE && r->last_ns[set->oldest] <= until_ns) {
		count(r, set, set->oldest, -1U);
		set->oldest = r->newer[set->oldest];
	}
}
