/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * The clock of a guest where nothing says how it follows from that of the host. What the guest
 * writes, it writes in guest mode; so none of its slots may lie in a time in which the thread was
 * outside. Both clocks are taken to run at a constant rate. Then the clocks for which that holds
 * are found in a plane of offsets and rates, which is divided until each part is either excluded
 * or leaves no slot a choice between two runs.
 */
#ifndef KTAU_TOOLS_VM_SEARCH_H
#define KTAU_TOOLS_VM_SEARCH_H

#include "machine.h"

/* How far CLOCK_REALTIME of the two machines may differ, and what may be left uncertain. */
#define VM_SEARCH_NS	10000000000.0
#define VM_BAND_NS	1000000.0

/* By how much the rates of two clocks may differ: that of a clock is corrected by as much. */
#define VM_SEARCH_DRIFT	500e-6

/**
 * struct vm_area - clocks that may be right, as a rectangle
 * @host, @guest: ticks of the machines that belong together for offset 0
 * @offset: least and greatest offset of the host from that, in ns
 * @drift: least and greatest drift: ns that the host gains in each ns of the guest
 */
struct vm_area {
	uint64_t host, guest;
	double offset[2], drift[2];
};

/**
 * struct vm_fit - the clock that was found
 * @clock: the clock
 * @band_ns: how far it may be off, while both recordings last
 * @area: where to look for it; then all clocks that may be right
 * @tests: tests of a slot that may be made; then those that are left
 */
struct vm_fit {
	struct guest_clock clock;
	double band_ns;
	struct vm_area area;
	uint64_t tests;
};

enum vm_search {
	VM_SEARCH_FOUND,
	VM_SEARCH_NONE,		/* no clock fits */
	VM_SEARCH_SEVERAL,	/* clocks fit that differ by more than VM_BAND_NS */
	VM_SEARCH_LONG,		/* too many tests: nothing excludes enough of them */
};

/*
 * The clocks by CLOCK_REALTIME, as far as that can be wrong. Return: false if the recordings do
 * not overlap with any of them.
 */
bool vm_area_of(const struct vm_machine *guest, const struct vm_machine *host,
		struct vm_area *area);

/* How often slots of @guest may be tested for all its CPUs and all threads: for some seconds. */
uint64_t vm_search_tests(const struct vm_machine *guest);

/*
 * Find the clock in @fit->area for which thread @v of @host ran @cpu of @guest. At least half of
 * the slots must be in the time for which the thread was recorded.
 */
enum vm_search vm_search(const struct vm_machine *guest, const struct vm_cpu *cpu,
			 const struct vm_machine *host, const struct vcpu *v,
			 struct vm_fit *fit);

#endif
