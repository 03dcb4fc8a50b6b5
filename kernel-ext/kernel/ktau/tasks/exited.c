// SPDX-License-Identifier: GPL-2.0-only
/*
 * KTAU: exited tasks.
 *
 * The state of a task that exits is put into a queue, so that a reader that polls once a
 * second still gets a process that lived for a millisecond.
 *
 * A task notifies its parent before it is switched out for the last time, and only then is
 * its record final. In between the task is "ending": it is in no queue yet, and a reader of
 * exited tasks waits for those that were ending when it began. A task may lose its CPU
 * there for long, so a reader waits at most once for each, and for WAIT_MS in all. It
 * then reports that it has not read them.
 *
 * The queue is bounded. If a user exceeds its share, or if the whole queue is too large, that user
 * or the largest one loses exited tasks of its own, never those of others:
 *
 *  1. Its oldest exited threads are folded into the next exited thread of their process.
 *     In the end there is one record for each process: that of the leader, if the leader
 *     has exited.
 *  2. Then its oldest records are evicted: added to one sum and freed.
 *
 * A trace that will be consumed is kept for a while first.
 *
 * So live tasks, exited tasks and the evicted sum always add up to everything that
 * happened.
 *
 * The record that another one is folded into gets a new number and becomes the newest. So
 * a reader that continues from a number sees the record again unless it has already seen
 * all of it. A reader that finds no record from its number on has seen every record in
 * its current form. At that moment it gets the evicted sum, and the list of tasks known
 * to it that have been folded or evicted; see gone.c.
 */
#include <linux/hashtable.h>
#include <linux/rbtree.h>
#include <linux/rcupdate.h>
#include <linux/sched.h>
#include <linux/seq_file.h>
#include <linux/spinlock.h>
#include <linux/workqueue.h>

#include "base/core.h"
#include "base/origin.h"
#include "base/poll.h"
#include "base/rights.h"
#include "base/user.h"
#include "measure/state.h"
#include "measure/table.h"
#include "measure/times.h"
#include "exited.h"
#include "gone.h"
#include "merge.h"
#include "snapshot.h"

#define TRIM_STEP	64	/* folded or evicted while the lock is held once */
#define WAIT_MS		100	/* that a stream waits for tasks that are ending */
#define TRACE_MS	1000	/* that a task's trace waits for the reader that consumes traces */

/**
 * struct exited_queue - tasks that have exited
 * @lock: guards the queue, the lists in struct ktau_user, and processes
 * @tasks: the records, by number
 * @newest: the last of them
 * @users: users with exited tasks
 * @watches: of streams that may show tasks of any user
 * @ending: tasks that are ending, the oldest first
 * @late: tasks that are ending, for which a reader has waited in vain; in the order of @ending
 * @next_ending: number of the next task that is ending
 * @next: number of the next record
 * @ever: tasks that have exited
 * @nr: number of @tasks
 * @bytes: memory of the records
 * @evicted: the evicted sum
 */
static struct exited_queue {
	spinlock_t lock;	/* the whole queue, see above */
	struct rb_root tasks;
	struct rb_node *newest;
	struct list_head users;
	struct list_head watches;
	struct list_head ending;
	struct list_head late;
	u64 next_ending;
	u64 next;
	u64 ever;
	u64 nr;
	u64 bytes;
	struct ktau_state *evicted;
} exited = {
	.lock = __SPIN_LOCK_UNLOCKED(exited.lock),
	.tasks = RB_ROOT,
	.users = LIST_HEAD_INIT(exited.users),
	.watches = LIST_HEAD_INIT(exited.watches),
	.next = 1,	/* 0 means none */
	.ending = LIST_HEAD_INIT(exited.ending),
	.late = LIST_HEAD_INIT(exited.late),
};

/* The newest record of each process. */
static DEFINE_HASHTABLE(processes, 10);

/*
 * The newest record of the process of @state with the same rights: folding must not join
 * what an exec has separated; see exec.c.
 */
static struct ktau_state *newest_of_process(const struct ktau_state *state)
{
	struct ktau_state *other;
	u64 serial = state->owner.leader_serial;

	hash_for_each_possible(processes, other, process_node, serial)
		if (other->owner.leader_serial == serial && serial &&
		    other->user == state->user &&
		    other->dumpable == state->dumpable &&
		    ktau_rights_equal(&other->rights, &state->rights))
			return other;
	return NULL;
}

/* The functions up to trim() are called with exited.lock held. */

