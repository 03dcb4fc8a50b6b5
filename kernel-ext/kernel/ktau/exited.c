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

#define PLACES	8192
#define TRIM_STEP	64	/* summed up under one lock */

/**
 * struct exited_queue - tasks that have exited, by number
 * @lock: guards all of it and @evicted
 * @place: state of number n in place n % PLACES
 * @first: the oldest that is still here
 * @next: number of the next one
 * @bytes: memory of those that are here
 * @evicted: the sum of those that are not
 */
static struct exited_queue {
	spinlock_t lock;	/* all of it, and @evicted */
	struct ktau_task **place;
	u64 first;
	u64 next;
	u64 bytes;
	struct ktau_task *evicted;
} exited = { .lock = __SPIN_LOCK_UNLOCKED(exited.lock) };

/* Add @from to @to, which has all its chunks; exited.lock held. */
static void sum_up(struct ktau_task *to, const struct ktau_task *from)
{
	const struct ktau_chunk *chunk;
	unsigned int j, id, next = 0;
	struct ktau_chunk *sum;

	to->outer_ticks += from->outer_ticks;
	to->refused += from->refused;
	to->refused_ticks += from->refused_ticks;
	to->clamped += from->clamped;
	to->lost += from->lost;
	while ((chunk = ktau_chunk_next(from, &next))) {
		sum = ktau_chunk_at(to, next - 1);
		for (j = 0; j < KTAU_CHUNK_CELLS; j++) {
			id = (next - 1) * KTAU_CHUNK_CELLS + j;
			if (chunk->cell[j].count)
				ktau_cell_add(&sum->cell[j], &chunk->cell[j],
					      ktau_event_kind(id));
		}
	}
	to->owner.utime_ns += from->owner.utime_ns;
	to->owner.stime_ns += from->owner.stime_ns;
}

static bool too_many(u64 places)
{
	return exited.first < exited.next &&
	       (exited.next - exited.first > places ||
		exited.bytes > READ_ONCE(ktau_config.exited_limit_bytes));
}

/* Sum up the oldest beyond the bounds; exited.lock held. Returns if there are more. */
static bool trim(u64 places)
{
	struct ktau_task *state;
	unsigned int i;

	for (i = 0; i < TRIM_STEP && too_many(places); i++) {
		state = exited.place[exited.first++ % PLACES];
		exited.bytes -= state->exited_bytes;
		sum_up(exited.evicted, state);
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
 * ktau_exited_add() - put the state of the current task into the queue
 * @state: the state, with its obituary; the queue takes the reference
 *
 * Context: Task, exiting; may sleep.
 */
void ktau_exited_add(struct ktau_task *state)
{
	bool more;

	keep_ids(state);
	spin_lock(&exited.lock);
	trim(PLACES - 1);
	state->owner.dead_seq = exited.next;
	exited.place[exited.next++ % PLACES] = state;
	state->exited_bytes = atomic_long_read(&state->bytes);
	exited.bytes += state->exited_bytes;
	more = trim(PLACES);
	spin_unlock(&exited.lock);
	if (more)
		ktau_exited_trim();
}

/**
 * ktau_exited_trim() - bring the queue of the dead in line with its bound
 *
 * Context: May sleep.
 */
void ktau_exited_trim(void)
{
	bool more;

	do {
		spin_lock(&exited.lock);
		more = trim(PLACES);
		spin_unlock(&exited.lock);
		cond_resched();
	} while (more);
}

/**
 * ktau_exited_get() - take a reference to one of the dead
 * @seq: number wanted; moved up to the oldest that is still there
 *
 * Context: Task.
 * Return: Its state, or NULL if there is none from @seq on.
 */
struct ktau_task *ktau_exited_get(u64 *seq)
{
	struct ktau_task *state = NULL;

	spin_lock(&exited.lock);
	*seq = max(*seq, exited.first);
	if (*seq < exited.next) {
		state = exited.place[*seq % PLACES];
		refcount_inc(&state->ref);
	}
	spin_unlock(&exited.lock);
	return state;
}

/**
 * ktau_exited_next() - number that the next task to die will get
 *
 * Context: Task.
 * Return: The number.
 */
u64 ktau_exited_next(void)
{
	u64 next;

	spin_lock(&exited.lock);
	next = exited.next;
	spin_unlock(&exited.lock);
	return next;
}

/**
 * ktau_exited_first() - the oldest exited task that is kept
 *
 * Context: Task.
 * Return: Its number; that of the next one if none is kept.
 */
u64 ktau_exited_first(void)
{
	u64 first;

	spin_lock(&exited.lock);
	first = exited.first;
	spin_unlock(&exited.lock);
	return first;
}

/**
 * ktau_evicted_snapshot() - the sum of the dead that are not kept
 * @rec: where it goes
 * @bytes: its room
 * @owner: where its description goes
 *
 * Context: Task.
 * Return: 0, -ENODATA if KTAU was never on, -ENOSPC.
 */
int ktau_evicted_snapshot(struct ktau_rec_profile *rec, size_t bytes,
			  struct ktau_owner *owner)
{
	int err = -ENODATA;

	if (!exited.evicted)
		return err;
	spin_lock(&exited.lock);
	err = ktau_snapshot_into(rec, bytes, exited.evicted, NULL);
	*owner = exited.evicted->owner;
	owner->dead_seq = exited.first;
	owner->nr_tasks = exited.first;
	spin_unlock(&exited.lock);
	return err;
}

/**
 * ktau_exited_stats() - show counts of the dead
 * @m: where
 *
 * Context: Task.
 */
void ktau_exited_stats(struct seq_file *m)
{
	spin_lock(&exited.lock);
	seq_printf(m, "tasks_exited %llu\n", exited.next - exited.first);
	seq_printf(m, "tasks_exited_bytes %llu\n", exited.bytes);
	seq_printf(m, "tasks_ever_exited %llu\n", exited.next);
	seq_printf(m, "tasks_evicted %llu\n", exited.first);
	spin_unlock(&exited.lock);
}

/* A table with all chunks, so that it never needs one where none can be had. */
static struct ktau_task *create_full(void)
{
	struct ktau_task *state = ktau_task_create(&ktau_system, GFP_KERNEL);

	if (!state || ktau_table_fill(state, KTAU_NR_IDS))
		return state;
	ktau_task_put(state);
	return NULL;
}

/**
 * ktau_exited_start() - make the queue and the sum
 *
 * Context: May sleep; ktau_mutex held. Can be repeated after a failure.
 * Return: 0 or -ENOMEM.
 */
int ktau_exited_start(void)
{
	struct ktau_task *evicted;

	if (!exited.place)
		exited.place = ktau_alloc(&ktau_system,
					  PLACES * sizeof(*exited.place),
					  GFP_KERNEL);
	if (!exited.place)
		return -ENOMEM;
	if (exited.evicted)
		return 0;
	evicted = create_full();
	if (!evicted)
		return -ENOMEM;
	evicted->owner.kind = KTAU_OWNER_EVICTED;
	evicted->serial = ktau_serial_next();
	evicted->owner.serial = evicted->serial;
	exited.evicted = evicted;
	return 0;
}
