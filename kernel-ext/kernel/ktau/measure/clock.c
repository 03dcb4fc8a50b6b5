// SPDX-License-Identifier: GPL-2.0-only
/*
 * KTAU: the clock, and the cost of KTAU itself.
 *
 * Times are raw ticks of the CPU's counter. Every stream states once how to convert them:
 * their rate, whether it is the same on all CPUs, and two moments in both ticks and
 * wall-clock time.
 */
#include <linux/irqflags.h>
#include <linux/math64.h>
#include <linux/slab.h>
#include <linux/timekeeping.h>

#include "base/arch.h"
#include "base/core.h"
#include "base/ids.h"
#include "clock.h"
#include "cpu.h"
#include "ring.h"
#include "state.h"
#include "table.h"

struct ktau_clocks ktau_clock_boot;
u64 ktau_profile_pair_mticks;
u64 ktau_trace_pair_mticks;
u64 ktau_cpu_pair_mticks;
u64 ktau_call_pair_mticks;
u64 ktau_switch_mticks;

/**
 * ktau_clock_read() - read all clocks at the same moment
 * @clock: receives the times
 *
 * Context: Any but NMI.
 */
void ktau_clock_read(struct ktau_clocks *clock)
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
 * If the architecture does not know the rate, it is measured from boot until now.
 *
 * Context: Any but NMI.
 * Return: Ticks per second.
 */
u64 ktau_clock_hz(void)
{
	struct ktau_clocks now;
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

static __always_inline void pair_of_task(void)
{
	struct ktau_frame frame __uninitialized;

	__ktau_enter(&frame, current, 0);
	__ktau_exit(&frame, current);
}

static __always_inline void pair_of_softirq(void)
{
	struct ktau_cpu_frame frame __uninitialized;

	__ktau_cpu_enter(&frame, KTAU_ID_SOFTIRQ, KTAU_GROUP_BH);
	__ktau_cpu_exit(&frame);
}

/* Look up a function without an id, and account to the first id of callbacks. */
static __always_inline void pair_of_callback(void)
{
	struct ktau_cpu_frame frame __uninitialized;

	ktau_call_lookup(KTAU_CALL_TIMER, pair_of_callback);
	__ktau_cpu_enter(&frame, KTAU_ID_CALL, KTAU_GROUP_BH);
	__ktau_cpu_exit(&frame);
}

static __always_inline void pair_of_switch(void)
{
	__ktau_sched_switch(true, current, current, TASK_INTERRUPTIBLE);
	current->ktau.state->off.sleeps = true;	/* else a wakeup is not timed */
	__ktau_sched_switched(current);
	__ktau_sched_waking(current, 0);
	__ktau_sched_resume();
}

/*
 * Measure the fastest of several batches of @pair, in 1/1000 tick for each pair, with
 * @task as the state of the current task and @cpu as that of the CPU.
 */
static __always_inline u64 measure(struct ktau_state *task, struct ktau_state *cpu,
				   u32 mask, void (*pair)(void))
{
	struct ktau_ref saved = current->ktau;
	struct ktau_cpu saved_cpu;
	u64 best = U64_MAX, ticks;
	unsigned int i, batch;
	unsigned long flags;

	for (batch = 0; batch < COST_BATCHES; batch++) {
		local_irq_save(flags);
		saved_cpu = *this_cpu_ptr(&ktau_cpu);
		*this_cpu_ptr(&ktau_cpu) = (struct ktau_cpu) { .state = cpu };
		current->ktau = (struct ktau_ref) {
			.mask = mask,
			.state = task,
		};
		ticks = ktau_ticks();
		for (i = 0; i < COST_LOOPS; i++)
			pair();
		ticks = ktau_ticks() - ticks;
		current->ktau = saved;
		*this_cpu_ptr(&ktau_cpu) = saved_cpu;
		local_irq_restore(flags);
		best = min(best, ticks);
	}
	return div_u64(best * 1000, COST_LOOPS);
}

static void measure_all(struct ktau_state *task, struct ktau_state *cpu)
{
	const u32 mask = KTAU_GROUP_SYSCALL | KTAU_GROUP_BH | KTAU_GROUP_SCHED |
			 KTAU_MODE_PROFILE;

	ktau_profile_pair_mticks = measure(task, cpu, mask, pair_of_task);
	ktau_trace_pair_mticks = measure(task, cpu, mask | KTAU_MODE_TRACE,
					 pair_of_task);
	ktau_cpu_pair_mticks = measure(task, cpu, mask, pair_of_softirq);
	ktau_call_pair_mticks = measure(task, cpu, mask, pair_of_callback);
	ktau_switch_mticks = measure(task, cpu, mask, pair_of_switch);
}

/**
 * ktau_clock_measure() - measure the cost of a pair of hooks of each kind
 *
 * Context: May sleep; before any group is enabled. Does nothing without memory.
 */
void ktau_clock_measure(void)
{
	struct ktau_state *task = ktau_state_create(&ktau_system, GFP_KERNEL);
	struct ktau_state *cpu = ktau_state_create(&ktau_system, GFP_KERNEL);

	if (task && cpu) {
		task->ring = ktau_ring_create(&ktau_system, 1024, GFP_KERNEL);
		/*
		 * Create the chunks of all ids used, so that none is created meanwhile.
		 */
		if (task->ring && ktau_table_fill(task, KTAU_ID_CALL + 1) &&
		    ktau_table_flat(cpu))
			measure_all(task, cpu);
		task->taken = true;	/* these slots do not count as unread */
	}
	if (task)
		ktau_state_put(task);
	if (cpu)
		ktau_state_put(cpu);
}
