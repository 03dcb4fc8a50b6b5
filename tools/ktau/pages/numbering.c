// SPDX-License-Identifier: GPL-2.0-only
/* Dense numbers for pages. */
#include <stdlib.h>
#include <string.h>

#include "lib/cli.h"
#include "numbering.h"

enum { FIRST_ROOM = 1024 };

void *numbering_grow(void *array, uint32_t old_room, uint32_t new_room, size_t size)
{
	char *grown = cli_alloc(array, new_room, size);

	memset(grown + old_room * size, 0, (new_room - old_room) * size);
	return grown;
}

int numbering_get(struct numbering *n, uint64_t page, bool of_file, uint32_t *number)
{
	uintptr_t known = hash_get(&n->by_page, page);
	uint32_t room;

	if (known) {
		*number = (uint32_t)(known - 1);
		return 0;
	}
	if (n->nr == NUMBERING_MAX) {
		complain("more than %u pages", NUMBERING_MAX);
		return -1;
	}
	if (n->nr == n->room) {
		room = n->room ? n->room * 2 : FIRST_ROOM;
		n->of_file = numbering_grow(n->of_file, n->room, room, sizeof(*n->of_file));
		n->room = room;
	}
	n->of_file[n->nr] = of_file;
	n->nr_files += of_file;
	*number = n->nr++;
	hash_put(&n->by_page, page, n->nr);
	return 0;
}

void numbering_deinit(struct numbering *n)
{
	hash_deinit(&n->by_page);
	free(n->of_file);
	*n = (struct numbering){ 0 };
}
