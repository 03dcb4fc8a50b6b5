/* SPDX-License-Identifier: GPL-2.0-only */
/* Mappings whose references are not in a trace: how many, how large, and why. */
#ifndef KTAU_TOOLS_SKIPPED_H
#define KTAU_TOOLS_SKIPPED_H

#include <linux/ktau_references.h>

#include "lib/hash.h"

/* Why, without the kernel's own pages, which each process has. */
enum { NR_SKIP_REASONS = 5 };

/**
 * struct skipped - what was skipped; all zero at first
 * @seen: the size of each mapping by its address, space and input
 * @mappings: their number by reason
 * @bytes: their size
 */
struct skipped {
	struct hash seen;
	uint64_t mappings[NR_SKIP_REASONS], bytes[NR_SKIP_REASONS];
};

void skipped_deinit(struct skipped *s);

/* Add a SKIPPED slot of an input. A mapping counts once, however often it has changed. */
void skipped_add(struct skipped *s, uint32_t input, const struct ktau_slot_map *map,
		 unsigned int page_shift);

/* The number of mappings. */
uint64_t skipped_mappings(const struct skipped *s);

/* A message for each reason. */
void skipped_report(const struct skipped *s);

#endif
