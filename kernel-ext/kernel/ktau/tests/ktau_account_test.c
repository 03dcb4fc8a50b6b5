// SPDX-License-Identifier: GPL-2.0-only
/*
 * KTAU: tests of the root frame and of the account.
 *
 * The test's own thread gets a state and makes the transitions that the entry code
 * usually makes; no group is enabled.
 */
#include <linux/irqflags.h>
#include <linux/sched/task.h>
#include <linux/smp.h>

#include "base/event.h"
#include "base/memory.h"
#include "measure/account.h"
#include "measure/collect.h"
#include "measure/cpu.h"
#include "measure/root.h"
#include "tasks/snapshot.h"
#include "ktau_test.h"

#define ID_A	100
#define ID_B	101
#define ID_FAR	(KTAU_ID_FOREIGN + 3)
#define ACCOUNT	(KTAU_GROUP_ACCOUNT | KTAU_MODE_PROFILE)

/**
 * struct fixture - a state, its copy, and bounds of the start of its account
 * @state: state of the test
 * @rec: buffer for its copy
 * @before: a moment before the account began
 * @after: a moment after
 */
struct fixture {
	struct ktau_state *state;
	struct ktau_rec_profile *rec;
	u64 before;
	u64 after;
};

static int account_init(struct kunit *test)
{
	struct fixture *f = kunit_kzalloc(test, sizeof(*f), GFP_KERNEL);

	KUNIT_ASSERT_NOT_NULL(test, f);
	test->priv = f;
	/* The account would miss a preemption in the tests' "user mode". */
	sched_set_fifo(current);
	/* The tables of the CPUs are created with the first group. */
	KUNIT_ASSERT_EQ(test, control("groups=syscall"), 0);
	KUNIT_ASSERT_EQ(test, control("groups=none"), 0);
	f->rec = kvzalloc(KTAU_SNAPSHOT_BYTES, GFP_KERNEL);
	f->state = ktau_state_create(&ktau_system, GFP_KERNEL);
	KUNIT_ASSERT_NOT_NULL(test, f->rec);
	KUNIT_ASSERT_NOT_NULL(test, f->state);
	ktau_reserve_fill();
	ktau_state_put(current->ktau.state);
	/* A thread that exits with a state moves its reference to the exited queue. */
	refcount_inc(&f->state->ref);
	current->ktau = (struct ktau_ref) { .mask = ACCOUNT, .state = f->state };
	f->state->profiled = KTAU_GROUP_ACCOUNT;
	f->before = ktau_ticks();
	__ktau_user_begin(&current->ktau);
	f->after = ktau_ticks();
	return 0;
}

static void account_exit(struct kunit *test)
{
	struct ktau_state *state = current->ktau.state;
	struct fixture *f = test->priv;

	/* This may run in another thread than the test. */
	current->ktau = (struct ktau_ref) { };
	ktau_state_put(state);
	ktau_state_put(f->state);
	kvfree(f->rec);
}

static void enter_kernel(unsigned int id)
{
	unsigned long flags;

	spin_us(2);
	local_irq_save(flags);
	__ktau_user_exit(&current->ktau);
	local_irq_restore(flags);
	/* Does what ktau_root_name() does, which this kernel may lack. */
	if (current->ktau.top->info == KTAU_ID_KERNEL)
		current->ktau.top->info = id;
	spin_us(2);
}

static void leave_kernel(void)
{
	unsigned long flags;

	spin_us(2);
	local_irq_save(flags);
	__ktau_user_enter(current->ktau.top, &current->ktau);
	local_irq_restore(flags);
	spin_us(2);
}

/* The longest activation is no longer than all of them, and no shorter than their mean. */
static void expect_longest(struct kunit *test, const struct ktau_rec_profile *rec)
{
	const struct ktau_entry *entry = (const struct ktau_entry *)(rec + 1);
	u32 i;

	for (i = 0; i < rec->nr_entries; i++, entry++) {
		if (entry->kind != KTAU_KIND_TIMER)
			continue;
		KUNIT_EXPECT_LE(test, entry->longest, entry->incl);
		KUNIT_EXPECT_GE(test, entry->longest * entry->count, entry->incl);
	}
}

