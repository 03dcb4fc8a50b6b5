/* SPDX-License-Identifier: GPL-2.0-only */
/* The times of each CPU of a guest by state, and who had the host's CPU while it was preempted. */
#ifndef KTAU_TOOLS_VM_CAUSE_H
#define KTAU_TOOLS_VM_CAUSE_H

#include "machine.h"

/**
 * struct vm_who - a task of a machine
 * @machine: index of the machine
 * @serial: serial of the task; 0: not known
 * @cpu: of a guest: its CPU
 */
struct vm_who {
	size_t machine;
	uint64_t serial;
	uint32_t cpu;
};

/**
 * struct vm_pair - a victim, and who had the CPU
 * @victim: a task of a guest
 * @cause: who ran instead; machine SIZE_MAX: not known
 * @host: index of the machine that has the thread
 * @ticks: sum, in its ticks
 * @times: number of preemptions
 * @longest: of them
 */
struct vm_pair {
	struct vm_who victim, cause;
	size_t host;
	uint64_t ticks, times, longest;
};

/**
 * struct vm_interval - a time in one state of a CPU of a guest
 * @from, @to: ticks of the machine that has the thread
 * @state: enum vcpu_state
 * @reason: VMM: of the last KVM_EXIT
 * @victim: the guest's task
 * @cause: PREEMPTED: who ran longest instead
 */
struct vm_interval {
	uint64_t from, to;
	enum vcpu_state state;
	uint32_t reason;
	struct vm_who victim, cause;
};

/**
 * struct vm_account - the times of a CPU of a guest, in ticks of the machine that has the thread
 * @from, @to: the time that both recordings have
 * @states: time in each state
 * @longest: the longest preemption
 */
struct vm_account {
	uint64_t from, to;
	uint64_t states[VCPU_STATES];
	uint64_t longest;
};

/* Receives the intervals of a CPU in time order. */
typedef void vm_take(void *arg, const struct vm_interval *interval);

/**
 * struct vm_analysis - what all accounts have in common
 * @machines: the machines
 * @nr_machines: length of @machines
 * @task: only victims with this name, pid or tid; NULL: all
 * @pairs: sums by victim and cause
 * @take: gets each interval; may be NULL
 */
struct vm_analysis {
	const struct vm_machine *machines;
	size_t nr_machines;
	const char *task;
	struct vm_pair *pairs;
	size_t nr_pairs, pairs_room;
	struct hash by_key;
	vm_take *take;
	void *arg;
};

/* The account of a matched CPU. Return: false if the states do not add up. */
bool vm_account(struct vm_analysis *a, size_t guest, uint32_t cpu, struct vm_account *account);

/* Whether any of the machines has the task that is selected. */
bool vm_has_task(const struct vm_analysis *a);

/* Sort the pairs, the largest first. */
void vm_sort(struct vm_analysis *a);
void vm_analysis_deinit(struct vm_analysis *a);

#endif
