/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * What the hooks of KTAU need of the architecture: arm64.
 */
#ifndef _ASM_ARM64_KTAU_H
#define _ASM_ARM64_KTAU_H

#include <asm/sysreg.h>
#include <linux/compiler.h>
#include <linux/types.h>

/* Whether ktau_syscall_enter() opens a frame itself, which saves a call. */
#define KTAU_ENTER_INLINE	0

/*
 * The counter of the generic timer, raw. Without an isb it may be read a few instructions
 * early, as with rdtsc. It is coarser than a cycle: 24 MHz to 1 GHz.
 */
static __always_inline u64 ktau_ticks(void)
{
	return read_sysreg(cntvct_el0);
}

#endif /* _ASM_ARM64_KTAU_H */
