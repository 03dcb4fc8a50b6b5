// SPDX-License-Identifier: GPL-2.0-only
/*
 * KTAU: tests of waits and wakeups, and of the times inside events, run by KUnit at boot.
 */
#include <linux/completion.h>
#include <linux/kthread.h>
#include <linux/math64.h>
#include <linux/sched.h>

#include "base/event.h"
#include "base/ids.h"
#include "base/memory.h"
#include "measure/account.h"
#include "measure/clock.h"
#include "measure/table.h"
#include "measure/times.h"
#include "tasks/snapshot.h"
#include "ktau_test.h"

#define ID_A	100
#define ID_B	101
#define ID_IRQ	7

struct times_fixture {
	struct ktau_state *state;
	struct ktau_rec_profile *profile;
};

static int times_init(struct kunit *test)
{
	struct times_fixture *f = kunit_kzalloc(test, sizeof(*f), GFP_KERNEL);

	KUNIT_ASSERT_NOT_NULL(test, f);
	test->priv = f;
	f->profile = kvzalloc(KTAU_SNAPSHOT_BYTES, GFP_KERNEL);
	f->state = ktau_state_create(&ktau_system, GFP_KERNEL);
	KUNIT_ASSERT_NOT_NULL(test, f->profile);
	KUNIT_ASSERT_NOT_NULL(test, f->state);
	/* Create what exists once KTAU has been enabled. */
	KUNIT_ASSERT_EQ(test, control("groups=syscall"), 0);
	KUNIT_ASSERT_EQ(test, control("groups=none"), 0);
	ktau_reserve_fill();
	return 0;
}

static void times_exit(struct kunit *test)
{
	struct times_fixture *f = test->priv;

	ktau_state_put(f->state);
	kvfree(f->profile);
}

static const struct ktau_rec_profile *copy(struct kunit *test,
					   struct ktau_state *state,
					   struct task_struct *task)
{
	struct times_fixture *f = test->priv;

	KUNIT_ASSERT_EQ(test, ktau_snapshot(f->profile, state, task), 0);
	expect_identity(test, f->profile);
	return f->profile;
}

static u64 asleep_of(const struct ktau_rec_profile *rec)
{
	unsigned int id;
	u64 sum = 0;

	for (id = KTAU_ID_SCHEDULE; id <= KTAU_ID_SCHEDULE_YLD; id++)
		if (ktau_is_voluntary(id))
			sum += find(rec, id)->excl;
	return sum;
}

static u64 runq_of(const struct ktau_rec_profile *rec)
{
	return find(rec, KTAU_ID_SCHEDULE)->incl +
	       find(rec, KTAU_ID_SCHEDULE_YLD)->incl +
	       find(rec, KTAU_ID_SCHEDULE_WAIT)->incl;
}

/*
 * A thread that waits inside frames, reports that it is done, and sleeps until it is
 * stopped.
 */
static int waiter_run(void *data)
{
	struct ktau_frame a, b;

	ktau_syscall_enter(&a, ID_A);
	ktau_syscall_enter(&b, ID_B);
	sleep_20ms();
	ktau_exit(&b);
	ktau_syscall_enter(&b, ID_B);
	sleep_20ms();
	ktau_exit(&b);
	sleep_20ms();
	ktau_exit(&a);
	ktau_syscall_enter(&a, ID_A);	/* none in this one */
	ktau_exit(&a);
	complete(data);
	while (!kthread_should_stop())
		schedule_timeout_interruptible(HZ);
	return 0;
}

