// SPDX-License-Identifier: GPL-2.0-only
/*
 * KTAU: tests of rings that grow or overtake a reader, run by KUnit at boot. The tests of
 * writing a slot are in ktau_parts_test.c.
 */
#include <linux/hrtimer.h>
#include <linux/math64.h>
#include <linux/mm.h>
#include <linux/string.h>
#include <linux/workqueue.h>

#include "base/compat.h"
#include "base/memory.h"
#include "base/user.h"
#include "measure/grow.h"
#include "measure/spare.h"
#include "measure/trace.h"
#include "ktau_test.h"

#define ID_A		100
#define MAX_SLOTS	2048

struct fixture {
	struct ktau_state *state;
	struct ktau_rec_trace *trace;
	u32 written;
};

static int ring_init(struct kunit *test)
{
	struct fixture *f = kunit_kzalloc(test, sizeof(*f), GFP_KERNEL);

	KUNIT_ASSERT_NOT_NULL(test, f);
	test->priv = f;
	f->trace = kvzalloc(sizeof(*f->trace) +
			    MAX_SLOTS * sizeof(struct ktau_ring_slot), GFP_KERNEL);
	f->state = ktau_state_create(&ktau_system, GFP_KERNEL);
	KUNIT_ASSERT_NOT_NULL(test, f->trace);
	KUNIT_ASSERT_NOT_NULL(test, f->state);
	f->state->ring = ktau_ring_create(&ktau_system, 64, GFP_KERNEL);
	KUNIT_ASSERT_NOT_NULL(test, f->state->ring);
	return 0;
}

static void ring_exit(struct kunit *test)
{
	struct fixture *f = test->priv;

	ktau_state_put(f->state);
	kvfree(f->trace);
}

/* The value of each slot is its number. */
static void write_slots(struct fixture *f, u32 nr)
{
	while (nr--)
		ktau_trace(f->state, 0, KTAU_TRACE_COUNT, ID_A, f->written++);
}

/* Check that the last record has the slots from @first to the newest. */
static void expect_slots(struct kunit *test, u64 first)
{
	struct fixture *f = test->priv;
	const struct ktau_slot *slot = (const void *)(f->trace + 1);
	u32 i;

	KUNIT_EXPECT_EQ(test, f->trace->first, first);
	KUNIT_EXPECT_EQ(test, f->trace->nr_slots, f->written - (u32)first);
	for (i = 0; i < f->trace->nr_slots; i++) {
		KUNIT_ASSERT_EQ(test, slot->words, 3);
		KUNIT_ASSERT_EQ(test, *(const u64 *)(slot + 1), first + i);
		slot = (const void *)slot + slot->words * sizeof(u64);
	}
}

static int read_on(struct fixture *f, struct ktau_reach *reach)
{
	return ktau_snapshot_trace(f->trace, MAX_SLOTS * sizeof(struct ktau_ring_slot),
				   f->state, current, reach);
}

/* A ring keeps its slots and their numbers when it grows, whatever it contains. */
static void keeps_slots(struct kunit *test)
{
	static const u32 fill[] = { 1, 40, 64, 65, 100, 1000 };
	struct fixture *f = test->priv;
	struct ktau_reach reach;
	unsigned int i;
	u32 oldest;

	for (i = 0; i < ARRAY_SIZE(fill); i++) {
		ktau_ring_put(f->state->ring);
		f->state->ring = ktau_ring_create(&ktau_system, 64, GFP_KERNEL);
		KUNIT_ASSERT_NOT_NULL(test, f->state->ring);
		f->written = 0;
		write_slots(f, fill[i]);
		oldest = fill[i] > 64 ? fill[i] - 64 : 0;
		KUNIT_ASSERT_EQ(test, ktau_ring_grow(f->state), 0);
		KUNIT_EXPECT_EQ(test, f->state->ring->size, 256U);
		reach = (struct ktau_reach) { };
		KUNIT_EXPECT_EQ(test, read_on(f, &reach), 0);
		expect_slots(test, oldest);
		/* The whole ring is used, and then again from the beginning. */
		write_slots(f, 256 + oldest - fill[i]);
		reach = (struct ktau_reach) { };
		KUNIT_EXPECT_EQ(test, read_on(f, &reach), 0);
		expect_slots(test, oldest);
		write_slots(f, 300);
		reach = (struct ktau_reach) { };
		KUNIT_EXPECT_EQ(test, read_on(f, &reach), 0);
		expect_slots(test, f->written - 256);
		KUNIT_EXPECT_EQ(test, f->state->no_room, 0ULL);
	}
}

