/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * Which thread of a host ran which CPU of a guest. What a guest writes, it writes in guest mode. So
 * each of its slots, converted with the clock of the thread, lies between a KVM_ENTER of the thread
 * and the end of that run. A guest with a CPU for itself is there for 98 % of the time, so a high
 * share says nothing; only "none outside" does.
 */
#ifndef KTAU_TOOLS_VM_MATCH_H
#define KTAU_TOOLS_VM_MATCH_H

#include "machine.h"

/* The slots of a guest's CPU that lie inside and outside the runs of a thread. */
struct vm_share {
	uint64_t inside, outside;
};

/*
 * The share of @cpu and @v. Slots at times of which the thread's recording says nothing do not
 * count. Counting ends when more than @enough are outside.
 */
struct vm_share vm_share_of(const struct vm_cpu *cpu, const struct vcpu *v, uint64_t enough);

/*
 * Find the thread of each CPU of @machines[1] and those after it; the first one is a host. Return:
 * CLI_DONE, or CLI_FAILED after a message.
 */
int vm_match(struct vm_machine *machines, size_t nr);

/*
 * The same for any machines, of which some may be neither. One that is not shown to be a guest
 * stays unmatched: a CPU whose slots would all be in guest mode by chance proves nothing.
 */
void vm_match_known(struct vm_machine *machines, size_t nr);

/* The clock of the run that contains the tick @guest of a guest's counter, or precedes it. */
const struct guest_clock *vm_clock_at(const struct vcpu *v, uint64_t guest);

/* The time of the host when the guest's counter was @guest. */
uint64_t vm_to_host(const struct vcpu *v, uint64_t guest);

/* The guest's counter at the time @host, which is in the interval of a clock. */
uint64_t vm_to_guest(const struct vcpu *v, uint64_t host);

#endif
