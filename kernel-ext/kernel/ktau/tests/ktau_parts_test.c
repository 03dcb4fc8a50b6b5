// SPDX-License-Identifier: GPL-2.0-only
/*
 * KTAU: tests of the ring, of frames of CPUs and of kinds of context switches, run by
 * KUnit at boot. Those of the model are in ktau_test.c.
 */
#include <linux/delay.h>
#include <linux/kthread.h>
#include <linux/mm.h>
#include <linux/sched/signal.h>
#include <linux/string.h>

#include "base/defer.h"
#include "base/memory.h"
#include "base/poll.h"
#include "measure/cpu.h"
#include "measure/table.h"
#include "measure/trace.h"
#include "tasks/snapshot.h"
#include "ktau_test.h"

#define ID_A	100
#define ID_B	101
#define ID_C	102
#define ID_D	103
#define ID_E	104

static int read_trace(struct ktau_ring_fixture *f)
{
	struct ktau_reach reach = { .consume = true };

	return read_slots(f, KTAU_TEST_SLOTS_BYTES, &reach);
}

static void write_slots(struct ktau_state *state, unsigned int nr)
{
	unsigned int i;

	for (i = 0; i < nr; i++)
		ktau_trace(state, 0, KTAU_TRACE_ENTER, ID_A, i);
}

static struct ktau_ring *new_ring(struct kunit *test, struct ktau_state *state,
				  u32 slots)
{
	ktau_ring_put(state->ring);
	state->ring = ktau_ring_create(&ktau_system, slots, GFP_KERNEL);
	KUNIT_ASSERT_NOT_NULL(test, state->ring);
	return state->ring;
}

/* The position in one ring does not apply to another one. */
static void ring_other(struct kunit *test)
{
	struct ktau_ring_fixture *f = test->priv;
	struct ktau_reach reach = { };
	struct ktau_rec_trace *rec = f->trace;
	static const u32 sizes[] = { 64, 16, 16 };
	unsigned int i, nr = 12;

	for (i = 0; i < ARRAY_SIZE(sizes); i++, nr -= 3) {
		new_ring(test, f->state, sizes[i]);
		write_slots(f->state, nr);
		KUNIT_EXPECT_EQ(test, 0, read_slots(f, KTAU_TEST_SLOTS_BYTES,
						    &reach));
		KUNIT_EXPECT_EQ(test, rec->first, 0ULL);
		KUNIT_EXPECT_EQ(test, rec->lost, 0ULL);
		KUNIT_EXPECT_EQ(test, rec->nr_slots, nr);
		KUNIT_EXPECT_EQ(test, rec->written, (u64)nr);
	}
	/* No slot is read twice. */
	KUNIT_EXPECT_EQ(test, 0, read_slots(f, KTAU_TEST_SLOTS_BYTES, &reach));
	KUNIT_EXPECT_EQ(test, rec->nr_slots, 0U);
	/* Slots that one reader has consumed are gone for the next one that consumes. */
	f->state->ring->tail = 2;
	reach = (struct ktau_reach) { .consume = true };
	KUNIT_EXPECT_EQ(test, 0, read_slots(f, KTAU_TEST_SLOTS_BYTES, &reach));
	KUNIT_EXPECT_EQ(test, rec->first, 2ULL);
	KUNIT_EXPECT_EQ(test, rec->lost, 0ULL);
}

/* A fast writer cannot keep a reader at one ring. */
static void ring_until(struct kunit *test)
{
	struct ktau_ring_fixture *f = test->priv;
	struct ktau_reach reach = { .consume = true };
	unsigned int i;

	new_ring(test, f->state, 64);
	write_slots(f->state, 16);
	for (i = 4; i; i--) {
		KUNIT_EXPECT_EQ(test, i > 1,
				read_slots(f, 3 * sizeof(struct ktau_slot) +
					   KTAU_SLOT_MAX_BYTES, &reach));
		KUNIT_EXPECT_EQ(test, f->trace->nr_slots, 4U);
		write_slots(f->state, 5);
	}
	KUNIT_EXPECT_EQ(test, f->state->ring->tail, 16ULL);
	KUNIT_EXPECT_EQ(test, 0, read_trace(f));
	KUNIT_EXPECT_EQ(test, f->trace->nr_slots, 20U);
}