/* Time inside a frame is also inside the enclosing ones, and all of it is waiting. */
static void inside(struct kunit *test)
{
	const u64 sleep = ktau_clock_hz() / 50;
	const struct ktau_rec_profile *rec;
	const struct ktau_entry *a, *b;
	DECLARE_COMPLETION_ONSTACK(ready);
	struct task_struct *task;
	struct ktau_state *state;

	KUNIT_ASSERT_EQ(test, control("groups=syscall,sched"), 0);
	task = kthread_run(waiter_run, &ready, "ktau_waiter");
	KUNIT_ASSERT_FALSE(test, IS_ERR(task));
	wait_for_completion(&ready);
	sleep_20ms();	/* until it sleeps again */
	state = ktau_state_get(task);
	KUNIT_ASSERT_NOT_NULL(test, state);
	rec = copy(test, state, task);
	a = find(rec, ID_A);
	b = find(rec, ID_B);
	KUNIT_EXPECT_EQ(test, a->flags, 15);
	KUNIT_EXPECT_GE(test, b->asleep, 2 * sleep * 9 / 10);
	KUNIT_EXPECT_GE(test, a->asleep, b->asleep + sleep * 9 / 10);
	KUNIT_EXPECT_EQ(test, a->irq, 0ULL);
	/* They contain no frames except each other. */
	KUNIT_EXPECT_EQ(test, b->incl - b->excl, b->asleep + b->runq);
	KUNIT_EXPECT_EQ(test, a->incl - a->excl - b->excl, a->asleep + a->runq);
	KUNIT_EXPECT_LT(test, b->longest, b->incl);
	KUNIT_EXPECT_GE(test, b->longest, b->incl / 2);
	KUNIT_EXPECT_LT(test, a->longest, a->incl);
	/* The sums of the task are those of its switches. */
	KUNIT_EXPECT_EQ(test, ktau_times(state).asleep, asleep_of(rec));
	KUNIT_EXPECT_EQ(test, ktau_times(state).runq, runq_of(rec));
	KUNIT_EXPECT_EQ(test, find(rec, KTAU_ID_SCHEDULE_WAIT)->runq,
			find(rec, KTAU_ID_SCHEDULE_WAIT)->incl);
	ktau_state_put(state);
	kthread_stop(task);
	KUNIT_EXPECT_EQ(test, control("groups=none"), 0);
}

/* The wait in progress of a sleeping task is included. */
static void in_progress(struct kunit *test)
{
	const u64 sleep = ktau_clock_hz() / 50;
	DECLARE_COMPLETION_ONSTACK(ready);
	struct ktau_times before, after;
	struct task_struct *task;
	struct ktau_state *state;

	KUNIT_ASSERT_EQ(test, control("groups=sched"), 0);
	task = kthread_run(waiter_run, &ready, "ktau_waiter");
	KUNIT_ASSERT_FALSE(test, IS_ERR(task));
	wait_for_completion(&ready);
	sleep_20ms();
	state = ktau_state_get(task);
	KUNIT_ASSERT_NOT_NULL(test, state);
	before = ktau_times_at(state, task, 0, ktau_ticks());
	sleep_20ms();
	after = ktau_times_at(state, task, 0, ktau_ticks());
	KUNIT_EXPECT_GE(test, after.asleep - before.asleep, sleep * 9 / 10);
	KUNIT_EXPECT_EQ(test, after.runq, before.runq);
	ktau_state_put(state);
	kthread_stop(task);
	KUNIT_EXPECT_EQ(test, control("groups=none"), 0);
}

/* What a reader adds up for an event: ended activations, and those in flight. */
static u64 incl_so_far(const struct ktau_rec_profile *rec, unsigned int id)
{
	const struct ktau_entry *entries = (const void *)(rec + 1);
	const struct ktau_open *open = (const void *)(entries + rec->nr_entries);
	u64 sum = find(rec, id)->incl;
	u32 i;

	for (i = 0; i < rec->nr_open; i++)
		if (open[i].id == id)
			sum += rec->ticks - open[i].start_ticks;
	return sum;
}

/*
 * A woken task that waits for the CPU is in schedule_wait: no part of the wait is added to a later
 * period, and none is missing.
 */
