// SPDX-License-Identifier: GPL-2.0-only
/* Which events end which waits. */
#include <fnmatch.h>
#include <stddef.h>
#include <string.h>

#include "cause.h"
#include "lib/symbolize.h"

static const char *const state_names[PATH_STATES] = {
	[PATH_RUNNING] = "RUNNING",
	[PATH_RUN_QUEUE] = "RUN QUEUE",
	[PATH_STOLEN] = "PREEMPTED BY HOST",
	[PATH_UNKNOWN] = "UNKNOWN",
	[PATH_TIMER] = "TIMER",
	[PATH_NETWORK] = "NETWORK",
	[PATH_DISK] = "DISK",
	[PATH_INPUT] = "INPUT",
	[PATH_DEVICE] = "DEVICE",
	[PATH_RCU] = "RCU",
	[PATH_IPI] = "IPI",
	[PATH_INTERRUPT] = "INTERRUPT",
	[PATH_BLOCKED] = "BLOCKED",
};

#define CAUSE(state) (CLASS_CAUSE + (state))

/* The first pattern that matches decides. Names of interrupts are "irq:NUMBER:NAME". */
static const struct {
	const char *pattern;
	unsigned int class;
} patterns[] = {
	{ "schedule_wait", CLASS_QUEUED },
	{ "schedule_vol_io*", CLASS_WAIT_IO },
	{ "schedule_vol_*", CLASS_WAIT },
	{ "schedule", CLASS_PREEMPT },
	{ "schedule_yld", CLASS_PREEMPT },
	{ "ret_from_fork", CLASS_THREAD },
	{ "*sys_clock_nanosleep*", CLASS_SLEEP },
	{ "*sys_nanosleep*", CLASS_SLEEP },
	{ "tcp_recvmsg*", CLASS_RECEIVE },
	{ "hrtimer:*", CAUSE(PATH_TIMER) },
	{ "timer:*", CAUSE(PATH_TIMER) },
	{ "softirq:TIMER", CAUSE(PATH_TIMER) },
	{ "softirq:HRTIMER", CAUSE(PATH_TIMER) },
	{ "softirq:NET_RX", CLASS_RX },
	{ "softirq:NET_TX", CAUSE(PATH_NETWORK) },
	{ "napi:*", CAUSE(PATH_NETWORK) },
	{ "softirq:BLOCK", CAUSE(PATH_DISK) },
	{ "softirq:RCU", CAUSE(PATH_RCU) },
	{ "rcu:*", CAUSE(PATH_RCU) },
	{ "irq:*:ttyS*", CAUSE(PATH_INPUT) },
	{ "irq:*:i8042", CAUSE(PATH_INPUT) },
	{ "irq:*:*hid*", CAUSE(PATH_INPUT) },
	{ "irq:*:eth*", CAUSE(PATH_NETWORK) },
	{ "irq:*:en[opsx][0-9]*", CAUSE(PATH_NETWORK) },
	{ "irq:*:mlx*", CAUSE(PATH_NETWORK) },
	{ "irq:*-input.[0-9]*", CAUSE(PATH_NETWORK) },
	{ "irq:*-output.[0-9]*", CAUSE(PATH_NETWORK) },
	{ "irq:*:nvme*", CAUSE(PATH_DISK) },
	{ "irq:*:ahci*", CAUSE(PATH_DISK) },
	{ "irq:*-req.[0-9]*", CAUSE(PATH_DISK) },
	{ "irq:*", CAUSE(PATH_DEVICE) },
	{ "sysvec_reschedule*", CAUSE(PATH_IPI) },
	{ "*call_function*", CAUSE(PATH_IPI) },
	{ "*irq_work*", CAUSE(PATH_IPI) },
};

unsigned int cause_classify(const struct ktau_rec_event *event)
{
	const char *name = event ? ktau_event_name(event) : "";
	size_t i;

	if (event && event->group == SYMBOLIZE_USER)
		return CLASS_REGION;
	for (i = 0; i < sizeof(patterns) / sizeof(*patterns); i++)
		if (!fnmatch(patterns[i].pattern, name, 0))
			return patterns[i].class;
	return CLASS_OTHER;
}

enum path_state cause_state(unsigned int class)
{
	if (class == CLASS_RX)
		return PATH_NETWORK;
	return class >= CLASS_CAUSE ? (enum path_state)(class - CLASS_CAUSE) : PATH_STATES;
}

const char *cause_name(enum path_state state)
{
	return state_names[state];
}