/*
 * Take a copy and check that its parts add up to the time since the account began, and the
 * longest activations.
 */
static const struct ktau_rec_profile *copy(struct kunit *test)
{
	struct fixture *f = test->priv;
	u64 sum;

	KUNIT_ASSERT_EQ(test, ktau_snapshot(f->rec, f->state, current), 0);
	expect_identity(test, f->rec);
	expect_longest(test, f->rec);
	sum = f->rec->user_ticks + f->rec->kernel_ticks + f->rec->irq_ticks +
	      f->rec->runq_ticks + f->rec->asleep_ticks + f->rec->guest_ticks;
	KUNIT_EXPECT_LE(test, sum, f->rec->ticks - f->before);
	KUNIT_EXPECT_GE(test, sum, f->rec->ticks - f->after);
	return f->rec;
}

static void account_segments(struct kunit *test)
{
	const struct ktau_rec_profile *rec = copy(test);
	u64 user = rec->user_ticks;

	KUNIT_EXPECT_GT(test, user, 0ULL);
	KUNIT_EXPECT_EQ(test, rec->kernel_ticks, 0ULL);
	enter_kernel(ID_A);
	rec = copy(test);
	KUNIT_EXPECT_GT(test, rec->user_ticks, user);
	KUNIT_EXPECT_GT(test, rec->kernel_ticks, 0ULL);
	KUNIT_EXPECT_EQ(test, rec->depth, 1U);
	user = rec->user_ticks;
	spin_us(2);
	rec = copy(test);
	KUNIT_EXPECT_EQ(test, rec->user_ticks, user);
	leave_kernel();
	rec = copy(test);
	KUNIT_EXPECT_GT(test, rec->user_ticks, user);
	KUNIT_EXPECT_EQ(test, rec->depth, 0U);
	KUNIT_EXPECT_EQ(test, rec->kernel_ticks, rec->outer_ticks);
	KUNIT_EXPECT_EQ(test, find(rec, ID_A)->count, 1ULL);
	KUNIT_EXPECT_EQ(test, find(rec, ID_A)->incl, rec->outer_ticks);
	KUNIT_EXPECT_EQ(test, find(rec, KTAU_ID_KERNEL)->count, 0ULL);
}

/* Frames nest in the root frame, whatever its final name. */
static void account_nesting(struct kunit *test)
{
	const struct ktau_rec_profile *rec;
	struct ktau_frame frame;

	enter_kernel(KTAU_ID_KERNEL);
	__ktau_enter(&frame, current, ID_B);
	spin_us(2);
	__ktau_exit(&frame, current);
	copy(test);
	current->ktau.top->info = ID_A;
	leave_kernel();
	rec = copy(test);
	KUNIT_EXPECT_EQ(test, find(rec, ID_A)->excl,
			find(rec, ID_A)->incl - find(rec, ID_B)->incl);
	KUNIT_EXPECT_GT(test, find(rec, ID_B)->incl, 0ULL);
}

/* An id in the second level of the table, and a root frame that never gets a name. */
static void account_slow(struct kunit *test)
{
	const struct ktau_rec_profile *rec;

	enter_kernel(ID_FAR);
	leave_kernel();
	enter_kernel(KTAU_ID_KERNEL);
	leave_kernel();
	rec = copy(test);
	KUNIT_EXPECT_EQ(test, find(rec, ID_FAR)->count, 1ULL);
	KUNIT_EXPECT_EQ(test, find(rec, KTAU_ID_KERNEL)->count, 1ULL);
	KUNIT_EXPECT_EQ(test, find(rec, ID_FAR)->excl +
			find(rec, KTAU_ID_KERNEL)->excl, rec->kernel_ticks);
}

/*
 * The clock of another CPU is behind: the duration is at least that of the frames inside.
 */