/* A reader continues where it was: no slot is missing or read twice. */
static void reader_goes_on(struct kunit *test)
{
	struct fixture *f = test->priv;
	struct ktau_reach consumed = { .consume = true }, peeked = { };
	u64 serial = f->state->ring->serial, at;
	unsigned int i;

	for (i = 0; i < 3; i++) {
		at = f->written;
		write_slots(f, 20);
		KUNIT_EXPECT_EQ(test, read_on(f, &peeked), 0);
		expect_slots(test, at);
		KUNIT_EXPECT_EQ(test, read_on(f, &consumed), 0);
		expect_slots(test, at);
		KUNIT_EXPECT_EQ(test, f->trace->lost, 0ULL);
		at = f->written;
		write_slots(f, 20);
		KUNIT_EXPECT_EQ(test, ktau_ring_grow(f->state), i < 2 ? 0 : -ENOSPC);
		write_slots(f, 20);
		KUNIT_EXPECT_EQ(test, read_on(f, &peeked), 0);
		expect_slots(test, at);
		KUNIT_EXPECT_EQ(test, read_on(f, &consumed), 0);
		expect_slots(test, at);
	}
	KUNIT_EXPECT_EQ(test, f->state->ring->serial, serial);
	/* Slots overwritten before they are read are lost as usual. */
	at = f->written;
	write_slots(f, 1124);
	KUNIT_EXPECT_EQ(test, read_on(f, &consumed), 0);
	expect_slots(test, at + 100);
	KUNIT_EXPECT_EQ(test, f->trace->lost, 100ULL);
}

/*
 * A ring requests growth when it is half full, and again later; one of full size rarely. The
 * slots of a switch, which are written when another task is current, request nothing.
 */
static void marks(struct kunit *test)
{
	struct fixture *f = test->priv;
	struct ktau_ring *ring = f->state->ring;
	struct ktau_state *saved = current->ktau.state;

	write_slots(f, 31);
	KUNIT_EXPECT_EQ(test, ring->grow_at, 32ULL);
	write_slots(f, 1);
	KUNIT_EXPECT_EQ(test, ring->grow_at, 33ULL);
	KUNIT_EXPECT_EQ(test, ring->wake_at, ring->grow_at);
	current->ktau.state = f->state;
	write_slots(f, 1);
	KUNIT_EXPECT_EQ(test, ring->grow_at, 41ULL);
	KUNIT_EXPECT_EQ(test, ring->wake_at, ring->grow_at);
	KUNIT_EXPECT_EQ(test, ktau_ring_grow(f->state), 0);
	KUNIT_EXPECT_EQ(test, ktau_ring_grow(f->state), 0);
	ring = f->state->ring;
	KUNIT_EXPECT_EQ(test, ring->size, 1024U);
	/* The mark of pollers is unchanged. */
	KUNIT_EXPECT_EQ(test, ring->wake_at, 512ULL);
	write_slots(f, 1000);
	KUNIT_EXPECT_GE(test, ring->wake_at, 4096ULL);
	current->ktau.state = saved;
}

/*
 * A reader may lose its CPU while it reads. The task does not wait for it: the ring grows, and the
 * reader keeps the old one.
 */
