// SPDX-License-Identifier: GPL-2.0-only
/*
 * KTAU: the clock, and what KTAU itself costs.
 *
 * Times are raw ticks of the CPU's counter. What they mean is said once in
 * every stream: the rate, whether it is the same everywhere, and moments known in
 * both ticks and wall-clock time.
 */
#include <linux/irqflags.h>
#include <linux/math64.h>
#include <linux/slab.h>
#include <linux/timekeeping.h>

#include "ktau.h"

struct ktau_clock ktau_clock_boot;
u64 ktau_profile_pair_mticks;
u64 ktau_trace_pair_mticks;

/**
 * ktau_clock_read() - the same moment on all clocks
 * @clock: where it goes
 *
 * Context: Any but NMI.
 */
void ktau_clock_read(struct ktau_clock *clock)
{
	unsigned long flags;
	u64 before, after;

	local_irq_save(flags);
	before = ktau_ticks();
	clock->monotonic_ns = ktime_get_ns();
	after = ktau_ticks();
	clock->realtime_ns = ktime_get_real_ns();
	clock->boottime_ns = ktime_get_boottime_ns();
	clock->tai_ns = ktime_get_clocktai_ns();
	local_irq_restore(flags);
	clock->ticks = before + (after - before) / 2;
}

/**
 * ktau_clock_hz() - rate of the counter
 *
 * Where the architecture does not know it, it is measured from boot to now.
 *
 * Context: Any but NMI.
 * Return: Ticks a second.
 */
u64 ktau_clock_hz(void)
{
	struct ktau_clock now;
	u64 hz = ktau_arch_hz();

	if (hz)
		return hz;
	ktau_clock_read(&now);
	return mul_u64_u64_div_u64(now.ticks - ktau_clock_boot.ticks,
				   NSEC_PER_SEC,
				   max(now.monotonic_ns -
				       ktau_clock_boot.monotonic_ns, 1ULL));
}

#define COST_LOOPS	1000
#define COST_BATCHES	20

/* Cheapest of several batches of enter + exit, in 1/1000 tick for each. */
static u64 measure_pair(struct ktau_task *state, u32 modes)
{
	struct ktau_ref saved = current->ktau;
	u64 best = U64_MAX, ticks;
	struct ktau_frame frame;
	unsigned int i, batch;
	unsigned long flags;

	for (batch = 0; batch < COST_BATCHES; batch++) {
		local_irq_save(flags);
		current->ktau = (struct ktau_ref) {
			.mask = KTAU_GROUP_SYSCALL | modes,
			.state = state,
		};
		ticks = ktau_ticks();
		for (i = 0; i < COST_LOOPS; i++) {
			__ktau_enter(&frame, current, 0);
			__ktau_exit(&frame, current);
		}
		ticks = ktau_ticks() - ticks;
		current->ktau = saved;
		local_irq_restore(flags);
		best = min(best, ticks);
	}
	return div_u64(best * 1000, COST_LOOPS);
}

/**
 * ktau_clock_measure() - measure what a pair of hooks costs on this machine
 *
 * Context: May sleep. Does nothing where there is no memory for it.
 */
void ktau_clock_measure(void)
{
	struct ktau_task *state = ktau_task_create(&ktau_system, GFP_KERNEL);

	if (!state)
		return;
	state->ring = ktau_ring_create(&ktau_system, 1024, GFP_KERNEL);
	if (ktau_table_fill(state, 1) && state->ring) {
		ktau_profile_pair_mticks = measure_pair(state, KTAU_MODE_PROFILE);
		ktau_trace_pair_mticks =
			measure_pair(state, KTAU_MODE_PROFILE | KTAU_MODE_TRACE);
	}
	state->taken = true;	/* nobody misses these slots */
	ktau_task_put(state);
}
