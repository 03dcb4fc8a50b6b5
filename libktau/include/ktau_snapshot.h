/* SPDX-License-Identifier: LGPL-2.1-or-later */
/* libktau: whole profile streams in memory. General rules are in <ktau.h>. */
#ifndef KTAU_SNAPSHOT_H
#define KTAU_SNAPSHOT_H

#include <ktau_reader.h>

#ifdef __cplusplus
extern "C" {
#endif

struct ktau_snapshot;

/**
 * struct ktau_owned - a profile and its owner
 * @owner: OWNER record
 * @profile: PROFILE record; its entries are in ascending order without repetition
 */
struct ktau_owned {
	const struct ktau_rec_owner *owner;
	const struct ktau_rec_profile *profile;
};

/* Create an empty snapshot. Clearing makes it empty again. */
int ktau_snapshot_create(struct ktau_snapshot **snapshot);
void ktau_snapshot_destroy(struct ktau_snapshot *snapshot);
void ktau_snapshot_clear(struct ktau_snapshot *snapshot);

/**
 * ktau_snapshot_read() - add the next profile stream of a reader
 * @reader: reader; trace streams and other records are skipped
 *
 * Call it again with the same snapshot for the next stream. A task's new profile replaces
 * the previous one, KTAU_REC_DIFF records are added to it, the last profile of an exited
 * task is kept, and live tasks that a complete stream (END, KTAU_TARGET_ALL) no longer
 * lists are removed. Live tasks that a stream of KTAU_TARGET_CHANGED leaves out have not
 * run: their profiles get the ticks of the stream and, if time asleep is measured, as much
 * more of it. A task that exits during a stream appears twice in it: the profile taken at
 * its exit is kept. Folded tasks of a GONE record are removed. Evicted tasks of a GONE
 * record stay, but ktau_snapshot_sum() leaves them out, because they are in the evicted
 * sum; the same applies to exited tasks that are missing from a stream that lists all
 * exited tasks (exited_since 0) and the evicted sum.
 * Time and memory are linear in the number of tasks.
 *
 * All streams must come from one descriptor, none left out. The first stream of another
 * descriptor must list all exited tasks.
 *
 * Return: 1 with a stream, 0 at the end (nothing was added), -errno of
 * ktau_reader_next() (the records before the error have been added), -ENOMEM.
 */
int ktau_snapshot_read(struct ktau_snapshot *snapshot, struct ktau_reader *reader);

/**
 * ktau_snapshot_add() - add one record
 *
 * For programs that read records themselves. STREAM, OWNER, PROFILE, DIFF, GONE and END
 * records are used, others are ignored, as is a profile without an OWNER record before it
 * in the stream.
 *
 * Return: 0, -ENOMEM.
 */
int ktau_snapshot_add(struct ktau_snapshot *snapshot, const union ktau_record *record);

/* Add a copy of a profile and its owner. 0, -ENOMEM. */
int ktau_snapshot_put(struct ktau_snapshot *snapshot, const struct ktau_owned *owned);

/**
 * ktau_snapshot_drop_evicted() - drop tasks that are included in the evicted sum
 *
 * For programs that add stream after stream and do not want to keep every task that has
 * ever exited. ktau_snapshot_sum() is the same before and after.
 *
 * Return: 0, -ENOMEM.
 */
int ktau_snapshot_drop_evicted(struct ktau_snapshot *snapshot);

/**
 * ktau_snapshot_drop_exited() - drop all exited tasks from everything but the sum
 *
 * Like ktau_snapshot_drop_evicted(), but also drops exited tasks that the kernel still
 * keeps, so that no function finds them any more. ktau_snapshot_sum() is the same before and after,
 * and stays exact when the kernel evicts or folds such a task later. Until then each one
 * takes a few hundred bytes.
 *
 * Return: 0, -ENOMEM.
 */
int ktau_snapshot_drop_exited(struct ktau_snapshot *snapshot);

/* The newest STREAM and END record; NULL if there was none. */
const struct ktau_rec_stream *ktau_snapshot_stream(const struct ktau_snapshot *snapshot);
const struct ktau_rec_end *ktau_snapshot_end(const struct ktau_snapshot *snapshot);

/*
 * All owners that have a profile (live and exited tasks, CPUs, the evicted sum) in
 * the order in which they first appeared: NULL begins, NULL ends. Results stay
 * valid until the snapshot changes.
 */
const struct ktau_owned *ktau_snapshot_next(const struct ktau_snapshot *snapshot,
					    const struct ktau_owned *owned);
size_t ktau_snapshot_count(const struct ktau_snapshot *snapshot);

/*
 * Find one owner; NULL if the snapshot does not have it. Of several tasks with the tid, a
 * live one is preferred, then the one that started last; tid 0 is not found.
 */
const struct ktau_owned *ktau_snapshot_find(const struct ktau_snapshot *snapshot,
					    uint64_t serial);
const struct ktau_owned *ktau_snapshot_find_tid(const struct ktau_snapshot *snapshot,
						int32_t tid);
const struct ktau_owned *ktau_snapshot_cpu(const struct ktau_snapshot *snapshot,
					   uint32_t cpu);
const struct ktau_owned *ktau_snapshot_evicted(const struct ktau_snapshot *snapshot);

/**
 * ktau_snapshot_diff() - the increase between two snapshots of one boot
 * @after: the later one
 * @before: the earlier one
 * @diff: new snapshot; the caller destroys it
 *
 * Applies ktau_profile_diff() to each owner; utime_ns, stime_ns, nvcsw, nivcsw and migrations
 * of its record become differences, of at least 0. Tasks that are new in @after are copied;
 * tasks only in @before, tasks that had exited in @before, and tasks that were dropped from
 * either are left out. For an exact sum over all tasks, subtract the ktau_snapshot_sum() of
 * both, which includes evicted tasks.
 *
 * Return: 0, -ENOMEM, -EINVAL if the snapshots are of different boots or in
 * the wrong order.
 */
int ktau_snapshot_diff(const struct ktau_snapshot *after,
		       const struct ktau_snapshot *before,
		       struct ktau_snapshot **diff);

/* Called for a profile. Return: 0, or another number to end. */
typedef int (*ktau_profile_fn)(void *arg, const struct ktau_rec_profile *profile);

/**
 * ktau_snapshot_each() - call a function for every profile in the sum over all tasks
 * @fn: function
 * @arg: passed to it
 *
 * Live, exited (also dropped ones) and evicted tasks are passed, each once, and no CPUs. Add
 * their figures as ktau_sum_t: a long uptime overflows 64 bits.
 *
 * Return: 0, the number that @fn has returned, -ENOMEM.
 */
int ktau_snapshot_each(const struct ktau_snapshot *snapshot, ktau_profile_fn fn, void *arg);

/**
 * ktau_snapshot_sum() - one kernel-wide profile
 * @sum: new record, without frames in flight; free with ktau_record_free()
 * @owner: set to the sums of nr_tasks, utime_ns, stime_ns, nvcsw, nivcsw and
 *	migrations, kind KTAU_OWNER_EVICTED; may be NULL
 *
 * Live, exited and evicted tasks are added, each once. The tables of the CPUs, which are a
 * second view of the same time, and owners and entries of unknown kinds are left out. The identity
 * holds for the sum as well, unless a figure has reached the end of its 64 bits, where it stays;
 * see ktau_snapshot_each().
 *
 * Return: 0, -ENOMEM.
 */
int ktau_snapshot_sum(const struct ktau_snapshot *snapshot,
		      struct ktau_rec_profile **sum, struct ktau_rec_owner *owner);

#ifdef __cplusplus
}
#endif

#endif /* KTAU_SNAPSHOT_H */