static void account_clamped(struct kunit *test)
{
	struct fixture *f = test->priv;

	enter_kernel(ID_A);
	current->ktau.top->child = 1ULL << 40;
	leave_kernel();
	KUNIT_EXPECT_EQ(test, f->state->clamped, 1ULL);
	KUNIT_EXPECT_GE(test, f->state->outer_ticks, 1ULL << 40);
	KUNIT_EXPECT_EQ(test, f->state->begin, f->state->end);
}

/*
 * Only the outermost of nested interrupts counts. From the second round on, the root frame
 * takes the fast path of events with times.
 */
static void account_interrupts(struct kunit *test)
{
	const struct ktau_rec_profile *rec;
	struct ktau_cpu_frame outer, inner;
	unsigned long flags;
	u64 irq, round;

	current->ktau.mask |= KTAU_GROUP_IRQ;
	for (round = 1; round <= 20; round++) {
		enter_kernel(ID_A);
		local_irq_save(flags);
		__ktau_cpu_enter_irq(&outer, 1);
		spin_us(2);
		__ktau_cpu_enter_irq(&inner, 2);
		spin_us(2);
		__ktau_irq_exit(&inner);
		__ktau_irq_exit(&outer);
		local_irq_restore(flags);
		leave_kernel();
		rec = copy(test);
		irq = find(rec, KTAU_ID_IRQ + 1)->incl;
		KUNIT_EXPECT_EQ(test, rec->irq_ticks, irq);
		KUNIT_EXPECT_GT(test, irq, find(rec, KTAU_ID_IRQ + 2)->incl);
		KUNIT_EXPECT_EQ(test, rec->kernel_ticks, find(rec, ID_A)->excl);
		KUNIT_EXPECT_EQ(test, find(rec, ID_A)->count, round);
		KUNIT_EXPECT_EQ(test, find(rec, ID_A)->irq, irq);
	}
}

/* Off the CPU, the task is asleep until it is woken, then runnable. */
static void account_off_cpu(struct kunit *test)
{
	struct fixture *f = test->priv;
	const struct ktau_rec_profile *rec;

	enter_kernel(ID_A);
	f->state->off.sleeps = true;
	__ktau_enter(&f->state->sched, current, KTAU_ID_SCHEDULE_VOL_INTERRUPTIBLE);
	spin_us(2);
	rec = copy(test);
	KUNIT_EXPECT_GT(test, rec->asleep_ticks, 0ULL);
	KUNIT_EXPECT_EQ(test, rec->runq_ticks, 0ULL);
	current->ktau.wake_ticks = ktau_ticks();
	spin_us(2);
	rec = copy(test);
	KUNIT_EXPECT_EQ(test, rec->asleep_ticks,
			current->ktau.wake_ticks - f->state->sched.start);
	KUNIT_EXPECT_GT(test, rec->runq_ticks, 0ULL);
	__ktau_exit(&f->state->sched, current);
	leave_kernel();
}

/* An account that ends inside frames contains their time until then, and nothing of later. */
static void account_ends(struct kunit *test)
{
	struct fixture *f = test->priv;
	const struct ktau_rec_profile *rec;
	struct ktau_frame frame;
	unsigned long flags;
	u64 now, parts;

	enter_kernel(ID_A);
	__ktau_enter(&frame, current, ID_B);
	spin_us(2);
	local_irq_save(flags);
	now = ktau_ticks();
	ktau_collect(current, KTAU_GROUP_ACCOUNT, 0, now);
	f->state->profiled = 0;
	current->ktau.mask = 0;
	local_irq_restore(flags);
	spin_us(2);
	KUNIT_ASSERT_EQ(test, ktau_snapshot(f->rec, f->state, current), 0);
	rec = f->rec;
	expect_identity(test, rec);
	parts = rec->user_ticks + rec->kernel_ticks;
	KUNIT_EXPECT_LE(test, parts, now - f->before);
	KUNIT_EXPECT_GE(test, parts, now - f->after);
	KUNIT_EXPECT_EQ(test, find(rec, ID_A)->count, 1ULL);
	KUNIT_EXPECT_EQ(test, find(rec, ID_B)->count, 1ULL);
	__ktau_exit(&frame, current);
	leave_kernel();
	KUNIT_EXPECT_NULL(test, current->ktau.top);
	KUNIT_ASSERT_EQ(test, ktau_snapshot(f->rec, f->state, current), 0);
	expect_identity(test, rec);
	KUNIT_EXPECT_EQ(test, rec->user_ticks + rec->kernel_ticks, parts);
	KUNIT_EXPECT_EQ(test, find(rec, ID_B)->count, 1ULL);
}