/* A mark that was passed while the ring was read wakes pollers at once. */
static void ring_rearm(struct kunit *test)
{
	struct ktau_ring_fixture *f = test->priv;
	struct ktau_ring *ring = new_ring(test, f->state, 64);
	int fills;

	KUNIT_ASSERT_EQ(test, control("watermark=4"), 0);
	ring->poll_at = U64_MAX;
	write_slots(f->state, 6);
	ring->tail = 3;
	msleep(50);	/* until no wakeup is pending */
	fills = atomic_read(&ktau_trace_fills);
	ktau_ring_rearm(ring);
	msleep(50);
	KUNIT_EXPECT_EQ(test, atomic_read(&ktau_trace_fills), fills);
	KUNIT_EXPECT_EQ(test, ring->wake_at, 7ULL);
	ring->poll_at = U64_MAX;
	write_slots(f->state, 1);
	ktau_ring_rearm(ring);
	msleep(50);
	KUNIT_EXPECT_EQ(test, atomic_read(&ktau_trace_fills), fills + 1);
	KUNIT_EXPECT_EQ(test, ring->poll_at, U64_MAX);
	KUNIT_EXPECT_EQ(test, control("watermark=512"), 0);
}

static void ring_bounds(struct kunit *test)
{
	struct ktau_ring_fixture *f = test->priv;
	unsigned int i;

	f->state->ring = ktau_ring_create(&ktau_system, 16, GFP_KERNEL);
	KUNIT_ASSERT_NOT_NULL(test, f->state->ring);
	for (i = 0; i < 10; i++)
		ktau_trace(f->state, 1000 + i, KTAU_TRACE_COUNT, ID_A, i);
	KUNIT_EXPECT_EQ(test, read_trace(f), 0);
	KUNIT_EXPECT_EQ(test, f->trace->nr_slots, 10U);
	KUNIT_EXPECT_EQ(test, f->trace->lost, 0ULL);

	for (; i < 100; i++)
		ktau_trace(f->state, 1000 + i, KTAU_TRACE_COUNT, ID_A, i);
	KUNIT_EXPECT_EQ(test, read_trace(f), 0);
	KUNIT_EXPECT_EQ(test, f->trace->nr_slots, 16U);
	KUNIT_EXPECT_EQ(test, f->trace->first, 84ULL);
	KUNIT_EXPECT_EQ(test, f->trace->lost, 74ULL);
	KUNIT_EXPECT_EQ(test, f->trace->lost_from_ticks, 1009ULL);
	KUNIT_EXPECT_EQ(test, f->trace->lost_to_ticks, 1084ULL);
	for (i = 0; i < 16; i++)
		KUNIT_EXPECT_EQ(test, payload(slot_at(f->trace, i)), 84ULL + i);
	KUNIT_EXPECT_EQ(test, read_trace(f), 0);
	KUNIT_EXPECT_EQ(test, f->trace->nr_slots, 0U);
	KUNIT_EXPECT_EQ(test, f->trace->lost, 0ULL);
}

#define NET	KTAU_WHAT(1, KTAU_TRACE_NET_SEND, 0)

static void ring_halves(struct kunit *test)
{
	struct ktau_ring_fixture *f = test->priv;
	const struct ktau_slot_net *net;
	struct ktau_slot_more more[2] = { };
	unsigned int i;

	f->state->ring = ktau_ring_create(&ktau_system, 16, GFP_KERNEL);
	KUNIT_ASSERT_NOT_NULL(test, f->state->ring);
	for (i = 0; i < 6; i++)
		ktau_trace_more(f->state, NET, i, more, 2);
	/* 18 slots written, 16 kept: the first complete message is number 1. */
	KUNIT_EXPECT_EQ(test, read_trace(f), 0);
	KUNIT_EXPECT_EQ(test, f->trace->first, 3ULL);
	KUNIT_EXPECT_EQ(test, f->trace->lost, 3ULL);
	KUNIT_EXPECT_EQ(test, f->trace->next, 18ULL);
	KUNIT_ASSERT_EQ(test, f->trace->nr_slots, 5U);
	for (i = 0; i < 5; i++) {
		net = (const void *)(slot_at(f->trace, i) + 1);
		KUNIT_EXPECT_EQ(test, net->seq, 1 + i);
	}
}

#define STALE	0xa5

