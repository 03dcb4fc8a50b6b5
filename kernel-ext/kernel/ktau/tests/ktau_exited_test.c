// SPDX-License-Identifier: GPL-2.0-only
/*
 * KTAU: tests of the exited queue, run by KUnit at boot: folding, evicting, and the
 * namespaces of exited tasks. Here the tests put states into the queue; tasks that really
 * exit are in ktau_test.c.
 */
#include <linux/pid_namespace.h>
#include <linux/rcupdate_wait.h>
#include <linux/user_namespace.h>

#include "base/memory.h"
#include "base/origin.h"
#include "base/poll.h"
#include "base/user.h"
#include "measure/table.h"
#include "measure/trace.h"
#include "tasks/exited.h"
#include "tasks/gone.h"
#include "tasks/snapshot.h"
#include "ktau_test.h"

#define ID_A	100	/* in one chunk */
#define ID_B	101
#define ID_C	300	/* in another chunk */
#define ID_D	(KTAU_NR_IDS - 1) /* in a chunk of a directory */
#define ID_E	(KTAU_NR_IDS - 20) /* in another chunk of that directory */

/* Serials that no task has. */
#define LEADER_SERIAL	BIT_ULL(40)

static const kuid_t uid_a = KUIDT_INIT(54331);
static const kuid_t uid_b = KUIDT_INIT(54332);

struct fixture {
	struct ktau_user *a, *b;
	struct ktau_rec_profile *rec;
	struct ktau_owner owner;	/* owner of @rec */
	u64 seq;		/* records of the test are not below it */
	u64 evicted;
	pid_t tgid;
	struct ktau_watch watch;
	u64 gone[8];
	u32 nr_gone, nr_folded;
	u64 missed, unlisted;
};

/*
 * Finish a stream that has read the exited tasks below @next, and note which are gone.
 * Return: whether there is none from @next on.
 */
static bool settle(struct kunit *test, u64 next)
{
	struct fixture *f = test->priv;
	struct ktau_settle settle = {
		.exited = true, .next = next, .watch = &f->watch, .gone = f->gone,
		.room = ARRAY_SIZE(f->gone), .evicted = f->rec,
		.bytes = KTAU_SNAPSHOT_BYTES, .owner = &f->owner,
	};
	int ret = ktau_exited_settle(&settle);

	KUNIT_EXPECT_TRUE(test, ret == 0 || ret == 1);
	if (ret)
		return false;
	f->nr_gone = settle.nr;
	f->nr_folded = settle.nr_folded;
	f->missed = settle.missed;
	f->unlisted = settle.unlisted;
	ktau_exited_settled(&f->watch, &settle);
	return true;
}

static u64 evicted_count(struct kunit *test)
{
	struct fixture *f = test->priv;

	KUNIT_EXPECT_TRUE(test, settle(test, U64_MAX));
	expect_identity(test, f->rec);
	return find(f->rec, ID_A)->count - f->evicted;
}

static int exited_init(struct kunit *test)
{
	struct fixture *f = kunit_kzalloc(test, sizeof(*f), GFP_KERNEL);

	KUNIT_ASSERT_NOT_NULL(test, f);
	test->priv = f;
	f->rec = kvzalloc(KTAU_SNAPSHOT_BYTES, GFP_KERNEL);
	f->a = ktau_user_find(uid_a);
	f->b = ktau_user_find(uid_b);
	f->tgid = 20000;
	KUNIT_ASSERT_NOT_NULL(test, f->rec);
	KUNIT_ASSERT_NOT_NULL(test, f->a);
	KUNIT_ASSERT_NOT_NULL(test, f->b);
	KUNIT_ASSERT_EQ(test, control("groups=syscall"), 0);
	KUNIT_ASSERT_EQ(test, control("groups=none exited_limit=0"), 0);
	KUNIT_ASSERT_EQ(test, control("exited_limit=16M"), 0);
	INIT_LIST_HEAD(&f->watch.node);
	f->watch.user = f->b;
	xa_init(&f->watch.known);
	/* Until RCU has freed the states of earlier tests, their users are charged for them. */
	rcu_barrier();
	f->evicted = evicted_count(test);
	f->seq = ktau_exited_next();
	return 0;
}

