/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * KTAU: additions by one instruction of x86-64, for the kernel on the machine and for User-mode
 * Linux.
 */
#ifndef _KERNEL_KTAU_X86_ADD_H
#define _KERNEL_KTAU_X86_ADD_H

#include <linux/compiler.h>
#include <linux/types.h>

/*
 * Add without a lock, by a single instruction, so that an interrupt on the same CPU
 * cannot tear the update. Only the CPU that runs the owner may write.
 */
static __always_inline void ktau_add(u64 *p, u64 v)
{
	asm volatile("addq %1, %0" : "+m" (*p) : "er" (v));
}

/* Set bit @nr in the same way. */
static __always_inline void ktau_set_bit(u64 *p, unsigned int nr)
{
	asm volatile("btsq %1, %0" : "+m" (*p) : "i" (nr) : "cc");
}

static __always_inline void ktau_sub(u64 *p, u64 v)
{
	asm volatile("subq %1, %0" : "+m" (*p) : "er" (v));
}

/* As ktau_add(), but returns the old value. */
static __always_inline u64 ktau_fetch_add(u64 *p, u64 v)
{
	asm volatile("xaddq %0, %1" : "+r" (v), "+m" (*p));
	return v;
}

/*
 * Add @n to @v and store the sum in @p if @p still has the old value of @v; otherwise
 * return false. Without a lock, and in one asm statement because the compiler would keep
 * both values of @v in registers.
 */
static __always_inline bool ktau_advance(u64 *p, u64 *v, u64 n)
{
	bool moved;

	asm volatile("movq %[v], %%rax\n\t"
		     "addq %[n], %[v]\n\t"
		     "cmpxchgq %[v], %[p]"
		     : "=@ccz" (moved), [p] "+m" (*p), [v] "+&r" (*v)
		     : [n] "er" (n) : "rax", "memory");
	return moved;
}

#endif /* _KERNEL_KTAU_X86_ADD_H */