/* Write slots of each kind on each path. */
static void write_each_kind(struct ktau_state *state)
{
	struct ktau_slot_more more = { .data = { 3, 4 }, .small = 5, .small2 = 6 };
	struct ktau_ref before = current->ktau;
	struct ktau_frame frame;
	unsigned int i;

	current->ktau = (struct ktau_ref) {
		.mask = KTAU_GROUP_SYSCALL | KTAU_MODE_PROFILE | KTAU_MODE_TRACE,
		.state = state,
	};
	for (i = 0; i < 2; i++) { /* the first exit finds no chunk */
		__ktau_enter(&frame, current, ID_A);
		__ktau_exit(&frame, current);
	}
	current->ktau = before;
	ktau_trace(state, 0, KTAU_TRACE_COUNT, ID_B, 1);
	ktau_trace_more(state, KTAU_WHAT(0, KTAU_TRACE_EXEC, 0), 0, &more, 1);
}

/* A reader gets what was written, and nothing that the memory contained before. */
static void ring_stale(struct kunit *test)
{
	static const struct ktau_slot expected[] = {
		{ .type = KTAU_TRACE_ENTER, .id = ID_A, .words = 2 },
		{ .type = KTAU_TRACE_EXIT, .id = ID_A, .words = 3 },
		{ .type = KTAU_TRACE_ENTER, .id = ID_A, .words = 2 },
		{ .type = KTAU_TRACE_EXIT, .id = ID_A, .words = 3 },
		{ .type = KTAU_TRACE_COUNT, .id = ID_B, .words = 3 },
		{ .type = KTAU_TRACE_EXEC, .id = KTAU_ID_NONE, .words = 5 },
	};
	struct ktau_ring_fixture *f = test->priv;
	static const u64 name[] = { 3, 4, 0 };
	const struct ktau_slot *slot;
	struct ktau_ring *ring = ktau_ring_create(&ktau_system, 16, GFP_KERNEL);
	u64 last = ktau_ticks();
	unsigned int i;

	KUNIT_ASSERT_NOT_NULL(test, ring);
	f->state->ring = ring;
	for (i = 0; i < ring->size; i++)
		memset(&ring->slot[i], STALE, offsetof(struct ktau_ring_slot, seq));
	write_each_kind(f->state);
	KUNIT_EXPECT_EQ(test, read_trace(f), 0);
	KUNIT_ASSERT_EQ(test, f->trace->nr_slots, ARRAY_SIZE(expected));
	for (i = 0; i < ARRAY_SIZE(expected); i++) {
		slot = slot_at(f->trace, i);
		KUNIT_EXPECT_EQ(test, slot->type, expected[i].type);
		KUNIT_EXPECT_EQ(test, slot->id, expected[i].id);
		KUNIT_EXPECT_EQ(test, slot->words, expected[i].words);
		KUNIT_EXPECT_EQ(test, slot->ctx, (u8)KTAU_CTX_TASK);
		KUNIT_EXPECT_LT(test, (unsigned int)slot->cpu, nr_cpu_ids);
		KUNIT_EXPECT_GE(test, slot->ticks, last);
		KUNIT_EXPECT_LE(test, slot->ticks, ktau_ticks());
		last = slot->ticks;
	}
	KUNIT_EXPECT_EQ(test, payload(slot_at(f->trace, 4)), 1ULL);
	KUNIT_EXPECT_EQ(test, memcmp(slot + 1, name, sizeof(name)), 0);

	ring->head++;		/* a write that has reserved its slot */
	KUNIT_EXPECT_EQ(test, read_trace(f), -EAGAIN);
}

#define CALLS	(200U)

/* Whether slot @i of ring_calls() has an argument: entries of faults, and exits of system calls. */
static bool call_has_arg(unsigned int i)
{
	return i % 3 == 0;
}

static unsigned int call_type(unsigned int i)
{
	if (i % 90 == 60)
		return KTAU_TRACE_COUNT;
	return i % 2 ? KTAU_TRACE_EXIT : KTAU_TRACE_ENTER;
}

/*
 * Calls are converted straight from the ring once a record has slots, many at once. The reader does
 * not see where that begins and ends.
 */
