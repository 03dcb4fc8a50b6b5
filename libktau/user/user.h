/* SPDX-License-Identifier: LGPL-2.1-or-later */
/* libktau-user: the regions of one thread. */
#ifndef KTAU_INTERNAL_USER_H
#define KTAU_INTERNAL_USER_H

#include <stdbool.h>
#include <stdint.h>
#include <sys/types.h>

#define KTAU__USER_DEPTH	64

/* A region: a point, entered in the region @parent. */
struct ktau__region {
	uint32_t point;
	uint32_t parent;
	uint32_t child;		/* the first region in it, 0 if there is none */
	uint32_t next;		/* the next one in @parent */
	char *name;
};

/* An open scope: its frame, and what that has noted. */
struct ktau__level {
	const void *frame;
	const void *stack;
	const void *caller;
	uint32_t region;
};

/*
 * @word: the current region; in the area that is shared with the kernel, or @unshared
 * @status: 0 if it is shared, else why not
 * @busy: the thread is in the library
 * @low, @high: its stack
 */
struct ktau__user {
	volatile uint32_t *word;
	uint32_t unshared;
	int status;
	bool busy;
	const void *low, *high;
	uint32_t depth;
	struct ktau__level level[KTAU__USER_DEPTH];
	uint32_t nr, max;
	struct ktau__region *region;
	uint64_t refused;
	uint64_t serial;
	int names;
};

/* Ask the kernel for an area for this thread, with up to @u->max regions. */
void ktau__area_open(struct ktau__user *u);
void ktau__area_close(struct ktau__user *u);

/* The file of names of this thread. */
void ktau__names_open(struct ktau__user *u);
void ktau__names_add(struct ktau__user *u, uint32_t region);
void ktau__names_close(struct ktau__user *u);

#endif /* KTAU_INTERNAL_USER_H */
