/* SPDX-License-Identifier: GPL-2.0-only */
/* Adds up profiles, event by event. */
#ifndef KTAU_TOOLS_TALLY_H
#define KTAU_TOOLS_TALLY_H

#include <stddef.h>
#include <stdint.h>

#include <ktau.h>

/**
 * struct routine - an event in the period
 * @id: event id
 * @kind: KTAU_KIND_*
 * @flags: KTAU_ENTRY_*: which of the last four members were measured
 * @count: activations that ended, or values
 * @min: counters: smallest value since the start of the owner
 * @max: counters: largest value since the start of the owner
 * @open: frames in flight at the end of the period
 * @longest: ticks of the longest activation since the start of the owner
 * @incl: inclusive ticks, including frames in flight; @sum for counters
 * @excl: exclusive ticks, including frames in flight
 * @open_incl: part of @incl that belongs to outermost frames in flight
 * @asleep: ticks asleep inside
 * @runq: ticks inside while runnable without a CPU
 * @irq: ticks in interrupts inside
 */
struct routine {
	uint32_t id;
	uint16_t kind;
	uint16_t flags;
	uint64_t count;
	uint64_t min, max;
	uint64_t open;
	uint64_t longest;
	ktau_sum_t incl, excl, open_incl;
	ktau_sum_t asleep, runq, irq;
};

/**
 * struct tally - routines, sorted by id
 * @routines: the routines; NULL if they are packed
 * @packed: the routines as bytes; NULL if they are in @routines
 * @nr: number of routines
 * @room: allocated length of @routines
 * @last: index of the routine found last
 */
struct tally {
	struct routine *routines;
	unsigned char *packed;
	uint32_t nr, room, last;
};

/* Kinds of waits, for events of the group sched. */
enum event_wait { WAIT_NONE, WAIT_ASLEEP, WAIT_RUNQ };

enum event_wait event_wait(const struct ktau_events *events, uint32_t id);

/*
 * Add the entries of a profile and the time so far of its frames in flight; together they are
 * what the owner had done at that time. Return: the number of entries of unknown kinds, which are
 * ignored.
 */
uint64_t tally_add(struct tally *t, const struct ktau_rec_profile *p);
uint64_t tally_add_entries(struct tally *t, const struct ktau_rec_profile *p);
void tally_add_open(struct tally *t, const struct ktau_rec_profile *p);

/* Subtract a profile from an earlier time; no figure goes below 0. */
void tally_subtract(struct tally *t, const struct ktau_rec_profile *p);
void tally_subtract_entries(struct tally *t, const struct ktau_rec_profile *p);
void tally_subtract_open(struct tally *t, const struct ktau_rec_profile *p);

/**
 * struct asleep - tasks that slept in the same frames throughout a period
 * @frames: ids of the frames, from the innermost one on
 * @nr_frames: length of @frames
 * @nr: number of tasks
 * @ticks: length of the period, for each of the tasks
 * @measured_ticks: as much of it as was measured as sleep
 */
struct asleep {
	const uint32_t *frames;
	uint32_t nr_frames;
	uint64_t nr;
	ktau_sum_t ticks, measured_ticks;
};

/* Add what tally_add() and tally_subtract() leave of such tasks, except for longest activations. */
void tally_add_asleep(struct tally *t, const struct asleep *a);

/* Add all of another tally. */
void tally_merge(struct tally *t, const struct tally *from);

/* Subtract @part from @t; longest activations are kept. */
void tally_take_out(struct tally *t, const struct tally *part);

/* Number of activations that ended. */
uint64_t tally_activations(const struct tally *t);

/* Remove routines that have become empty. */
void tally_trim(struct tally *t);

/*
 * Keep the routines in little memory. All functions take a packed tally, and those that change it
 * unpack it; only @routines is not there.
 */
void tally_pack(struct tally *t);
void tally_unpack(struct tally *t);

void tally_clear(struct tally *t);
void tally_deinit(struct tally *t);

/* a - b, or 0 if b is larger */
static inline uint64_t less(uint64_t a, uint64_t b)
{
	return a > b ? a - b : 0;
}

static inline ktau_sum_t sum_less(ktau_sum_t a, ktau_sum_t b)
{
	return a > b ? a - b : 0;
}

static inline ktau_sum_t sum_more(ktau_sum_t a, ktau_sum_t b)
{
	return a > b ? a : b;
}

/* A sum for a format that has no more than 64 bits; a larger one stays at their end. */
static inline uint64_t sum_u64(ktau_sum_t sum)
{
	return sum < UINT64_MAX ? (uint64_t)sum : UINT64_MAX;
}

static inline uint64_t more(uint64_t a, uint64_t b)
{
	return a > b ? a : b;
}

#endif
