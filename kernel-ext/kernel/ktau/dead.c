// SPDX-License-Identifier: GPL-2.0-only
/*
 * KTAU: the dead.
 *
 * A task that exits leaves its state in a queue, so that a reader who looks once
 * a second still gets the process that lived a millisecond. The queue is bounded:
 * the oldest are summed up into one table and freed. So the sum over the living,
 * the dead and the reaped is always that of everything that happened.
 */
#include <linux/cred.h>
#include <linux/sched/signal.h>
#include <linux/seq_file.h>
#include <linux/spinlock.h>
#include <linux/user_namespace.h>

#include "ktau.h"

#define DEAD_PLACES	8192
#define TRIM_STEP	64	/* summed up under one lock */

/**
 * struct dead_queue - tasks that have exited, by number
 * @lock: guards all of it and @reaped
 * @place: state of number n in place n % DEAD_PLACES
 * @first: the oldest that is still here
 * @next: number of the next one
 * @bytes: memory of those that are here
 * @reaped: the sum of those that are not
 */
static struct dead_queue {
	spinlock_t lock;	/* all of it, and @reaped */
	struct ktau_task **place;
	u64 first;
	u64 next;
	u64 bytes;
	struct ktau_task *reaped;
} dead = { .lock = __SPIN_LOCK_UNLOCKED(dead.lock) };

/* Add @from to @to, which has all its chunks; dead.lock held. */
static void sum_up(struct ktau_task *to, const struct ktau_task *from)
{
	const struct ktau_cell *cell;
	unsigned int i, j, id;

	to->outer_ticks += from->outer_ticks;
	to->refused += from->refused;
	to->refused_ticks += from->refused_ticks;
	to->clamped += from->clamped;
	to->lost += from->lost;
	for_each_set_bit(i, from->used, KTAU_NR_CHUNKS) {
		for (j = 0; j < KTAU_CHUNK_CELLS; j++) {
			cell = &from->chunk[i]->cell[j];
			id = i * KTAU_CHUNK_CELLS + j;
			if (cell->count)
				ktau_cell_add(&to->chunk[i]->cell[j], cell,
					      ktau_event_kind(id));
		}
	}
	to->obit.utime_ns += from->obit.utime_ns;
	to->obit.stime_ns += from->obit.stime_ns;
}

static bool too_many(u64 places)
{
	return dead.first < dead.next &&
	       (dead.next - dead.first > places ||
		dead.bytes > READ_ONCE(ktau_config.dead_bytes));
}

/* Sum up the oldest beyond the bounds; dead.lock held. Returns if there are more. */
static bool trim(u64 places)
{
	struct ktau_task *state;
	unsigned int i;

	for (i = 0; i < TRIM_STEP && too_many(places); i++) {
		state = dead.place[dead.first++ % DEAD_PLACES];
		dead.bytes -= state->dead_bytes;
		sum_up(dead.reaped, state);
		ktau_task_put(state);
	}
	return too_many(places);
}

/* The ids of the initial namespace are in the obituary. */
static struct pid *keep_pid(struct pid *pid)
{
	return pid && pid->level ? get_pid(pid) : NULL;
}

/* What says later who may see the current task, and by which ids. */
static void keep_ids(struct ktau_task *state)
{
	state->pid = keep_pid(task_pid(current));
	state->tgid = keep_pid(task_tgid(current));
	rcu_read_lock();
	state->parent = keep_pid(task_tgid(rcu_dereference(current->real_parent)));
	rcu_read_unlock();
	ktau_rights_of(&state->rights, current_cred());
	get_user_ns(state->rights.user_ns);
}

/**
 * ktau_dead_bury() - put the state of the current task into the queue
 * @state: the state, with its obituary; the queue takes the reference
 *
 * Context: Task, exiting; may sleep.
 */
void ktau_dead_bury(struct ktau_task *state)
{
	bool more;

	keep_ids(state);
	spin_lock(&dead.lock);
	trim(DEAD_PLACES - 1);
	state->obit.dead_seq = dead.next;
	dead.place[dead.next++ % DEAD_PLACES] = state;
	state->dead_bytes = atomic_long_read(&state->bytes);
	dead.bytes += state->dead_bytes;
	more = trim(DEAD_PLACES);
	spin_unlock(&dead.lock);
	if (more)
		ktau_dead_trim();
}

