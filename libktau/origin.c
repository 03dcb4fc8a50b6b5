// SPDX-License-Identifier: LGPL-2.1-or-later
/* What writes streams, and what each source does not see. */
#include <stddef.h>

#include <ktau.h>

static const char *const bpf_limits[] = {
	"exceptions other than page faults",
	"the entry and exit of the kernel (noinstr): they count as user time",
	"anything before the programs were loaded, such as the start of the machine",
	"system calls that seccomp or a tracer suppresses",
	"virtual CPUs, unless kvm was loaded before the programs, and without CAP_SYS_ADMIN",
	"softirqs, timers and work items by function; the idle task apart from interrupts",
	"in traces: TCP segments, the CPU chosen at a wakeup",
	"other users: reading requires CAP_BPF and CAP_PERFMON",
};

const char *ktau_origin_limit(unsigned int origin, unsigned int i)
{
	if (origin != KTAU_ORIGIN_BPF || i >= sizeof(bpf_limits) / sizeof(*bpf_limits))
		return NULL;
	return bpf_limits[i];
}