static void exited_exit(struct kunit *test)
{
	struct fixture *f = test->priv;

	KUNIT_EXPECT_EQ(test, control("exited_limit=0"), 0);
	KUNIT_EXPECT_EQ(test, control("exited_limit=16M"), 0);
	KUNIT_EXPECT_EQ(test, f->a->exited_bytes, 0ULL);
	KUNIT_EXPECT_EQ(test, f->b->exited_bytes, 0ULL);
	ktau_exited_unwatch(&f->watch);
	ktau_user_put(f->a);
	ktau_user_put(f->b);
	kvfree(f->rec);
}

/* One activation of one tick. */
static void account(struct ktau_state *state, unsigned int id)
{
	ktau_table_account(state, id, 1, 1, true);
	state->outer_ticks++;
}

/* A thread of process @tgid with one activation each of ID_A and @id. */
static struct ktau_state *thread(struct kunit *test, struct ktau_user *user, pid_t tgid,
				 pid_t tid, unsigned int id)
{
	struct ktau_state *state = ktau_state_create(user, GFP_KERNEL);

	KUNIT_ASSERT_NOT_NULL(test, state);
	ktau_reserve_fill();
	account(state, ID_A);
	account(state, id);
	state->owner.kind = KTAU_OWNER_EXITED;
	state->owner.tgid = tgid;
	state->owner.tid = tid;
	state->serial = ktau_serial_next();
	state->owner.serial = state->serial;
	state->owner.leader_serial = LEADER_SERIAL + tgid;
	state->owner.nr_tasks = 1;
	state->owner.utime_ns = 1;
	state->dumpable = true;
	return state;
}

/* Queue such a thread. */
static void exits(struct kunit *test, struct ktau_user *user, pid_t tgid, pid_t tid,
		  unsigned int id)
{
	ktau_exited_add(thread(test, user, tgid, tid, id));
}

/* Copy the n-th record of the test. Return: the copy, NULL if there are fewer. */
static const struct ktau_rec_profile *record(struct kunit *test, unsigned int n)
{
	struct fixture *f = test->priv;
	struct ktau_state *state;
	u64 seq = f->seq;

	for (;; seq++) {
		state = ktau_exited_get(&seq);
		if (!state)
			return NULL;
		if (!n--)
			break;
		ktau_state_put(state);
	}
	KUNIT_EXPECT_EQ(test, ktau_snapshot(f->rec, state, NULL), 0);
	expect_identity(test, f->rec);
	ktau_exited_owner(&f->owner, state);
	ktau_state_put(state);
	return f->rec;
}

static unsigned int count_records(struct fixture *f)
{
	struct ktau_state *state;
	unsigned int nr = 0;
	u64 seq;

	for (seq = f->seq; (state = ktau_exited_get(&seq)); seq++, nr++)
		ktau_state_put(state);
	return nr;
}

/* Limit the share of each user in the queue to @bytes. */
static void set_share(struct kunit *test, u64 bytes)
{
	char words[32];

	/*
	 * Wait until queued tasks can be folded, that is, for a normal grace period.
	 * During boot synchronize_rcu() does not wait for one.
	 */
	wait_rcu_gp(call_rcu);
	snprintf(words, sizeof(words), "exited_limit=%llu", 4 * bytes);
	KUNIT_EXPECT_EQ(test, control(words), 0);
}

/* Threads are folded into the next one of their process, the oldest first. */
static void threads_folded(struct kunit *test)
{
	struct fixture *f = test->priv;
	const struct ktau_rec_profile *rec;
	unsigned int i;
	u64 two;

	for (i = 1; i <= 3; i++)	/* no leader among them */
		exits(test, f->a, f->tgid, f->tgid + i, i % 2 ? ID_B : ID_C);
	KUNIT_EXPECT_EQ(test, count_records(f), 3U);
	/* Room for two of the three. */
	two = f->a->exited_bytes - 1;
	set_share(test, two);
	KUNIT_EXPECT_EQ(test, count_records(f), 2U);
	rec = record(test, 0);
	KUNIT_ASSERT_NOT_NULL(test, rec);
	KUNIT_EXPECT_EQ(test, f->owner.nr_tasks, 1ULL);
	/* Readers see the record that another one was folded into again. */
	rec = record(test, 1);
	KUNIT_ASSERT_NOT_NULL(test, rec);
	KUNIT_EXPECT_EQ(test, f->owner.nr_tasks, 2ULL);
	KUNIT_EXPECT_EQ(test, f->owner.tid, f->tgid + 2);
	KUNIT_EXPECT_EQ(test, f->owner.exited_seq, f->seq + 3);
	KUNIT_EXPECT_EQ(test, f->owner.utime_ns, 2ULL);
	KUNIT_EXPECT_EQ(test, find(rec, ID_A)->count, 2ULL);
	KUNIT_EXPECT_EQ(test, find(rec, ID_B)->count, 1ULL);
	KUNIT_EXPECT_EQ(test, find(rec, ID_C)->count, 1ULL);
	KUNIT_EXPECT_EQ(test, evicted_count(test), 0ULL);
}

