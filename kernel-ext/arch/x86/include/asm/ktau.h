/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * What the hooks of KTAU need of the architecture: x86-64, and User-mode Linux on it.
 */
#ifndef _ASM_X86_KTAU_H
#define _ASM_X86_KTAU_H

#include <linux/compiler.h>
#include <linux/types.h>

/* Whether ktau_syscall_enter() opens a frame itself, which saves a call. */
#define KTAU_ENTER_INLINE	1

/* The counter, raw. User-mode Linux has no rdtsc(), but the instruction works. */
static __always_inline u64 ktau_ticks(void)
{
	u64 low, high;

	/* rdtsc clears the upper halves, so 64-bit outputs save clearing them again. */
	asm volatile("rdtsc" : "=a" (low), "=d" (high));
	return high << 32 | low;
}

#endif /* _ASM_X86_KTAU_H */