/* Make @state the newest record. */
static void link_last(struct ktau_state *state)
{
	struct rb_node *last = exited.newest;

	state->owner.exited_seq = exited.next++;
	list_add_tail(&state->of_user, &state->user->exited);
	rb_link_node(&state->exited_node, last,
		     last ? &last->rb_right : &exited.tasks.rb_node);
	rb_insert_color(&state->exited_node, &exited.tasks);
	exited.newest = &state->exited_node;
}

static void unlink_record(struct ktau_state *state)
{
	if (exited.newest == &state->exited_node)
		exited.newest = rb_prev(exited.newest);
	rb_erase(&state->exited_node, &exited.tasks);
	list_del(&state->of_user);
}

static void add(struct ktau_state *state)
{
	struct ktau_state *before = newest_of_process(state);
	struct ktau_user *user = state->user;

	state->exited_bytes = atomic_long_read(&state->bytes);
	if (list_empty(&user->exited))
		list_add(&user->exited_node, &exited.users);
	link_last(state);
	INIT_LIST_HEAD(&state->foldable);
	if (before) {
		hash_del(&before->process_node);
		before->next_thread = state;
		list_add_tail(&before->foldable, &user->foldable);
	}
	hash_add(processes, &state->process_node, state->owner.leader_serial);
	user->exited_bytes += state->exited_bytes;
	exited.bytes += state->exited_bytes;
	exited.ever++;
	exited.nr++;
}

/*
 * Remove @state from all lists and drop it, because it has been @evicted or folded. No
 * other record has it as its next thread.
 */
static void drop(struct ktau_state *state, bool evicted)
{
	struct ktau_user *user = state->user;

	ktau_gone_note(&exited.watches, state, evicted);
	ktau_gone_note(&user->watches, state, evicted);
	unlink_record(state);
	RB_CLEAR_NODE(&state->exited_node);
	list_del(&state->foldable);
	hash_del(&state->process_node);
	if (list_empty(&user->exited))
		list_del(&user->exited_node);
	user->exited_bytes -= state->exited_bytes;
	exited.bytes -= state->exited_bytes;
	exited.nr--;
	ktau_state_put(state);
}

/* Let @to take the position of @from, the next one of the process, in its lists. */
static void move_to(struct ktau_state *to, struct ktau_state *from)
{
	list_del_init(&to->foldable);
	if (list_empty(&from->foldable)) {
		hash_del(&from->process_node);
		hash_add(processes, &to->process_node, to->owner.leader_serial);
	} else {
		list_replace_init(&from->foldable, &to->foldable);
	}
	to->next_thread = from->next_thread;
}

/* Make @state the newest record again, because it has changed since it was read. */
static void renumber(struct ktau_state *state)
{
	unlink_record(state);
	link_last(state);
}

/*
 * Whether @state has no readers. One that found the task alive would have its reference
 * by now, and others take theirs under the lock.
 */
static bool is_unread(struct ktau_state *state)
{
	return poll_state_synchronize_rcu(state->exited_rcu) &&
	       refcount_read(&state->ref) == 1;
}

static bool is_leader(const struct ktau_state *state)
{
	return state->owner.tid == state->owner.tgid;
}

/*
 * Whether the reader that consumes traces may still read that of @state. A reader may lose its CPU
 * for long, or never read, so the wait is limited.
 */
static bool has_trace(const struct ktau_state *state)
{
	return state->ring && !READ_ONCE(state->taken) && ktau_is_consumed() &&
	       time_before(jiffies, state->exited_jiffies + msecs_to_jiffies(TRACE_MS));
}

/*
 * Whether @user may keep records beyond its share for now, because the next one to go has a trace
 * that will be consumed, or is to be folded and has readers. Traces may take three quarters of the
 * memory.
 */
static bool is_waiting(struct ktau_user *user, u64 limit)
{
	struct ktau_state *older, *next;

	older = list_first_entry_or_null(&user->foldable, struct ktau_state, foldable);
	if (!older)
		next = list_first_entry(&user->exited, struct ktau_state, of_user);
	else
		next = is_leader(older) ? older->next_thread : older;
	if (has_trace(next) && user->exited_bytes <= ktau_user_limit(user) / 4 * 3 &&
	    exited.bytes <= READ_ONCE(ktau_config.memory_limit_bytes) / 4 * 3)
		return true;
	if (exited.bytes / 2 > limit ||
	    user->exited_bytes / 2 > ktau_user_share(user, limit))
		return false;
	return older && !is_unread(next);
}

