/* SPDX-License-Identifier: GPL-2.0-only */
/* Adding up profiles event by event: routines in the order of ids. */
#ifndef KTAU_TOOLS_SCRATCH_H
#define KTAU_TOOLS_SCRATCH_H

#include "aggregate.h"

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
