/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * KTAU: what depends on the architecture. What hooks need is in <asm/ktau.h>, such as ktau_ticks(),
 * which reads the cycle counter. Each architecture has a header in arch/, which defines
 *
 *  - ktau_add(), ktau_sub(), ktau_fetch_add(), ktau_set_bit(), ktau_raise() and ktau_advance():
 *    updates of 64 bits that an interrupt on the same CPU cannot tear, without a lock. Only the
 *    CPU that runs the owner may write;
 *  - ktau_read(), ktau_differs(), ktau_below() and ktau_write(), for other CPUs too;
 *  - ktau_nmi_may_add(): whether an NMI may use these functions;
 *  - ktau_arch_hz(): the counter's rate, 0 if it has to be measured; ktau_arch_stable(): whether
 *    the rate is constant and the same on all CPUs;
 *  - KTAU_NR_SYSCALLS: the size of sys_call_table;
 *  - ktau_result_register(): where the result of the system call is that the current task is about
 *    to leave; for a task outside of a system call an arbitrary word, or NULL;
 *    ktau_syscall_result(): that result, as a signed number.
 */
#ifndef _KERNEL_KTAU_ARCH_H
#define _KERNEL_KTAU_ARCH_H

#include <linux/ktau.h>
#include <linux/types.h>

#include KTAU_ARCH_H

/*
 * Between two steps of an update, for readers on other CPUs; pairs with the read barriers of
 * snapshot.c. On x86, and on a single CPU, a barrier for the compiler only.
 */
#define ktau_wmb()	smp_wmb()

/* The address of system call @nr, by which it is named; 0 if there is none. */
static inline unsigned long ktau_syscall_address(unsigned int nr)
{
	return nr < KTAU_NR_SYSCALLS ? (unsigned long)sys_call_table[nr] : 0;
}

#endif /* _KERNEL_KTAU_ARCH_H */
