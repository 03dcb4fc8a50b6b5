/* SPDX-License-Identifier: LGPL-2.1-or-later */
/* libktau: whole profile streams in memory. The rules are in <ktau.h>. */
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

/* An empty snapshot; clearing makes it empty again. */
int ktau_snapshot_create(struct ktau_snapshot **snapshot);
void ktau_snapshot_destroy(struct ktau_snapshot *snapshot);
void ktau_snapshot_clear(struct ktau_snapshot *snapshot);

/**
 * ktau_snapshot_read() - take in the next profile stream of a reader
 * @snapshot: snapshot
 * @reader: reader; trace streams and other records are skipped
 *
 * May be called again with the same snapshot for the next stream. A task's newer
 * profile replaces the older one, KTAU_REC_DIFF records are added to it, the
 * last profile of an exited task is kept, and live tasks that a complete stream (END,
 * KTAU_TARGET_ALL) does not list any more are removed. Live tasks that a stream of
 * KTAU_TARGET_CHANGED leaves out are unchanged, and their profiles get the ticks of
 * the stream. A task that exits during a stream appears twice in it: the profile
 * taken at its exit is kept. Of the tasks that a GONE record lists, those that were
 * folded are removed; those that were evicted stay, but ktau_snapshot_sum() leaves
 * them out. So do exited tasks that a stream of all that are kept (exited_since 0)
 * does not list, if it has the evicted sum. Time and memory are linear in the number
 * of tasks.
 *
 * The streams have to be those of one descriptor, none left out; one of another
 * descriptor has to list all that are kept.
 *
 * Return: 1 with a stream, 0 at the end (nothing taken in), -errno of
 * ktau_reader_next() (the records before the error are in), -ENOMEM.
 */
int ktau_snapshot_read(struct ktau_snapshot *snapshot, struct ktau_reader *reader);

/**
 * ktau_snapshot_add() - take in one record
 *
 * For programs that read records themselves: STREAM, OWNER, PROFILE, DIFF, GONE and
 * END are used, others are ignored. A profile whose OWNER record did not come before it
 * in the stream is ignored, too.
 *
 * Return: 0, -ENOMEM.
 */
int ktau_snapshot_add(struct ktau_snapshot *snapshot, const union ktau_record *record);

/* Copy one profile and its owner from elsewhere. 0, -ENOMEM. */
int ktau_snapshot_put(struct ktau_snapshot *snapshot, const struct ktau_owned *owned);

/**
 * ktau_snapshot_drop_evicted() - forget tasks that the evicted sum includes
 * @snapshot: snapshot
 *
 * For programs that take in stream after stream and do not want to keep every
 * task that has ever exited. ktau_snapshot_sum() is the same before and after.
 *
 * Return: 0, -ENOMEM.
 */
int ktau_snapshot_drop_evicted(struct ktau_snapshot *snapshot);

/**
 * ktau_snapshot_drop_exited() - forget all exited tasks except for the sum
 * @snapshot: snapshot
 *
 * As ktau_snapshot_drop_evicted(), but the exited tasks that the kernel keeps go as
 * well: no function finds them any more. ktau_snapshot_sum() is the same before
 * and after, and stays exact when the kernel evicts or folds such a task later. For
 * that, each one takes a few hundred bytes until then.
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
 * One owner; NULL if the snapshot does not have it. By tid: a live task before an
 * exited one, the latest to start before others; not for tid 0.
 */
const struct ktau_owned *ktau_snapshot_find(const struct ktau_snapshot *snapshot,
					    uint64_t serial);
const struct ktau_owned *ktau_snapshot_find_tid(const struct ktau_snapshot *snapshot,
						int32_t tid);
const struct ktau_owned *ktau_snapshot_cpu(const struct ktau_snapshot *snapshot,
					   uint32_t cpu);
const struct ktau_owned *ktau_snapshot_evicted(const struct ktau_snapshot *snapshot);

/**
 * ktau_snapshot_diff() - what happened between two snapshots of one boot
 * @after: the later one
 * @before: the earlier one
 * @diff: new snapshot; the caller destroys it
 *
 * Owner by owner as ktau_profile_diff() and ktau_owner_diff(): tasks that are new in
 * @after are taken whole; tasks only in @before, and tasks that had exited in
 * @before, are left out, as are tasks that were dropped from either. Sums over all tasks
 * are exact only by subtracting ktau_snapshot_sum() of both, which includes evicted
 * tasks.
 *
 * Return: 0, -ENOMEM, -EINVAL if the snapshots are of different boots or in
 * the wrong order.
 */
int ktau_snapshot_diff(const struct ktau_snapshot *after,
		       const struct ktau_snapshot *before,
		       struct ktau_snapshot **diff);

/**
 * ktau_snapshot_sum() - one kernel-wide profile
 * @snapshot: snapshot
 * @sum: new record, without frames in flight; free with ktau_record_free()
 * @owner: set to the sums of nr_tasks, utime_ns, stime_ns, nvcsw, nivcsw and
 *	migrations, kind KTAU_OWNER_EVICTED; may be NULL
 *
 * Live, exited and evicted tasks are added, each once. The tables of the CPUs (a second view of
 * the same time), owners of unknown kinds and entries of unknown kinds are left
 * out. The identity holds for the sum as well.
 *
 * Return: 0, -ENOMEM.
 */
int ktau_snapshot_sum(const struct ktau_snapshot *snapshot,
		      struct ktau_rec_profile **sum, struct ktau_rec_owner *owner);

#ifdef __cplusplus
}
#endif

#endif /* KTAU_SNAPSHOT_H */