static void queued(struct kunit *test)
{
	struct times_fixture *f = test->priv;
	const struct ktau_rec_profile *rec = f->profile;
	DECLARE_COMPLETION_ONSTACK(ready);
	const struct ktau_open *open;
	struct task_struct *task;
	struct ktau_state *state;
	u64 before, waited;
	int err;

	KUNIT_ASSERT_EQ(test, control("groups=syscall,sched"), 0);
	/* both on one CPU */
	set_cpus_allowed_ptr(current, cpumask_of(raw_smp_processor_id()));
	task = kthread_create(waiter_run, &ready, "ktau_waiter");
	KUNIT_ASSERT_FALSE(test, IS_ERR(task));
	kthread_bind(task, raw_smp_processor_id());
	wake_up_process(task);
	wait_for_completion(&ready);
	sleep_20ms();	/* until it sleeps again */
	state = ktau_state_get(task);
	KUNIT_ASSERT_NOT_NULL(test, state);
	before = incl_so_far(copy(test, state, task), KTAU_ID_SCHEDULE_WAIT);
	KUNIT_EXPECT_EQ(test, rec->depth, 1U);

	preempt_disable();	/* it cannot run: this is its CPU */
	wake_up_process(task);
	spin_us(2000);
	err = ktau_snapshot(f->profile, state, task);
	preempt_enable();
	KUNIT_EXPECT_EQ(test, err, 0);
	expect_identity(test, rec);
	open = (const void *)((const struct ktau_entry *)(rec + 1) + rec->nr_entries);
	waited = incl_so_far(rec, KTAU_ID_SCHEDULE_WAIT) - before;
	KUNIT_EXPECT_GE(test, waited, div_u64(ktau_clock_hz(), 1000));
	KUNIT_EXPECT_EQ(test, rec->depth, 2U);
	KUNIT_EXPECT_EQ(test, open[0].id, (u32)KTAU_ID_SCHEDULE_WAIT);
	KUNIT_EXPECT_EQ(test, open[0].runq_ticks, waited);
	KUNIT_EXPECT_EQ(test, open[0].asleep_ticks + open[0].irq_ticks + open[0].child_ticks,
			0ULL);
	KUNIT_EXPECT_EQ(test, open[1].id, (u32)KTAU_ID_SCHEDULE_VOL_INTERRUPTIBLE);
	KUNIT_EXPECT_EQ(test, open[1].runq_ticks, waited);
	KUNIT_EXPECT_EQ(test, rec->runq_ticks, runq_of(rec) + waited);

	/* It runs, and sleeps again. */
	sleep_20ms();
	rec = copy(test, state, task);
	KUNIT_EXPECT_EQ(test, rec->depth, 1U);
	KUNIT_EXPECT_GE(test, find(rec, KTAU_ID_SCHEDULE_WAIT)->incl, before + waited);
	ktau_state_put(state);
	kthread_stop(task);
	KUNIT_EXPECT_EQ(test, control("groups=none"), 0);
}

static int sleeps_run(void *data)
{
	int i;

	for (i = 0; i < 3; i++)
		schedule_timeout_interruptible(1);
	for (i = 0; i < 4; i++)
		schedule_timeout_uninterruptible(1);
	for (i = 0; i < 5; i++)
		schedule_timeout_idle(1);
	for (i = 0; i < 6; i++) {
		set_current_state(TASK_UNINTERRUPTIBLE);
		io_schedule_timeout(1);
	}
	complete(data);
	while (!kthread_should_stop())
		schedule_timeout_interruptible(HZ);
	return 0;
}

/* The event of a voluntary switch is that of the task's state. */
static void reasons(struct kunit *test)
{
	const struct ktau_rec_profile *rec;
	DECLARE_COMPLETION_ONSTACK(ready);
	struct task_struct *task;
	struct ktau_state *state;
	unsigned int id;
	u64 sum = 0;

	KUNIT_ASSERT_EQ(test, control("groups=sched"), 0);
	task = kthread_run(sleeps_run, &ready, "ktau_sleeps");
	KUNIT_ASSERT_FALSE(test, IS_ERR(task));
	wait_for_completion(&ready);
	sleep_20ms();	/* until it sleeps again */
	state = ktau_state_get(task);
	KUNIT_ASSERT_NOT_NULL(test, state);
	rec = copy(test, state, task);
	KUNIT_EXPECT_GE(test, find(rec, KTAU_ID_SCHEDULE_VOL_INTERRUPTIBLE)->count, 3ULL);
	KUNIT_EXPECT_GE(test, find(rec, KTAU_ID_SCHEDULE_VOL_UNINTERRUPTIBLE)->count,
			4ULL);
	KUNIT_EXPECT_EQ(test, find(rec, KTAU_ID_SCHEDULE_VOL_IDLE)->count, 5ULL);
	KUNIT_EXPECT_EQ(test, find(rec, KTAU_ID_SCHEDULE_VOL_IO)->count, 6ULL);
	for (id = KTAU_ID_SCHEDULE; id <= KTAU_ID_SCHEDULE_YLD; id++)
		if (ktau_is_voluntary(id))
			sum += find(rec, id)->count;
	KUNIT_EXPECT_LE(test, sum, (u64)task->nvcsw);
	ktau_state_put(state);
	kthread_stop(task);
	KUNIT_EXPECT_EQ(test, control("groups=none"), 0);
}