/* Fold one record of @user, if there is one to fold and it has no readers. */
static bool fold(struct ktau_user *user)
{
	struct ktau_state *older, *newer;
	bool leads;

	older = list_first_entry_or_null(&user->foldable, struct ktau_state,
					 foldable);
	if (!older)
		return false;
	newer = older->next_thread;
	leads = is_leader(older);
	if (!is_unread(leads ? newer : older))
		return false;
	if (leads) {
		ktau_merge(older, newer);
		move_to(older, newer);
		drop(newer, false);
		renumber(older);
	} else {
		ktau_merge(newer, older);
		drop(older, false);
		renumber(newer);
	}
	return true;
}

/*
 * Add a record of @user to the evicted sum: the next one to fold, or else the oldest one.
 * Another record may have that as its next thread only if it is foldable itself.
 */
static void evict(struct ktau_user *user)
{
	struct ktau_state *state = list_first_entry_or_null(&user->foldable,
							    struct ktau_state, foldable);

	if (!state)
		state = list_first_entry(&user->exited, struct ktau_state, of_user);
	ktau_merge_sum(exited.evicted, state);
	ktau_loss_of(user, KTAU_LOSS_EVICTED, state->owner.nr_tasks);
	drop(state, true);
}

/*
 * The user that must lose records, if any. A user that waits delays no other one, and no other
 * one loses records in its place. @now: no user waits.
 */
static struct ktau_user *find_payer(u64 limit, bool now)
{
	struct ktau_user *user, *largest = NULL;

	list_for_each_entry(user, &exited.users, exited_node) {
		if (user->exited_bytes > ktau_user_share(user, limit) &&
		    (now || !is_waiting(user, limit)))
			return user;
		if (!largest || user->exited_bytes > largest->exited_bytes)
			largest = user;
	}
	if (exited.bytes <= limit || (!now && is_waiting(largest, limit)))
		return NULL;
	return largest;
}

/*
 * Fold or evict records beyond the limits. @now: evict records that can only be folded
 * later, instead of waiting for that. Return: whether there is more to do.
 */
