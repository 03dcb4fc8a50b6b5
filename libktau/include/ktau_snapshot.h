/* SPDX-License-Identifier: LGPL-2.1-or-later */
/* libktau: whole profile streams in memory. The rules are in <ktau.h>. */
#ifndef KTAU_SNAPSHOT_H
#define KTAU_SNAPSHOT_H

#include <ktau_reader.h>

#ifdef __cplusplus
extern "C" {
#endif

struct ktau_snapshot;

/* An empty snapshot; clearing makes it so again. */
int ktau_snapshot_create(struct ktau_snapshot **snapshot);
void ktau_snapshot_destroy(struct ktau_snapshot *snapshot);
void ktau_snapshot_clear(struct ktau_snapshot *snapshot);

/**
 * ktau_snapshot_read() - take in the next profile stream of a reader
 * @snapshot: where to
 * @reader: where from; trace streams and other records are passed by
 *
 * May be called again with the same snapshot for the next stream: what comes
 * takes the place of what was there for the same task, KTAU_REC_DIFF records
 * are added to it, a dead task's last profile stays, and live tasks that a
 * complete stream (END, KTAU_TARGET_ALL) does not have any more are removed.
 * Live tasks that a stream of KTAU_TARGET_CHANGED leaves out stay as they are;
 * their ticks become those of the stream, for it says that they still are so.
 * Within one stream a task that died in the middle of it comes twice: the dead
 * one wins. Time and memory are linear in the number of tasks.
 *
 * Return: 1 with a stream, 0 at the end (nothing taken in), -errno of
 * ktau_reader_next() (what came before it is in), -ENOMEM.
 */
int ktau_snapshot_read(struct ktau_snapshot *snapshot, struct ktau_reader *reader);

/**
 * ktau_snapshot_add() - take in one record
 *
 * For programs that read records themselves: STREAM, PROFILE, DIFF and END are
 * used, others are passed by.
 *
 * Return: 0, -ENOMEM.
 */
int ktau_snapshot_add(struct ktau_snapshot *snapshot, const union ktau_record *record);

/**
 * ktau_snapshot_drop_reaped() - forget the dead that the reaped total holds
 * @snapshot: of which
 *
 * For programs that take in stream after stream and do not want to keep every
 * task that ever died. ktau_snapshot_sum() gives the same before and after.
 *
 * Return: 0, -ENOMEM.
 */
int ktau_snapshot_drop_reaped(struct ktau_snapshot *snapshot);

/* The newest STREAM and END record; NULL if there was none. */
const struct ktau_rec_stream *ktau_snapshot_stream(const struct ktau_snapshot *snapshot);
const struct ktau_rec_end *ktau_snapshot_end(const struct ktau_snapshot *snapshot);

/*
 * All owners (live and dead tasks, CPUs, the reaped) in the order in which they
 * came first: NULL begins, NULL ends. Pointers to profiles stay valid until the
 * snapshot changes.
 */
const struct ktau_rec_profile *
ktau_snapshot_next(const struct ktau_snapshot *snapshot,
		   const struct ktau_rec_profile *profile);
size_t ktau_snapshot_count(const struct ktau_snapshot *snapshot);

/*
 * One owner; NULL if it is not there. By tid: a live one before a dead one,
 * the latest to start before others; not for tid 0.
 */
const struct ktau_rec_profile *
ktau_snapshot_find(const struct ktau_snapshot *snapshot, uint64_t serial);
const struct ktau_rec_profile *
ktau_snapshot_find_tid(const struct ktau_snapshot *snapshot, int32_t tid);
const struct ktau_rec_profile *
ktau_snapshot_cpu(const struct ktau_snapshot *snapshot, uint32_t cpu);
const struct ktau_rec_profile *
ktau_snapshot_reaped(const struct ktau_snapshot *snapshot);

/**
 * ktau_snapshot_diff() - what happened between two snapshots of one boot
 * @after: the later one
 * @before: the earlier one
 * @diff: new snapshot; the caller destroys it
 *
 * Owner by owner as ktau_profile_diff(): tasks that are new in @after are taken
 * whole, tasks only in @before are left out, so are tasks that had died in
 * @before already. Sums over all tasks are exact only by subtracting
 * ktau_snapshot_sum() of both: that includes the reaped.
 *
 * Return: 0, -ENOMEM, -EINVAL if the snapshots are of different boots or in
 * the wrong order.
 */
int ktau_snapshot_diff(const struct ktau_snapshot *after,
		       const struct ktau_snapshot *before,
		       struct ktau_snapshot **diff);

/**
 * ktau_snapshot_sum() - one kernel-wide profile
 * @snapshot: of what
 * @sum: new record, entries in the order of ids, owner.kind KTAU_OWNER_REAPED,
 *	no frames in flight; free with ktau_record_free()
 *
 * Live, dead and reaped tasks are added, those dead that the reaped total
 * already holds are counted once, the tables of the CPUs (a second view of
 * the same time) are left out. The identity holds for the sum as well.
 *
 * Return: 0, -ENOMEM.
 */
int ktau_snapshot_sum(const struct ktau_snapshot *snapshot,
		      struct ktau_rec_profile **sum);

#ifdef __cplusplus
}
#endif

#endif /* KTAU_SNAPSHOT_H */
