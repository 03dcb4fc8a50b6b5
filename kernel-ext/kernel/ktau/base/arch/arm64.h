/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * KTAU: arm64.
 */
#ifndef _KERNEL_KTAU_ARM64_H
#define _KERNEL_KTAU_ARM64_H

#include <asm/arch_timer.h>
#include <asm/syscall.h>
#include <asm/sysreg.h>
#include <asm/unistd.h>
#include <linux/compat.h>
#include <linux/cpumask.h>
#include <linux/err.h>
#include <linux/ptrace.h>
#include <linux/sched/task_stack.h>

#include "word64.h"

#define KTAU_NR_SYSCALLS	NR_syscalls

/*
 * Taking an exception clears the exclusive monitor, so an update that is interrupted is
 * retried. Only the CPU that runs the owner may write. No order is implied:
 * the callers have barriers for readers on other CPUs.
 */
static __always_inline u64 ktau_fetch_add(u64 *p, u64 v)
{
	u64 old, sum;
	u32 failed;

	asm volatile("1:	ldxr	%[old], %[p]\n"
		     "	add	%[sum], %[old], %[v]\n"
		     "	stxr	%w[failed], %[sum], %[p]\n"
		     "	cbnz	%w[failed], 1b"
		     : [old] "=&r" (old), [sum] "=&r" (sum),
		       [failed] "=&r" (failed), [p] "+Q" (*p)
		     : [v] "r" (v));
	return old;
}

static __always_inline void ktau_add(u64 *p, u64 v)
{
	ktau_fetch_add(p, v);
}

static __always_inline void ktau_sub(u64 *p, u64 v)
{
	ktau_fetch_add(p, -v);
}

static __always_inline void ktau_set_bit(u64 *p, unsigned int nr)
{
	u64 word;
	u32 failed;

	asm volatile("1:	ldxr	%[word], %[p]\n"
		     "	orr	%[word], %[word], %[bit]\n"
		     "	stxr	%w[failed], %[word], %[p]\n"
		     "	cbnz	%w[failed], 1b"
		     : [word] "=&r" (word), [failed] "=&r" (failed), [p] "+Q" (*p)
		     : [bit] "r" (1ULL << nr));
}

static __always_inline bool ktau_advance(u64 *p, u64 *v, u64 n)
{
	const u64 old = *v;

	*v += n;
	return cmpxchg_local(p, old, *v) == old;
}

static inline u64 ktau_arch_hz(void)
{
	return arch_timer_get_rate();
}

/* The counters of some CPUs must be read more than once; ktau_ticks() does not do that. */
static inline bool ktau_arch_stable(void)
{
#ifdef CONFIG_ARM_ARCH_TIMER_OOL_WORKAROUND
	int cpu;

	for_each_possible_cpu(cpu)
		if (per_cpu(timer_unstable_counter_workaround, cpu))
			return false;
#endif
	return true;
}

static __always_inline unsigned long *ktau_result_register(void)
{
	return (unsigned long *)&current_pt_regs()->regs[0];
}

static __always_inline u64 ktau_syscall_result(void)
{
	const unsigned long result = *ktau_result_register();

	/* An error of a 32-bit program has been stored without its sign. */
	if (in_compat_syscall() && (u32)result >= (u32)-MAX_ERRNO)
		return (int)result;
	return (long)result;
}

#endif /* _KERNEL_KTAU_ARM64_H */
