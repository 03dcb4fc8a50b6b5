/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * KTAU: x86-64.
 */
#ifndef _KERNEL_KTAU_X86_H
#define _KERNEL_KTAU_X86_H

#include <asm/syscall.h>
#include <asm/tsc.h>
#include <asm/unistd.h>
#include <linux/ptrace.h>
#include <linux/sched/task_stack.h>

#include "word64.h"
#include "x86_add.h"

#define KTAU_NR_SYSCALLS	NR_syscalls

static inline u64 ktau_arch_hz(void)
{
	return tsc_khz * 1000ULL;
}

static inline bool ktau_arch_stable(void)
{
	return !check_tsc_unstable();
}

static __always_inline unsigned long *ktau_result_register(void)
{
	/* one instruction less than current_pt_regs() */
	return &((struct pt_regs *)current_top_of_stack() - 1)->ax;
}

static __always_inline u64 ktau_syscall_result(void)
{
	return *ktau_result_register();
}

#endif /* _KERNEL_KTAU_X86_H */
