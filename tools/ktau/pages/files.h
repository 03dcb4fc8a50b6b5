/* SPDX-License-Identifier: GPL-2.0-only */
/* Files and the numbers of their pages. */
#ifndef KTAU_TOOLS_PAGE_FILES_H
#define KTAU_TOOLS_PAGE_FILES_H

#include "lib/hash.h"
#include "page_table.h"

/* What identifies a file: a reused inode number has another generation. */
struct page_file_id {
	uint64_t inode;
	uint32_t dev, generation;
};

/**
 * struct page_file - a file
 * @id: what it is
 * @numbers: canonical numbers of its pages
 * @next: another file whose identity has the same hash
 */
struct page_file {
	struct page_file_id id;
	struct page_table numbers;
	struct page_file *next;
};

/**
 * struct page_files - all files; an all-zero structure has none
 * @by_id: the first file of each hash of an identity
 */
struct page_files {
	struct hash by_id;
};

/* The file, which is added if it is new. */
struct page_file *files_get(struct page_files *files, const struct page_file_id *id);
void files_deinit(struct page_files *files);

#endif