static void grows_while_read(struct kunit *test)
{
	struct fixture *f = test->priv;
	struct ktau_ring *old;
	u32 i;

	write_slots(f, 50);
	old = ktau_ring_get(f->state);
	KUNIT_ASSERT_PTR_EQ(test, old, f->state->ring);
	KUNIT_EXPECT_EQ(test, ktau_ring_grow(f->state), 0);
	KUNIT_EXPECT_EQ(test, f->state->ring->size, 256U);
	KUNIT_EXPECT_EQ(test, ktau_snapshot_trace_bytes(f->state), ktau_ring_bytes(256));
	rcu_barrier();
	KUNIT_EXPECT_EQ(test, refcount_read(&old->ref), 1U);
	write_slots(f, 10);
	KUNIT_EXPECT_EQ(test, old->head, 50ULL);
	for (i = 0; i < 50; i++)
		KUNIT_ASSERT_EQ(test, ktau_ring_slot(old, i)->arg, (u64)i);
	ktau_ring_put(old);
}

/* What has been consumed is consumed in the larger ring too. */
static void consumed_before_growth(struct kunit *test)
{
	struct fixture *f = test->priv;
	struct ktau_reach reach = { .consume = true };

	write_slots(f, 30);
	KUNIT_EXPECT_EQ(test, read_on(f, &reach), 0);
	KUNIT_EXPECT_EQ(test, ktau_ring_grow(f->state), 0);
	write_slots(f, 10);
	reach = (struct ktau_reach) { .consume = true };
	KUNIT_EXPECT_EQ(test, read_on(f, &reach), 0);
	expect_slots(test, 30);
	KUNIT_EXPECT_EQ(test, f->state->ring->tail, 40ULL);
}

/* A ring that cannot grow keeps overwriting, and the refusal is counted. */
static void refused(struct kunit *test)
{
	struct fixture *f = test->priv;
	struct ktau_reach reach = { };
	u64 before = ktau_config.memory_limit_bytes;
	u64 count = ktau_loss_total(KTAU_LOSS_MEMORY_LIMIT);
	long bytes = atomic_long_read(&f->state->bytes);
	char words[48];

	KUNIT_ASSERT_EQ(test, control("memory_limit=1"), 0);
	write_slots(f, 100);
	KUNIT_EXPECT_EQ(test, ktau_ring_grow(f->state), -ENOMEM);
	KUNIT_EXPECT_EQ(test, ktau_loss_total(KTAU_LOSS_MEMORY_LIMIT) - count, 1ULL);
	KUNIT_EXPECT_GE(test, f->state->ring->grow_at, 4096ULL);
	write_slots(f, 100);
	KUNIT_EXPECT_EQ(test, read_on(f, &reach), 0);
	expect_slots(test, 200 - 64);
	snprintf(words, sizeof(words), "memory_limit=%llu", before);
	KUNIT_EXPECT_EQ(test, control(words), 0);
	KUNIT_EXPECT_EQ(test, ktau_ring_grow(f->state), 0);
	KUNIT_EXPECT_EQ(test, atomic_long_read(&f->state->bytes) - bytes,
			(long)(ktau_ring_bytes(256) - ktau_ring_bytes(64)));
}

/* Make @f's state that of the test's thread, with rings in reserve. Return: what it had before. */
static struct ktau_state *with_spares(struct kunit *test)
{
	struct fixture *f = test->priv;
	struct ktau_state *saved;

	KUNIT_ASSERT_EQ(test, control("groups=signal trace=on"), 0);
	ktau_spare_fill();
	saved = current->ktau.state;
	current->ktau.state = f->state;
	return saved;
}

/* Where a ring cannot grow, one in reserve replaces it before it overwrites a slot. */
static void spare(struct kunit *test)
{
	struct fixture *f = test->priv;
	struct ktau_ring *old = ktau_ring_get(f->state);
	const long bytes = atomic_long_read(&f->state->bytes);
	struct ktau_reach reach = { }, consumed = { .consume = true };
	struct ktau_state *saved;
	unsigned long flags;

	write_slots(f, 10);
	KUNIT_EXPECT_EQ(test, read_on(f, &consumed), 0);
	saved = with_spares(test);
	local_irq_save(flags);
	write_slots(f, 390);
	local_irq_restore(flags);
	current->ktau.state = saved;
	KUNIT_EXPECT_EQ(test, f->state->ring->size, 1024U);
	KUNIT_EXPECT_EQ(test, atomic_long_read(&f->state->bytes) - bytes,
			(long)(ktau_ring_bytes(1024) - ktau_ring_bytes(64)));
	KUNIT_EXPECT_EQ(test, read_on(f, &reach), 0);
	expect_slots(test, 0);
	KUNIT_EXPECT_EQ(test, read_on(f, &consumed), 0);
	expect_slots(test, 10);
	/* It is dropped, but a reader keeps it with all its slots. */
	sleep_20ms();	/* until the interrupt that drops it */
	KUNIT_EXPECT_EQ(test, ktau_ring_head(old), 48ULL);
	rcu_barrier();
	KUNIT_EXPECT_EQ(test, refcount_read(&old->ref), 1U);
	ktau_ring_put(old);
	KUNIT_EXPECT_EQ(test, control("groups=none trace=off"), 0);
}

