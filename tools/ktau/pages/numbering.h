/* SPDX-License-Identifier: GPL-2.0-only */
/* Dense numbers for the pages that a simulator has seen. */
#ifndef KTAU_TOOLS_NUMBERING_H
#define KTAU_TOOLS_NUMBERING_H

#include <stdbool.h>

#include "lib/hash.h"

/**
 * struct numbering - pages by number; an all-zero structure has none
 * @by_page: number plus 1 by page
 * @nr: number of pages
 * @room: for how many pages @of_file has room
 * @of_file: for each, whether it belonged to a file when it was first used
 * @nr_files: number of those
 */
struct numbering {
	struct hash by_page;
	uint32_t nr, room;
	bool *of_file;
	uint32_t nr_files;
};

/* The most pages that a numbering has. */
#define NUMBERING_MAX	(UINT32_MAX / 2)

/*
 * Set *number to that of a page, from 0 on; a new page gets the next one. Return: 0, or -1 with a
 * message if there are too many.
 */
int numbering_get(struct numbering *n, uint64_t page, bool of_file, uint32_t *number);
void numbering_deinit(struct numbering *n);

/* An array for all numbers whose room grew: reallocate it, with zeros in the new part. */
void *numbering_grow(void *array, uint32_t old_room, uint32_t new_room, size_t size);

#endif
