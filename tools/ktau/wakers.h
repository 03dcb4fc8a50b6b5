/* SPDX-License-Identifier: GPL-2.0-only */
/* Who woke the tasks of a row, and in which routines they slept then: from traces. */
#ifndef KTAU_TOOLS_WAKERS_H
#define KTAU_TOOLS_WAKERS_H

#include <stdint.h>

#include <ktau.h>

#include "hash.h"

/**
 * struct waker - tasks of one name, and the routine that they ended a wait in
 * @id: event id of the routine
 * @name: name of the task, or what interrupted
 * @nr: how often
 */
struct waker {
	uint32_t id;
	char name[20];
	uint64_t nr;
};

/* All zero is an empty one. */
struct wakers {
	struct waker *wakers;
	size_t nr, room;
};

/**
 * struct wake_stacks - which routines each traced task is in
 * @by_serial: index of a task's stack plus 1
 * @stacks: they
 * @nr: number of them
 * @room: for how many there is memory
 */
struct wake_stacks {
	struct hash by_serial;
	struct wake_stack *stacks;
	size_t nr, room;
};

void wakers_deinit(struct wakers *w);
void wake_stacks_deinit(struct wake_stacks *s);

/*
 * The slots of a trace of @t's owner, whose wakers go to @w; NULL: its frames are
 * followed only. @reader has the tasks that they name.
 */
void wakers_add(struct wakers *w, struct wake_stacks *stacks, const struct ktau_rec_trace *t,
		const struct ktau_reader *reader);

/* Who most often ended a wait in routine @id; NULL if that is not known. */
const struct waker *wakers_find(const struct wakers *w, uint32_t id);

#endif
