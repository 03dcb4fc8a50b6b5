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

/* For pointers in declarations; there is no such structure. */
typedef struct ktau_state ktau_state;

#endif /* KTAU_LEGACY_MERGE_H */