/* Attach @f's state to the test's thread, as if it made system calls. */
static struct ktau_ref pretend(struct times_fixture *f)
{
	struct ktau_ref before = current->ktau;

	current->ktau = (struct ktau_ref) {
		.mask = KTAU_GROUP_SYSCALL | KTAU_GROUP_SCHED | KTAU_GROUP_IRQ |
			KTAU_MODE_PROFILE,
		.state = f->state,
	};
	return before;
}

/*
 * Account as if there had been a wait of @asleep and @runq ticks in @frame, the innermost
 * one.
 */
static void was_away(struct ktau_state *state, struct ktau_frame *frame,
		     u64 asleep, u64 runq)
{
	const struct ktau_times base = ktau_times(state);

	spin_us(2);	/* for more ticks than that */
	state->asleep_ticks += asleep;
	state->runq_ticks += runq;
	/* As if the event of the wait had been refused: the identity has to hold. */
	state->refused_ticks += asleep + runq;
	ktau_add(&frame->child, asleep + runq);
	ktau_times_mark(frame, &base);
}

/* Activate an event that waits for a given time. */
static void away(struct ktau_state *state, unsigned int id, u64 asleep)
{
	struct ktau_frame frame;

	__ktau_enter(&frame, current, id);
	was_away(state, &frame, asleep, 1);
	__ktau_exit(&frame, current);
}

/* The wait of a new task for its first CPU has a frame too, outside all others. */
static void queued_first(struct kunit *test)
{
	struct times_fixture *f = test->priv;
	const struct ktau_rec_profile *rec = f->profile;
	const struct ktau_open *open = (const void *)(rec + 1);
	struct ktau_ref before;
	unsigned long flags;
	int err;

	local_irq_save(flags);
	before = pretend(f);
	current->ktau.flags = KTAU_REF_NEW;
	current->ktau.wake_ticks = ktau_ticks();
	spin_us(5);
	err = ktau_snapshot(f->profile, f->state, current);
	current->ktau = before;
	local_irq_restore(flags);
	KUNIT_EXPECT_EQ(test, err, 0);
	KUNIT_ASSERT_EQ(test, rec->nr_open, 1U);
	KUNIT_EXPECT_EQ(test, rec->nr_entries, 0U);
	KUNIT_EXPECT_EQ(test, open->id, (u32)KTAU_ID_SCHEDULE_WAIT);
	KUNIT_EXPECT_GT(test, open->runq_ticks, 0ULL);
	KUNIT_EXPECT_EQ(test, open->runq_ticks, rec->ticks - open->start_ticks);
	KUNIT_EXPECT_EQ(test, open->runq_ticks, rec->runq_ticks);
	KUNIT_EXPECT_EQ(test, rec->kernel_ticks + rec->asleep_ticks, 0ULL);
}

