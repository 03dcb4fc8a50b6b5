/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * KTAU: the clock, and the cost of a pair of hooks.
 */
#ifndef _KERNEL_KTAU_CLOCK_H
#define _KERNEL_KTAU_CLOCK_H

#include <linux/types.h>

struct ktau_clocks {
	u64 ticks;
	u64 realtime_ns;
	u64 monotonic_ns;
	u64 boottime_ns;
	u64 tai_ns;
};

extern struct ktau_clocks ktau_clock_boot;
extern u64 ktau_profile_pair_mticks;
extern u64 ktau_trace_pair_mticks;
extern u64 ktau_cpu_pair_mticks;
extern u64 ktau_call_pair_mticks;
extern u64 ktau_switch_mticks;
void ktau_clock_read(struct ktau_clocks *clock);
u64 ktau_clock_hz(void);
void ktau_clock_measure(void);

#endif /* _KERNEL_KTAU_CLOCK_H */
