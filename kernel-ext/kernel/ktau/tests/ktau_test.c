// SPDX-License-Identifier: GPL-2.0-only
/*
 * KTAU: tests of the model, run by KUnit at boot.
 *
 * Most tests give the test's own task a state and call the out-of-line part of the hooks
 * directly; nothing else measures the task, because all groups are disabled. The tests of
 * the scheduler and of exit enable groups and use real threads.
 */
#include <linux/delay.h>
#include <linux/kdebug.h>
#include <linux/kthread.h>
#include <linux/seq_file.h>

#include "base/memory.h"
#include "measure/clock.h"
#include "measure/table.h"
#include "tasks/exited.h"
#include "tasks/gone.h"
#include "tasks/snapshot.h"
#include "ktau_test.h"

#define ID_A	100
#define ID_B	101
#define MODES	(KTAU_MODE_PROFILE | KTAU_MODE_TRACE)

struct fixture {
	struct ktau_state *state;
	struct ktau_rec_profile *profile;
	struct ktau_rec_trace *trace;
};

/* Drop the state that the task got from a test or from an enabled group. */
static void detach(void)
{
	struct ktau_state *state = current->ktau.state;

	current->ktau = (struct ktau_ref) { };
	ktau_state_put(state);
}

/* A task that exits with a state moves its reference to the exited queue. */
static void attach(struct fixture *f, u32 modes)
{
	detach();
	refcount_inc(&f->state->ref);
	current->ktau.state = f->state;
	current->ktau.mask = KTAU_GROUP_SYSCALL | modes;
}

static int fixture_init(struct kunit *test)
{
	struct fixture *f = kunit_kzalloc(test, sizeof(*f), GFP_KERNEL);

	KUNIT_ASSERT_NOT_NULL(test, f);
	test->priv = f;
	f->profile = kvzalloc(KTAU_SNAPSHOT_BYTES, GFP_KERNEL);
	f->trace = kvzalloc(sizeof(*f->trace) + 64 * sizeof(struct ktau_ring_slot),
			    GFP_KERNEL);
	f->state = ktau_state_create(&ktau_system, GFP_KERNEL);
	KUNIT_ASSERT_NOT_NULL(test, f->profile);
	KUNIT_ASSERT_NOT_NULL(test, f->trace);
	KUNIT_ASSERT_NOT_NULL(test, f->state);
	/* Create what exists once KTAU has been enabled, such as the exited queue. */
	KUNIT_ASSERT_EQ(test, control("groups=syscall"), 0);
	KUNIT_ASSERT_EQ(test, control("groups=none"), 0);
	ktau_reserve_fill();
	return 0;
}

static void fixture_exit(struct kunit *test)
{
	struct fixture *f = test->priv;

	detach();
	ktau_state_put(f->state);
	kvfree(f->profile);
	kvfree(f->trace);
}

/* Open a frame and spend some time in it, so that no duration is 0. */
static void enter(struct ktau_frame *frame, unsigned int id)
{
	__ktau_enter(frame, current, id);
	spin_us(1);
}

static void leave(struct ktau_frame *frame)
{
	spin_us(1);
	if (current->ktau.top == frame)
		__ktau_exit(frame, current);
}

static const struct ktau_rec_profile *snapshot(struct kunit *test)
{
	struct fixture *f = test->priv;

	KUNIT_ASSERT_EQ(test, ktau_snapshot(f->profile, f->state, current), 0);
	expect_identity(test, f->profile);
	return f->profile;
}

static void nesting(struct kunit *test)
{
	const struct ktau_rec_profile *rec;
	const struct ktau_entry *a, *b;
	struct ktau_frame fa, fb;

	attach(test->priv, KTAU_MODE_PROFILE);
	enter(&fa, ID_A);
	enter(&fb, ID_B);
	leave(&fb);
	enter(&fb, ID_B);
	leave(&fb);
	leave(&fa);

	rec = snapshot(test);
	a = find(rec, ID_A);
	b = find(rec, ID_B);
	KUNIT_EXPECT_EQ(test, a->count, 1ULL);
	KUNIT_EXPECT_EQ(test, b->count, 2ULL);
	KUNIT_EXPECT_EQ(test, a->incl, rec->outer_ticks);
	KUNIT_EXPECT_EQ(test, b->incl, b->excl);
	KUNIT_EXPECT_EQ(test, a->excl, a->incl - b->incl);
	KUNIT_EXPECT_GT(test, b->incl, 0ULL);
	KUNIT_EXPECT_GT(test, a->excl, 0ULL);
	KUNIT_EXPECT_PTR_EQ(test, current->ktau.top, NULL);
}

