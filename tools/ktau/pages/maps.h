/* SPDX-License-Identifier: GPL-2.0-only */
/* The mappings of a space, in the order of their pages; forks share them until they differ. */
#ifndef KTAU_TOOLS_MAPS_H
#define KTAU_TOOLS_MAPS_H

#include <stddef.h>

#include "consumer.h"

struct page_maps;

struct page_maps *maps_create(void);
struct page_maps *maps_get(struct page_maps *maps);
void maps_put(struct page_maps *maps);

/* The mapping of a page, or NULL. Valid until the mappings of the space change. */
const struct page_mapping *maps_find(const struct page_maps *maps, uint64_t page);

/* Add a mapping, which replaces parts of others. Return: @maps, or a copy if it was shared. */
struct page_maps *maps_add(struct page_maps *maps, const struct page_mapping *mapping);

/*
 * Map @first to @last by nothing, unless they are in the middle of a mapping: many holes would take
 * memory and time. Return: likewise.
 */
struct page_maps *maps_drop(struct page_maps *maps, uint64_t first, uint64_t last);

/* How many pages of @like are in mappings with its vm_flags. */
uint64_t maps_count(const struct page_maps *maps, const struct page_mapping *like);

/* Map @to like the @pages pages from @page on. Return: likewise. */
struct page_maps *maps_move(struct page_maps *maps, uint64_t page, uint64_t to, uint64_t pages);

#endif