static bool trim(bool now)
{
	u64 limit = READ_ONCE(ktau_config.exited_limit_bytes);
	struct ktau_user *payer;
	unsigned int i;

	for (i = 0; i < TRIM_STEP; i++) {
		payer = find_payer(limit, now);
		if (!payer)
			return false;
		if (!fold(payer))
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

/* Whether there is too much in the queue, or of the user of @state. exited.lock held. */
static bool is_over(const struct ktau_state *state)
{
	u64 limit = READ_ONCE(ktau_config.exited_limit_bytes);

	return exited.bytes > limit ||
	       state->user->exited_bytes > ktau_user_share(state->user, limit);
}

static void trim_later(struct work_struct *unused);

static DECLARE_WORK(trim_work, trim_later);
static DECLARE_DELAYED_WORK(trim_again, trim_later);

/* Users that wait will lose records soon, so wake the reader that consumes traces. */
static void trim_later(struct work_struct *unused)
{
	bool waits;

	trim_all(false);
	spin_lock(&exited.lock);
	waits = find_payer(READ_ONCE(ktau_config.exited_limit_bytes), true);
	spin_unlock(&exited.lock);
	if (!waits)
		return;
	ktau_poll_wake();
	schedule_delayed_work(&trim_again, msecs_to_jiffies(WAIT_MS));
}

/**
 * ktau_exited_add() - put a state into the queue
 * @state: the state, with its owner described; the queue takes over the reference
 *
 * Context: Task, at an exec that ends its profile; may sleep.
 */
void ktau_exited_add(struct ktau_state *state)
{
	bool over;

	ktau_origin_record(state);
	state->exited_rcu = get_state_synchronize_rcu();
	state->exited_jiffies = jiffies;
	spin_lock(&exited.lock);
	add(state);
	over = is_over(state);
	spin_unlock(&exited.lock);
	if (over)
		trim_later(NULL);
}

/**
 * ktau_exited_announce() - the current task will be in the queue soon
 * @state: its state, with its owner described; a number is not assigned yet
 *
 * Context: Task, before its parent is notified; may sleep. ktau_exited_end() follows.
 */
void ktau_exited_announce(struct ktau_state *state)
{
	bool over;

	ktau_origin_record(state);
	spin_lock(&exited.lock);
	state->owner.exited_seq = exited.next_ending++;
	list_add_tail(&state->of_user, &exited.ending);
	over = is_over(state);
	spin_unlock(&exited.lock);
	/* If tasks end faster than the work below runs, they do it themselves. */
	if (over)
		trim_all(false);
}

/**
 * ktau_exited_end() - put the state of a task that has ended into the queue
 * @state: its state, final; the queue takes over the reference
 *
 * Context: Task, preemption may be disabled.
 */
void ktau_exited_end(struct ktau_state *state)
{
	bool over;

	state->exited_rcu = get_state_synchronize_rcu();
	state->exited_jiffies = jiffies;
	spin_lock(&exited.lock);
	list_del(&state->of_user);
	add(state);
	over = is_over(state);
	spin_unlock(&exited.lock);
	if (over)
		schedule_work(&trim_work);
}

/**
 * ktau_exited_wait_begin() - which tasks a reader waits for
 * @wait: set to those that are ending now
 *
 * Context: Task.
 */
void ktau_exited_wait_begin(struct ktau_exited_wait *wait)
{
	spin_lock(&exited.lock);
	wait->until = exited.next_ending;
	spin_unlock(&exited.lock);
	wait->timeout = jiffies + msecs_to_jiffies(WAIT_MS);
}

/**
 * ktau_exited_wait() - whether tasks are ending that a reader must wait for
 * @wait: those that were ending when the reader began
 *
 * Context: Task. A reader that waits must let other tasks run.
 * Return: Whether one of them still is, and the reader has not waited for too long.
 */
bool ktau_exited_wait(const struct ktau_exited_wait *wait)
{
	struct ktau_state *state, *next;
	bool waits = false;

	spin_lock(&exited.lock);
	list_for_each_entry_safe(state, next, &exited.ending, of_user) {
		if (state->owner.exited_seq >= wait->until)
			break;
		waits = time_before(jiffies, wait->timeout);
		if (waits)
			break;
		list_move_tail(&state->of_user, &exited.late);
	}
	spin_unlock(&exited.lock);
	return waits;
}

/**
 * ktau_exited_late() - number of tasks for which readers have waited in vain
 *
 * Context: Task.
 * Return: How many of them are still ending.
 */
u64 ktau_exited_late(void)
{
	struct ktau_state *state;
	u64 nr = 0;

	spin_lock(&exited.lock);
	list_for_each_entry(state, &exited.late, of_user)
		nr++;
	spin_unlock(&exited.lock);
	return nr;
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

/* The first record from @seq on. exited.lock held. */
static struct ktau_state *find_from(u64 seq)
{
	struct rb_node *node = exited.tasks.rb_node;
	struct ktau_state *state, *found = NULL;

	while (node) {
		state = rb_entry(node, struct ktau_state, exited_node);
		if (state->owner.exited_seq >= seq) {
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
 * @seq: number to start from; set to that of the record found
 *
 * Context: Task.
 * Return: Its state, or NULL if there is none from @seq on.
 */
struct ktau_state *ktau_exited_get(u64 *seq)
{
	struct ktau_state *state;

	spin_lock(&exited.lock);
	state = find_from(*seq);
	if (state) {
		*seq = state->owner.exited_seq;
		refcount_inc(&state->ref);
	}
	spin_unlock(&exited.lock);
	return state;
}

/**
 * ktau_exited_owner() - describe an exited task
 * @owner: receives the description
 * @state: its state, held by the caller
 *
 * Context: Task.
 */
void ktau_exited_owner(struct ktau_owner *owner, const struct ktau_state *state)
{
	spin_lock(&exited.lock);
	*owner = state->owner;
	spin_unlock(&exited.lock);
}

/**
 * ktau_exited_next() - the number of the next record
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
	struct ktau_state *state = find_from(0);

	return state ? state->owner.exited_seq : exited.next;
}

/**
 * ktau_exited_bounds() - the numbers of the oldest exited task and of the next record
 * @first: receives that of the oldest one; equal to @next if the queue is empty
 * @next: receives that of the next record
 *
 * Context: Task.
 */
void ktau_exited_bounds(u64 *first, u64 *next)
{
	spin_lock(&exited.lock);
	*first = first_kept();
	*next = exited.next;
	spin_unlock(&exited.lock);
}

/**
 * ktau_exited_show() - note that a stream is about to show an exited task
 * @watch: of the stream, locked; NULL if the stream does not watch the task
 * @state: the task's state, held
 *
 * Context: May sleep.
 * Return: Whether the task is still in the queue; otherwise it has been folded or
 * evicted. Without memory the task is not noted, which END reports.
 */
bool ktau_exited_show(struct ktau_watch *watch, struct ktau_state *state)
{
	bool kept, noted;

	noted = watch && !xa_reserve(&watch->known, state->serial, GFP_KERNEL_ACCOUNT);
	spin_lock(&exited.lock);
	kept = !RB_EMPTY_NODE(&state->exited_node);
	if (noted && kept)
		xa_store(&watch->known, state->serial, xa_mk_value(1), GFP_NOWAIT);
	else if (noted)
		xa_release(&watch->known, state->serial);
	else if (watch && kept)
		watch->unlisted++;
	spin_unlock(&exited.lock);
	return kept;
}

/* exited.lock held. */
static int copy_evicted(struct ktau_settle *settle)
{
	int err;

	if (!exited.evicted) {
		settle->evicted = NULL;
		return 0;
	}
	err = ktau_snapshot_into(settle->evicted, settle->bytes, exited.evicted,
				 NULL);
	*settle->owner = exited.evicted->owner;
	settle->owner->exited_seq = first_kept();
	return err;
}

/**
 * ktau_exited_settle() - finish reading exited tasks
 * @settle: request and results; @evicted becomes NULL if there is no sum; with -ENOSPC,
 *	@nr is the room needed
 *
 * All results are of one moment, at which no exited task is left to read.
 *
 * Context: Task.
 * Return: 0; 1 if there is another exited task to read first; -ENOSPC.
 */
int ktau_exited_settle(struct ktau_settle *settle)
{
	const struct ktau_watch *watch = settle->watch;
	int ret = 1;

	spin_lock(&exited.lock);
	if (settle->exited && find_from(settle->next))
		goto out;
	ret = -ENOSPC;
	settle->nr = watch ? watch->nr_gone : 0;
	if (settle->nr > settle->room)
		goto out;
	ret = settle->evicted ? copy_evicted(settle) : 0;
	if (ret)
		goto out;
	if (watch)
		ktau_gone_take(settle);
	settle->next = exited.next;
	settle->first = first_kept();
out:
	spin_unlock(&exited.lock);
	return ret;
}

/**
 * ktau_exited_settled() - forget what a complete stream has reported
 * @watch: of the stream, locked
 * @settle: of the stream
 *
 * Context: Task.
 */
void ktau_exited_settled(struct ktau_watch *watch, const struct ktau_settle *settle)
{
	spin_lock(&exited.lock);
	ktau_gone_taken(watch, settle);
	spin_unlock(&exited.lock);
}

/**
 * ktau_exited_watch() - start marking the tasks of a stream that are folded or evicted
 * @watch: of the stream, locked
 * @user: the user whose tasks it shows; NULL for all users
 * @sums: the stream has the evicted sum
 *
 * May be repeated.
 *
 * Context: Task.
 */
void ktau_exited_watch(struct ktau_watch *watch, struct ktau_user *user, bool sums)
{
	spin_lock(&exited.lock);
	watch->sums = sums;
	if (list_empty(&watch->node)) {
		watch->from = exited.next;
		watch->wide = !user;
		list_add(&watch->node, user ? &user->watches : &exited.watches);
	}
	spin_unlock(&exited.lock);
}

/**
 * ktau_exited_unwatch() - undo ktau_exited_watch()
 * @watch: of a stream that is being closed
 *
 * Context: Task.
 */
void ktau_exited_unwatch(struct ktau_watch *watch)
{
	spin_lock(&exited.lock);
	list_del_init(&watch->node);
	spin_unlock(&exited.lock);
	ktau_gone_forget(watch);
}

/**
 * ktau_exited_stats() - show counts of exited tasks
 * @m: the file /proc/ktau/stats
 *
 * Context: Task.
 */
void ktau_exited_stats(struct seq_file *m)
{
	u64 nr, bytes, ever, evicted;

	spin_lock(&exited.lock);
	nr = exited.nr;
	bytes = exited.bytes;
	ever = exited.ever;
	evicted = exited.evicted ? exited.evicted->owner.nr_tasks : 0;
	spin_unlock(&exited.lock);
	seq_printf(m, "tasks_exited %llu\n", nr);
	seq_printf(m, "tasks_exited_bytes %llu\n", bytes);
	seq_printf(m, "tasks_ever_exited %llu\n", ever);
	seq_printf(m, "tasks_evicted %llu\n", evicted);
}

/**
 * ktau_exited_start() - create the evicted sum
 *
 * It has all chunks from the start, because none can be allocated when tasks are evicted.
 *
 * Context: May sleep; ktau_mutex held. May be repeated after a failure.
 * Return: 0 or -ENOMEM.
 */
int ktau_exited_start(void)
{
	struct ktau_state *evicted;

	if (exited.evicted)
		return 0;
	evicted = ktau_state_create(&ktau_system, GFP_KERNEL);
	if (!evicted || !ktau_table_fill(evicted, KTAU_NR_IDS) ||
	    !ktau_times_of_all(evicted)) {
		ktau_state_put(evicted);
		return -ENOMEM;
	}
	evicted->owner.kind = KTAU_OWNER_EVICTED;
	evicted->serial = ktau_serial_next();
	evicted->owner.serial = evicted->serial;
	exited.evicted = evicted;
	return 0;
}
