/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * What the hooks of KTAU need of the architecture: 32-bit PowerPC.
 */
#ifndef _ASM_POWERPC_KTAU_H
#define _ASM_POWERPC_KTAU_H

#include <asm/time.h>
#include <linux/compiler.h>
#include <linux/types.h>

/* Whether ktau_syscall_enter() opens a frame itself, which saves a call. */
#define KTAU_ENTER_INLINE	0

/* The time base, with both halves read at the same moment. */
static __always_inline u64 ktau_ticks(void)
{
	return get_tb();
}

#endif /* _ASM_POWERPC_KTAU_H */
