/* SPDX-License-Identifier: GPL-2.0-only */
/* KTAU: helpers of the KUnit tests. */
#ifndef _KERNEL_KTAU_TEST_H
#define _KERNEL_KTAU_TEST_H

#include <kunit/test.h>
#include <linux/delay.h>
#include <linux/slab.h>

#include "base/arch.h"
#include "base/core.h"
#include "measure/clock.h"
#include "measure/ring.h"
#include "measure/state.h"
#include "tasks/snapshot.h"
#include "tasks/snapshot_trace.h"
#include "control/control.h"

/* Copy to a buffer that is always large enough. */
static inline int ktau_snapshot(struct ktau_rec_profile *rec,
				struct ktau_state *state, struct task_struct *task)
{
	return ktau_snapshot_into(rec, KTAU_SNAPSHOT_BYTES, state, task);
}

/* Apply control words. Return: 0 or -errno. */
static inline int control(const char *words)
{
	char *copy = kstrdup(words, GFP_KERNEL);
	int err = copy ? ktau_control_apply(copy) : -ENOMEM;

	kfree(copy);
	return err;
}

/*
 * Sleep for 20 ms of KTAU's clock. On a busy host the ticks of a user-mode kernel come late
 * and then catch up, so that a sleep of the kernel may be shorter than that.
 */
static inline void sleep_20ms(void)
{
	u64 end = ktau_ticks() + ktau_clock_hz() / 50;

	do {
		msleep(20);
	} while (ktau_ticks() < end);
}

/*
 * Let @us microseconds of KTAU's clock pass, one tick at least. The loops of udelay() are
 * calibrated at boot: on a busy host too few for a user-mode kernel.
 */
static inline void spin_us(u64 us)
{
	u64 end = ktau_ticks() + div_u64(us * ktau_clock_hz(), USEC_PER_SEC) + 1;

	while (ktau_ticks() < end)
		cpu_relax();
}

static inline const struct ktau_entry *
find(const struct ktau_rec_profile *rec, u32 id)
{
	const struct ktau_entry *entry = (const void *)(rec + 1);
	static const struct ktau_entry none;
	u32 i;

	for (i = 0; i < rec->nr_entries; i++)
		if (entry[i].id == id)
			return &entry[i];
	return &none;
}

static inline void expect_identity(struct kunit *test,
				   const struct ktau_rec_profile *rec)
{
	const struct ktau_entry *entry = (const void *)(rec + 1);
	u64 sum = rec->refused_ticks;
	u32 i;

	for (i = 0; i < rec->nr_entries; i++)
		if (entry[i].kind == KTAU_KIND_TIMER)
			sum += entry[i].excl;
	KUNIT_EXPECT_EQ(test, sum, rec->outer_ticks + rec->open_child_ticks);
}

/* Size of all slots of a ring with 64 slots, and room for one more. */
#define KTAU_TEST_SLOTS_BYTES						\
	(64 * sizeof(struct ktau_ring_slot) + KTAU_SLOT_MAX_BYTES)

/**
 * struct ktau_ring_fixture - fixture of tests of a ring
 * @state: a state, without a ring at first
 * @trace: buffer with room for KTAU_TEST_SLOTS_BYTES
 */
struct ktau_ring_fixture {
	struct ktau_state *state;
	struct ktau_rec_trace *trace;
};

static inline int ktau_ring_fixture_init(struct kunit *test)
{
	struct ktau_ring_fixture *f = kunit_kzalloc(test, sizeof(*f),
						    GFP_KERNEL);

	KUNIT_ASSERT_NOT_NULL(test, f);
	test->priv = f;
	f->trace = kunit_kzalloc(test, sizeof(*f->trace) + KTAU_TEST_SLOTS_BYTES,
				 GFP_KERNEL);
	f->state = ktau_state_create(&ktau_system, GFP_KERNEL);
	KUNIT_ASSERT_NOT_NULL(test, f->trace);
	KUNIT_ASSERT_NOT_NULL(test, f->state);
	return 0;
}

static inline void ktau_ring_fixture_exit(struct kunit *test)
{
	struct ktau_ring_fixture *f = test->priv;

	ktau_state_put(f->state);
}

static inline int read_slots(struct ktau_ring_fixture *f, u32 max_bytes,
			     struct ktau_reach *reach)
{
	return ktau_snapshot_trace(f->trace, max_bytes, f->state, current, reach);
}

/* Slot number @nr of a record. */
static inline const struct ktau_slot *slot_at(const struct ktau_rec_trace *rec,
					      u32 nr)
{
	const struct ktau_slot *slot = (const void *)(rec + 1);

	while (nr--)
		slot = (const void *)slot + slot->words * sizeof(u64);
	return slot;
}

static inline u64 payload(const struct ktau_slot *slot)
{
	return slot->words > 2 ? *(const u64 *)(slot + 1) : 0;
}

#endif /* _KERNEL_KTAU_TEST_H */
