/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * KTAU: everything that differs between architectures and configurations. Only this header
 * and compat.h contain #if; cgroup.h has empty functions for kernels without control groups.
 */
#ifndef _KERNEL_KTAU_ARCH_H
#define _KERNEL_KTAU_ARCH_H

#include <linux/compat.h>
#include <linux/compiler.h>
#include <linux/err.h>
#include <linux/irqflags.h>
#include <linux/ktau.h>
#include <linux/sched.h>
#include <linux/smp.h>
#include <linux/types.h>

#if defined(CONFIG_X86_64)

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

/*
 * Raise @p to @v in the same way: a value that an interrupt stores meanwhile is not lost.
 * The usual case is a single comparison.
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
	return (s64)data_race(*p) < (s64)v;	/* likewise */
}

/* Write a value that other CPUs may read at any time. */
static __always_inline void ktau_write(u64 *p, u64 v)
{
	WRITE_ONCE(*p, v);
}

#elif defined(CONFIG_ARM64)

#include <asm/sysreg.h>

/*
 * The counter of the generic timer. Without an isb it may be read a few instructions
 * early, as with rdtsc. It is coarser than a cycle: 24 MHz to 1 GHz.
 */
static __always_inline u64 ktau_ticks(void)
{
	return read_sysreg(cntvct_el0);
}

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

static __always_inline void ktau_raise(u64 *p, u64 v)
{
	u64 old;

	if (likely(data_race(*p) >= v))	/* no other CPU writes it */
		return;
	do {
		old = READ_ONCE(*p);
	} while (old < v && cmpxchg_local(p, old, v) != old);
}

static __always_inline bool ktau_advance(u64 *p, u64 *v, u64 n)
{
	const u64 old = *v;

	*v += n;
	return cmpxchg_local(p, old, *v) == old;
}

static __always_inline u64 ktau_read(const u64 *p)
{
	return READ_ONCE(*p);
}

static __always_inline bool ktau_differs(const u64 *p, u64 v)
{
	return READ_ONCE(*p) != v;
}

static __always_inline bool ktau_below(const u64 *p, u64 v)
{
	return (s64)READ_ONCE(*p) < (s64)v;
}

static __always_inline void ktau_write(u64 *p, u64 v)
{
	WRITE_ONCE(*p, v);
}

#elif defined(CONFIG_PPC32)

#include <asm/time.h>

/* The time base, with both halves read at the same moment. */
static __always_inline u64 ktau_ticks(void)
{
	return get_tb();
}

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

#endif

/*
 * Whether an NMI may use these functions. On 32-bit PowerPC, a machine check can come between the
 * two words of an update.
 */
static inline bool ktau_nmi_may_add(void)
{
	return !IS_ENABLED(CONFIG_PPC32);
}

/* Rate of the counter, 0 if it has to be measured; and whether the rate is constant. */
#if defined(CONFIG_X86) && !defined(CONFIG_UML)
#include <asm/tsc.h>

static inline u64 ktau_arch_hz(void)
{
	return tsc_khz * 1000ULL;
}

static inline bool ktau_arch_stable(void)
{
	return !check_tsc_unstable();
}
#elif defined(CONFIG_ARM64)
#include <asm/arch_timer.h>
#include <linux/cpumask.h>

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
#elif defined(CONFIG_PPC)
static inline u64 ktau_arch_hz(void)
{
	return tb_ticks_per_sec;
}

static inline bool ktau_arch_stable(void)
{
	return true;
}
#else
static inline u64 ktau_arch_hz(void)
{
	return 0;
}

static inline bool ktau_arch_stable(void)
{
	return true;
}
#endif

/*
 * Between two steps of an update, for readers on other CPUs; pairs with the read barriers of
 * snapshot.c. On x86, and on a single CPU, a barrier for the compiler only.
 */
#define ktau_wmb()	smp_wmb()

/* The table of system calls, to name each by its address. */
#include <asm/unistd.h>
#include <linux/ptrace.h>
#include <linux/sched/task_stack.h>
#if defined(CONFIG_UML)
#if __has_include("sysdep/syscalls.h")
#include <sysdep/syscalls.h>
#else
#include <asm/syscall.h>
#endif
#define KTAU_NR_SYSCALLS	__NR_syscalls
#else
#include <asm/syscall.h>
#define KTAU_NR_SYSCALLS	NR_syscalls
#endif

static inline unsigned long ktau_syscall_address(unsigned int nr)
{
	return nr < KTAU_NR_SYSCALLS ? (unsigned long)sys_call_table[nr] : 0;
}

/*
 * Location of the result of the system call that the current task is about to leave. For
 * a task outside of a system call it is an arbitrary word, or NULL on PowerPC, where a
 * kernel thread has no saved registers.
 */
#if defined(CONFIG_UML)
static __always_inline unsigned long *ktau_result_register(void)
{
	return &PT_REGS_AX(current_pt_regs());
}
#elif defined(CONFIG_PPC)
static __always_inline unsigned long *ktau_result_register(void)
{
	struct pt_regs *regs = current_pt_regs();

	return regs ? &regs->result : NULL;
}
#elif defined(CONFIG_ARM64)
static __always_inline unsigned long *ktau_result_register(void)
{
	return (unsigned long *)&current_pt_regs()->regs[0];
}
#else
static __always_inline unsigned long *ktau_result_register(void)
{
	/* one instruction less than current_pt_regs() */
	return &((struct pt_regs *)current_top_of_stack() - 1)->ax;
}
#endif

static __always_inline u64 ktau_syscall_result(void)
{
	unsigned long *result = ktau_result_register();

	if (IS_ENABLED(CONFIG_PPC) && !result)
		return 0;
	/* arm64 has stored an error of a 32-bit program without its sign. */
	if (IS_ENABLED(CONFIG_ARM64) && in_compat_syscall() &&
	    (u32)*result >= (u32)-MAX_ERRNO)
		return (int)*result;
	return (long)*result;
}

/* 32-bit programs pass the same structures. */
#ifdef CONFIG_COMPAT
#define KTAU_COMPAT_IOCTL(fn)	.proc_compat_ioctl = fn,
#else
#define KTAU_COMPAT_IOCTL(fn)
#endif

/* Whether @task is on a CPU. */
static inline bool ktau_on_cpu(const struct task_struct *task)
{
#ifdef CONFIG_SMP
	/* If not, pairs with the store in finish_task(): its effects are visible here. */
	return smp_load_acquire(&task->on_cpu);
#else
	return task == current;
#endif
}

/* Without IPv6 support a socket has no IPv6 address. */
#if IS_ENABLED(CONFIG_IPV6)
#define KTAU_V6_DADDR(sk)	(&(sk)->sk_v6_daddr)
#else
#define KTAU_V6_DADDR(sk)	NULL
#endif

#endif /* _KERNEL_KTAU_ARCH_H */
