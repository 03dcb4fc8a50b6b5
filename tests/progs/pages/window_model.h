/* SPDX-License-Identifier: GPL-2.0-only */
/* Which references a window leaves, by simulation. */
#ifndef KTAU_TESTS_WINDOW_MODEL_H
#define KTAU_TESTS_WINDOW_MODEL_H

#include <stdbool.h>

enum { MODEL_PAGES = 4096 };

/**
 * struct window_model - a window
 * @size: its size in pages
 * @first: size of its first part, a FIFO
 * @clock: the second part is a CLOCK, not a FIFO
 * @fifo: pages of the first part, the oldest first
 * @rest: pages of the second part, likewise
 * @nr_fifo: number of @fifo
 * @nr_rest: number of @rest
 * @inside: whether a page is in the window
 * @written: it has been written there
 * @again: it has been accessed in the second part
 */
struct window_model {
	int size, first;
	bool clock;
	int fifo[MODEL_PAGES], rest[MODEL_PAGES], nr_fifo, nr_rest;
	bool inside[MODEL_PAGES], written[MODEL_PAGES], again[MODEL_PAGES];
};

/* What a reference is: nothing new, or a load, a store, or a first store inside the window. */
enum model_reference { MODEL_NONE,
		       MODEL_LOAD,
		       MODEL_STORE,
		       MODEL_FIRST_STORE };

enum model_reference model_touch(struct window_model *model, int page, bool store);

#endif