/*
 * The record of a process is that of the leader, whatever its position among the threads.
 */
static void leader(struct kunit *test)
{
	static const pid_t order[][3] = { { 0, 1, 2 }, { 1, 0, 2 }, { 1, 2, 0 } };
	struct fixture *f = test->priv;
	const struct ktau_rec_profile *rec;
	unsigned int i, k;
	u64 one;

	for (i = 0; i < ARRAY_SIZE(order); i++) {
		f->seq = ktau_exited_next();
		f->tgid += 10;
		exits(test, f->a, f->tgid, f->tgid + order[i][0], ID_B);
		one = f->a->exited_bytes;
		for (k = 1; k < 3; k++)
			exits(test, f->a, f->tgid, f->tgid + order[i][k], ID_B);
		set_share(test, one);
		KUNIT_EXPECT_EQ(test, count_records(f), 1U);
		rec = record(test, 0);
		KUNIT_ASSERT_NOT_NULL(test, rec);
		KUNIT_EXPECT_EQ(test, f->owner.nr_tasks, 3ULL);
		KUNIT_EXPECT_EQ(test, f->owner.tid, f->tgid);
		KUNIT_EXPECT_EQ(test, f->owner.exited_seq, f->seq + 4);
		KUNIT_EXPECT_EQ(test, find(rec, ID_A)->count, 3ULL);
		KUNIT_EXPECT_EQ(test, find(rec, ID_B)->count, 3ULL);
		KUNIT_EXPECT_EQ(test, control("exited_limit=0"), 0);
		KUNIT_EXPECT_EQ(test, control("exited_limit=16M"), 0);
	}
}

/* Chunks are moved with their directory, or added one by one. */
static void directories(struct kunit *test)
{
	static const unsigned int ids[] = { ID_D, ID_B, ID_E, ID_D };
	struct fixture *f = test->priv;
	const struct ktau_rec_profile *rec;
	unsigned int i;

	for (i = 0; i < ARRAY_SIZE(ids); i++)
		exits(test, f->a, f->tgid, f->tgid + 1 + i, ids[i]);
	/* Room for one. */
	set_share(test, sizeof(struct ktau_state) + 8 * sizeof(struct ktau_chunk));
	KUNIT_EXPECT_EQ(test, count_records(f), 1U);
	rec = record(test, 0);
	KUNIT_ASSERT_NOT_NULL(test, rec);
	KUNIT_EXPECT_EQ(test, f->owner.nr_tasks, 4ULL);
	KUNIT_EXPECT_EQ(test, find(rec, ID_A)->count, 4ULL);
	KUNIT_EXPECT_EQ(test, find(rec, ID_B)->count, 1ULL);
	KUNIT_EXPECT_EQ(test, find(rec, ID_D)->count, 2ULL);
	KUNIT_EXPECT_EQ(test, find(rec, ID_E)->count, 1ULL);
}

/*
 * Only tasks of the user that exceeds its share are evicted, however old the others are.
 */
static void eviction_by_user(struct kunit *test)
{
	struct fixture *f = test->priv;
	const struct ktau_rec_profile *rec;
	u64 one;
	u32 i;

	exits(test, f->b, f->tgid, f->tgid, ID_B);
	one = f->b->exited_bytes;
	for (i = 1; i <= 20; i++)
		exits(test, f->a, f->tgid + i, f->tgid + i, ID_B);
	set_share(test, 5 * one);
	KUNIT_EXPECT_EQ(test, count_records(f), 6U);
	rec = record(test, 0);
	KUNIT_ASSERT_NOT_NULL(test, rec);
	KUNIT_EXPECT_EQ(test, f->owner.tid, f->tgid);
	rec = record(test, 1);
	KUNIT_ASSERT_NOT_NULL(test, rec);
	KUNIT_EXPECT_EQ(test, f->owner.tid, f->tgid + 16);
	KUNIT_EXPECT_EQ(test, evicted_count(test), 15ULL);
	/* With another exit, another task of the same user is evicted. */
	synchronize_rcu();
	exits(test, f->a, f->tgid + 21, f->tgid + 21, ID_B);
	KUNIT_EXPECT_EQ(test, count_records(f), 6U);
	KUNIT_EXPECT_EQ(test, evicted_count(test), 16ULL);
	KUNIT_EXPECT_NOT_NULL(test, record(test, 0));
	KUNIT_EXPECT_EQ(test, f->owner.tid, f->tgid);
}