static void interrupts(struct kunit *test)
{
	struct times_fixture *f = test->priv;
	const struct ktau_rec_profile *rec;
	struct ktau_cpu_frame irq;
	struct ktau_frame a, b;
	const struct ktau_entry *hit;
	struct ktau_ref before;
	unsigned long flags;

	local_irq_save(flags);
	before = pretend(f);
	__ktau_enter(&a, current, ID_A);
	__ktau_enter(&b, current, ID_B);
	__ktau_cpu_enter_irq(&irq, ID_IRQ);
	spin_us(1);
	__ktau_irq_exit(&irq);
	__ktau_exit(&b, current);
	__ktau_cpu_enter_irq(&irq, ID_IRQ);
	spin_us(1);
	__ktau_irq_exit(&irq);
	__ktau_exit(&a, current);
	__ktau_cpu_enter_irq(&irq, ID_IRQ);
	spin_us(1);
	__ktau_irq_exit(&irq);
	rec = f->profile;
	KUNIT_EXPECT_EQ(test, ktau_snapshot(f->profile, f->state, NULL), 0);
	current->ktau = before;
	local_irq_restore(flags);
	expect_identity(test, rec);
	hit = find(rec, ktau_irq_id(ID_IRQ));
	KUNIT_EXPECT_EQ(test, hit->count, 3ULL);
	KUNIT_EXPECT_EQ(test, hit->irq, 0ULL);
	KUNIT_EXPECT_EQ(test, ktau_times(f->state).irq, hit->incl);
	KUNIT_EXPECT_GT(test, find(rec, ID_B)->irq, 0ULL);
	KUNIT_EXPECT_EQ(test, find(rec, ID_B)->irq,
			find(rec, ID_B)->incl - find(rec, ID_B)->excl);
	KUNIT_EXPECT_GT(test, find(rec, ID_A)->irq, find(rec, ID_B)->irq);
	KUNIT_EXPECT_EQ(test, find(rec, ID_A)->irq, find(rec, ID_A)->incl -
			find(rec, ID_A)->excl - find(rec, ID_B)->excl);
}

/*
 * An inner activation of the same event adds to the enclosing frames, not to its event.
 * From the second round on, the exits take the fast path where they can.
 */
static void recursion(struct kunit *test)
{
	struct times_fixture *f = test->priv;
	const struct ktau_rec_profile *rec;
	struct ktau_frame a, b, again;
	struct ktau_ref before;
	u64 round;

	for (round = 1; round <= 3; round++) {
		before = pretend(f);
		__ktau_enter(&a, current, ID_A);
		__ktau_enter(&b, current, ID_B);
		__ktau_enter(&again, current, ID_B);
		was_away(f->state, &again, 3, 2);
		__ktau_exit(&again, current);
		was_away(f->state, &b, 10, 0);
		__ktau_exit(&b, current);
		__ktau_exit(&a, current);
		current->ktau = before;
		rec = copy(test, f->state, NULL);
		KUNIT_EXPECT_EQ(test, find(rec, ID_B)->count, 2 * round);
		KUNIT_EXPECT_EQ(test, find(rec, ID_B)->asleep, 13 * round);
		KUNIT_EXPECT_EQ(test, find(rec, ID_B)->runq, 2 * round);
		KUNIT_EXPECT_EQ(test, find(rec, ID_A)->count, round);
		KUNIT_EXPECT_EQ(test, find(rec, ID_A)->asleep, 13 * round);
		KUNIT_EXPECT_EQ(test, find(rec, ID_A)->runq, 2 * round);
		KUNIT_EXPECT_EQ(test, find(rec, ID_A)->incl,
				find(rec, ID_A)->excl + find(rec, ID_B)->excl +
				15 * round);
		KUNIT_EXPECT_EQ(test, find(rec, ID_A)->incl, rec->outer_ticks);
		KUNIT_EXPECT_EQ(test, find(rec, ID_B)->longest == find(rec, ID_B)->incl,
				round == 1);
	}
}