static void recursion(struct kunit *test)
{
	const struct ktau_rec_profile *rec;
	struct ktau_frame f1, f2, f3;
	const struct ktau_entry *a;

	attach(test->priv, KTAU_MODE_PROFILE);
	enter(&f1, ID_A);
	enter(&f2, ID_B);
	enter(&f3, ID_A);
	leave(&f3);
	leave(&f2);
	leave(&f1);

	rec = snapshot(test);
	a = find(rec, ID_A);
	KUNIT_EXPECT_EQ(test, a->count, 2ULL);
	KUNIT_EXPECT_EQ(test, a->incl, rec->outer_ticks);
	KUNIT_EXPECT_EQ(test, a->excl + find(rec, ID_B)->excl, a->incl);
	KUNIT_EXPECT_GT(test, find(rec, ID_B)->incl, find(rec, ID_B)->excl);
}

static void in_flight(struct kunit *test)
{
	const struct ktau_rec_profile *rec;
	const struct ktau_open *open;
	struct ktau_frame fa, fb;

	attach(test->priv, KTAU_MODE_PROFILE);
	enter(&fa, ID_A);
	enter(&fb, ID_B);
	leave(&fb);
	enter(&fb, ID_B);

	rec = snapshot(test);
	open = (const void *)((const struct ktau_entry *)(rec + 1) +
			      rec->nr_entries);
	KUNIT_ASSERT_EQ(test, rec->nr_open, 2U);
	KUNIT_EXPECT_EQ(test, rec->depth, 2U);
	KUNIT_EXPECT_EQ(test, open[0].id, (u32)ID_B);
	KUNIT_EXPECT_EQ(test, open[1].id, (u32)ID_A);
	KUNIT_EXPECT_EQ(test, open[0].child_ticks, 0ULL);
	KUNIT_EXPECT_EQ(test, open[1].child_ticks, find(rec, ID_B)->incl);
	KUNIT_EXPECT_LT(test, open[1].start_ticks, open[0].start_ticks);
	KUNIT_EXPECT_EQ(test, find(rec, ID_A)->count, 0ULL);
	KUNIT_EXPECT_EQ(test, rec->outer_ticks, 0ULL);
	leave(&fb);
	leave(&fa);
	KUNIT_EXPECT_EQ(test, snapshot(test)->depth, 0U);
}

static void trace_only_frame(struct kunit *test)
{
	const struct ktau_rec_profile *rec;
	struct fixture *f = test->priv;
	struct ktau_frame fa, fb;

	f->state->ring = ktau_ring_create(&ktau_system, 64, GFP_KERNEL);
	KUNIT_ASSERT_NOT_NULL(test, f->state->ring);
	attach(f, KTAU_MODE_TRACE);
	enter(&fa, ID_A);
	current->ktau.mask |= KTAU_MODE_PROFILE;	/* enabled inside */
	enter(&fb, ID_B);
	leave(&fb);
	leave(&fa);

	rec = snapshot(test);
	KUNIT_EXPECT_EQ(test, find(rec, ID_A)->count, 0ULL);
	KUNIT_EXPECT_EQ(test, find(rec, ID_B)->count, 1ULL);
	KUNIT_EXPECT_EQ(test, rec->outer_ticks, find(rec, ID_B)->incl);
	KUNIT_EXPECT_EQ(test, f->state->ring->head, 4ULL);
}

static void enabled_inside(struct kunit *test)
{
	const struct ktau_rec_profile *rec;
	struct ktau_frame fa, fb;

	attach(test->priv, KTAU_MODE_PROFILE);
	enter(&fa, ID_A);
	current->ktau.mask = 0;				/* disabled inside */
	leave(&fa);
	KUNIT_EXPECT_EQ(test, find(snapshot(test), ID_A)->count, 1ULL);

	/*
	 * Disabled at entry: no frame is opened. Enabled inside: there is none to close.
	 */
	attach(test->priv, KTAU_MODE_PROFILE);
	leave(&fb);
	rec = snapshot(test);
	KUNIT_EXPECT_EQ(test, rec->depth, 0U);
	KUNIT_EXPECT_EQ(test, find(rec, ID_B)->count, 0ULL);
}

