/* SPDX-License-Identifier: GPL-2.0-only */
/* Adding up profiles event by event: a sparse table of routines. */
#ifndef KTAU_TOOLS_SCRATCH_H
#define KTAU_TOOLS_SCRATCH_H

#include "hash.h"
#include "rows.h"

/**
 * struct scratch - a table on its way to be a process's
 * @routines: in the order in which they came
 * @nr: number of them
 * @room: for how many there is memory
 * @by_key: index of an id of a kind, plus 1
 * @unknown: entries of unknown kinds that were left out; never reset
 */
struct scratch {
	struct routine *routines;
	size_t nr, room;
	struct hash by_key;
	uint64_t unknown;
};

void scratch_deinit(struct scratch *s);

/* The entries of a profile; of a live task also its frames in flight. */
void scratch_add(struct scratch *s, const struct ktau_owned *owned);
void scratch_add_entries(struct scratch *s, const struct ktau_rec_profile *p);
void scratch_add_open(struct scratch *s, const struct ktau_rec_profile *p);
void scratch_add_process(struct scratch *s, const struct process *p);

/* The same backward; nothing goes below 0. */
void scratch_subtract(struct scratch *s, const struct ktau_rec_profile *p);
void scratch_subtract_process(struct scratch *s, const struct process *p);

/* Moves what is not zero into @process, and empties the table. */
void scratch_settle(struct scratch *s, struct process *process);

/* a - b, or 0. */
static inline uint64_t less(uint64_t a, uint64_t b)
{
	return a > b ? a - b : 0;
}

#endif