static void ring_calls(struct kunit *test)
{
	const size_t bytes = CALLS * 3 * sizeof(u64) + KTAU_SLOT_MAX_BYTES;
	struct ktau_ring_fixture *f = test->priv;
	struct ktau_reach reach = { };
	const struct ktau_slot *slot;
	unsigned int i, type;

	f->trace = kunit_kzalloc(test, sizeof(*f->trace) + bytes, GFP_KERNEL);
	KUNIT_ASSERT_NOT_NULL(test, f->trace);
	memset(f->trace + 1, STALE, bytes);
	new_ring(test, f->state, 256);
	for (i = 0; i < CALLS; i++)
		ktau_trace(f->state, 1000 + i,
			   call_type(i) | (call_has_arg(i) ? KTAU_WHAT_ARG >> 16 : 0),
			   ID_A, i);
	KUNIT_ASSERT_EQ(test, read_slots(f, bytes, &reach), 0);
	KUNIT_ASSERT_EQ(test, f->trace->nr_slots, CALLS);
	KUNIT_EXPECT_EQ(test, f->trace->next, (u64)CALLS);
	KUNIT_EXPECT_EQ(test, reach.ticks, 1000ULL + CALLS - 1);
	slot = slot_at(f->trace, 0);
	for (i = 0; i < CALLS; i++) {
		type = call_type(i);
		KUNIT_ASSERT_EQ(test, slot->ticks, 1000ULL + i);
		KUNIT_ASSERT_EQ(test, slot->type, type);
		KUNIT_ASSERT_EQ(test, slot->id, ID_A);
		KUNIT_ASSERT_EQ(test, slot->ctx, (u8)KTAU_CTX_TASK);
		KUNIT_ASSERT_EQ(test, slot->flags, 0);
		KUNIT_ASSERT_LT(test, (unsigned int)slot->cpu, nr_cpu_ids);
		KUNIT_ASSERT_EQ(test, slot->words,
				type == KTAU_TRACE_COUNT || call_has_arg(i) ? 3 : 2);
		if (slot->words == 3)
			KUNIT_ASSERT_EQ(test, payload(slot), (u64)i);
		slot = (const void *)slot + slot->words * sizeof(u64);
	}
	KUNIT_EXPECT_PTR_EQ(test, (const void *)slot,
			    (const void *)(f->trace + 1) + f->trace->slots_bytes);
}

/*
 * The slots of a large ring are prepared step by step, whatever its memory contained
 * before.
 */
static void ring_ready(struct kunit *test)
{
	struct ktau_ring_fixture *f = test->priv;
	struct ktau_ring *ring = ktau_ring_create(&ktau_system, 512, GFP_KERNEL);
	const struct ktau_slot_net *net;
	struct ktau_slot_more more[2] = { };
	unsigned int i;

	KUNIT_ASSERT_NOT_NULL(test, ring);
	f->state->ring = ring;
	KUNIT_ASSERT_LT(test, ring->ready, ring->size);
	for (i = ring->ready + 1; i < ring->size; i++) {
		memset(&ring->slot[i], STALE, sizeof(ring->slot[i]));
		if (i % 2)
			ring->slot[i].seq = i;
	}
	for (i = 0; i < 1500; i += 3) {
		ktau_trace_more(f->state, NET, i, more, 2);
		KUNIT_ASSERT_EQ(test, read_trace(f), 0);
		KUNIT_ASSERT_EQ(test, f->trace->first, i);
		KUNIT_ASSERT_EQ(test, f->trace->nr_slots, 1U);
		net = (const void *)(slot_at(f->trace, 0) + 1);
		KUNIT_ASSERT_EQ(test, net->seq, i);
		KUNIT_ASSERT_EQ(test, net->remote_port, (u16)0);
		KUNIT_ASSERT_FALSE(test, memchr_inv(net->remote, 0,
						    sizeof(net->remote)));
	}
	KUNIT_EXPECT_EQ(test, f->state->no_room, 0ULL);
}

/* An interrupt writes more than the ring holds inside another write. */
static void ring_overrun_inside(struct kunit *test)
{
	struct ktau_ring_fixture *f = test->priv;
	u64 lost = ktau_loss_total(KTAU_LOSS_NO_ROOM);
	struct ktau_ring *ring = ktau_ring_create(&ktau_system, 16, GFP_KERNEL);
	struct ktau_slot_more more[2] = { };
	unsigned int i;

	KUNIT_ASSERT_NOT_NULL(test, ring);
	f->state->ring = ring;
	ring->head++;		/* a write that has reserved its slot */
	for (i = 0; i < 40; i++)
		ktau_trace(f->state, 0, KTAU_TRACE_ENTER, ID_A, i);
	ktau_trace_more(f->state, NET, 0, more, 2);
	KUNIT_EXPECT_EQ(test, ring->head, 16ULL);
	KUNIT_EXPECT_EQ(test, f->state->no_room, 28ULL);
	KUNIT_EXPECT_EQ(test, ktau_loss_total(KTAU_LOSS_NO_ROOM) - lost, 28ULL);
	ktau_slot_commit(ring, &ring->slot[0]);
	ktau_trace(f->state, 0, KTAU_TRACE_ENTER, ID_A, 99);
	KUNIT_EXPECT_EQ(test, ring->head, 17ULL);
}

