/* SPDX-License-Identifier: GPL-2.0-only */
/* Misses of a stored string of references. */
#ifndef KTAU_TOOLS_POLICIES_H
#define KTAU_TOOLS_POLICIES_H

#include <stddef.h>
#include <stdint.h>

/**
 * struct page_string - references in order
 * @pages: their pages, below @nr_pages
 * @next: OPT: the next reference to the same page; STRING_NEVER: there is none
 * @nr: number of references, below STRING_NEVER
 * @nr_pages: number of pages
 */
struct page_string {
	uint32_t *pages;
	uint32_t *next;
	uint32_t nr, nr_pages;
};

#define STRING_NEVER	UINT32_MAX

/* Compute @next. */
void string_link(struct page_string *s);

/* The misses of a memory of @size pages, at least 1, that is empty at first. */
uint64_t fifo_misses(const struct page_string *s, uint32_t size);
uint64_t clock_misses(const struct page_string *s, uint32_t size);

/* Needs string_link(). */
uint64_t opt_misses(const struct page_string *s, uint32_t size);

#endif
