// SPDX-License-Identifier: GPL-2.0-only
/*
 * The kernel describes a mapping again when it changes. Only pages that were not part of one that
 * is skipped for the same reason are new; without any that were, it is a new mapping.
 */
#include <inttypes.h>
#include <stdio.h>

#include "lib/cli.h"
#include "maps.h"
#include "page_table.h"
#include "skipped.h"

static const struct {
	uint32_t flag;
	const char *what;
} reasons[NR_SKIP_REASONS] = {
	{ KTAU_SKIPPED_HUGETLB, "huge pages of hugetlbfs" },
	{ KTAU_SKIPPED_USERFAULTFD, "memory under userfaultfd" },
	{ KTAU_SKIPPED_DEVICE, "memory of devices" },
	{ KTAU_SKIPPED_SHADOW_STACK, "shadow stacks" },
	{ KTAU_SKIPPED_SHARED, "" },
};

void skipped_deinit(struct skipped *s)
{
	size_t i;

	for (i = 0; i < s->spaces.room; i++)
		if (s->spaces.entries[i].value)
			maps_put((struct page_maps *)s->spaces.entries[i].value);
	hash_deinit(&s->spaces);
}

static void add(struct skipped *s, uint64_t key, const struct ktau_slot_map *p,
		unsigned int page_shift)
{
	struct page_maps *maps = (struct page_maps *)hash_get(&s->spaces, key);
	struct page_mapping mapping = { .first = p->page, .last = p->page + p->pages - 1 };
	uint64_t known;
	unsigned int i;

	for (i = 0; i < NR_SKIP_REASONS && !(p->vm_flags & reasons[i].flag); i++)
		;
	if (i == NR_SKIP_REASONS || !page_table_has(p->page, p->pages))
		return;
	mapping.vm_flags = reasons[i].flag;
	if (!maps)
		maps = maps_create();
	known = maps_count(maps, &mapping);
	s->mappings[i] += !known;
	s->bytes[i] += (p->pages - known) << page_shift;
	hash_put(&s->spaces, key, (uintptr_t)maps_add(maps, &mapping));
}

static void drop(struct skipped *s, uint64_t key, uint64_t page, uint64_t pages)
{
	struct page_maps *maps = (struct page_maps *)hash_get(&s->spaces, key);

	if (maps && page_table_has(page, pages))
		hash_put(&s->spaces, key, (uintptr_t)maps_drop(maps, page, page + pages - 1));
}

void skipped_slot(struct skipped *s, uint32_t input, const struct ktau_slot *slot,
		  unsigned int page_shift)
{
	const size_t bytes = ktau_slot_payload_words(slot) * 8;
	const uint64_t in = (uint64_t)input << 32;
	const struct ktau_slot_map *map = (const void *)ktau_slot_payload(slot);
	const struct ktau_slot_unmap *unmap = (const void *)map;

	if (slot->type == KTAU_TRACE_SKIPPED && bytes >= sizeof(*map))
		add(s, in | map->space, map, page_shift);
	else if (slot->type == KTAU_TRACE_UNMAP && bytes >= sizeof(*unmap))
		drop(s, in | unmap->space, unmap->page, unmap->pages);
}

uint64_t skipped_mappings(const struct skipped *s)
{
	uint64_t nr = 0;
	unsigned int i;

	for (i = 0; i < NR_SKIP_REASONS; i++)
		if (reasons[i].flag != KTAU_SKIPPED_SHARED)
			nr += s->mappings[i];
	return nr;
}

static void report(const struct skipped *s, unsigned int i)
{
	const char *plural = s->mappings[i] == 1 ? "" : "s";

	if (reasons[i].flag == KTAU_SKIPPED_SHARED)
		complain("skipped: %" PRIu64 " process%s, from when a virtual machine or a device "
			 "had page tables for it",
			 s->mappings[i], *plural ? "es" : "");
	else if (s->bytes[i] >> 20)
		complain("skipped: %" PRIu64 " mapping%s, %" PRIu64 " MiB of %s", s->mappings[i],
			 plural, s->bytes[i] >> 20, reasons[i].what);
	else
		complain("skipped: %" PRIu64 " mapping%s, %" PRIu64 " KiB of %s", s->mappings[i],
			 plural, s->bytes[i] >> 10, reasons[i].what);
}

void skipped_report(const struct skipped *s)
{
	unsigned int i;

	for (i = 0; i < NR_SKIP_REASONS; i++)
		if (s->mappings[i])
			report(s, i);
}
