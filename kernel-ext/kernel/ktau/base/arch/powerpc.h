/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * KTAU: 32-bit PowerPC with one CPU.
 */
#ifndef _KERNEL_KTAU_POWERPC_H
#define _KERNEL_KTAU_POWERPC_H

#include <asm/syscall.h>
#include <asm/time.h>
#include <asm/unistd.h>
#include <linux/irqflags.h>
#include <linux/ptrace.h>
#include <linux/sched/task_stack.h>

#define KTAU_NR_SYSCALLS	NR_syscalls

/*
 * A 64-bit value is two words here. With interrupts disabled each access is atomic,
 * because Kconfig allows a single CPU only.
 */
static __always_inline u64 ktau_fetch_add(u64 *p, u64 v)
{
	unsigned long flags;
	u64 old;

	raw_local_irq_save(flags);
	old = *p;
	*p = old + v;
	raw_local_irq_restore(flags);
	return old;
}

static __always_inline void ktau_add(u64 *p, u64 v)
{
	ktau_fetch_add(p, v);
}

static __always_inline void ktau_set_bit(u64 *p, unsigned int nr)
{
	unsigned long flags;

	raw_local_irq_save(flags);
	*p |= 1ULL << nr;
	raw_local_irq_restore(flags);
}

static __always_inline void ktau_raise(u64 *p, u64 v)
{
	unsigned long flags;

	raw_local_irq_save(flags);
	if (*p < v)
		*p = v;
	raw_local_irq_restore(flags);
}

static __always_inline void ktau_sub(u64 *p, u64 v)
{
	ktau_fetch_add(p, -v);
}

static __always_inline bool ktau_advance(u64 *p, u64 *v, u64 n)
{
	unsigned long flags;
	bool moved;

	raw_local_irq_save(flags);
	moved = *p == *v;
	*v += n;
	if (moved)
		*p = *v;
	raw_local_irq_restore(flags);
	return moved;
}

static __always_inline u64 ktau_read(const u64 *p)
{
	unsigned long flags;
	u64 v;

	raw_local_irq_save(flags);
	v = *p;
	raw_local_irq_restore(flags);
	return v;
}

static __always_inline bool ktau_differs(const u64 *p, u64 v)
{
	return ktau_read(p) != v;
}

static __always_inline bool ktau_below(const u64 *p, u64 v)
{
	return (s64)ktau_read(p) < (s64)v;
}

static __always_inline void ktau_write(u64 *p, u64 v)
{
	unsigned long flags;

	raw_local_irq_save(flags);
	*p = v;
	raw_local_irq_restore(flags);
}

/* Not an NMI: a machine check can come between the two words of an update. */
static inline bool ktau_nmi_may_add(void)
{
	return false;
}

static inline u64 ktau_arch_hz(void)
{
	return tb_ticks_per_sec;
}

static inline bool ktau_arch_stable(void)
{
	return true;
}

/* NULL for a kernel thread, which has no saved registers. */
static __always_inline unsigned long *ktau_result_register(void)
{
	struct pt_regs *regs = current_pt_regs();

	return regs ? &regs->result : NULL;
}

static __always_inline u64 ktau_syscall_result(void)
{
	const unsigned long *result = ktau_result_register();

	return result ? (long)*result : 0;
}

#endif /* _KERNEL_KTAU_POWERPC_H */
