/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * KTAU: User-mode Linux on x86-64.
 */
#ifndef _KERNEL_KTAU_UM_H
#define _KERNEL_KTAU_UM_H

#include <asm/unistd.h>
#include <linux/ptrace.h>
#include <linux/sched/task_stack.h>
#if __has_include("sysdep/syscalls.h")
#include <sysdep/syscalls.h>
#else
#include <asm/syscall.h>
#endif

#include "word64.h"
#include "x86_add.h"

#define KTAU_NR_SYSCALLS	__NR_syscalls

/* Nobody has measured the host's counter: its rate is measured at boot. */
static inline u64 ktau_arch_hz(void)
{
	return 0;
}

static inline bool ktau_arch_stable(void)
{
	return true;
}

static __always_inline unsigned long *ktau_result_register(void)
{
	return &PT_REGS_AX(current_pt_regs());
}

static __always_inline u64 ktau_syscall_result(void)
{
	return *ktau_result_register();
}

#endif /* _KERNEL_KTAU_UM_H */
