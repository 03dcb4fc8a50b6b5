/* SPDX-License-Identifier: GPL-2.0-only */
/* Misses by size of memory. */
#ifndef KTAU_TOOLS_MISSES_H
#define KTAU_TOOLS_MISSES_H

#include "consumer.h"
#include "lib/table.h"

enum page_policy { POLICY_LRU, POLICY_FIFO, POLICY_CLOCK, POLICY_OPT, NR_POLICIES };

/**
 * struct misses_options - @data of the setup
 * @policies: a bit for each policy
 * @sizes: sizes of memory in pages, in ascending order; NULL: powers of two
 * @nr_sizes: their number
 * @per_process: a memory for each process
 * @format: of the table
 */
struct misses_options {
	unsigned int policies;
	uint32_t *sizes;
	size_t nr_sizes;
	bool per_process;
	enum table_format format;
};

/* The words of --policy, in the order of enum page_policy, and a NULL. */
extern const char *const policy_words[];

/* Prints the table at its end. */
extern const struct consumer misses_consumer;

#endif
