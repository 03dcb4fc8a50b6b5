/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * Sparse tables from page numbers to numbers, as trees. A copy shares all nodes with its original
 * until they differ, so many forks of a large space only take memory for their differences.
 */
#ifndef KTAU_TOOLS_PAGE_TABLE_H
#define KTAU_TOOLS_PAGE_TABLE_H

#include <stdbool.h>
#include <stdint.h>

/* Page numbers are below this. */
#define PAGE_TABLE_END	(1ULL << 54)

/* Whether @nr pages from @first on, at least one, are pages. */
static inline bool page_table_has(uint64_t first, uint64_t nr)
{
	return nr && nr <= PAGE_TABLE_END && first <= PAGE_TABLE_END - nr;
}

struct page_node;

/**
 * struct page_table - a table; an all-zero structure is an empty one
 * @root: its tree; NULL: empty
 * @levels: height of the tree
 */
struct page_table {
	struct page_node *root;
	unsigned int levels;
};

/* Return: the value of @page, or 0 if it has none. */
uint64_t page_table_get(const struct page_table *t, uint64_t page);

/* @value must not be 0; @page must be below PAGE_TABLE_END. */
void page_table_set(struct page_table *t, uint64_t page, uint64_t value);

/* Remove the values of @first to @last, both inclusive. */
void page_table_drop(struct page_table *t, uint64_t first, uint64_t last);

/* Call @visit for each value from @first to @last, in the order of the pages. */
void page_table_visit(const struct page_table *t, uint64_t first, uint64_t last,
		      void (*visit)(void *arg, uint64_t page, uint64_t value), void *arg);

/* Make the empty @to a copy of @from. */
void page_table_copy(struct page_table *to, const struct page_table *from);
void page_table_deinit(struct page_table *t);

#endif