/*
 * A leader into which a thread was folded is the newest record, and its next thread an older
 * one. If that has readers while the queue must shrink at once, it must not be evicted: the
 * leader refers to it.
 */
static void eviction_of_chain(struct kunit *test)
{
	struct fixture *f = test->priv;
	struct ktau_state *held;
	u64 seq = f->seq + 2, one;
	unsigned int i;

	for (i = 0; i < 4; i++)
		exits(test, f->a, f->tgid, f->tgid + i, ID_B);
	one = f->a->exited_bytes / 4;
	held = ktau_exited_get(&seq);
	KUNIT_ASSERT_NOT_NULL(test, held);
	KUNIT_EXPECT_EQ(test, held->owner.tid, f->tgid + 2);
	set_share(test, 2 * one);
	KUNIT_EXPECT_EQ(test, count_records(f), 2U);
	KUNIT_EXPECT_EQ(test, evicted_count(test), 2ULL);
	set_share(test, one);
	KUNIT_EXPECT_EQ(test, count_records(f), 1U);
	KUNIT_EXPECT_EQ(test, evicted_count(test), 3ULL);
	KUNIT_EXPECT_NOT_NULL(test, record(test, 0));
	KUNIT_EXPECT_EQ(test, f->owner.tid, f->tgid + 3);
	KUNIT_EXPECT_EQ(test, f->owner.nr_tasks, 1ULL);
	ktau_state_put(held);
}

/*
 * A record with a reader is not folded, but only delays its own user, and not beyond twice
 * the share.
 */
static void held_by_reader(struct kunit *test)
{
	struct fixture *f = test->priv;
	struct ktau_state *held;
	unsigned int i;
	u64 seq, one;

	exits(test, f->b, f->tgid, f->tgid, ID_B);
	one = f->b->exited_bytes;
	set_share(test, 2 * one);
	seq = ktau_exited_next();
	exits(test, f->a, f->tgid + 1, f->tgid + 2, ID_B);
	held = ktau_exited_get(&seq);
	KUNIT_ASSERT_NOT_NULL(test, held);
	for (i = 0; i < 2; i++)
		exits(test, f->a, f->tgid + 1, f->tgid + 3 + i, ID_B);
	wait_rcu_gp(call_rcu);
	exits(test, f->a, f->tgid + 1, f->tgid + 5, ID_B);
	KUNIT_EXPECT_EQ(test, f->a->exited_bytes, 4 * one);
	for (i = 0; i < 4; i++)
		exits(test, f->b, f->tgid + 10 + i, f->tgid + 10 + i, ID_B);
	KUNIT_EXPECT_EQ(test, f->b->exited_bytes, 2 * one);
	KUNIT_EXPECT_EQ(test, f->a->exited_bytes, 4 * one);
	KUNIT_EXPECT_EQ(test, evicted_count(test), 3ULL);
	exits(test, f->a, f->tgid + 1, f->tgid + 6, ID_B);
	KUNIT_EXPECT_LE(test, f->a->exited_bytes, 4 * one);
	KUNIT_EXPECT_EQ(test, evicted_count(test), 4ULL);
	ktau_state_put(held);
}

/* Queue a thread with a trace that nobody has read. Return: its state, held. */
static struct ktau_state *exits_traced(struct kunit *test, pid_t tid)
{
	struct fixture *f = test->priv;
	struct ktau_state *state = thread(test, f->a, tid, tid, ID_B);

	state->ring = ktau_ring_create(f->a, 64, GFP_KERNEL);
	KUNIT_ASSERT_NOT_NULL(test, state->ring);
	atomic_long_add(ktau_ring_bytes(64), &state->bytes);
	refcount_inc(&state->ref);
	ktau_exited_add(state);
	return state;
}

/*
 * A trace beyond the share of its user waits until it has been consumed, and for a second at most;
 * not if nobody consumes traces. What another user has meanwhile is not evicted for it.
 */