/* An account that begins inside frames has the time in them, and continues outside. */
static void account_begins(struct kunit *test)
{
	struct fixture *f = test->priv;
	const struct ktau_rec_profile *rec;
	struct ktau_frame frame;
	unsigned long flags;
	u64 before, user;

	enter_kernel(ID_A);
	__ktau_enter(&frame, current, ID_B);
	local_irq_save(flags);
	ktau_collect(current, KTAU_GROUP_ACCOUNT, 0, ktau_ticks());
	f->state->profiled = 0;
	KUNIT_ASSERT_EQ(test, ktau_snapshot(f->rec, f->state, current), 0);
	before = f->rec->user_ticks + f->rec->kernel_ticks;
	spin_us(2);
	f->before = ktau_ticks() - before;
	ktau_collect(current, 0, KTAU_GROUP_ACCOUNT, ktau_ticks());
	f->after = ktau_ticks() - before;
	f->state->profiled = KTAU_GROUP_ACCOUNT;
	local_irq_restore(flags);
	spin_us(2);
	user = copy(test)->user_ticks;
	__ktau_exit(&frame, current);
	copy(test);
	leave_kernel();
	rec = copy(test);
	KUNIT_EXPECT_GT(test, rec->user_ticks, user);
	KUNIT_EXPECT_EQ(test, find(rec, ID_A)->count, 2ULL);
	KUNIT_EXPECT_EQ(test, find(rec, ID_B)->count, 1ULL);
}

/*
 * An account that begins inside a frame that is not measured does not have what ended in it before.
 * What is measured in it is inside the root frame.
 */
static void account_begins_later(struct kunit *test)
{
	const u32 groups = KTAU_GROUP_SYSCALL;
	struct fixture *f = test->priv;
	struct ktau_frame frame, inside;
	const struct ktau_open *open;
	unsigned long flags;
	u64 before;

	enter_kernel(ID_A);
	__ktau_enter(&frame, current, ID_B);
	local_irq_save(flags);
	ktau_collect(current, KTAU_GROUP_ACCOUNT, 0, ktau_ticks());
	ktau_collect(current, 0, groups, ktau_ticks());
	f->state->profiled = groups;
	__ktau_enter(&inside, current, ID_B + 1);
	spin_us(2);
	__ktau_exit(&inside, current);
	KUNIT_ASSERT_EQ(test, ktau_snapshot(f->rec, f->state, current), 0);
	before = f->rec->user_ticks + f->rec->kernel_ticks;
	f->before = ktau_ticks() - before;
	ktau_collect(current, groups, groups | KTAU_GROUP_ACCOUNT, ktau_ticks());
	f->after = ktau_ticks() - before;
	f->state->profiled = groups | KTAU_GROUP_ACCOUNT;
	copy(test);
	open = (const void *)((struct ktau_entry *)(f->rec + 1) + f->rec->nr_entries);
	KUNIT_ASSERT_EQ(test, f->rec->nr_open, 2U);
	KUNIT_EXPECT_GE(test, open[0].start_ticks, open[1].start_ticks);
	local_irq_restore(flags);
	__ktau_exit(&frame, current);
	leave_kernel();
	KUNIT_EXPECT_EQ(test, copy(test)->clamped, 0ULL);
}

