/* SPDX-License-Identifier: LGPL-2.1-or-later */
/* libktau-user: the regions of one thread. */
#ifndef KTAU_INTERNAL_USER_H
#define KTAU_INTERNAL_USER_H

#include <stdbool.h>
#include <stdint.h>
#include <sys/types.h>

#define KTAU__USER_DEPTH	256

struct ktau_area_header;

/* A region: a point, entered in the region @parent. */
struct ktau__region {
	uint32_t point;
	uint32_t parent;
	uint32_t child;		/* the first region in it, 0 if there is none */
	uint32_t next;		/* the next one in @parent */
	char *name;
};

/*
 * An open scope.
 *
 * @frame: its frame; of an instrumented function, the function
 * @stack: the stack address of its function
 * @caller: where that was called
 * @function: the compiler entered it
 */
struct ktau__level {
	const void *frame;
	const void *stack;
	const void *caller;
	uint32_t region;
	bool function;
};

/*
 * @word: the current region; in the area that is shared with the kernel, or @unshared
 * @status: 0 if it is shared, else why not
 * @busy: the thread is in the library
 * @deeper: instrumented functions that were entered when @level was full
 * @low, @high: its stack
 * @figures: what the kernel shows of its figures, or NULL
 */
struct ktau__user {
	volatile uint32_t *word;
	uint32_t unshared;
	int status;
	bool busy;
	const void *low, *high;
	uint32_t depth, deeper;
	struct ktau__level level[KTAU__USER_DEPTH];
	uint32_t nr, max;
	struct ktau__region *region;
	uint64_t refused;
	uint64_t serial;
	int names;
	const struct ktau_area_header *figures;
};

/* The state of this thread, which is created if necessary; NULL if there is no memory. */
struct ktau__user *ktau__user_begin(void);

/* Ask the kernel for an area for this thread, with up to @u->max regions. */
void ktau__area_open(struct ktau__user *u);
void ktau__area_close(struct ktau__user *u);

/* The number of a point, which is in *id; a new one if that is 0. */
uint32_t ktau__point_id(uint32_t *id);

/* The point of an instrumented function, 0 if there is no room; and its name. */
uint32_t ktau__function_point(const void *address);
const char *ktau__function_name(const void *address);

/* Forget the functions that are not loaded any more. */
void ktau__functions_unloaded(void);

/* The symbol at an address, or its file and offset; the caller frees it. NULL: no memory. */
char *ktau__symbol_name(const void *function);
bool ktau__is_loaded(const void *function);

/* The file of names of this thread. */
void ktau__names_open(struct ktau__user *u);
void ktau__names_add(struct ktau__user *u, uint32_t region);
void ktau__names_close(struct ktau__user *u);

#endif /* KTAU_INTERNAL_USER_H */
