/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * What was written last of every task, to write only what was added since. A
 * table by serial number; memory is one profile a live task.
 */
#ifndef KTAUD_BASELINE_H
#define KTAUD_BASELINE_H

#include <stddef.h>
#include <stdint.h>

#include <ktau.h>

struct baseline_task;

/**
 * struct baseline - profiles by serial
 * @slots: hash table of chains, a power of 2
 * @nr_slots: number of chains, 0 before the first task
 * @nr_tasks: number of profiles
 * @round: number of the stream that is being taken in
 */
struct baseline {
	struct baseline_task **slots;
	size_t nr_slots;
	size_t nr_tasks;
	uint64_t round;
};

/**
 * baseline_update() - a new profile of a task
 * @base: table
 * @profile: the profile, which takes the place of the one before
 *
 * Return: a KTAU_REC_DIFF record of what was added, for ktau_record_free(); NULL
 * if there is nothing to compare with: the task is new, has less than before,
 * or memory is short. Then the profile itself is to be written.
 */
struct ktau_rec_profile *baseline_update(struct baseline *base,
					 const struct ktau_rec_profile *profile);

/* A task has exited: nothing will be compared with it any more. */
void baseline_forget(struct baseline *base, uint64_t serial);

/* The stream is over: forget the tasks that were not in it. */
void baseline_sweep(struct baseline *base);

/* Forget all: what comes next is written in full. Also frees everything. */
void baseline_clear(struct baseline *base);

#endif /* KTAUD_BASELINE_H */
