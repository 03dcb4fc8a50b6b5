// SPDX-License-Identifier: GPL-2.0-only
/*
 * The kernel describes a mapping again when it changes. What is larger than before counts with what
 * was added.
 */
#include <inttypes.h>
#include <stdio.h>

#include "lib/cli.h"
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
	hash_deinit(&s->seen);
}

void skipped_add(struct skipped *s, uint32_t input, const struct ktau_slot_map *map,
		 unsigned int page_shift)
{
	const uint64_t place[] = { input, map->space, map->page };
	uint64_t key = hash_bytes(HASH_START, place, sizeof(place)), before;
	unsigned int i;

	for (i = 0; i < NR_SKIP_REASONS && !(map->vm_flags & reasons[i].flag); i++)
		;
	if (i == NR_SKIP_REASONS)
		return;
	before = hash_get(&s->seen, key);
	s->mappings[i] += !before;
	if (map->pages <= before)
		return;
	s->bytes[i] += (map->pages - before) << page_shift;
	hash_put(&s->seen, key, map->pages);
}

uint64_t skipped_mappings(const struct skipped *s)
{
	uint64_t nr = 0;
	unsigned int i;

	for (i = 0; i < NR_SKIP_REASONS; i++)
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