/* A root frame that begins in the kernel is not named by what follows there. */
static void account_keeps_name(struct kunit *test)
{
	struct fixture *f = test->priv;
	unsigned long flags;

	enter_kernel(KTAU_ID_KERNEL);
	KUNIT_EXPECT_EQ(test, f->state->root.info, KTAU_ID_KERNEL);
	local_irq_save(flags);
	ktau_collect(current, KTAU_GROUP_ACCOUNT, 0, ktau_ticks());
	current->flags &= ~PF_KTHREAD;
	ktau_collect(current, 0, KTAU_GROUP_ACCOUNT, ktau_ticks());
	current->flags |= PF_KTHREAD;
	local_irq_restore(flags);
	KUNIT_EXPECT_EQ(test, f->state->root.info, KTAU_ID_KERNEL | KTAU_FRAME_KEEPS_NAME);
	leave_kernel();
	KUNIT_ASSERT_EQ(test, ktau_snapshot(f->rec, f->state, current), 0);
	expect_identity(test, f->rec);
	KUNIT_EXPECT_EQ(test, find(f->rec, KTAU_ID_KERNEL)->count, 2ULL);
}

/* A root frame that the task does not see, because it was about to change its frames. */
static void account_lost(struct kunit *test)
{
	const struct ktau_rec_profile *rec;
	struct fixture *f = test->priv;
	struct ktau_frame frame;
	unsigned long flags;

	f->state->user_ticks = 0;	/* it is in the kernel, without an account */
	f->state->profiled = 0;
	local_irq_save(flags);
	f->before = ktau_ticks();
	ktau_collect(current, 0, KTAU_GROUP_ACCOUNT, ktau_ticks());
	f->after = ktau_ticks();
	f->state->profiled = KTAU_GROUP_ACCOUNT;
	current->ktau.top = NULL;
	local_irq_restore(flags);
	spin_us(2);
	__ktau_enter(&frame, current, ID_B);
	spin_us(2);
	__ktau_exit(&frame, current);
	spin_us(2);
	__ktau_user_begin(&current->ktau);
	rec = copy(test);
	KUNIT_EXPECT_GT(test, rec->kernel_ticks, find(rec, ID_B)->incl);
	enter_kernel(ID_A);
	leave_kernel();
	copy(test);
}

/* A traced task has slots of the event that names the root frame, which counts once. */
static void account_traced(struct kunit *test)
{
	struct fixture *f = test->priv;
	struct ktau_ring_fixture traced = { .state = f->state };
	const struct ktau_rec_profile *rec;
	struct ktau_reach reach = { };
	struct ktau_frame frame = { .info = ID_A };

	traced.trace = kunit_kzalloc(test, sizeof(*traced.trace) +
				     KTAU_TEST_SLOTS_BYTES, GFP_KERNEL);
	KUNIT_ASSERT_NOT_NULL(test, traced.trace);
	f->state->ring = ktau_ring_create(&ktau_system, 64, GFP_KERNEL);
	KUNIT_ASSERT_NOT_NULL(test, f->state->ring);
	current->ktau.mask |= KTAU_MODE_TRACE;

	enter_kernel(ID_A);
	KUNIT_EXPECT_EQ(test, current->ktau.top->info,
			KTAU_ID_KERNEL | KTAU_FRAME_TRACE_NAME);
	ktau_root_trace(current, &frame, 0, 0);
	spin_us(2);
	__ktau_exit(&frame, current);
	leave_kernel();
	enter_kernel(KTAU_ID_KERNEL);
	leave_kernel();
	current->ktau.mask &= ~KTAU_MODE_TRACE;

	rec = copy(test);
	KUNIT_EXPECT_EQ(test, find(rec, ID_A)->count, 1ULL);
	KUNIT_EXPECT_EQ(test, find(rec, KTAU_ID_KERNEL)->count, 1ULL);
	KUNIT_ASSERT_EQ(test, read_slots(&traced, KTAU_TEST_SLOTS_BYTES, &reach), 0);
	KUNIT_ASSERT_EQ(test, traced.trace->nr_slots, 2U);
	KUNIT_EXPECT_EQ(test, slot_at(traced.trace, 0)->id, ID_A);
	KUNIT_EXPECT_EQ(test, slot_at(traced.trace, 0)->type, (u8)KTAU_TRACE_ENTER);
	KUNIT_EXPECT_EQ(test, slot_at(traced.trace, 1)->id, ID_A);
	KUNIT_EXPECT_EQ(test, slot_at(traced.trace, 1)->type, (u8)KTAU_TRACE_EXIT);
}

