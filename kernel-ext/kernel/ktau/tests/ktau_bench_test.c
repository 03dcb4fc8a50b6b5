// SPDX-License-Identifier: GPL-2.0-only
/*
 * KTAU: benchmark of a pair of hooks and of a trace slot, compared with bare clock
 * readings in the same loop. Run by KUnit at boot; user-mode Linux runs at the speed of
 * the machine.
 *
 * Each kind is measured in turn, many times, so that all of them see the same conditions.
 * The result is the minimum and the median, in 1/1000 tick per loop.
 */
#include <kunit/test.h>
#include <linux/irqflags.h>
#include <linux/math64.h>
#include <linux/sort.h>

#include "base/arch.h"
#include "base/core.h"
#include "base/memory.h"
#include "measure/ring.h"
#include "measure/state.h"
#include "measure/table.h"
#include "measure/trace.h"

#define LOOPS	1000
#define BATCHES	201
#define ID	100

/* The kinds of measurements, in the order of a round. */
enum kind { ONE_CLOCK, TWO_CLOCKS, PAIR, PAIR_TRACED, SLOT, NR_KINDS };

static const char * const names[NR_KINDS] = {
	"one_clock", "two_clocks", "pair", "pair_traced", "slot",
};

static u32 ticks[NR_KINDS][BATCHES];

static __always_inline void one_clock(struct ktau_state *state)
{
	ktau_ticks();
}

static __always_inline void two_clocks(struct ktau_state *state)
{
	ktau_ticks();
	ktau_ticks();
}

static __always_inline void pair(struct ktau_state *state)
{
	struct ktau_frame frame __uninitialized;

	__ktau_enter(&frame, current, ID);
	if (likely(current->ktau.top == &frame))
		__ktau_exit(&frame, current);
}

static __always_inline void slot(struct ktau_state *state)
{
	ktau_trace(state, 0, KTAU_TRACE_ENTER, ID, 0);
}

/* Inlined for each @what, so that its loop contains no calls except KTAU's. */
static __always_inline u32 batch(struct ktau_state *state, u32 modes,
				 void (*what)(struct ktau_state *state))
{
	struct ktau_ref saved = current->ktau;
	unsigned long flags;
	unsigned int i;
	u64 begin;

	local_irq_save(flags);
	current->ktau = (struct ktau_ref) {
		.mask = KTAU_GROUP_SYSCALL | modes,
		.state = state,
	};
	begin = ktau_ticks();
	for (i = 0; i < LOOPS; i++)
		what(state);
	begin = ktau_ticks() - begin;
	current->ktau = saved;
	local_irq_restore(flags);
	return min_t(u64, begin, U32_MAX);
}

static void measure(struct ktau_state *state, unsigned int n)
{
	const u32 both = KTAU_MODE_PROFILE | KTAU_MODE_TRACE;

	ticks[ONE_CLOCK][n] = batch(state, KTAU_MODE_PROFILE, one_clock);
	ticks[TWO_CLOCKS][n] = batch(state, KTAU_MODE_PROFILE, two_clocks);
	ticks[PAIR][n] = batch(state, KTAU_MODE_PROFILE, pair);
	ticks[PAIR_TRACED][n] = batch(state, both, pair);
	ticks[SLOT][n] = batch(state, KTAU_MODE_TRACE, slot);
}

static int compare(const void *a, const void *b)
{
	u32 x = *(const u32 *)a, y = *(const u32 *)b;

	return x < y ? -1 : x > y;
}

static u64 per_loop(u32 batch_ticks)
{
	return div_u64(batch_ticks * 1000ULL, LOOPS);
}

/*
 * All loops were executed. Their times are only reported: a CPU may execute everything else while
 * it reads the clock, so that a trace takes no time.
 */
static void native(struct kunit *test)
{
	struct ktau_state *state = ktau_state_create(&ktau_system, GFP_KERNEL);
	const u64 done = LOOPS * BATCHES;
	unsigned int i;

	KUNIT_ASSERT_NOT_NULL(test, state);
	state->ring = ktau_ring_create(&ktau_system, 1024, GFP_KERNEL);
	ktau_reserve_fill();
	for (i = 0; state->ring && i < BATCHES; i++)
		measure(state, i);
	for (i = 0; i < NR_KINDS; i++) {
		sort(ticks[i], BATCHES, sizeof(u32), compare, NULL);
		pr_info("ktau_bench %s %llu %llu\n", names[i],
			per_loop(ticks[i][0]), per_loop(ticks[i][BATCHES / 2]));
	}
	KUNIT_EXPECT_NOT_NULL(test, state->ring);
	if (state->ring)
		KUNIT_EXPECT_EQ(test, state->ring->head, 3 * done);
	KUNIT_EXPECT_EQ(test, ktau_cell(state, ID)->count, 2 * done);
	ktau_state_put(state);
}

static struct kunit_case bench_cases[] = {
	KUNIT_CASE(native),
	{ }
};

static struct kunit_suite bench_suite = {
	.name = "ktau_bench",
	.test_cases = bench_cases,
};

kunit_test_suite(bench_suite);
