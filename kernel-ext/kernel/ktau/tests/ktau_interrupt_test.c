// SPDX-License-Identifier: GPL-2.0-only
/*
 * KTAU: tests in which a real interrupt runs the same code as the task it hits, run by
 * KUnit at boot.
 *
 * The loops are so short that the interrupt hits every instruction sooner or later.
 * Nothing may be lost, torn or counted twice.
 */
#include <linux/hrtimer.h>
#include <linux/preempt.h>

#include "base/compat.h"
#include "base/event.h"
#include "base/ids.h"
#include "base/memory.h"
#include "measure/cpu.h"
#include "measure/trace.h"
#include "tasks/snapshot.h"
#include "ktau_test.h"

#define ID_A	100
#define ID_B	101
#define ID_C	102
#define PERIOD	(50 * NSEC_PER_USEC)

/**
 * struct hits - context of a test
 * @timer: the interrupt
 * @inside: runs in the interrupt
 * @state: state of the task during the test
 * @id: event of the interrupt
 * @fired: number of interrupts
 * @beyond: loops in which more time was counted than has passed
 */
struct hits {
	struct hrtimer timer;
	void (*inside)(struct hits *h);
	struct ktau_state *state;
	unsigned int id;
	u64 fired;
	u64 beyond;
};

static enum hrtimer_restart fire(struct hrtimer *timer)
{
	struct hits *h = container_of(timer, struct hits, timer);

	h->fired++;
	h->inside(h);
	hrtimer_forward_now(timer, ns_to_ktime(PERIOD));
	return HRTIMER_RESTART;
}

/*
 * Run @loop for half a second while @inside interrupts it. Return: the number of loops.
 */
static u64 hit(struct kunit *test, void (*loop)(struct hits *h),
	       void (*inside)(struct hits *h))
{
	unsigned long end = jiffies + HZ / 2;
	struct hits *h = test->priv;
	u64 loops = 0;

	h->inside = inside;
	h->fired = 0;
	ktau_hrtimer_setup(&h->timer, fire, CLOCK_MONOTONIC,
			   HRTIMER_MODE_REL_HARD);
	preempt_disable();	/* one CPU, one task */
	hrtimer_start(&h->timer, ns_to_ktime(PERIOD),
		      HRTIMER_MODE_REL_PINNED_HARD);
	while (time_before(jiffies, end)) {
		loop(h);
		loops++;
	}
	hrtimer_cancel(&h->timer);
	preempt_enable();
	KUNIT_EXPECT_GT(test, h->fired, 10ULL);
	return loops;
}

static void detach(void)
{
	struct ktau_state *state = current->ktau.state;

	current->ktau = (struct ktau_ref) { };
	ktau_state_put(state);
}

static int hits_init(struct kunit *test)
{
	struct hits *h = kunit_kzalloc(test, sizeof(*h), GFP_KERNEL);

	KUNIT_ASSERT_NOT_NULL(test, h);
	test->priv = h;
	/*
	 * Create what exists once KTAU has been enabled, such as the tables of the CPUs.
	 */
	KUNIT_ASSERT_EQ(test, control("groups=syscall"), 0);
	KUNIT_ASSERT_EQ(test, control("groups=none"), 0);
	h->state = ktau_state_create(&ktau_system, GFP_KERNEL);
	KUNIT_ASSERT_NOT_NULL(test, h->state);
	h->state->ring = ktau_ring_create(&ktau_system, 64, GFP_KERNEL);
	KUNIT_ASSERT_NOT_NULL(test, h->state->ring);
	detach();
	refcount_inc(&h->state->ref);
	current->ktau.state = h->state;
	ktau_reserve_fill();
	return 0;
}

static void hits_exit(struct kunit *test)
{
	struct hits *h = test->priv;

	detach();
	ktau_state_put(h->state);
}

static void snapshot(struct kunit *test, struct ktau_rec_profile *rec,
		     struct ktau_state *state, struct task_struct *task)
{
	KUNIT_ASSERT_EQ(test, ktau_snapshot(rec, state, task), 0);
	expect_identity(test, rec);
}