static void traced(struct kunit *test)
{
	struct fixture *f = test->priv;
	struct ktau_state *state[3];
	unsigned int i;

	exits(test, f->b, f->tgid, f->tgid, ID_B);
	KUNIT_EXPECT_EQ(test, ktau_consume(f, true), 0);
	set_share(test, f->b->exited_bytes);
	for (i = 0; i < ARRAY_SIZE(state); i++)
		state[i] = exits_traced(test, f->tgid + 1 + i);
	KUNIT_EXPECT_EQ(test, count_records(f), 4U);
	WRITE_ONCE(state[0]->taken, true);
	exits(test, f->b, f->tgid, f->tgid, ID_B);
	KUNIT_EXPECT_TRUE(test, RB_EMPTY_NODE(&state[0]->exited_node));
	KUNIT_EXPECT_FALSE(test, RB_EMPTY_NODE(&state[1]->exited_node));
	for (i = 0; i < 20 && !RB_EMPTY_NODE(&state[2]->exited_node); i++)
		msleep(100);
	KUNIT_EXPECT_GE(test, i, 5U);
	KUNIT_EXPECT_LT(test, i, 20U);
	KUNIT_EXPECT_EQ(test, f->a->exited_bytes, 0ULL);
	KUNIT_EXPECT_EQ(test, ktau_consume(f, false), 0);
	for (i = 0; i < ARRAY_SIZE(state); i++)
		ktau_state_put(state[i]);
	state[0] = exits_traced(test, f->tgid);
	KUNIT_EXPECT_TRUE(test, RB_EMPTY_NODE(&state[0]->exited_node));
	ktau_state_put(state[0]);
}

/* Traces that wait have at most three quarters of what their user may have in all. */
static void traced_bound(struct kunit *test)
{
	struct fixture *f = test->priv;
	const u64 limit = ktau_config.memory_limit_bytes;
	struct ktau_state *state, *later;
	char words[40];

	later = thread(test, f->a, f->tgid + 1, f->tgid + 1, ID_B);
	KUNIT_EXPECT_EQ(test, ktau_consume(f, true), 0);
	set_share(test, 1);
	state = exits_traced(test, f->tgid);
	KUNIT_EXPECT_FALSE(test, RB_EMPTY_NODE(&state->exited_node));
	snprintf(words, sizeof(words), "memory_limit=%llu", 4 * state->exited_bytes);
	KUNIT_EXPECT_EQ(test, control(words), 0);
	ktau_exited_add(later);
	KUNIT_EXPECT_TRUE(test, RB_EMPTY_NODE(&state->exited_node));
	snprintf(words, sizeof(words), "memory_limit=%llu", limit);
	KUNIT_EXPECT_EQ(test, control(words), 0);
	KUNIT_EXPECT_EQ(test, ktau_consume(f, false), 0);
	ktau_state_put(state);
}

/* Read all records from @seq on as a stream does. Return: where to continue. */
static u64 show(struct kunit *test, u64 seq)
{
	struct fixture *f = test->priv;
	struct ktau_state *state;

	for (; (state = ktau_exited_get(&seq)); seq++) {
		KUNIT_EXPECT_TRUE(test, ktau_exited_show(&f->watch, state));
		ktau_state_put(state);
	}
	return seq;
}

static u64 serial_of(struct kunit *test, unsigned int n)
{
	struct fixture *f = test->priv;

	return record(test, n) ? f->owner.serial : 0;
}

/*
 * A stream reports once which of the tasks that it has shown were folded or evicted, and
 * how many were evicted before it showed them.
 */