/* A thread that was never in user mode gets its root frame when it gets the CPU. */
static void account_resumed(struct kunit *test)
{
	struct fixture *f = test->priv;
	unsigned long flags;
	unsigned int id;

	f->state->user_ticks = 0;	/* it has none */
	local_irq_save(flags);
	ktau_root_resume(&current->ktau);
	local_irq_restore(flags);
	KUNIT_ASSERT_PTR_EQ(test, current->ktau.top, &f->state->root);
	id = current->ktau.top->info;
	KUNIT_EXPECT_GE(test, id, KTAU_ID_CALL + KTAU_CALL_KTHREAD *
				  KTAU_NR_CALL_IDS);
	KUNIT_EXPECT_EQ(test, ktau_event_find(id)->group, KTAU_GROUP_ACCOUNT);
	spin_us(2);
	KUNIT_ASSERT_EQ(test, ktau_snapshot(f->rec, f->state, current), 0);
	KUNIT_EXPECT_EQ(test, f->rec->user_ticks, 0ULL);
	KUNIT_EXPECT_EQ(test, f->rec->kernel_ticks,
			f->rec->ticks - f->state->root.start);
	current->ktau.top = NULL;
}

/*
 * Ticks that a switch from the idle task adds to the account of a CPU, which has been idle
 * for @idle ticks. Its profile began 100 ticks ago.
 */
static u64 idle_ticks(struct ktau_state *cpu, u64 idle, u64 group_since)
{
	const u64 now = ktau_ticks(), before = cpu->asleep_ticks;

	cpu->start_ticks = now - 100;
	cpu->group_since[KTAU_BIT_ACCOUNT] = group_since;
	cpu->root.start = now - idle;
	cpu->root.child = cpu->irq_ticks;
	ktau_account_switch(idle_task(smp_processor_id()), now);
	return cpu->asleep_ticks - before;
}

/* A CPU has no time from before its profile began, or while the account is disabled. */
static void account_cpu(struct kunit *test)
{
	u64 since, start_ticks, asleep_ticks, added[5];
	struct ktau_frame root;
	struct ktau_state *cpu;
	unsigned long flags;
	u32 profiled;

	local_irq_save(flags);
	cpu = this_cpu_read(ktau_cpu.state);
	since = cpu->group_since[KTAU_BIT_ACCOUNT];
	start_ticks = cpu->start_ticks;
	asleep_ticks = cpu->asleep_ticks;
	root = cpu->root;
	profiled = cpu->profiled;
	cpu->profiled = KTAU_GROUP_ACCOUNT;
	added[0] = idle_ticks(cpu, 100, 0);
	added[1] = idle_ticks(cpu, 101, 0);
	added[2] = idle_ticks(cpu, 50, U64_MAX);
	added[3] = idle_ticks(cpu, 50, ktau_ticks() + ktau_clock_hz());
	cpu->profiled = 0;	/* the hooks are enabled before the account */
	added[4] = idle_ticks(cpu, 50, 0);
	cpu->profiled = profiled;
	cpu->group_since[KTAU_BIT_ACCOUNT] = since;
	cpu->start_ticks = start_ticks;
	cpu->asleep_ticks = asleep_ticks;
	cpu->root = root;
	local_irq_restore(flags);
	KUNIT_EXPECT_EQ(test, added[0], 100ULL);
	KUNIT_EXPECT_EQ(test, added[1], 0ULL);
	KUNIT_EXPECT_EQ(test, added[2], 0ULL);
	KUNIT_EXPECT_EQ(test, added[3], 0ULL);
	KUNIT_EXPECT_EQ(test, added[4], 0ULL);
}