/*
 * A ring is not replaced while a slot is reserved. A write that has been interrupted before that
 * cannot reserve a slot of the old ring any more, whatever it has read.
 */
static void spare_inside(struct kunit *test)
{
	struct fixture *f = test->priv;
	struct ktau_ring *old = ktau_ring_get(f->state);
	struct ktau_state *saved = with_spares(test);
	unsigned long flags;
	u64 nr, closed;

	local_irq_save(flags);
	write_slots(f, 40);
	nr = old->head++;	/* a write that has reserved its slot */
	f->written++;
	write_slots(f, 20);
	KUNIT_EXPECT_PTR_EQ(test, f->state->ring, old);
	ktau_slot_commit(old, ktau_ring_slot(old, nr));
	nr = old->head;		/* one that has not */
	write_slots(f, 1);
	local_irq_restore(flags);
	current->ktau.state = saved;
	KUNIT_EXPECT_EQ(test, f->state->ring->size, 1024U);
	KUNIT_EXPECT_EQ(test, ktau_ring_head(old), nr + 1);
	closed = ktau_read(&old->head);
	KUNIT_EXPECT_FALSE(test, ktau_slot_is_free(ktau_ring_slot(old, closed), closed));
	nr++;
	KUNIT_EXPECT_FALSE(test, ktau_advance(&old->head, &nr, 1));
	KUNIT_EXPECT_EQ(test, f->state->no_room, 0ULL);
	KUNIT_EXPECT_EQ(test, f->state->ring->head, 62ULL);
	ktau_ring_put(old);
	KUNIT_EXPECT_EQ(test, control("groups=none trace=off"), 0);
}

/* A user at its limit gets no ring from the reserve, and the next try is not for each slot. */
static void spare_refused(struct kunit *test)
{
	struct ktau_user *user = ktau_user_find(KUIDT_INIT(4242));
	struct fixture *f = test->priv;
	const u64 before = ktau_config.memory_limit_bytes;
	struct ktau_state *saved;
	unsigned long flags;
	char words[48];

	KUNIT_ASSERT_NOT_NULL(test, user);
	saved = with_spares(test);
	KUNIT_EXPECT_EQ(test, control("memory_limit=64k"), 0);
	local_irq_save(flags);
	f->state->user = user;
	write_slots(f, 60);
	f->state->user = &ktau_system;
	local_irq_restore(flags);
	current->ktau.state = saved;
	KUNIT_EXPECT_EQ(test, f->state->ring->size, 64U);
	KUNIT_EXPECT_EQ(test, f->state->ring->grow_at, 64ULL);
	snprintf(words, sizeof(words), "memory_limit=%llu groups=none trace=off", before);
	KUNIT_EXPECT_EQ(test, control(words), 0);
	ktau_user_put(user);
}

/* The memory of KTAU once it has not changed for 200 ms, after at most 10 s. */
static u64 settled_bytes(void)
{
	u64 bytes = ktau_memory_bytes(), before = bytes;
	unsigned int i, same = 0;

	for (i = 0; i < 500 && same < 10; i++) {
		sleep_20ms();
		bytes = ktau_memory_bytes();
		same = bytes == before ? same + 1 : 0;
		before = bytes;
	}
	return bytes;
}

