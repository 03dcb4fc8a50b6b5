/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * The profile last written for each live task, so that only the difference has to be written. The
 * profiles are kept in a snapshot of libktau, which also subtracts them.
 *
 * If there is no memory, the baseline is cleared, and the next profiles are written in full.
 */
#ifndef KTAUD_BASELINE_H
#define KTAUD_BASELINE_H

#include <stdbool.h>
#include <stdint.h>

#include <ktau.h>

/**
 * struct baseline - the profiles last written
 * @last: the snapshot; NULL before the first profile
 * @gone: serials to remove from it at the end of the stream; NULL for none
 */
struct baseline {
	struct ktau_snapshot *last;
	struct ktau_rec_gone *gone;
};

/**
 * baseline_update() - replace the profile of a live task
 * @base: baseline
 * @owned: the new profile and its owner
 *
 * Return: a KTAU_REC_DIFF record with the increase, for ktau_record_free(). NULL if the profile
 * must be written in full: the task is new, a figure has decreased, or there is no memory.
 */
struct ktau_rec_profile *baseline_update(struct baseline *base, const struct ktau_owned *owned);

/* The task has exited, so it has no later profiles to compare. */
void baseline_forget(struct baseline *base, uint64_t serial);

/* End of a stream. If it was @complete, tasks that were not in it are removed. */
void baseline_end(struct baseline *base, bool complete);

/* Remove all tasks and free the memory; the next profiles are written in full. */
void baseline_clear(struct baseline *base);

#endif /* KTAUD_BASELINE_H */