/* A frame that seems to be shorter than the wait inside it has the duration of the wait. */
static void clock_back(struct kunit *test)
{
	struct times_fixture *f = test->priv;
	const struct ktau_rec_profile *rec;
	struct ktau_ref before = pretend(f);
	struct ktau_frame frame;
	u64 incl;

	away(f->state, ID_A, 5);
	incl = f->state->outer_ticks;
	__ktau_enter(&frame, current, ID_A);
	was_away(f->state, &frame, 5, 2);
	frame.start = ktau_ticks() + ktau_clock_hz();
	__ktau_exit(&frame, current);
	current->ktau = before;
	rec = copy(test, f->state, NULL);
	KUNIT_EXPECT_EQ(test, rec->clamped, 1ULL);
	KUNIT_EXPECT_EQ(test, rec->outer_ticks, incl + 7);
	KUNIT_EXPECT_EQ(test, find(rec, ID_A)->incl, incl + 7);
	KUNIT_EXPECT_EQ(test, find(rec, ID_A)->asleep, 10ULL);
	KUNIT_EXPECT_EQ(test, find(rec, ID_A)->runq, 3ULL);

	/* The same without a wait inside */
	before = pretend(f);
	__ktau_enter(&frame, current, ID_A);
	frame.start = ktau_ticks() + ktau_clock_hz();
	__ktau_exit(&frame, current);
	current->ktau = before;
	rec = copy(test, f->state, NULL);
	KUNIT_EXPECT_EQ(test, rec->clamped, 2ULL);
	KUNIT_EXPECT_EQ(test, find(rec, ID_A)->incl, incl + 7);
}

/*
 * Waits and interrupts between the end of a frame and the reading of the sums are in the
 * sums too. The times of the frame are at most the time inside it.
 */
static void limited(struct kunit *test)
{
	struct times_fixture *f = test->priv;
	const struct ktau_rec_profile *rec;
	struct ktau_ref before;
	struct ktau_frame frame;
	u64 round;

	for (round = 1; round <= 2; round++) {
		before = pretend(f);
		__ktau_enter(&frame, current, ID_A);
		was_away(f->state, &frame, 5, 2);
		f->state->asleep_ticks += 1;
		f->state->runq_ticks += 10;
		f->state->irq_ticks += 10;
		__ktau_exit(&frame, current);
		current->ktau = before;
		rec = copy(test, f->state, NULL);
		KUNIT_EXPECT_EQ(test, find(rec, ID_A)->asleep, 6 * round);
		KUNIT_EXPECT_EQ(test, find(rec, ID_A)->runq, round);
		KUNIT_EXPECT_EQ(test, find(rec, ID_A)->irq, 0ULL);
	}
}

#define NR_EVENTS	100U

static void expect_all(struct kunit *test, struct ktau_state *state, u64 first,
		       u64 second)
{
	struct times_fixture *f = test->priv;
	unsigned int i;
	u64 want;

	KUNIT_ASSERT_EQ(test, ktau_snapshot(f->profile, state, NULL), 0);
	expect_identity(test, f->profile);
	for (i = 0; i < NR_EVENTS; i++) {
		want = i % 2 ? 0 : first + i;
		want += i % 3 ? 0 : second + i;
		KUNIT_EXPECT_EQ(test, find(f->profile, ID_A + i)->asleep, want);
		KUNIT_EXPECT_EQ(test, find(f->profile, ID_A + i)->runq,
				!(i % 2) + !(i % 3) + 0ULL);
	}
}

/* Folding adds the times of each event, and moves the chunks that are needed. */
static void merging(struct kunit *test)
{
	struct times_fixture *f = test->priv;
	struct times_fixture other = {
		.state = ktau_state_create(&ktau_system, GFP_KERNEL),
	};
	unsigned int i, moved;
	struct ktau_ref before;
	long bytes;

	KUNIT_ASSERT_NOT_NULL(test, other.state);
	for (i = 0; i < NR_EVENTS; i++) {
		ktau_reserve_fill();
		before = pretend(f);
		if (i % 2 == 0)
			away(f->state, ID_A + i, 10 + i);
		current->ktau.state = other.state;
		if (i % 3 == 0)
			away(other.state, ID_A + i, 100 + i);
		current->ktau = before;
	}
	bytes = atomic_long_read(&f->state->bytes) +
		atomic_long_read(&other.state->bytes);
	moved = ktau_table_merge(f->state, other.state);
	f->state->outer_ticks += other.state->outer_ticks;
	f->state->refused_ticks += other.state->refused_ticks;
	expect_all(test, f->state, 10, 100);
	/* No time is missing or counted twice. */
	atomic_long_add(moved * sizeof(struct ktau_chunk), &f->state->bytes);
	atomic_long_sub(moved * sizeof(struct ktau_chunk), &other.state->bytes);
	KUNIT_EXPECT_EQ(test, bytes, atomic_long_read(&f->state->bytes) +
			atomic_long_read(&other.state->bytes));
	ktau_state_put(other.state);
}