/* A time long ago is not taken for one in the future when jiffies wrap around. */
static void soon(struct kunit *test)
{
	unsigned long now = 5;

	KUNIT_EXPECT_TRUE(test, ktau_is_soon(now + 1, now));
	KUNIT_EXPECT_TRUE(test, ktau_is_soon(now + HZ, now));
	KUNIT_EXPECT_FALSE(test, ktau_is_soon(now, now));
	KUNIT_EXPECT_FALSE(test, ktau_is_soon(now - 1, now));
	KUNIT_EXPECT_FALSE(test, ktau_is_soon(now + ULONG_MAX / 2 - HZ, now));
	KUNIT_EXPECT_TRUE(test, ktau_is_soon(1, -1UL));
}

/* Frames of the CPU alone nest like those of a task. */
static void cpu_frames(struct kunit *test)
{
	struct ktau_rec_profile *rec = kvzalloc(KTAU_SNAPSHOT_BYTES, GFP_KERNEL);
	const struct ktau_entry *a, *b;
	struct ktau_cpu_frame fa, fb;
	int err;

	KUNIT_ASSERT_NOT_NULL(test, rec);
	KUNIT_EXPECT_EQ(test, control("filter=pid: groups=irq"), 0);
	local_irq_disable();
	__ktau_cpu_enter(&fa, ID_A, KTAU_GROUP_IRQ);
	spin_us(1);
	__ktau_cpu_enter(&fb, ID_B, KTAU_GROUP_IRQ);
	spin_us(1);
	__ktau_cpu_exit(&fb);
	spin_us(1);
	__ktau_cpu_exit(&fa);
	err = ktau_snapshot(rec, this_cpu_ptr(&ktau_cpu)->state, NULL);
	local_irq_enable();

	KUNIT_EXPECT_EQ(test, err, 0);
	expect_identity(test, rec);
	a = find(rec, ID_A);
	b = find(rec, ID_B);
	KUNIT_EXPECT_EQ(test, a->count, 1ULL);
	KUNIT_EXPECT_EQ(test, b->count, 1ULL);
	KUNIT_EXPECT_EQ(test, b->incl, b->excl);
	KUNIT_EXPECT_EQ(test, a->incl, a->excl + b->incl);
	KUNIT_EXPECT_GT(test, a->excl, 0ULL);
	KUNIT_EXPECT_GT(test, b->excl, 0ULL);
	KUNIT_EXPECT_EQ(test, control("groups=none filter=none"), 0);
	kvfree(rec);
}

/*
 * A frame of the task between two of the CPU is another level for the task but not for
 * the CPU, whose outer frame has its time as exclusive time.
 */
static void cpu_frames_around_task_frame(struct kunit *test)
{
	struct ktau_rec_profile *rec = kvzalloc(KTAU_SNAPSHOT_BYTES, GFP_KERNEL);
	const struct ktau_entry *a, *b;
	struct ktau_cpu_frame fa, fb;
	struct ktau_frame fc;
	u64 ticks;
	int err;

	KUNIT_ASSERT_NOT_NULL(test, rec);
	KUNIT_EXPECT_EQ(test, control("groups=syscall,irq"), 0);
	local_irq_disable();
	__ktau_cpu_enter(&fa, ID_D, KTAU_GROUP_IRQ);
	__ktau_enter(&fc, current, ID_C);
	ticks = ktau_ticks();
	spin_us(5);
	ticks = ktau_ticks() - ticks;
	__ktau_cpu_enter(&fb, ID_E, KTAU_GROUP_IRQ);
	spin_us(1);
	__ktau_cpu_exit(&fb);
	__ktau_exit(&fc, current);
	__ktau_cpu_exit(&fa);
	err = ktau_snapshot(rec, this_cpu_ptr(&ktau_cpu)->state, NULL);
	local_irq_enable();

	KUNIT_EXPECT_EQ(test, err, 0);
	expect_identity(test, rec);
	a = find(rec, ID_D);
	b = find(rec, ID_E);
	KUNIT_EXPECT_EQ(test, a->count, 1ULL);
	KUNIT_EXPECT_EQ(test, find(rec, ID_C)->count, 0ULL);
	KUNIT_EXPECT_GE(test, a->excl, ticks);
	KUNIT_EXPECT_EQ(test, a->incl, a->excl + b->incl);
	KUNIT_EXPECT_EQ(test, control("groups=none"), 0);
	kvfree(rec);
}