static void gone_reported(struct kunit *test)
{
	struct fixture *f = test->priv;
	u64 next, one, alive, first, third;

	ktau_exited_watch(&f->watch, f->a, true);
	alive = ktau_serial_next();
	KUNIT_EXPECT_EQ(test, ktau_gone_know(&f->watch, alive), 0);
	exits(test, f->a, f->tgid, f->tgid + 1, ID_B);	/* to be folded */
	one = f->a->exited_bytes;
	exits(test, f->a, f->tgid, f->tgid + 2, ID_B);
	exits(test, f->a, f->tgid + 5, f->tgid + 5, ID_B);	/* to be evicted */
	exits(test, f->b, f->tgid + 6, f->tgid + 6, ID_B);	/* stays */
	first = serial_of(test, 0);
	third = serial_of(test, 2);
	next = show(test, f->seq);
	KUNIT_EXPECT_TRUE(test, settle(test, next));
	KUNIT_EXPECT_EQ(test, f->nr_gone, 0U);

	set_share(test, 3 * one - 1);
	KUNIT_EXPECT_FALSE(test, settle(test, next));	/* the record folded into is shown again */
	KUNIT_EXPECT_EQ(test, show(test, next), next + 1);
	set_share(test, one);
	KUNIT_EXPECT_TRUE(test, settle(test, next + 1));
	KUNIT_ASSERT_EQ(test, f->nr_gone, 2U);
	KUNIT_EXPECT_EQ(test, f->nr_folded, 1U);
	KUNIT_EXPECT_EQ(test, f->gone[0], first);
	KUNIT_EXPECT_EQ(test, f->gone[1], third);
	KUNIT_EXPECT_EQ(test, f->missed, 0ULL);
	KUNIT_EXPECT_TRUE(test, settle(test, next + 1));
	KUNIT_EXPECT_EQ(test, f->nr_gone, 0U);

	/* Not shown; the folded record is evicted before them. */
	exits(test, f->a, f->tgid + 7, f->tgid + 7, ID_B);
	exits(test, f->a, f->tgid + 8, f->tgid + 8, ID_B);
	KUNIT_EXPECT_EQ(test, control("exited_limit=0"), 0);
	KUNIT_EXPECT_TRUE(test, settle(test, U64_MAX));
	KUNIT_EXPECT_EQ(test, f->nr_gone, 1U);
	KUNIT_EXPECT_EQ(test, f->missed, 2ULL);

	/* A stream without the evicted sum keeps them. */
	KUNIT_EXPECT_EQ(test, control("exited_limit=16M"), 0);
	ktau_exited_watch(&f->watch, f->a, false);
	exits(test, f->a, f->tgid, f->tgid + 1, ID_B);
	show(test, f->seq);
	KUNIT_EXPECT_EQ(test, control("exited_limit=0"), 0);
	KUNIT_EXPECT_TRUE(test, settle(test, U64_MAX));
	KUNIT_EXPECT_EQ(test, f->nr_gone, 0U);
	KUNIT_EXPECT_NOT_NULL(test, xa_load(&f->watch.known, alive));
}

/*
 * A serial that a stream has yet to list is charged to the user of the stream until it
 * is listed. Beyond the share of that user serials are dropped, and counted.
 */
static void charged(struct kunit *test)
{
	const size_t serial = sizeof(struct xa_node);
	struct fixture *f = test->priv;
	u64 share = ktau_user_limit(f->b);
	unsigned int i;
	long others;

	ktau_exited_watch(&f->watch, f->a, true);
	for (i = 0; i < 6; i++)
		exits(test, f->a, f->tgid + i, f->tgid + i, ID_B);
	show(test, f->seq);
	/* Room for two. */
	others = share - atomic_long_read(&f->b->bytes) - 2 * serial;
	KUNIT_ASSERT_TRUE(test, ktau_charge(f->b, others));
	KUNIT_EXPECT_EQ(test, control("exited_limit=0"), 0);
	KUNIT_EXPECT_EQ(test, f->watch.nr_gone, 2U);
	KUNIT_EXPECT_EQ(test, (u64)atomic_long_read(&f->b->bytes), share);
	KUNIT_EXPECT_TRUE(test, settle(test, U64_MAX));
	KUNIT_EXPECT_EQ(test, f->nr_gone, 2U);
	KUNIT_EXPECT_EQ(test, f->unlisted, 4ULL);
	KUNIT_EXPECT_EQ(test, f->missed, 0ULL);
	KUNIT_EXPECT_EQ(test, (u64)atomic_long_read(&f->b->bytes), share - 2 * serial);
	KUNIT_EXPECT_TRUE(test, settle(test, U64_MAX));
	KUNIT_EXPECT_EQ(test, f->unlisted, 0ULL);
	ktau_uncharge(f->b, others);
}

/* Closing a stream uncharges the serials that it has not listed. */
static void uncharged(struct kunit *test)
{
	struct fixture *f = test->priv;
	long before = atomic_long_read(&f->b->bytes);

	ktau_exited_watch(&f->watch, f->a, true);
	exits(test, f->a, f->tgid, f->tgid, ID_B);
	show(test, f->seq);
	KUNIT_EXPECT_EQ(test, control("exited_limit=0"), 0);
	KUNIT_EXPECT_GT(test, atomic_long_read(&f->b->bytes), before);
	ktau_exited_unwatch(&f->watch);
	KUNIT_EXPECT_EQ(test, atomic_long_read(&f->b->bytes), before);
}