/* Expect that each event of @state has slept for 10 ticks more than its number. */
static void expect_slept(struct kunit *test, struct ktau_state *state)
{
	struct times_fixture *f = test->priv;
	unsigned int i;

	KUNIT_ASSERT_EQ(test, ktau_snapshot(f->profile, state, NULL), 0);
	for (i = 0; i < NR_EVENTS; i++)
		KUNIT_EXPECT_EQ(test, find(f->profile, ID_A + i)->asleep, 10ULL + i);
}

/* A reader may copy a task while it is evicted, so its times stay as they are. */
static void evicting(struct kunit *test)
{
	struct ktau_state *sum = ktau_state_create(&ktau_system, GFP_KERNEL);
	struct times_fixture *f = test->priv;
	struct ktau_ref before;
	unsigned int i;

	KUNIT_ASSERT_NOT_NULL(test, sum);
	KUNIT_EXPECT_TRUE(test, ktau_table_fill(sum, KTAU_NR_IDS));
	KUNIT_EXPECT_TRUE(test, ktau_times_of_all(sum));
	for (i = 0; i < NR_EVENTS; i++) {
		ktau_reserve_fill();
		before = pretend(f);
		away(f->state, ID_A + i, 10 + i);
		current->ktau = before;
	}
	expect_slept(test, f->state);
	KUNIT_EXPECT_EQ(test, ktau_table_merge(sum, f->state), 0U);
	expect_slept(test, sum);
	expect_slept(test, f->state);
	ktau_state_put(sum);
}

/* If there was no room for one time, none is claimed to be measured. */
static void refused(struct kunit *test)
{
	struct times_fixture *f = test->priv;
	struct ktau_ref before = pretend(f);

	away(f->state, ID_A, 10);
	current->ktau = before;
	KUNIT_ASSERT_EQ(test, ktau_snapshot(f->profile, f->state, NULL), 0);
	KUNIT_EXPECT_EQ(test, find(f->profile, ID_A)->flags, 15);
	KUNIT_EXPECT_EQ(test, find(f->profile, ID_A)->asleep, 10ULL);
	f->state->times_refused = true;
	KUNIT_ASSERT_EQ(test, ktau_snapshot(f->profile, f->state, NULL), 0);
	KUNIT_EXPECT_EQ(test, find(f->profile, ID_A)->flags, 1);
	KUNIT_EXPECT_EQ(test, find(f->profile, ID_A)->asleep, 0ULL);
}

/* A yield ends when it returns: the next switch is not a yield. */
static void yields(struct kunit *test)
{
	KUNIT_ASSERT_EQ(test, control("groups=sched"), 0);
	__ktau_sched_yield(true);
	KUNIT_EXPECT_EQ(test, current->ktau.flags, (u32)KTAU_REF_YIELD);
	KUNIT_EXPECT_EQ(test, control("groups=none"), 0);
	ktau_sched_yield(false);
	KUNIT_EXPECT_EQ(test, current->ktau.flags, 0U);
}

static struct kunit_case times_cases[] = {
	KUNIT_CASE(inside),
	KUNIT_CASE(in_progress),
	KUNIT_CASE(queued),
	KUNIT_CASE(queued_first),
	KUNIT_CASE(reasons),
	KUNIT_CASE(interrupts),
	KUNIT_CASE(recursion),
	KUNIT_CASE(clock_back),
	KUNIT_CASE(limited),
	KUNIT_CASE(merging),
	KUNIT_CASE(evicting),
	KUNIT_CASE(refused),
	KUNIT_CASE(yields),
	{ }
};

static struct kunit_suite times_suite = {
	.name = "ktau_times",
	.init = times_init,
	.exit = times_exit,
	.test_cases = times_cases,
};

kunit_test_suite(times_suite);