/* The rings in reserve are freed when nothing is traced any more. */
static void spares_freed(struct kunit *test)
{
	u64 bytes;

	KUNIT_ASSERT_EQ(test, control("groups=signal trace=on"), 0);
	ktau_spare_fill();
	bytes = settled_bytes();	/* with what work items fill, of all CPUs */
	KUNIT_EXPECT_EQ(test, control("trace=off"), 0);
	KUNIT_EXPECT_LE(test, settled_bytes() + 3 * ktau_ring_bytes(1024), bytes);
	KUNIT_EXPECT_EQ(test, control("groups=none"), 0);
}

struct writer {
	struct hrtimer timer;
	struct ktau_state *state;
	u64 nr;
};

/* Writes more than the ring holds, so that it overtakes the reader that it interrupts. */
static enum hrtimer_restart write_much(struct hrtimer *timer)
{
	struct writer *w = container_of(timer, struct writer, timer);
	struct ktau_slot_more more[2] = { };
	unsigned int i;

	for (i = 0; i < 30; i++) {
		more[0].data[0] = w->nr;
		more[1].data[1] = w->nr;
		ktau_trace_more(w->state, KTAU_WHAT(1, KTAU_TRACE_NET_SEND, 0),
				(u32)w->nr, more, 2);
		w->nr++;
	}
	hrtimer_forward_now(timer, ns_to_ktime(50 * NSEC_PER_USEC));
	return HRTIMER_RESTART;
}

/* The slots of a record are consecutive, and each is complete. */
static bool is_as_written(const struct ktau_rec_trace *rec)
{
	const struct ktau_slot *slot = (const void *)(rec + 1);
	u64 nr = div_u64(rec->first, 3), end = nr + rec->nr_slots, of[4];
	const struct ktau_slot_net *net;

	for (; nr < end; nr++) {
		net = (const void *)(slot + 1);
		memcpy(of, net, sizeof(of));	/* both addresses */
		if (slot->type != KTAU_TRACE_NET_SEND || net->seq != (u32)nr ||
		    of[0] != nr || of[3] != nr)
			return false;
		slot = (const void *)slot + slot->words * sizeof(u64);
	}
	return rec->first + 3 * rec->nr_slots == rec->next;
}

/* No slot is torn when the writer overtakes the reader, and lost slots are counted. */
static void overtaken(struct kunit *test)
{
	struct fixture *f = test->priv;
	unsigned long end = jiffies + HZ / 2;
	struct writer w = { .state = f->state };
	struct ktau_reach reach = { };
	unsigned int early = 0;
	u64 next = 0;
	int ret;

	ktau_hrtimer_setup_on_stack(&w.timer, write_much, CLOCK_MONOTONIC,
				    HRTIMER_MODE_REL_HARD);
	hrtimer_start(&w.timer, 0, HRTIMER_MODE_REL_PINNED_HARD);
	while (time_before(jiffies, end)) {
		ret = read_on(f, &reach);
		if (ret == -EAGAIN)
			continue;
		if (ret < 0 || f->trace->first != next + f->trace->lost ||
		    !is_as_written(f->trace))
			break;
		early += f->trace->next < f->trace->written;
		next = f->trace->next;
		reach.until = ktau_read(&f->state->ring->head);
	}
	hrtimer_cancel(&w.timer);
	destroy_hrtimer_on_stack(&w.timer);
	KUNIT_EXPECT_FALSE(test, time_before(jiffies, end));
	KUNIT_EXPECT_GT(test, w.nr, 1000ULL);
	kunit_info(test, "%u records ended early", early);
}

static struct kunit_case ring_cases[] = {
	KUNIT_CASE(keeps_slots),
	KUNIT_CASE(reader_goes_on),
	KUNIT_CASE(marks),
	KUNIT_CASE(grows_while_read),
	KUNIT_CASE(consumed_before_growth),
	KUNIT_CASE(refused),
	KUNIT_CASE(spare),
	KUNIT_CASE(spare_inside),
	KUNIT_CASE(spare_refused),
	KUNIT_CASE(spares_freed),
	KUNIT_CASE(overtaken),
	{ }
};

static struct kunit_suite ring_suite = {
	.name = "ktau_ring",
	.init = ring_init,
	.exit = ring_exit,
	.test_cases = ring_cases,
};

kunit_test_suite(ring_suite);
