/* SPDX-License-Identifier: GPL-2.0-only */
/* From traces: which tasks woke the tasks of a row, and in which routines these were asleep. */
#ifndef KTAU_TOOLS_WAKERS_H
#define KTAU_TOOLS_WAKERS_H

#include <stdint.h>

#include <ktau.h>

#include "lib/hash.h"

/**
 * struct waker - tasks of one name that ended waits in one routine
 * @id: event id of the routine
 * @name: name of the tasks, or "(interrupt)"
 * @nr: number of wakeups
 */
struct waker {
	uint32_t id;
	char name[20];
	uint64_t nr;
};

/* An all-zero structure is empty. */
struct wakers {
	struct waker *wakers;
	size_t nr, room;
};

/**
 * struct wake_stacks - open routines of each traced task
 * @by_serial: index of a task's stack plus 1
 * @stacks: the stacks
 * @nr: length of @stacks
 * @room: allocated length of @stacks
 */
struct wake_stacks {
	struct hash by_serial;
	struct wake_stack *stacks;
	size_t nr, room;
};

void wakers_deinit(struct wakers *w);
void wake_stacks_deinit(struct wake_stacks *s);

/*
 * Process the slots of a trace. The wakers of its owner are added to @w; if that is NULL, only its
 * open frames are tracked. @reader resolves the tasks named in slots.
 */
void wakers_add(struct wakers *w, struct wake_stacks *stacks, const struct ktau_rec_trace *t,
		const struct ktau_reader *reader);

/* The waker that most often ended a wait in routine @id; NULL if that is unknown. */
const struct waker *wakers_find(const struct wakers *w, uint32_t id);

#endif