static struct ktau_rec_profile *room(struct kunit *test)
{
	struct ktau_rec_profile *rec = kunit_kzalloc(test, KTAU_SNAPSHOT_BYTES,
						     GFP_KERNEL);

	KUNIT_ASSERT_NOT_NULL(test, rec);
	return rec;
}

/* The time counted lies within the time that has passed, and none is counted twice. */
static void frame_a(struct hits *h)
{
	u64 begin = ktau_ticks(), before = ktau_read(&h->state->outer_ticks);
	struct ktau_frame frame;

	__ktau_enter(&frame, current, ID_A);
	__ktau_exit(&frame, current);
	before = ktau_read(&h->state->outer_ticks) - before;
	h->beyond += before > ktau_ticks() - begin;
}

static void frame_of_interrupt(struct hits *h)
{
	struct ktau_frame frame;

	__ktau_enter(&frame, current, h->id);
	spin_us(5);	/* much longer than the code that it interrupts */
	__ktau_exit(&frame, current);
}

/*
 * Run frames of ID_A, interrupted by frames of @id, and copy the profile to @rec. Return:
 * the number of frames.
 */
static u64 hit_frames(struct kunit *test, struct ktau_rec_profile *rec,
		      u32 modes, unsigned int id)
{
	struct hits *h = test->priv;
	u64 loops;

	current->ktau.mask = KTAU_GROUP_SYSCALL | modes;
	h->id = id;
	loops = hit(test, frame_a, frame_of_interrupt);
	snapshot(test, rec, h->state, current);
	KUNIT_EXPECT_EQ(test, h->beyond, 0ULL);
	KUNIT_EXPECT_EQ(test, rec->clamped, 0ULL);
	return loops;
}

static void interrupt_inside(struct kunit *test)
{
	struct ktau_rec_profile *rec = room(test);
	u64 loops = hit_frames(test, rec, KTAU_MODE_PROFILE, ID_B);
	struct hits *h = test->priv;

	KUNIT_EXPECT_EQ(test, find(rec, ID_A)->count, loops);
	KUNIT_EXPECT_EQ(test, find(rec, ID_B)->count, h->fired);
	KUNIT_EXPECT_EQ(test, find(rec, ID_B)->incl, find(rec, ID_B)->excl);
	KUNIT_EXPECT_EQ(test, rec->depth, 0U);
}

/*
 * An activation is either inside another one of the same event or outside of it. Without
 * other events, inclusive and exclusive time are both the total.
 */
static void recursing(struct kunit *test, u32 modes)
{
	struct ktau_rec_profile *rec = room(test);
	u64 loops = hit_frames(test, rec, modes, ID_A);
	struct hits *h = test->priv;

	KUNIT_EXPECT_EQ(test, find(rec, ID_A)->count, loops + h->fired);
	KUNIT_EXPECT_EQ(test, find(rec, ID_A)->excl, rec->outer_ticks);
	KUNIT_EXPECT_EQ(test, find(rec, ID_A)->incl, rec->outer_ticks);
}

static void interrupt_recursing(struct kunit *test)
{
	recursing(test, KTAU_MODE_PROFILE);
}

static void interrupt_recursing_traced(struct kunit *test)
{
	recursing(test, KTAU_MODE_PROFILE | KTAU_MODE_TRACE);
}

static void cpu_frame(struct hits *h)
{
	struct ktau_cpu_frame frame;

	__ktau_cpu_enter(&frame, ID_A, KTAU_GROUP_IRQ);
	__ktau_cpu_exit(&frame);
}

/* Bind the test's thread to one CPU. Return: the state of that CPU. */
static struct ktau_state *stay_here(void)
{
	unsigned int cpu = raw_smp_processor_id();

	set_cpus_allowed_ptr(current, cpumask_of(cpu));
	return per_cpu(ktau_cpu, cpu).state;
}