/**
 * ktau_dead_trim() - bring the queue of the dead in line with its bound
 *
 * Context: May sleep.
 */
void ktau_dead_trim(void)
{
	bool more;

	do {
		spin_lock(&dead.lock);
		more = trim(DEAD_PLACES);
		spin_unlock(&dead.lock);
		cond_resched();
	} while (more);
}

/**
 * ktau_dead_get() - take a reference to one of the dead
 * @seq: number wanted; moved up to the oldest that is still there
 *
 * Context: Task.
 * Return: Its state, or NULL if there is none from @seq on.
 */
struct ktau_task *ktau_dead_get(u64 *seq)
{
	struct ktau_task *state = NULL;

	spin_lock(&dead.lock);
	*seq = max(*seq, dead.first);
	if (*seq < dead.next) {
		state = dead.place[*seq % DEAD_PLACES];
		refcount_inc(&state->ref);
	}
	spin_unlock(&dead.lock);
	return state;
}

/**
 * ktau_dead_next() - number that the next task to die will get
 *
 * Context: Task.
 * Return: The number.
 */
u64 ktau_dead_next(void)
{
	u64 next;

	spin_lock(&dead.lock);
	next = dead.next;
	spin_unlock(&dead.lock);
	return next;
}

/**
 * ktau_dead_first() - the oldest exited task that is kept
 *
 * Context: Task.
 * Return: Its number; that of the next one if none is kept.
 */
u64 ktau_dead_first(void)
{
	u64 first;

	spin_lock(&dead.lock);
	first = dead.first;
	spin_unlock(&dead.lock);
	return first;
}

/**
 * ktau_reaped_snapshot() - the sum of the dead that are not kept
 * @rec: where it goes
 * @bytes: its room
 * @owner: where its description goes
 *
 * Context: Task.
 * Return: 0, -ENODATA if KTAU was never on, -ENOSPC.
 */
int ktau_reaped_snapshot(struct ktau_rec_profile *rec, size_t bytes,
			 struct ktau_owner *owner)
{
	int err = -ENODATA;

	if (!dead.reaped)
		return err;
	spin_lock(&dead.lock);
	err = ktau_snapshot_into(rec, bytes, dead.reaped, NULL);
	*owner = dead.reaped->obit;
	owner->dead_seq = dead.first;
	owner->nr_tasks = dead.first;
	spin_unlock(&dead.lock);
	return err;
}

/**
 * ktau_dead_stats() - show counts of the dead
 * @m: where
 *
 * Context: Task.
 */
void ktau_dead_stats(struct seq_file *m)
{
	spin_lock(&dead.lock);
	seq_printf(m, "tasks_dead %llu\n", dead.next - dead.first);
	seq_printf(m, "tasks_dead_bytes %llu\n", dead.bytes);
	seq_printf(m, "tasks_died %llu\n", dead.next);
	seq_printf(m, "tasks_reaped %llu\n", dead.first);
	spin_unlock(&dead.lock);
}

/* A table with all chunks, so that it never needs one where none can be had. */
static struct ktau_task *create_full(void)
{
	struct ktau_task *state = ktau_task_create();
	unsigned int i;

	if (!state)
		return NULL;
	for (i = 0; i < KTAU_NR_CHUNKS; i++) {
		state->chunk[i] = ktau_chunk_alloc();
		if (!state->chunk[i])
			goto fail;
		__set_bit(i, state->used);
	}
	return state;
fail:
	ktau_task_put(state);
	return NULL;
}

/**
 * ktau_dead_start() - make the queue and the sum
 *
 * Context: May sleep; ktau_mutex held. Can be repeated after a failure.
 * Return: 0 or -ENOMEM.
 */
int ktau_dead_start(void)
{
	struct ktau_task *reaped;

	if (!dead.place)
		dead.place = ktau_alloc(DEAD_PLACES * sizeof(*dead.place));
	if (!dead.place)
		return -ENOMEM;
	if (dead.reaped)
		return 0;
	reaped = create_full();
	if (!reaped)
		return -ENOMEM;
	reaped->obit.kind = KTAU_OWNER_EVICTED;
	reaped->serial = 0;
	dead.reaped = reaped;
	return 0;
}