/* The number of serials that a stream lists is bounded, whatever the share of its user. */
static void gone_bounded(struct kunit *test)
{
	struct fixture *f = test->priv;
	unsigned int i;

	ktau_exited_watch(&f->watch, f->a, true);
	for (i = 0; i < 3; i++)
		exits(test, f->a, f->tgid + i, f->tgid + i, ID_B);
	show(test, f->seq);
	f->watch.nr_gone = KTAU_GONE_MAX - 1;
	KUNIT_EXPECT_EQ(test, control("exited_limit=0"), 0);
	KUNIT_EXPECT_EQ(test, f->watch.nr_gone, (u32)KTAU_GONE_MAX);
	f->watch.nr_gone -= KTAU_GONE_MAX - 1;
	KUNIT_EXPECT_TRUE(test, settle(test, U64_MAX));
	KUNIT_EXPECT_EQ(test, f->nr_gone, 1U);
	KUNIT_EXPECT_EQ(test, f->unlisted, 2ULL);
}

/* A reader waits for a task that is ending, but not for long. */
static void ending(struct kunit *test)
{
	struct fixture *f = test->priv;
	struct ktau_state *state = thread(test, f->a, f->tgid, f->tgid, ID_B);
	struct ktau_exited_wait wait, early;
	u64 late = ktau_exited_late();

	ktau_exited_wait_begin(&early);
	early.timeout = jiffies - 1;
	KUNIT_EXPECT_FALSE(test, ktau_exited_wait(&early));
	ktau_exited_announce(state);
	/* A reader that began earlier does not wait for it, and does not count it. */
	KUNIT_EXPECT_FALSE(test, ktau_exited_wait(&early));
	KUNIT_EXPECT_EQ(test, ktau_exited_late(), late);
	ktau_exited_wait_begin(&wait);
	KUNIT_EXPECT_TRUE(test, ktau_exited_wait(&wait));
	KUNIT_EXPECT_EQ(test, count_records(f), 0U);
	wait.timeout = jiffies - 1;
	KUNIT_EXPECT_FALSE(test, ktau_exited_wait(&wait));
	KUNIT_EXPECT_EQ(test, ktau_exited_late(), late + 1);
	ktau_exited_end(state);
	KUNIT_EXPECT_EQ(test, ktau_exited_late(), late);
	KUNIT_EXPECT_EQ(test, count_records(f), 1U);
}

/* Unread slots are counted when their task is folded or evicted. */
static void unread(struct kunit *test)
{
	struct fixture *f = test->priv;
	u64 lost = ktau_loss_total(KTAU_LOSS_UNREAD);
	struct ktau_state *state;
	u64 before[KTAU_NR_LOSSES], losses[KTAU_NR_LOSSES];
	unsigned int i, k;

	ktau_user_losses(uid_a, before);
	for (i = 0; i < 2; i++) {
		state = ktau_state_create(f->a, GFP_KERNEL);
		KUNIT_ASSERT_NOT_NULL(test, state);
		state->ring = ktau_ring_create(f->a, 64, GFP_KERNEL);
		KUNIT_ASSERT_NOT_NULL(test, state->ring);
		for (k = 0; k < 5; k++)
			ktau_trace(state, 0, KTAU_TRACE_ENTER, ID_A, k);
		state->owner.tgid = f->tgid;
		state->owner.tid = f->tgid + i;
		state->owner.leader_serial = LEADER_SERIAL + f->tgid;
		state->owner.nr_tasks = 1;
		ktau_exited_add(state);
	}
	set_share(test, f->a->exited_bytes - 1);
	KUNIT_EXPECT_EQ(test, count_records(f), 1U);
	KUNIT_EXPECT_EQ(test, ktau_loss_total(KTAU_LOSS_UNREAD) - lost, 5ULL);
	KUNIT_EXPECT_EQ(test, control("exited_limit=0"), 0);
	KUNIT_EXPECT_EQ(test, ktau_loss_total(KTAU_LOSS_UNREAD) - lost, 10ULL);
	ktau_user_losses(uid_a, losses);
	KUNIT_EXPECT_EQ(test, losses[KTAU_LOSS_UNREAD] - before[KTAU_LOSS_UNREAD],
			10ULL);
	KUNIT_EXPECT_EQ(test, losses[KTAU_LOSS_EVICTED] - before[KTAU_LOSS_EVICTED],
			2ULL);
}

