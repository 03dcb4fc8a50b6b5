// SPDX-License-Identifier: GPL-2.0-only
/* Files by their identity. */
#include <stdlib.h>

#include "lib/cli.h"
#include "files.h"

static uint64_t hash_of(const struct page_file_id *id)
{
	uint64_t both = (uint64_t)id->dev << 32 | id->generation;

	return (id->inode ^ both * 0xff51afd7ed558ccdULL) * 0xc4ceb9fe1a85ec53ULL;
}

struct page_file *files_get(struct page_files *files, const struct page_file_id *id)
{
	uint64_t key = hash_of(id);
	struct page_file *first = (struct page_file *)hash_get(&files->by_id, key), *file;

	for (file = first; file; file = file->next)
		if (file->id.inode == id->inode && file->id.dev == id->dev &&
		    file->id.generation == id->generation)
			return file;
	file = cli_alloc(NULL, 1, sizeof(*file));
	*file = (struct page_file){ .id = *id, .next = first };
	hash_put(&files->by_id, key, (uintptr_t)file);
	return file;
}

void files_deinit(struct page_files *files)
{
	struct page_file *file, *next;
	size_t i;

	for (i = 0; i < files->by_id.room; i++) {
		for (file = (void *)files->by_id.entries[i].value; file; file = next) {
			next = file->next;
			page_table_deinit(&file->numbers);
			free(file);
		}
	}
	hash_deinit(&files->by_id);
}
