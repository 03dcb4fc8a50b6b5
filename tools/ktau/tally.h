/* SPDX-License-Identifier: GPL-2.0-only */
/* Adding up profiles event by event: routines in the order of ids. */
#ifndef KTAU_TOOLS_TALLY_H
#define KTAU_TOOLS_TALLY_H

#include <stddef.h>
#include <stdint.h>

#include <ktau.h>

#include "registry.h"

/**
 * struct routine - one event in the period
 * @id: event id
 * @kind: KTAU_KIND_*
 * @flags: KTAU_ENTRY_*: which of the last four are measured
 * @count: activations that ended, or values
 * @incl: ticks, of those in flight too; @sum for counters
 * @excl: ticks, likewise
 * @min: counters: smallest value, of the whole life
 * @max: counters: largest value, likewise
 * @open: frames in flight at the end of the period
 * @open_incl: what the outermost of them have taken of @incl
 * @longest: ticks of the longest activation, of the whole life
 * @asleep: ticks asleep inside
 * @runq: ticks inside in which it was runnable without a CPU
 * @irq: ticks in interrupts inside
 */
struct routine {
	uint32_t id;
	uint16_t kind;
	uint16_t flags;
	uint64_t count;
	uint64_t incl;
	uint64_t excl;
	uint64_t min, max;
	uint64_t open;
	uint64_t open_incl;
	uint64_t longest;
	uint64_t asleep, runq, irq;
};

/**
 * struct tally - routines in the order of their ids
 * @routines: they
 * @nr: number of them
 * @room: for how many there is memory
 * @last: the one that was found last
 * @registry: what the ids stand for
 */
struct tally {
	struct routine *routines;
	size_t nr, room, last;
	const struct registry *registry;
};

/* What an event is a wait for: group sched. */
enum event_wait { WAIT_NONE, WAIT_ASLEEP, WAIT_RUNQ };

enum event_wait event_wait(const struct ktau_events *events, uint32_t id);

/*
 * The entries of a profile into @t, and what its frames in flight have taken so far:
 * both together are what the owner had done at that moment. Entries of unknown
 * kinds are left out; their number is returned.
 */
uint64_t tally_add(struct tally *t, const struct ktau_rec_profile *p);
uint64_t tally_add_entries(struct tally *t, const struct ktau_rec_profile *p);
void tally_add_open(struct tally *t, const struct ktau_rec_profile *p);

/* The same backward, of an earlier moment; nothing goes below 0. */
void tally_subtract(struct tally *t, const struct ktau_rec_profile *p);
void tally_subtract_entries(struct tally *t, const struct ktau_rec_profile *p);
void tally_subtract_open(struct tally *t, const struct ktau_rec_profile *p);

/* All of another one. */
void tally_merge(struct tally *t, const struct tally *from);

/* What is left of @t without @part; longest activations are kept. */
void tally_take_out(struct tally *t, const struct tally *part);

/* How many activations ended. */
uint64_t tally_activations(const struct tally *t);

/* Drop routines of which nothing is left. */
void tally_trim(struct tally *t);

void tally_clear(struct tally *t);
void tally_deinit(struct tally *t);

/* a - b, or 0. */
static inline uint64_t less(uint64_t a, uint64_t b)
{
	return a > b ? a - b : 0;
}

static inline uint64_t more(uint64_t a, uint64_t b)
{
	return a > b ? a : b;
}

#endif
