/* SPDX-License-Identifier: GPL-2.0-only */
/* Misses of LRU for all sizes of memory in one pass. */
#ifndef KTAU_TOOLS_DISTANCES_H
#define KTAU_TOOLS_DISTANCES_H

#include <stdint.h>

/**
 * struct distances - stack distances; an all-zero structure has seen nothing
 * @last: position of the last reference to each page; 0: none
 * @nr_pages: pages so far
 * @page_room: for how many pages there is room
 * @tree: Fenwick tree over positions; a position counts 1 if it is the last of a page
 * @position: the last position
 * @position_room: number of positions
 * @seen: number of references at each distance; a page used twice in a row has distance 1
 * @references: number of references
 */
struct distances {
	uint32_t *last;
	uint32_t nr_pages, page_room;
	uint32_t *tree;
	uint32_t position, position_room;
	uint64_t *seen;
	uint64_t references;
};

/* A reference to a page; new pages have the number of pages so far. */
void distances_touch(struct distances *d, uint32_t page);

/* The misses of a memory of @size pages that is empty at first. */
uint64_t distances_misses(const struct distances *d, uint64_t size);
void distances_deinit(struct distances *d);

#endif