static int runnable_run(void *unused)
{
	while (!kthread_should_stop())
		schedule();
	return 0;
}

static u64 vol_count(void)
{
	const unsigned int id = KTAU_ID_SCHEDULE_VOL_INTERRUPTIBLE;

	return ktau_cell_here(current->ktau.state, id)->count;
}

/*
 * A task that is about to sleep with a signal pending continues instead. But if another
 * task is switched in first, the kernel counts a voluntary switch.
 */
static void voluntary_signalled(struct kunit *test)
{
	unsigned long end = jiffies + 10 * HZ, switches;
	struct task_struct *other;
	u64 vol;

	/* both on one CPU */
	set_cpus_allowed_ptr(current, cpumask_of(raw_smp_processor_id()));
	other = kthread_create(runnable_run, NULL, "ktau_runnable");
	KUNIT_ASSERT_FALSE(test, IS_ERR(other));
	kthread_bind(other, raw_smp_processor_id());
	wake_up_process(other);
	KUNIT_EXPECT_EQ(test, control("groups=sched"), 0);
	allow_signal(SIGUSR1);
	send_sig(SIGUSR1, current, 0);
	vol = vol_count();
	switches = current->nvcsw;
	while (current->nvcsw - switches < 10 && time_before(jiffies, end)) {
		spin_us(1000);
		set_current_state(TASK_INTERRUPTIBLE);
		schedule();
	}
	KUNIT_EXPECT_GE(test, current->nvcsw - switches, 10UL);
	KUNIT_EXPECT_EQ(test, vol_count() - vol, current->nvcsw - switches);
	flush_signals(current);
	disallow_signal(SIGUSR1);
	kthread_stop(other);
	KUNIT_EXPECT_EQ(test, control("groups=none"), 0);
}

#define NR_STATES	40
#define ID_INDIRECT	(KTAU_ID_INDIRECT + 77)

/* A state whose memory has been a state before is empty. */
static void reused_states(struct kunit *test)
{
	const size_t bytes = offsetofend(struct ktau_state, used);
	struct ktau_state **states, *empty;
	unsigned int i, round;

	empty = kunit_kzalloc(test, sizeof(*empty), GFP_KERNEL);
	KUNIT_ASSERT_NOT_NULL(test, empty);
	ktau_table_construct(empty);
	states = kunit_kcalloc(test, NR_STATES, sizeof(*states), GFP_KERNEL);
	KUNIT_ASSERT_NOT_NULL(test, states);
	for (round = 0; round < 3; round++) {
		for (i = 0; i < NR_STATES; i++) {
			states[i] = ktau_state_alloc(&ktau_system, GFP_KERNEL);
			KUNIT_ASSERT_NOT_NULL(test, states[i]);
			KUNIT_EXPECT_EQ(test, memcmp(states[i], empty, bytes), 0);
			states[i]->user = &ktau_system;
			states[i]->serial = i;
		}
		for (i = 0; i < NR_STATES; i++) {
			ktau_reserve_fill();
			KUNIT_ASSERT_NOT_NULL(test, ktau_cell(states[i], i * 25));
			KUNIT_ASSERT_NOT_NULL(test, ktau_cell(states[i], ID_INDIRECT + i));
			ktau_table_free(states[i]);
			ktau_state_free(states[i]);
		}
	}
}

static struct kunit_case parts_cases[] = {
	KUNIT_CASE(ring_other),
	KUNIT_CASE(ring_until),
	KUNIT_CASE(ring_rearm),
	KUNIT_CASE(ring_bounds),
	KUNIT_CASE(ring_halves),
	KUNIT_CASE(ring_stale),
	KUNIT_CASE(ring_calls),
	KUNIT_CASE(ring_ready),
	KUNIT_CASE(ring_overrun_inside),
	KUNIT_CASE(soon),
	KUNIT_CASE(reused_states),
	KUNIT_CASE(cpu_frames),
	KUNIT_CASE(cpu_frames_around_task_frame),
	KUNIT_CASE(voluntary_signalled),
	{ }
};

static struct kunit_suite parts_suite = {
	.name = "ktau_parts",
	.init = ktau_ring_fixture_init,
	.exit = ktau_ring_fixture_exit,
	.test_cases = parts_cases,
};

kunit_test_suite(parts_suite);