/* A CPU on which a busy task is the current one, but not yet accounted, is not copied as idle. */
static void account_cpu_switching(struct kunit *test)
{
	struct ktau_rec_profile *rec = kvzalloc(KTAU_SNAPSHOT_BYTES, GFP_KERNEL);
	int disabled, during, after;
	struct ktau_frame root;
	struct ktau_state *cpu;
	u32 profiled;
	u64 since;

	KUNIT_ASSERT_NOT_NULL(test, rec);
	preempt_disable();
	cpu = this_cpu_read(ktau_cpu.state);
	root = cpu->root;
	profiled = cpu->profiled;
	since = cpu->group_since[KTAU_BIT_ACCOUNT];
	ktau_write(&cpu->group_since[KTAU_BIT_ACCOUNT], 0);	/* it may not be enabled */
	ktau_write(&cpu->root.start, ktau_ticks());
	WRITE_ONCE(cpu->root.info, KTAU_ID_IDLE);
	WRITE_ONCE(cpu->profiled, 0);	/* the hooks stay enabled for a moment */
	disabled = ktau_snapshot(rec, cpu, NULL);
	WRITE_ONCE(cpu->profiled, KTAU_GROUP_ACCOUNT);
	during = ktau_snapshot(rec, cpu, NULL);
	WRITE_ONCE(cpu->root.info, KTAU_ID_KERNEL);
	after = ktau_snapshot(rec, cpu, NULL);
	cpu->root = root;
	cpu->profiled = profiled;
	ktau_write(&cpu->group_since[KTAU_BIT_ACCOUNT], since);
	preempt_enable();
	KUNIT_EXPECT_EQ(test, disabled, 0);
	KUNIT_EXPECT_EQ(test, during, -EAGAIN);
	KUNIT_EXPECT_EQ(test, after, 0);
	kvfree(rec);
}

/* A task whose frames have ended, but that still has the CPU, is not copied. */
static void account_dying(struct kunit *test)
{
	struct fixture *f = test->priv;
	int during;

	current->ktau.flags |= KTAU_REF_DYING;
	during = ktau_snapshot(f->rec, f->state, current);
	current->ktau.flags &= ~KTAU_REF_DYING;
	KUNIT_EXPECT_EQ(test, during, -EAGAIN);
	KUNIT_EXPECT_EQ(test, ktau_snapshot(f->rec, f->state, current), 0);
}

/* If a new task is switched out before it reaches user mode, its root frame keeps its name. */
static void account_forked(struct kunit *test)
{
	unsigned long flags;
	u32 info;

	enter_kernel(ID_A);
	local_irq_save(flags);
	current->ktau.top->info = KTAU_ID_RET_FROM_FORK;
	current->flags &= ~PF_KTHREAD;
	current->nvcsw++;
	ktau_root_resume(&current->ktau);
	current->nvcsw--;
	current->flags |= PF_KTHREAD;
	info = current->ktau.top->info;
	current->ktau.top->info = ID_A;
	local_irq_restore(flags);
	leave_kernel();
	KUNIT_EXPECT_EQ(test, info, (u32)KTAU_ID_RET_FROM_FORK);
}

static struct kunit_case account_cases[] = {
	KUNIT_CASE(account_segments),
	KUNIT_CASE(account_nesting),
	KUNIT_CASE(account_slow),
	KUNIT_CASE(account_clamped),
	KUNIT_CASE(account_interrupts),
	KUNIT_CASE(account_off_cpu),
	KUNIT_CASE(account_ends),
	KUNIT_CASE(account_begins),
	KUNIT_CASE(account_begins_later),
	KUNIT_CASE(account_keeps_name),
	KUNIT_CASE(account_lost),
	KUNIT_CASE(account_traced),
	KUNIT_CASE(account_resumed),
	KUNIT_CASE(account_forked),
	KUNIT_CASE(account_cpu),
	KUNIT_CASE(account_cpu_switching),
	KUNIT_CASE(account_dying),
	{ }
};

static struct kunit_suite account_suite = {
	.name = "ktau_account",
	.init = account_init,
	.exit = account_exit,
	.test_cases = account_cases,
};

kunit_test_suite(account_suite);