static void clock_backwards(struct kunit *test)
{
	const struct ktau_rec_profile *rec;
	struct ktau_frame fa, fb;

	attach(test->priv, KTAU_MODE_PROFILE);
	enter(&fa, ID_A);
	enter(&fb, ID_B);
	leave(&fb);
	fa.start = ktau_ticks() + 1000000000;	/* as on a CPU whose clock is ahead */
	leave(&fa);

	rec = snapshot(test);
	KUNIT_EXPECT_EQ(test, rec->clamped, 1ULL);
	KUNIT_EXPECT_EQ(test, find(rec, ID_A)->excl, 0ULL);
	KUNIT_EXPECT_EQ(test, find(rec, ID_A)->incl, find(rec, ID_B)->incl);
}

static void table_bounds(struct kunit *test)
{
	static const unsigned int ids[] = { 0, 7, 8, KTAU_NR_IDS - 1 };
	const struct ktau_rec_profile *rec;
	struct ktau_frame frame;
	unsigned int i;

	attach(test->priv, KTAU_MODE_PROFILE);
	for (i = 0; i < ARRAY_SIZE(ids); i++) {
		enter(&frame, ids[i]);
		leave(&frame);
	}
	rec = snapshot(test);
	KUNIT_EXPECT_EQ(test, rec->nr_entries, (u32)ARRAY_SIZE(ids));
	for (i = 0; i < ARRAY_SIZE(ids); i++)
		KUNIT_EXPECT_EQ(test, find(rec, ids[i])->count, 1ULL);
}

static void no_chunk(struct kunit *test)
{
	struct ktau_chunk *taken = NULL, *chunk;
	const struct ktau_rec_profile *rec;
	struct fixture *f = test->priv;
	struct ktau_frame frame;

	attach(f, KTAU_MODE_PROFILE);
	local_irq_disable();
	while ((chunk = ktau_chunk_take(f->state->user))) {
		*(struct ktau_chunk **)chunk = taken;
		taken = chunk;
	}
	enter(&frame, ID_A);
	leave(&frame);
	local_irq_enable();
	while ((chunk = taken)) {
		taken = *(struct ktau_chunk **)chunk;
		ktau_chunk_free(f->state->user, chunk);
	}
	ktau_reserve_fill();

	rec = snapshot(test);
	KUNIT_EXPECT_EQ(test, rec->refused, 1ULL);
	KUNIT_EXPECT_GT(test, rec->refused_ticks, 0ULL);
	KUNIT_EXPECT_EQ(test, rec->nr_entries, 0U);
	enter(&frame, ID_A);
	leave(&frame);
	KUNIT_EXPECT_EQ(test, find(snapshot(test), ID_A)->count, 1ULL);
}

/*
 * The first activation, of which even the chunk is missing, and each that is longer than all
 * before leave the usual path of an exit.
 */
static void longest(struct kunit *test)
{
	static const u64 ticks[] = { BIT(31), BIT(30), BIT_ULL(33), BIT(30), BIT_ULL(32) };
	const struct ktau_entry *a, *b;
	struct ktau_frame fa, fb;
	u64 max = 0, sum = 0;
	unsigned int i;

	attach(test->priv, KTAU_MODE_PROFILE);
	for (i = 0; i < ARRAY_SIZE(ticks); i++) {
		enter(&fa, ID_A);
		enter(&fb, ID_B);
		fa.start -= 2 * ticks[i];
		fb.start -= ticks[i];
		leave(&fb);
		leave(&fa);
		max = max(max, ticks[i]);
		sum += ticks[i];
		a = find(snapshot(test), ID_A);
		b = find(snapshot(test), ID_B);
		KUNIT_EXPECT_EQ(test, a->count, i + 1ULL);
		KUNIT_EXPECT_EQ(test, b->count, i + 1ULL);
		KUNIT_EXPECT_GT(test, a->incl, 2 * sum);
		KUNIT_EXPECT_GT(test, b->incl, sum);
		KUNIT_EXPECT_EQ(test, b->incl, b->excl);
		KUNIT_EXPECT_EQ(test, a->incl, a->excl + b->incl);
		/* the ticks of the test itself are few compared with these */
		KUNIT_EXPECT_GT(test, a->longest, 2 * max);
		KUNIT_EXPECT_LT(test, a->longest, 3 * max);
		KUNIT_EXPECT_GT(test, b->longest, max);
		KUNIT_EXPECT_LT(test, b->longest, 2 * max);
	}
	for (i = 0; i < KTAU_CHUNK_CELLS; i++) {
		KUNIT_EXPECT_EQ(test, ktau_no_chunk.cell[i].count, 0ULL);
		KUNIT_EXPECT_EQ(test, ktau_no_chunk.cell[i].v[1], 0ULL);
	}
}

