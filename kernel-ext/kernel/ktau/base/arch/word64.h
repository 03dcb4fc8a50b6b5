/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * KTAU: counters of 64 bits on architectures where a load and a store of them are one instruction.
 */
#ifndef _KERNEL_KTAU_WORD64_H
#define _KERNEL_KTAU_WORD64_H

#include <linux/atomic.h>
#include <linux/compiler.h>
#include <linux/types.h>

/* Whether an NMI may use these functions. */
static inline bool ktau_nmi_may_add(void)
{
	return true;
}

/*
 * Raise @p to @v without a lock: a value that an interrupt on the same CPU stores meanwhile is not
 * lost. The usual case is a single comparison.
 */
static __always_inline void ktau_raise(u64 *p, u64 v)
{
	u64 old;

	if (likely(data_race(*p) >= v))	/* no other CPU writes it */
		return;
	do {
		old = READ_ONCE(*p);
	} while (old < v && cmpxchg_local(p, old, v) != old);
}

/* Read a value that the owner's CPU may be adding to. */
static __always_inline u64 ktau_read(const u64 *p)
{
	return READ_ONCE(*p);
}

/* Whether @p is no longer @v, by a comparison in memory. */
static __always_inline bool ktau_differs(const u64 *p, u64 v)
{
	return data_race(*p) != v;	/* one aligned load cannot be torn */
}

/* Whether @p is less than @v, as signed numbers, in the same way. */
static __always_inline bool ktau_below(const u64 *p, u64 v)
{
	return (s64)data_race(*p) < (s64)v;	/* one aligned load cannot be torn */
}

/* Write a value that other CPUs may read at any time. */
static __always_inline void ktau_write(u64 *p, u64 v)
{
	WRITE_ONCE(*p, v);
}

#endif /* _KERNEL_KTAU_WORD64_H */
