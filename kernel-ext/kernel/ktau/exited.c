// SPDX-License-Identifier: GPL-2.0-only
/*
 * KTAU: exited tasks.
 *
 * A task that exits leaves its state in a queue, so that a reader who looks once a
 * second still gets the process that lived a millisecond. The queue is bounded. A user
 * who exceeds its share of it, or the largest user if the whole is too large, pays with
 * its own exited tasks, never with those of others:
 *
 *  1. Its oldest exited threads are folded into the next exited thread of their
 *     process, so that in the end there is one record for each process: the leader's,
 *     if that has exited.
 *  2. Then its oldest records are evicted: added to one sum, and freed.
 *
 * So the sum over living tasks, exited ones and the evicted sum is always that of
 * everything that happened.
 *
 * A folded record has the exited_seq of the newest task in it, and includes all exited
 * threads of its process with lower numbers, as far as they had the same credentials. So
 * a reader that goes on from a number sees it if it has not seen all of it.
 */
#include <linux/hashtable.h>
#include <linux/rbtree.h>
#include <linux/rcupdate.h>
#include <linux/sched.h>
#include <linux/seq_file.h>
#include <linux/spinlock.h>

#include "ktau.h"

#define TRIM_STEP	64	/* folded or evicted under one lock */

/**
 * struct exited_queue - tasks that have exited
 * @lock: guards all of it, the lists of struct ktau_user, and @processes
 * @tasks: the records, by number
 * @users: users who have some
 * @next: number of the next one
 * @nr: records
 * @bytes: memory of them
 * @evicted: the sum of those that are not kept
 */
static struct exited_queue {
	spinlock_t lock;	/* all of it, see above */
	struct rb_root tasks;
	struct list_head users;
	u64 next;
	u64 nr;
	u64 bytes;
	struct ktau_task *evicted;
} exited = {
	.lock = __SPIN_LOCK_UNLOCKED(exited.lock),
	.tasks = RB_ROOT,
	.users = LIST_HEAD_INIT(exited.users),
};

/* The newest record of each process. */
static DEFINE_HASHTABLE(processes, 10);

/*
 * Of the process of @state. What readers may see of it must be the same, or folding
 * would undo what an exec has taken apart, see exec.c.
 */
static struct ktau_task *newest_of_process(const struct ktau_task *state)
{
	struct ktau_task *other;
	u64 serial = state->owner.leader_serial;

	hash_for_each_possible(processes, other, process_node, serial)
		if (other->owner.leader_serial == serial && serial &&
		    other->user == state->user &&
		    other->dumpable == state->dumpable &&
		    ktau_rights_equal(&other->rights, &state->rights))
			return other;
	return NULL;
}

/* All that follows up to trim() is called with exited.lock held. */

static void link_last(struct ktau_task *state)
{
	struct rb_node *last = rb_last(&exited.tasks);

	rb_link_node(&state->exited_node, last,
		     last ? &last->rb_right : &exited.tasks.rb_node);
	rb_insert_color(&state->exited_node, &exited.tasks);
}

static void add(struct ktau_task *state)
{
	struct ktau_task *before = newest_of_process(state);
	struct ktau_user *user = state->user;

	state->owner.dead_seq = exited.next++;
	state->exited_bytes = atomic_long_read(&state->bytes);
	link_last(state);
	if (list_empty(&user->exited))
		list_add(&user->exited_node, &exited.users);
	list_add_tail(&state->of_user, &user->exited);
	INIT_LIST_HEAD(&state->foldable);
	if (before) {
		hash_del(&before->process_node);
		before->next_thread = state;
		list_add_tail(&before->foldable, &user->foldable);
	}
	hash_add(processes, &state->process_node, state->owner.leader_serial);
	user->exited_bytes += state->exited_bytes;
	exited.bytes += state->exited_bytes;
	exited.nr++;
}

/* Take @state, which no other record leads to, out of all lists, and drop it. */
static void drop(struct ktau_task *state)
{
	struct ktau_user *user = state->user;

	rb_erase(&state->exited_node, &exited.tasks);
	list_del(&state->of_user);
	list_del(&state->foldable);
	hash_del(&state->process_node);
	if (list_empty(&user->exited))
		list_del(&user->exited_node);
	user->exited_bytes -= state->exited_bytes;
	exited.bytes -= state->exited_bytes;
	exited.nr--;
	ktau_task_put(state);
}

static void add_counts(struct ktau_task *to, const struct ktau_task *from)
{
	to->outer_ticks += from->outer_ticks;
	to->user_ticks += from->user_ticks;
	to->irq_ticks += from->irq_ticks;
	to->runq_ticks += from->runq_ticks;
	to->asleep_ticks += from->asleep_ticks;
	to->guest_ticks += from->guest_ticks;
	to->refused += from->refused;
	to->refused_ticks += from->refused_ticks;
	to->clamped += from->clamped;
	to->lost += from->lost;
	to->owner.nr_tasks += from->owner.nr_tasks;
	to->owner.utime_ns += from->owner.utime_ns;
	to->owner.stime_ns += from->owner.stime_ns;
	to->owner.nvcsw += from->owner.nvcsw;
	to->owner.nivcsw += from->owner.nivcsw;
	to->owner.migrations += from->owner.migrations;
}

