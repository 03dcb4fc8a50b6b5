// SPDX-License-Identifier: GPL-2.0-only
/* Which tasks woke which. */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "lib/cli.h"
#include "wakers.h"

enum { MAX_DEPTH = 64 };

struct wake_stack {
	unsigned int depth;
	uint16_t ids[MAX_DEPTH];
};

void wakers_deinit(struct wakers *w)
{
	free(w->wakers);
	*w = (struct wakers){ 0 };
}

void wake_stacks_deinit(struct wake_stacks *s)
{
	hash_deinit(&s->by_serial);
	free(s->stacks);
	*s = (struct wake_stacks){ 0 };
}

static struct wake_stack *stack_of(struct wake_stacks *s, uint64_t serial)
{
	size_t index = hash_get(&s->by_serial, serial);

	if (index)
		return &s->stacks[index - 1];
	if (s->nr == s->room) {
		s->room = s->room ? s->room * 2 : 16;
		s->stacks = cli_alloc(s->stacks, s->room, sizeof(*s->stacks));
	}
	s->stacks[s->nr++].depth = 0;
	hash_put(&s->by_serial, serial, s->nr);
	return &s->stacks[s->nr - 1];
}

static void enter(struct wake_stack *stack, uint16_t id)
{
	if (stack->depth < MAX_DEPTH)
		stack->ids[stack->depth++] = id;
}

/* Frames with a missing exit end with the enclosing frame. */
static void leave(struct wake_stack *stack, uint16_t id)
{
	unsigned int i = stack->depth;

	while (i && stack->ids[i - 1] != id)
		i--;
	if (i)
		stack->depth = i - 1;
}

static void count(struct wakers *w, uint16_t id, const char *name)
{
	struct waker *waker;

	for (waker = w->wakers; waker < w->wakers + w->nr; waker++) {
		if (waker->id == id && !strcmp(waker->name, name)) {
			waker->nr++;
			return;
		}
	}
	if (w->nr == w->room) {
		w->room = w->room ? w->room * 2 : 8;
		w->wakers = cli_alloc(w->wakers, w->room, sizeof(*w->wakers));
	}
	waker = &w->wakers[w->nr++];
	*waker = (struct waker){ .id = id, .nr = 1 };
	snprintf(waker->name, sizeof(waker->name), "%s", name);
}

static const char *name_of(const struct ktau_slot_woken *woken, const struct ktau_reader *reader)
{
	const struct ktau_rec_owner *owner;

	if (woken->waker_ctx != KTAU_CTX_TASK)
		return "(interrupt)";
	owner = ktau_reader_owner(reader, woken->waker_serial);
	return owner ? owner->comm : "(hidden)";
}

/* The wakeup ended a wait in every routine on the stack; count each of them once. */
static void wake(struct wakers *w, const struct wake_stack *stack, const char *name)
{
	unsigned int i, k;

	for (i = 0; i < stack->depth; i++) {
		for (k = 0; k < i && stack->ids[k] != stack->ids[i]; k++)
			;
		if (k == i)
			count(w, stack->ids[i], name);
	}
}

void wakers_add(struct wakers *w, struct wake_stacks *stacks, const struct ktau_rec_trace *t,
		const struct ktau_reader *reader)
{
	struct wake_stack *stack = stack_of(stacks, t->serial);
	const struct ktau_slot *slot = NULL;
	struct ktau_slot_woken woken;

	if (t->lost)
		stack->depth = 0;
	while ((slot = ktau_trace_next(t, slot))) {
		if (slot->type == KTAU_TRACE_ENTER)
			enter(stack, slot->id);
		else if (slot->type == KTAU_TRACE_EXIT)
			leave(stack, slot->id);
		else if (w && ktau_slot_woken(slot, &woken))
			wake(w, stack, name_of(&woken, reader));
	}
}

const struct waker *wakers_find(const struct wakers *w, uint32_t id)
{
	const struct waker *best = NULL, *waker;

	for (waker = w->wakers; waker < w->wakers + w->nr; waker++)
		if (waker->id == id && (!best || waker->nr > best->nr))
			best = waker;
	return best;
}
