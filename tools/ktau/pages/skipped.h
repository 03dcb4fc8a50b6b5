/* SPDX-License-Identifier: GPL-2.0-only */
/* Mappings whose references are not in a trace: how many, how large, and why. */
#ifndef KTAU_TOOLS_SKIPPED_H
#define KTAU_TOOLS_SKIPPED_H

#include <ktau.h>
#include <linux/ktau_references.h>

#include "lib/hash.h"

/* Why, without the kernel's own pages, which each process has. */
enum { NR_SKIP_REASONS = 5 };

/**
 * struct skipped - what was skipped; all zero at first
 * @spaces: what is skipped now, by input and space: mappings with the reason as their vm_flags
 * @mappings: number of mappings by reason, with those that have been unmapped
 * @bytes: their size
 */
struct skipped {
	struct hash spaces;
	uint64_t mappings[NR_SKIP_REASONS], bytes[NR_SKIP_REASONS];
};

void skipped_deinit(struct skipped *s);

/*
 * Follow a slot of any type. A mapping counts once while it is split or grows. Pages that are
 * described again after UNMAP count again, unless that was in the middle of a mapping: madvise(2)
 * causes it, too. The kernel writes none for hugetlbfs.
 */
void skipped_slot(struct skipped *s, uint32_t input, const struct ktau_slot *slot,
		  unsigned int page_shift);

/* The number of mappings, without the processes that are skipped as a whole. */
uint64_t skipped_mappings(const struct skipped *s);

/* A message for each reason. */
void skipped_report(const struct skipped *s);

#endif