/* Add the table of @from to that of @to, which takes the chunks that it lacks. */
static void add_table(struct ktau_task *to, struct ktau_task *from)
{
	long bytes = ktau_table_merge(to, from) * sizeof(struct ktau_chunk);

	atomic_long_add(bytes, &to->bytes);
	atomic_long_sub(bytes, &from->bytes);
	to->exited_bytes += bytes;
	from->exited_bytes -= bytes;
}

/* A reader of @to, who has a reference, copies it again; see ktau_snapshot(). */
static void merge(struct ktau_task *to, struct ktau_task *from)
{
	ktau_add(&to->begin, 1);
	smp_wmb();	/* @begin, then the rest, then @end */
	add_counts(to, from);
	add_table(to, from);
	smp_wmb();	/* see above */
	ktau_add(&to->end, 1);
	to->owner.flags |= KTAU_OWNER_FOLDED;
}

/* @to gets the place of @from, the next one of its process. */
static void move_to(struct ktau_task *to, struct ktau_task *from)
{
	to->owner.dead_seq = from->owner.dead_seq;
	rb_erase(&to->exited_node, &exited.tasks);
	rb_replace_node(&from->exited_node, &to->exited_node, &exited.tasks);
	list_del(&to->of_user);
	list_replace(&from->of_user, &to->of_user);
	list_del_init(&to->foldable);
	if (list_empty(&from->foldable)) {
		hash_del(&from->process_node);
		hash_add(processes, &to->process_node, to->owner.leader_serial);
	} else {
		list_replace_init(&from->foldable, &to->foldable);
	}
	to->next_thread = from->next_thread;
	/* So that @from can be dropped. */
	link_last(from);
	list_add_tail(&from->of_user, &from->user->exited);
}

/*
 * Whether nobody reads @state: a reader who found the task alive would have its
 * reference by now, and others take theirs under the lock.
 */
static bool is_unread(struct ktau_task *state)
{
	return poll_state_synchronize_rcu(state->exited_rcu) &&
	       refcount_read(&state->ref) == 1;
}

/* Fold one record of @user, if there is one to fold and its reader, if any, is gone. */
static bool fold(struct ktau_user *user)
{
	struct ktau_task *older, *newer;
	bool leads;

	older = list_first_entry_or_null(&user->foldable, struct ktau_task,
					 foldable);
	if (!older)
		return false;
	newer = older->next_thread;
	leads = older->owner.tid == older->owner.tgid;
	if (!is_unread(leads ? newer : older))
		return false;
	if (leads) {
		merge(older, newer);
		move_to(older, newer);
		drop(newer);
	} else {
		merge(newer, older);
		drop(older);
	}
	return true;
}

/* Add the oldest record of @user to the sum. */
static void evict(struct ktau_user *user)
{
	struct ktau_task *state = list_first_entry(&user->exited,
						   struct ktau_task, of_user);

	add_counts(exited.evicted, state);
	ktau_table_merge(exited.evicted, state); /* it has all chunks */
	ktau_loss_of(user, KTAU_LOSS_EVICTED, state->owner.nr_tasks);
	drop(state);
}

/* The user who has to pay, if any. */
static struct ktau_user *find_payer(u64 limit)
{
	struct ktau_user *user, *largest = NULL;

	list_for_each_entry(user, &exited.users, exited_node) {
		if (user->exited_bytes > ktau_user_share(user, limit))
			return user;
		if (!largest || user->exited_bytes > largest->exited_bytes)
			largest = user;
	}
	return exited.bytes > limit ? largest : NULL;
}

/*
 * Fold or evict what is too much. @now: evict what can be folded only later, else leave
 * it until then. Returns whether there is more to do.
 */
static bool trim(bool now)
{
	u64 limit = READ_ONCE(ktau_config.exited_limit_bytes);
	struct ktau_user *payer;
	unsigned int i;

	for (i = 0; i < TRIM_STEP; i++) {
		payer = find_payer(limit);
		if (!payer)
			return false;
		if (fold(payer))
			continue;
		if (!now && !list_empty(&payer->foldable))
			return false;
		evict(payer);
	}
	return true;
}

static void trim_all(bool now)
{
	bool more;

	do {
		spin_lock(&exited.lock);
		more = trim(now);
		spin_unlock(&exited.lock);
		cond_resched();
	} while (more);
}

/**
 * ktau_exited_add() - put the state of the current task into the queue
 * @state: the state, with its owner described; the queue takes the reference
 *
 * Context: Task, exiting; may sleep.
 */
void ktau_exited_add(struct ktau_task *state)
{
	u64 limit = READ_ONCE(ktau_config.exited_limit_bytes);
	bool too_much;

	ktau_origin_record(state);
	state->exited_rcu = get_state_synchronize_rcu();
	spin_lock(&exited.lock);
	add(state);
	too_much = exited.bytes > limit ||
		   state->user->exited_bytes > ktau_user_share(state->user, limit);
	spin_unlock(&exited.lock);
	if (too_much)
		trim_all(false);
}

