/* SPDX-License-Identifier: LGPL-2.1-or-later */
/* libktau-legacy: names of groups. Kernel and user figures are not merged: ktau-legacy(7). */
#ifndef KTAU_LEGACY_MERGE_H
#define KTAU_LEGACY_MERGE_H

enum ktau_merge_grps {
	merge_kernel,
	merge_syscall,
	merge_irq,
	merge_bh,
	merge_sched,
	merge_except,
	merge_signal,
	merge_socket,
	merge_tcp,
	merge_icmp,
	merge_max_grp
};

/*
 * Kernel time within functions of the program, by group. TAU's sources read the fields, in
 * functions that it does not call: there is no ktau_set_state(), so nothing fills them in.
 */
typedef struct ktau_state {
	volatile int active_index;
	struct {
		unsigned long long ktime[merge_max_grp];
		unsigned long long kexcl[merge_max_grp];
		unsigned long long knumcalls[merge_max_grp];
	} state[2];
} ktau_state;

#endif /* KTAU_LEGACY_MERGE_H */