/* The same in the table of a CPU, for a task that is not selected. */
static void cpu_recursing(struct kunit *test)
{
	struct ktau_rec_profile *before = room(test), *rec = room(test);
	struct hits *h = test->priv;
	struct ktau_state *state = stay_here();
	u64 loops, ticks;

	snapshot(test, before, state, NULL);
	loops = hit(test, cpu_frame, cpu_frame);
	snapshot(test, rec, state, NULL);
	ticks = rec->outer_ticks - before->outer_ticks;
	KUNIT_EXPECT_EQ(test, find(rec, ID_A)->count - find(before, ID_A)->count,
			loops + h->fired);
	KUNIT_EXPECT_EQ(test, find(rec, ID_A)->excl - find(before, ID_A)->excl,
			ticks);
	KUNIT_EXPECT_EQ(test, find(rec, ID_A)->incl - find(before, ID_A)->incl,
			ticks);
}

static void cpu_frames_nested(struct hits *h)
{
	struct ktau_cpu_frame outer, inner;

	__ktau_cpu_enter(&outer, ID_A, KTAU_GROUP_IRQ);
	__ktau_cpu_enter(&inner, ID_B, KTAU_GROUP_IRQ);
	__ktau_cpu_exit(&inner);
	__ktau_cpu_exit(&outer);
}

static void cpu_frame_long(struct hits *h)
{
	struct ktau_cpu_frame frame;

	__ktau_cpu_enter(&frame, ID_C, KTAU_GROUP_IRQ);
	spin_us(5);	/* much longer than the code that it interrupts */
	__ktau_cpu_exit(&frame);
}

/* Wherever an interrupt hits a softirq, its time is inside one frame, not two. */
static void cpu_interrupted(struct kunit *test)
{
	struct ktau_state *state = stay_here();
	u64 clamped = state->clamped;

	hit(test, cpu_frames_nested, cpu_frame_long);
	KUNIT_EXPECT_EQ(test, state->clamped, clamped);
}

static void write_slot(struct hits *h)
{
	ktau_trace(h->state, 0, KTAU_TRACE_ENTER, ID_A, 0);
}

/*
 * Slots of interrupts: since the task's write began, and in total. On a slow machine one
 * write may be interrupted as often as the ring has slots; those slots would rightly be
 * lost.
 */
#define INSIDE_MOST	32
static unsigned int slots_since;
static u64 slots_inside;

static void write_slot_first(struct hits *h)
{
	WRITE_ONCE(slots_since, 0);
	write_slot(h);
}

static void write_slot_inside(struct hits *h)
{
	if (slots_since == INSIDE_MOST)
		return;
	slots_since++;
	slots_inside++;
	write_slot(h);
}

/* Wherever an interrupt hits a write and writes itself, neither loses its slot. */
static void ring_interrupted(struct kunit *test)
{
	struct hits *h = test->priv;
	u64 written;

	slots_inside = 0;
	written = hit(test, write_slot_first, write_slot_inside);
	KUNIT_EXPECT_GT(test, slots_inside, 10ULL);
	KUNIT_EXPECT_EQ(test, h->state->no_room, 0ULL);
	KUNIT_EXPECT_EQ(test, h->state->ring->head, written + slots_inside);
}

/*
 * Slots of a ring before it is reinitialised; slots of the task; and the last interrupt.
 */
static u64 slots_before, slots_of_task, hit_at;

/* Write once around a new ring, and further. */
static void write_round(struct hits *h)
{
	struct ktau_ring *ring = h->state->ring;
	unsigned long flags;
	unsigned int i;

	local_irq_save(flags);
	slots_before += ring->head;
	ring->head = 0;
	ring->ready = 0;
	ring->slot[0].seq = ~0;
	local_irq_restore(flags);
	for (i = 0; i < 100; i++) {
		write_slot(h);
		slots_of_task++;
	}
}

/* Once per write: more than the ring holds would rightly be lost. */
static void write_many(struct hits *h)
{
	u64 at = READ_ONCE(slots_of_task) + 1;
	unsigned int i;

	if (hit_at == at)
		return;
	hit_at = at;
	for (i = 0; i < 20; i++)
		write_slot(h);
	slots_inside += i;
}