static void counter(struct kunit *test)
{
	static struct ktau_point point = {
		.name = "ktau_test_counter",
		.group = KTAU_GROUP_SYSCALL,
		.kind = KTAU_KIND_COUNTER,
		.id = KTAU_ID_NONE,
	};
	static const u64 values[] = {
		30, 10, 1ULL << 40, 20, 0, 20, 1ULL << 40, 0
	};
	const struct ktau_entry *entry;
	unsigned int i;

	attach(test->priv, KTAU_MODE_PROFILE);
	for (i = 0; i < ARRAY_SIZE(values); i++)
		__ktau_count(&point, values[i]);
	KUNIT_ASSERT_NE(test, point.id, KTAU_ID_NONE);
	entry = find(snapshot(test), point.id);
	KUNIT_EXPECT_EQ(test, entry->kind, (u32)KTAU_KIND_COUNTER);
	KUNIT_EXPECT_EQ(test, entry->count, 8ULL);
	KUNIT_EXPECT_EQ(test, entry->sum, 80 + (2ULL << 40));
	KUNIT_EXPECT_EQ(test, entry->min, 0ULL);
	KUNIT_EXPECT_EQ(test, entry->max, 1ULL << 40);
}

/* A thread with one frame that contains a sleep, which then waits to be inspected. */
struct sleeper {
	struct completion ready;
	bool exit_inside;
	bool oops_inside;
};

static int sleeper_run(void *data)
{
	struct sleeper *sleeper = data;
	struct ktau_frame frame;

	ktau_syscall_enter(&frame, ID_A);
	sleep_20ms();
	if (sleeper->oops_inside) {	/* overwrite the stack */
		notify_die(DIE_OOPS, "test", NULL, 0, 0, 0);
		memset(&frame, 0x5a, sizeof(frame));
		sleep_20ms();
	}
	if (sleeper->exit_inside)
		do_exit(0);
	ktau_exit(&frame);
	complete(&sleeper->ready);
	while (!kthread_should_stop())
		schedule_timeout_interruptible(HZ);
	return 0;
}

static void context_switch_inside(struct kunit *test)
{
	struct sleeper sleeper = { };
	struct fixture *f = test->priv;
	const struct ktau_entry *a, *vol, *wait;
	struct ktau_state *state;
	struct task_struct *task;
	u64 sleep = ktau_clock_hz() / 50;

	init_completion(&sleeper.ready);
	KUNIT_ASSERT_EQ(test, control("groups=syscall,sched"), 0);
	task = kthread_run(sleeper_run, &sleeper, "ktau_sleeper");
	KUNIT_ASSERT_FALSE(test, IS_ERR(task));
	wait_for_completion(&sleeper.ready);
	sleep_20ms();	/* until it sleeps again */
	state = ktau_state_get(task);
	KUNIT_EXPECT_NOT_NULL(test, state);
	if (state) {
		KUNIT_EXPECT_EQ(test, ktau_snapshot(f->profile, state, task), 0);
		expect_identity(test, f->profile);
		a = find(f->profile, ID_A);
		vol = find(f->profile, KTAU_ID_SCHEDULE_VOL_UNINTERRUPTIBLE);
		wait = find(f->profile, KTAU_ID_SCHEDULE_WAIT);
		KUNIT_EXPECT_EQ(test, a->count, 1ULL);
		KUNIT_EXPECT_GE(test, a->incl, sleep);
		KUNIT_EXPECT_GE(test, a->incl - a->excl, sleep / 2);
		KUNIT_EXPECT_GE(test, vol->count, 1ULL);
		KUNIT_EXPECT_GE(test, wait->count, vol->count);
		KUNIT_EXPECT_EQ(test, f->profile->depth, 1U);
		ktau_state_put(state);
	}
	kthread_stop(task);
	KUNIT_EXPECT_EQ(test, control("groups=none"), 0);
}

/*
 * Wait for the first exited task of that name from @seq on. Return: its state, with a
 * reference, and its number in @seq; NULL after ten seconds, because the host may be
 * busy.
 */
