/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * What each CPU does, as a sequence of switches, for formats whose viewers derive from it when a
 * task runs. Such a viewer takes the task that a switch goes to as running until the next switch
 * of the CPU. Only traced tasks write switches, so the next one may be seconds away and by
 * another task; here a switch goes to a task only if that task's own slots show that it ran, and
 * otherwise to an unknown one.
 */
#ifndef KTAU_TOOLS_EXPORT_CPUS_H
#define KTAU_TOOLS_EXPORT_CPUS_H

#include "export.h"

/**
 * struct cpu_switch - a switch
 * @cpu: the CPU
 * @ns: when
 * @prev: the task that ran; NULL if it is unknown
 * @next: the task that runs now; NULL if it is unknown
 * @unknown: it is not known why @prev left the CPU
 * @state: otherwise the state in which it waits, as in struct ktau_slot_switch
 * @prio: priority of @prev
 * @next_prio: priority of @next
 */
struct cpu_switch {
	uint32_t cpu;
	uint64_t ns;
	const struct track *prev, *next;
	bool unknown;
	uint32_t state;
	int32_t prio, next_prio;
};

struct cpu;

/* The CPUs of a host; all 0 at first. */
struct cpus {
	struct cpu *list;
	size_t nr;
	int (*put)(struct export_run *x, const struct cpu_switch *s);
};

/*
 * Take note of an event before it is written. This may write a switch, which is not older than
 * what has been written for this CPU. Return: 0 or the error of @put.
 */
int cpus_event(struct cpus *cpus, struct export_run *x, const struct timeline_event *e);

/* Write the switches that are still undecided, and free the list. */
int cpus_finish(struct cpus *cpus, struct export_run *x);

#endif
