/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * The profile of each live task that was written last, so that only the difference from it
 * has to be written. The profiles are in a snapshot of libktau, which also subtracts them.
 *
 * Without memory the baseline is cleared: the next profiles are written in full.
 */
#ifndef KTAUD_BASELINE_H
#define KTAUD_BASELINE_H

#include <stdbool.h>
#include <stdint.h>

#include <ktau.h>

/**
 * struct baseline - the profiles that were written last
 * @last: the snapshot, NULL before the first profile
 * @gone: serials to drop from it at the end of the stream, NULL for none
 */
struct baseline {
	struct ktau_snapshot *last;
	struct ktau_rec_gone *gone;
};

/**
 * baseline_update() - take the new profile of a live task
 * @base: baseline
 * @owned: the profile, which replaces the previous one, and its owner
 *
 * Return: a KTAU_REC_DIFF record of what was added, for ktau_record_free(); NULL if there
 * is nothing to subtract: the task is new, has less than before, or memory is short. The
 * profile itself has to be written then.
 */
struct ktau_rec_profile *baseline_update(struct baseline *base, const struct ktau_owned *owned);

/* A task has exited, so no later profile is compared with its last one. */
void baseline_forget(struct baseline *base, uint64_t serial);

/* A stream has ended. If it was @complete, tasks that it did not have are forgotten. */
void baseline_end(struct baseline *base, bool complete);

/* Forget all tasks, and free the memory: the next profiles are written in full. */
void baseline_clear(struct baseline *base);

#endif /* KTAUD_BASELINE_H */