/* A pid namespace that reuses an inode number contains none of the old tasks. */
static void pid_namespaces(struct kunit *test)
{
	struct task_struct *init = kunit_kzalloc(test, sizeof(*init), GFP_KERNEL);
	struct pid_namespace *ns = kunit_kzalloc(test, sizeof(*ns), GFP_KERNEL);
	struct ktau_state *state = kunit_kzalloc(test, sizeof(*state), GFP_KERNEL);
	struct ktau_ids ids = { .tid = 7, .tgid = 6, .ppid = 1 };
	struct ktau_owner owner = { .tid = 1007 };
	struct ktau_ns_id id;

	KUNIT_ASSERT_NOT_NULL(test, init);
	KUNIT_ASSERT_NOT_NULL(test, ns);
	KUNIT_ASSERT_NOT_NULL(test, state);
	state->ids = &ids;
	state->nr_ids = 1;
	init->group_leader = init;
	init->start_boottime = 1000;
	ns->child_reaper = init;
	ns->ns.inum = 4711;
	ids.ns = ktau_ns_id(ns);
	id = ktau_ns_id(ns);
	KUNIT_EXPECT_TRUE(test, ktau_origin_ids(&owner, state, &id));
	KUNIT_EXPECT_EQ(test, owner.tid, 7);
	KUNIT_EXPECT_EQ(test, owner.tgid, 6);
	KUNIT_EXPECT_EQ(test, owner.ppid, 1);

	init->start_boottime = 2000;	/* init of the new namespace */
	id = ktau_ns_id(ns);
	KUNIT_EXPECT_FALSE(test, ktau_origin_ids(&owner, state, &id));
	init->start_boottime = 1000;
	ns->ns.inum = 4712;
	id = ktau_ns_id(ns);
	KUNIT_EXPECT_FALSE(test, ktau_origin_ids(&owner, state, &id));
}

/* User namespaces are identified by their numbers and those of all their ancestors. */
static void user_namespaces(struct kunit *test)
{
	struct user_namespace *ns = kunit_kcalloc(test, 2, sizeof(*ns),
						  GFP_KERNEL);
	struct ktau_user_level level[] = {
		{ .inum = 12, .owner = uid_b }, { .inum = 11, .owner = uid_a },
	};
	struct ktau_rights rights = { .level = level, .nr_levels = 2 };

	KUNIT_ASSERT_NOT_NULL(test, ns);
	ns[0].parent = &init_user_ns;
	ns[0].ns.inum = 11;
	ns[0].owner = uid_a;
	ns[1].parent = &ns[0];
	ns[1].ns.inum = 12;
	ns[1].owner = uid_b;
	KUNIT_EXPECT_EQ(test, ktau_origin_level(&rights, &ns[1]), 0);
	KUNIT_EXPECT_EQ(test, ktau_origin_level(&rights, &ns[0]), 1);
	KUNIT_EXPECT_EQ(test, ktau_origin_level(&rights, &init_user_ns), 2);
	ns[1].owner = uid_a;
	KUNIT_EXPECT_EQ(test, ktau_origin_level(&rights, &ns[1]), -1);
	ns[1].owner = uid_b;
	ns[0].ns.inum = 13;
	KUNIT_EXPECT_EQ(test, ktau_origin_level(&rights, &ns[1]), -1);
	KUNIT_EXPECT_EQ(test, ktau_origin_level(&rights, &ns[0]), -1);
	/* Without numbers no namespace except the initial one is an ancestor. */
	rights.nr_levels = 0;
	KUNIT_EXPECT_EQ(test, ktau_origin_level(&rights, &ns[0]), -1);
}

static struct kunit_case exited_cases[] = {
	KUNIT_CASE(threads_folded),
	KUNIT_CASE(leader),
	KUNIT_CASE(directories),
	KUNIT_CASE(eviction_by_user),
	KUNIT_CASE(eviction_of_chain),
	KUNIT_CASE(held_by_reader),
	KUNIT_CASE(traced),
	KUNIT_CASE(traced_bound),
	KUNIT_CASE(gone_reported),
	KUNIT_CASE(charged),
	KUNIT_CASE(uncharged),
	KUNIT_CASE(gone_bounded),
	KUNIT_CASE(ending),
	KUNIT_CASE(unread),
	KUNIT_CASE(pid_namespaces),
	KUNIT_CASE(user_namespaces),
	{ }
};

static struct kunit_suite exited_suite = {
	.name = "ktau_exited",
	.init = exited_init,
	.exit = exited_exit,
	.test_cases = exited_cases,
};

kunit_test_suite(exited_suite);
