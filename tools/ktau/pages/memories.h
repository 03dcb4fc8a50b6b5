/* SPDX-License-Identifier: GPL-2.0-only */
/* What is simulated for each process, or for all of them together. */
#ifndef KTAU_TOOLS_MEMORIES_H
#define KTAU_TOOLS_MEMORIES_H

#include <stddef.h>

#include "consumer.h"
#include "lib/hash.h"

/**
 * struct memories - states by process
 * @size: size of a state in bytes
 * @per_process: one for each process
 * @by_serial: number plus 1 of a state by serial of its process
 * @states: the states, all zero at first
 * @names: "PID-SERIAL" of each, "all" or "unknown"
 * @nr: their number
 */
struct memories {
	size_t size;
	bool per_process;
	struct hash by_serial;
	void **states;
	char **names;
	size_t nr;
};

/* The state for a record. */
void *memories_get(struct memories *m, const struct page_record *record);

/* Free the memory of the states, not what is in them. */
void memories_deinit(struct memories *m);

enum { CURVE_BYTES = 21 };

/* A bar for a part of @whole, for the last column of a table. */
void curve_bar(char bar[CURVE_BYTES], uint64_t part, uint64_t whole);

#endif