/* Neither loses its slot while the slots of a new ring are prepared. */
static void ring_interrupted_new(struct kunit *test)
{
	struct hits *h = test->priv;

	slots_before = 0;
	slots_of_task = 0;
	slots_inside = 0;
	hit_at = 0;
	hit(test, write_round, write_many);
	KUNIT_EXPECT_EQ(test, h->state->no_room, 0ULL);
	KUNIT_EXPECT_EQ(test, slots_before + h->state->ring->head,
			slots_of_task + slots_inside);
}

/* An interrupt and the task add to one value, and write and read another one. */
static struct {
	unsigned int torn;	/* values that were never written */
	u32 added;
	u64 sum;
	u64 from_task;
	u64 from_interrupt;
} shared;

/* Each addition carries into the upper half; both halves of a written value are equal. */
#define ADD_IN_TASK		0xffffffffULL
#define ADD_IN_INTERRUPT	(3ULL << 32 | 0xfffffff1)

static u64 both_halves(u32 n)
{
	return (u64)n << 32 | n;
}

static void read_whole(const u64 *from)
{
	u64 v = ktau_read(from);

	if (upper_32_bits(v) != lower_32_bits(v))
		shared.torn++;
}

static void share_in_task(struct hits *h)
{
	shared.added++;
	ktau_add(&shared.sum, ADD_IN_TASK);
	ktau_write(&shared.from_task, both_halves(shared.added));
	read_whole(&shared.from_interrupt);
}

static void share_in_interrupt(struct hits *h)
{
	ktau_add(&shared.sum, ADD_IN_INTERRUPT);
	ktau_write(&shared.from_interrupt, both_halves(h->fired));
	read_whole(&shared.from_task);
}

/* No addition is lost, and every value read was written as a whole. */
static void whole_values(struct kunit *test)
{
	struct hits *h = test->priv;
	u64 added = hit(test, share_in_task, share_in_interrupt);

	KUNIT_EXPECT_EQ(test, shared.sum,
			added * ADD_IN_TASK + h->fired * ADD_IN_INTERRUPT);
	KUNIT_EXPECT_EQ(test, shared.torn, 0U);
}

/* Functions whose ids the task and the interrupt request at the same time. */
#define RACED	200
static unsigned long raced;
static unsigned int raced_ids[RACED];

static unsigned int ask(unsigned int i)
{
	return ktau_call_id(KTAU_CALL_WORK, (void *)(8192UL + i));
}

static void ask_in_task(struct hits *h)
{
	unsigned int i = READ_ONCE(raced);

	if (i == RACED)
		return;
	raced_ids[i] = ask(i);
	WRITE_ONCE(raced, i + 1);
}

static void ask_in_interrupt(struct hits *h)
{
	unsigned int i = READ_ONCE(raced);

	if (i < RACED)
		ask(i);
}

/* The loser of a race for an id adopts the winner's, and no id is lost. */
static void ids_raced(struct kunit *test)
{
	const struct ktau_id_range *range = &ktau_id_ranges[KTAU_SOURCE_WORK];
	unsigned int used = ktau_ids_used(range), i;

	hit(test, ask_in_task, ask_in_interrupt);
	KUNIT_EXPECT_EQ(test, raced, (unsigned long)RACED);
	KUNIT_EXPECT_EQ(test, ktau_ids_used(range), used + RACED);
	for (i = 0; i < RACED; i++) {
		KUNIT_EXPECT_EQ(test, raced_ids[i], range->first + used + i);
		KUNIT_EXPECT_EQ(test, ask(i), raced_ids[i]);
	}
}

static struct kunit_case hits_cases[] = {
	KUNIT_CASE(interrupt_inside),
	KUNIT_CASE(interrupt_recursing),
	KUNIT_CASE(interrupt_recursing_traced),
	KUNIT_CASE(cpu_recursing),
	KUNIT_CASE(cpu_interrupted),
	KUNIT_CASE(ring_interrupted),
	KUNIT_CASE(ring_interrupted_new),
	KUNIT_CASE(whole_values),
	KUNIT_CASE(ids_raced),
	{ }
};

static struct kunit_suite hits_suite = {
	.name = "ktau_interrupt",
	.init = hits_init,
	.exit = hits_exit,
	.test_cases = hits_cases,
};

kunit_test_suite(hits_suite);