static struct ktau_state *wait_for_exited(const char *comm, u64 *seq)
{
	unsigned long end = jiffies + 10 * HZ;
	struct ktau_state *state;
	u64 from = *seq;

	do {
		msleep(20);
		for (*seq = from; (state = ktau_exited_get(seq)); (*seq)++) {
			if (!strcmp(state->owner.comm, comm))
				return state;
			ktau_state_put(state);
		}
	} while (time_before(jiffies, end));
	return NULL;
}

static u64 bytes_of_exited(struct kunit *test)
{
	static const char name[] = "tasks_exited_bytes ";
	char text[256] = "", *line;
	struct seq_file m = { .buf = text, .size = sizeof(text) - 1 };
	unsigned long long bytes;

	ktau_exited_stats(&m);
	line = strstr(text, name);
	KUNIT_ASSERT_NOT_NULL(test, line);
	line += strlen(name);
	KUNIT_ASSERT_EQ(test, kstrtoull(strsep(&line, "\n"), 10, &bytes), 0);
	return bytes;
}

static void dies_inside(struct kunit *test, struct sleeper *sleeper)
{
	struct fixture *f = test->priv;
	struct task_struct *task;
	struct ktau_state *state;
	struct ktau_owner sum;
	struct ktau_settle settle = {
		.evicted = f->profile, .bytes = KTAU_SNAPSHOT_BYTES, .owner = &sum,
	};
	u64 seq, below;

	KUNIT_ASSERT_EQ(test, control("groups=syscall exited_limit=16M"), 0);
	seq = ktau_exited_next();
	task = kthread_run(sleeper_run, sleeper, "ktau_mayfly");
	KUNIT_ASSERT_FALSE(test, IS_ERR(task));
	state = wait_for_exited("ktau_mayfly", &seq);
	KUNIT_EXPECT_NOT_NULL(test, state);
	if (state) {
		KUNIT_EXPECT_EQ(test, ktau_snapshot(f->profile, state, NULL), 0);
		expect_identity(test, f->profile);
		KUNIT_EXPECT_EQ(test, find(f->profile, ID_A)->count, 1ULL);
		KUNIT_EXPECT_EQ(test, f->profile->depth, 0U);
		KUNIT_EXPECT_EQ(test, state->owner.kind, (u32)KTAU_OWNER_EXITED);
		/* A caller that took the state while the task lived gives it a ring. */
		atomic_long_add(PAGE_SIZE, &state->bytes);
		ktau_state_put(state);
	}
	/* Without room for exited tasks, all of them are in the evicted sum. */
	KUNIT_EXPECT_EQ(test, control("groups=none exited_limit=0"), 0);
	KUNIT_EXPECT_EQ(test, ktau_exited_settle(&settle), 0);
	expect_identity(test, f->profile);
	KUNIT_EXPECT_GE(test, find(f->profile, ID_A)->count, 1ULL);
	below = sum.exited_seq;
	KUNIT_EXPECT_EQ(test, below, ktau_exited_next());
	KUNIT_EXPECT_EQ(test, bytes_of_exited(test), 0ULL);
	KUNIT_EXPECT_EQ(test, control("exited_limit=16M"), 0);
}

static void exit_inside(struct kunit *test)
{
	struct sleeper sleeper = { .exit_inside = true };

	dies_inside(test, &sleeper);
}

static void oops_inside(struct kunit *test)
{
	struct sleeper sleeper = { .exit_inside = true, .oops_inside = true };

	dies_inside(test, &sleeper);
}

static struct kunit_case ktau_cases[] = {
	KUNIT_CASE(nesting),
	KUNIT_CASE(recursion),
	KUNIT_CASE(in_flight),
	KUNIT_CASE(trace_only_frame),
	KUNIT_CASE(enabled_inside),
	KUNIT_CASE(clock_backwards),
	KUNIT_CASE(table_bounds),
	KUNIT_CASE(no_chunk),
	KUNIT_CASE(longest),
	KUNIT_CASE(counter),
	KUNIT_CASE(context_switch_inside),
	KUNIT_CASE(exit_inside),
	KUNIT_CASE(oops_inside),
	{ }
};

static struct kunit_suite ktau_suite = {
	.name = "ktau",
	.init = fixture_init,
	.exit = fixture_exit,
	.test_cases = ktau_cases,
};

kunit_test_suite(ktau_suite);