/**
 * ktau_exited_trim() - bring the exited queue in line with its limit
 *
 * Context: May sleep.
 */
void ktau_exited_trim(void)
{
	trim_all(true);
}

/* The first record from @seq on; exited.lock held. */
static struct ktau_task *find_from(u64 seq)
{
	struct rb_node *node = exited.tasks.rb_node;
	struct ktau_task *state, *found = NULL;

	while (node) {
		state = rb_entry(node, struct ktau_task, exited_node);
		if (state->owner.dead_seq >= seq) {
			found = state;
			node = node->rb_left;
		} else {
			node = node->rb_right;
		}
	}
	return found;
}

/**
 * ktau_exited_get() - take a reference to an exited task
 * @seq: number wanted; moved up to the first that is still there
 *
 * Context: Task.
 * Return: Its state, or NULL if there is none from @seq on.
 */
struct ktau_task *ktau_exited_get(u64 *seq)
{
	struct ktau_task *state;

	spin_lock(&exited.lock);
	state = find_from(*seq);
	if (state) {
		*seq = state->owner.dead_seq;
		refcount_inc(&state->ref);
	}
	spin_unlock(&exited.lock);
	return state;
}

/**
 * ktau_exited_owner() - describe an exited task
 * @owner: where it goes
 * @state: its state, held by the caller
 *
 * Context: Task.
 */
void ktau_exited_owner(struct ktau_owner *owner, const struct ktau_task *state)
{
	spin_lock(&exited.lock);
	*owner = state->owner;
	spin_unlock(&exited.lock);
}

/**
 * ktau_exited_next() - number that the next task to exit will get
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

/* exited.lock held. */
static u64 first_kept(void)
{
	struct ktau_task *state = find_from(0);

	return state ? state->owner.dead_seq : exited.next;
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
	first = first_kept();
	spin_unlock(&exited.lock);
	return first;
}

static u32 list_kept(struct ktau_kept *kept, u32 max)
{
	struct ktau_user *user;
	u32 nr = 0;

	list_for_each_entry(user, &exited.users, exited_node) {
		if (nr == max)
			break;
		kept[nr++] = (struct ktau_kept) {
			.uid = user->uid,
			.first = list_first_entry(&user->exited,
						  struct ktau_task,
						  of_user)->owner.dead_seq,
		};
	}
	return nr;
}

/**
 * ktau_evicted_snapshot() - the sum of the exited tasks that are not kept
 * @rec: where it goes
 * @bytes: its room
 * @owner: where its description goes
 * @kept: gets the users who have exited tasks that are kept, and the number of the
 *	first one of each: what is below it, and any other user's, is in the sum
 * @nr: how many users @kept has room for, and then has; or NULL
 *
 * Context: Task.
 * Return: 0, -ENODATA if KTAU was never on, -ENOSPC.
 */
int ktau_evicted_snapshot(struct ktau_rec_profile *rec, size_t bytes,
			  struct ktau_owner *owner, struct ktau_kept *kept,
			  u32 *nr)
{
	int err;

	if (!exited.evicted)
		return -ENODATA;
	spin_lock(&exited.lock);
	err = ktau_snapshot_into(rec, bytes, exited.evicted, NULL);
	*owner = exited.evicted->owner;
	owner->dead_seq = first_kept();
	if (nr)
		*nr = list_kept(kept, *nr);
	spin_unlock(&exited.lock);
	return err;
}

/**
 * ktau_exited_stats() - show counts of exited tasks
 * @m: where
 *
 * Context: Task.
 */
void ktau_exited_stats(struct seq_file *m)
{
	spin_lock(&exited.lock);
	seq_printf(m, "tasks_exited %llu\n", exited.nr);
	seq_printf(m, "tasks_exited_bytes %llu\n", exited.bytes);
	seq_printf(m, "tasks_ever_exited %llu\n", exited.next);
	seq_printf(m, "tasks_evicted %llu\n",
		   exited.evicted ? exited.evicted->owner.nr_tasks : 0);
	spin_unlock(&exited.lock);
}

/**
 * ktau_exited_start() - create the sum of the evicted tasks
 *
 * With room for all events, so that it never needs any where none can be had.
 *
 * Context: May sleep; ktau_mutex held. Can be repeated after a failure.
 * Return: 0 or -ENOMEM.
 */
int ktau_exited_start(void)
{
	struct ktau_task *evicted;

	if (exited.evicted)
		return 0;
	evicted = ktau_task_create(&ktau_system, GFP_KERNEL);
	if (!evicted || !ktau_table_fill(evicted, KTAU_NR_IDS) ||
	    !ktau_times_of_all(evicted)) {
		ktau_task_put(evicted);
		return -ENOMEM;
	}
	evicted->owner.kind = KTAU_OWNER_EVICTED;
	evicted->serial = ktau_serial_next();
	evicted->owner.serial = evicted->serial;
	exited.evicted = evicted;
	return 0;
}
