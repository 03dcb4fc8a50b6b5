/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * KTAU hooks: what the rest of the kernel calls.
 *
 * A hook is one line without #if. If its group is disabled, an entry and an exit are a
 * nop each. If it is enabled, a task that is not selected skips the hook after one load
 * and a test of its mask.
 *
 *	int tcp_sendmsg(struct sock *sk, ...)
 *	{
 *		KTAU_SCOPE(TCP, tcp_sendmsg);
 *		int ret;
 *
 * covers every return of the function. KTAU_REGION() covers the end of a function from a
 * point on. Other regions need a declared frame, with ktau_*_enter() before the region and
 * ktau_exit(), or its variant for that kind of frame, after it.
 *
 * A frame that is not entered is not initialised. At the exit, a frame is open if and
 * only if it is the innermost one of the task, or of the CPU if it is accounted to that
 * too. So enabling or disabling a group inside a frame never unbalances the frames.
 */
#ifndef _LINUX_KTAU_H
#define _LINUX_KTAU_H

#include <linux/build_bug.h>
#include <linux/compiler.h>
#include <linux/ktau_irq.h>
#include <uapi/linux/ktau.h>

struct linux_binprm;
struct cgroup;
struct sk_buff;
struct sock;
struct socket;
struct task_struct;

/* Kinds of callbacks; their frames are named by the function called. */
enum ktau_call {
	KTAU_CALL_TASKLET,
	KTAU_CALL_WORK,
	KTAU_CALL_TIMER,
	KTAU_CALL_HRTIMER,
	KTAU_CALL_KTHREAD,
	KTAU_CALL_TASK_WORK,
	KTAU_CALL_NAPI,
	KTAU_CALL_RCU,
	KTAU_NR_CALLS
};

/*
 * Each source of events has a range of ids of its own, so that none can use up the ids of
 * another; see kernel/ktau/base/event.c.
 */
#define KTAU_ID_SYSCALL		0	/* + number */
#define KTAU_ID_STATIC		512	/* enum ktau_static_id */
#define KTAU_ID_POINT		640	/* in the order of first execution */
#define KTAU_ID_FOREIGN		1024	/* + number in the other ABI */
#define KTAU_ID_IRQ		1536	/* + line */
#define KTAU_ID_CALL		2048	/* KTAU_NR_CALL_IDS for each enum ktau_call */
#define KTAU_ID_MODULE		4096	/* registered by modules */
#define KTAU_ID_FUNCTION	4352	/* functions hooked at run time */
#define KTAU_NR_IDS		4608
#define KTAU_NR_CALL_IDS	256

/* Ids of the events that are known at build time. */
enum ktau_static_id {
	KTAU_ID_PAGE_FAULT_USER = KTAU_ID_STATIC,
	KTAU_ID_PAGE_FAULT_KERNEL,
	KTAU_ID_DEBUG,
	/* The most frequent ones share a chunk of a table. */
	KTAU_ID_SCHEDULE,
	KTAU_ID_SCHEDULE_WAIT,
	KTAU_ID_SCHEDULE_VOL_INTERRUPTIBLE,	/* voluntary switches, by reason */
	KTAU_ID_SCHEDULE_VOL_UNINTERRUPTIBLE,
	KTAU_ID_SCHEDULE_VOL_IO,
	KTAU_ID_SCHEDULE_VOL_IDLE,
	KTAU_ID_SCHEDULE_VOL_STOPPED,
	KTAU_ID_SCHEDULE_YLD,
	/* Events without an id of their own; callbacks in the order of enum ktau_call. */
	KTAU_ID_OTHER_TASKLET,
	KTAU_ID_OTHER_WORK,
	KTAU_ID_OTHER_TIMER,
	KTAU_ID_OTHER_HRTIMER,
	KTAU_ID_OTHER_KTHREAD,
	KTAU_ID_OTHER_TASK_WORK,
	KTAU_ID_OTHER_NAPI,
	KTAU_ID_OTHER_RCU,
	KTAU_ID_OTHER_IRQ,
	KTAU_ID_OTHER_COMPAT,
	KTAU_ID_INTERRUPTS,	/* all interrupts of a rounded profile */
	/* Mostly names of the root frame, see kernel/ktau/measure/root.c. */
	KTAU_ID_KERNEL,		/* no name yet */
	KTAU_ID_INTERRUPT_USER,	/* an interrupt from user mode, without its handler */
	KTAU_ID_RET_FROM_FORK,
	KTAU_ID_USER_WORKER,
	KTAU_ID_IDLE,
	KTAU_ID_GUEST,
	KTAU_ID_NMI,
	/*
	 * One id for each softirq vector: an event added after this one needs a value beyond
	 * those of the vectors.
	 */
	KTAU_ID_SOFTIRQ,
};

/* The system call number that a tracer sets to skip the call. */
#define KTAU_SYSCALL_SKIPPED	(-1UL)

#ifdef CONFIG_KTAU

#include <asm/ktau.h>
#include <linux/sched.h>
#include <linux/static_call_types.h>
#include <linux/vtime.h>

/* In a task's mask: it has ended all of its frames; nothing is measured any more. */
#define KTAU_MASK_GONE		BIT(29)

/* Likewise: its events are reported to the handlers of modules, or it has regions. */
#define KTAU_MASK_HANDLED	BIT(28)

/* What takes the entry of a frame to the slow path. */
#define KTAU_MASK_DIVERT	(KTAU_MODE_TRACE | KTAU_MASK_GONE | KTAU_MASK_HANDLED)

/* Flags above the id in @info of a frame. */
#define KTAU_FRAME_TRACED	0x10000U	/* also the type of the slot of its entry */
#define KTAU_FRAME_TRACE_ONLY	0x20000U	/* traced, but not profiled */
#define KTAU_FRAME_TRACE_NAME	0x40000U	/* the event that names it is traced */
#define KTAU_FRAME_HANDLED	0x80000U	/* its entry was reported to handlers */

static __always_inline unsigned int ktau_frame_id(const struct ktau_frame *frame)
{
	return (u16)READ_ONCE(frame->info);
}

/**
 * struct ktau_point - an instrumentation point, in the section __ktau_points
 * @name: name of the point
 * @address: address of the function, 0 if there is none
 * @group: KTAU_GROUP_*
 * @kind: KTAU_KIND_*, and KTAU_POINT_IN_TASK
 * @id: event id, KTAU_ID_NONE before the first execution
 */
struct ktau_point {
	const char	*name;
	unsigned long	address;
	u32		group;
	u16		kind;
	u16		id;
} __aligned(8);

/*
 * Whether the group is enabled and @tsk is selected for it. A single bit cannot be torn.
 * Without READ_ONCE() the compiler may test it in memory.
 */
#define KTAU_ON_FOR(tsk, g)						\
	(KTAU_ON(g) && /* one bit */					\
	 (data_race((tsk)->ktau.mask) & KTAU_GROUP_##g))

/* The kind of a point that is a timer, and that only tasks execute. */
#define KTAU_KIND_TASK_TIMER	(KTAU_KIND_TIMER | KTAU_POINT_IN_TASK)

/* Above the kind of a point: no interrupt executes it. */
#define KTAU_POINT_IN_TASK	0x100

/* Aligned like its type: the section is an array, and gcc would align for speed. */
#define __KTAU_POINT(var, g, k, fn, str)				\
	static struct ktau_point var					\
	__used __section("__ktau_points")				\
	__aligned(__alignof__(struct ktau_point)) = {			\
		.name = str,						\
		.address = (unsigned long)(fn),				\
		.group = KTAU_GROUP_##g,				\
		.kind = KTAU_KIND_##k,					\
		.id = KTAU_ID_NONE,					\
	}

void __ktau_enter_frame(struct task_struct *tsk, struct ktau_frame *frame);
void __ktau_enter_hit(struct task_struct *tsk, struct ktau_frame *frame);
void __ktau_enter_from_user(struct task_struct *tsk, struct ktau_frame *frame);
void __ktau_enter_fault(struct task_struct *tsk, struct ktau_frame *frame,
			unsigned long address);
void __ktau_enter_user_fault(struct task_struct *tsk, struct ktau_frame *frame,
			     unsigned long address);
void __ktau_enter_point(struct ktau_frame *frame, struct ktau_point *point);
void __ktau_enter_compat(struct ktau_frame *frame, unsigned int nr);
void __ktau_enter_work(struct ktau_frame *frame, void *fn);
void __ktau_enter_trap(struct ktau_frame *frame, struct ktau_point *point);
void __ktau_enter_call(struct ktau_frame *frame, enum ktau_call call, void *fn);
void __ktau_exit(struct ktau_frame *frame, struct task_struct *tsk);
void __ktau_count(struct ktau_point *point, u64 value);

void __ktau_cpu_enter(struct ktau_cpu_frame *frame, unsigned int id, u32 group);
void __ktau_irq_enter_point(struct ktau_cpu_frame *frame,
			    struct ktau_point *point);
void __ktau_bh_enter_point(struct ktau_cpu_frame *frame,
			   struct ktau_point *point);
void __ktau_cpu_enter_call(struct ktau_cpu_frame *frame, enum ktau_call call,
			   void *fn);

/* Open @frame on @tsk, the current task, which has a group enabled. */
static __always_inline void __ktau_enter(struct ktau_frame *frame,
					 struct task_struct *tsk, unsigned int id)
{
	frame->info = id;
	__ktau_enter_frame(tsk, frame);
}

/* Close @frame if it was opened. This is the whole test when KTAU is enabled. */
static __always_inline void ktau_exit(struct ktau_frame *frame)
{
	if (static_branch_unlikely(&ktau_exit_key) &&
	    current->ktau.top == frame)
		__ktau_exit(frame, current);
}

#define __KTAU_SCOPE(g, k, fn, str, type, exit, enter)			\
	__KTAU_POINT(__ktau_point, g, k, fn, str);			\
	struct type __ktau_frame __uninitialized __cleanup(exit);	\
	const int __ktau_entered __maybe_unused =			\
		enter ? 1 : 0

/* A function that runs on behalf of the current task. */
#define KTAU_SCOPE(g, fn)						\
	__KTAU_SCOPE(g, TIMER, fn, #fn, ktau_frame, ktau_exit,			\
		     KTAU_ON_FOR(current, g) &&				\
		     (__ktau_enter_point(&__ktau_frame, &__ktau_point), 1))

/*
 * The same for a function that only runs in task context, in a group whose other functions also
 * run in interrupts. Its figures are the task's own, so they are shown to readers from whom the
 * work of interrupts is hidden.
 */
#define KTAU_TASK_SCOPE(g, fn)						\
	__KTAU_SCOPE(g, TASK_TIMER, fn, #fn, ktau_frame, ktau_exit,	\
		     KTAU_ON_FOR(current, g) &&				\
		     (__ktau_enter_point(&__ktau_frame, &__ktau_point), 1))

/*
 * As KTAU_SCOPE(), for a function that is called @name in other versions of the kernel, or that
 * is always inlined and so has no address.
 */
#define KTAU_NAMED_SCOPE(g, name)					\
	__KTAU_SCOPE(g, TIMER, 0, #name, ktau_frame, ktau_exit,		\
		     KTAU_ON_FOR(current, g) &&				\
		     (__ktau_enter_point(&__ktau_frame, &__ktau_point), 1))

/*
 * Like KTAU_SCOPE(), but only from user mode: for an exception that may hit the kernel anywhere,
 * like an NMI.
 */
#define KTAU_USER_SCOPE(g, fn, regs)					\
	__KTAU_SCOPE(g, TIMER, fn, #fn, ktau_frame, ktau_exit,			\
		     KTAU_ON_FOR(current, g) && user_mode(regs) &&	\
		     (__ktau_enter_point(&__ktau_frame, &__ktau_point), 1))

#define __KTAU_TRAP_SCOPE(fn, str, regs)				\
	__KTAU_SCOPE(EXCEPTION, TIMER, fn, str, ktau_frame, ktau_exit,		\
		     KTAU_ON_FOR(current, EXCEPTION) &&			\
		     (user_mode(regs) ?					\
		      __ktau_enter_trap(&__ktau_frame, &__ktau_point) :	\
		      __ktau_enter_point(&__ktau_frame, &__ktau_point), 1))

/* An exception; one from user mode names the root frame. */
#define KTAU_TRAP_SCOPE(fn, regs)	__KTAU_TRAP_SCOPE(fn, #fn, regs)

/* The same for a function that is called @name in other versions of the kernel. */
#define KTAU_NAMED_TRAP_SCOPE(name, regs) __KTAU_TRAP_SCOPE(0, #name, regs)

/*
 * An interrupt handler (group IRQ), or the softirqs at the end of one (BH), with interrupts
 * disabled: accounted to the interrupted task and to the CPU.
 */
#define KTAU_CPU_SCOPE(g, fn)						\
	__KTAU_SCOPE(g, TIMER, fn, #fn, ktau_cpu_frame, ktau_irq_exit,		\
		     KTAU_ON(g) &&					\
		     (KTAU_GROUP_##g == KTAU_GROUP_IRQ ?		\
		      __ktau_irq_enter_point(&__ktau_frame, &__ktau_point) : \
		      __ktau_bh_enter_point(&__ktau_frame, &__ktau_point), 1))

/* Execute @statement, which handles an interrupt between CPUs: as KTAU_CPU_SCOPE(IRQ, name). */
#define KTAU_IPI(name, statement)					\
	do {								\
		__KTAU_SCOPE(IRQ, TIMER, 0, #name, ktau_cpu_frame,		\
			     ktau_irq_exit, KTAU_ON(IRQ) &&		\
			     (__ktau_irq_enter_point(&__ktau_frame,	\
						     &__ktau_point), 1)); \
		statement;						\
	} while (0)

/* A part of a function, from KTAU_REGION_ENTER() to any return. */
#define __KTAU_REGION(g, k, name)					\
	__KTAU_POINT(__ktau_point_##name, g, k, 0, #name);		\
	struct ktau_frame __ktau_frame_##name __uninitialized		\
		__cleanup(ktau_exit)

#define KTAU_REGION(g, name)		__KTAU_REGION(g, TIMER, name)

/* The same, as KTAU_TASK_SCOPE(). */
#define KTAU_TASK_REGION(g, name)	__KTAU_REGION(g, TASK_TIMER, name)

#define KTAU_REGION_ENTER(g, name)					\
	do {								\
		if (KTAU_ON_FOR(current, g))				\
			__ktau_enter_point(&__ktau_frame_##name,	\
					   &__ktau_point_##name);	\
	} while (0)

/* A counter: add @value to counter @name of the current task. */
#define KTAU_COUNT(g, name, value)					\
	do {								\
		__KTAU_POINT(__ktau_count_##name, g, COUNTER, 0, #name);	\
									\
		if (KTAU_ON_FOR(current, g))				\
			__ktau_count(&__ktau_count_##name, value);	\
	} while (0)

/* Evaluate @expr, which calls @fn, a callback of kind @call. */
#define KTAU_CALL(call, fn, expr)					\
({									\
	struct ktau_cpu_frame __ktau_call __uninitialized		\
		__cleanup(ktau_cpu_exit);				\
									\
	ktau_call_enter(&__ktau_call, KTAU_CALL_##call, fn);		\
	expr;								\
})

/* The same for the softirq vector @vec. */
#define KTAU_SOFTIRQ(vec, expr)						\
({									\
	struct ktau_cpu_frame __ktau_call __uninitialized		\
		__cleanup(ktau_cpu_exit);				\
									\
	ktau_softirq_enter(&__ktau_call, vec);				\
	expr;								\
})

/* The same for the function @fn of a work item. */
#define KTAU_WORK(fn, expr)						\
({									\
	struct ktau_frame __ktau_call __uninitialized			\
		__cleanup(ktau_exit);					\
									\
	ktau_work_enter(&__ktau_call, fn);				\
	expr;								\
})

/* Name the root frame with event @id, if it is open and has no name yet. */
static __always_inline bool ktau_root_name(unsigned int id)
{
	struct ktau_frame *top = current->ktau.top;

	if (!top || top->info != KTAU_ID_KERNEL)
		return false;
	WRITE_ONCE(top->info, id);
	return true;
}

/*
 * Enter event @id from user mode, as the name of the root frame or with @frame. Returns
 * @id, read back from @frame after a call, so that the caller need not save it.
 */
static __always_inline unsigned int
ktau_enter_from_user(struct ktau_frame *frame, unsigned int id)
{
	if (KTAU_ON(ACCOUNT)) {
		if (ktau_root_name(id))
			return id;
		frame->info = id;
		__ktau_enter_from_user(current, frame);
	} else {
		__ktau_enter(frame, current, id);
	}
	return (u16)frame->info;	/* only the current task writes it */
}

/*
 * Returns @nr, as ktau_enter_from_user(). Where this is inline, the usual case is that of
 * __ktau_enter_frame().
 */
static __always_inline unsigned int
ktau_syscall_enter(struct ktau_frame *frame, unsigned int nr)
{
	struct task_struct *tsk;

	if (!KTAU_ON_FOR(current, SYSCALL))
		return nr;
	if (!KTAU_ENTER_INLINE)
		return ktau_enter_from_user(frame, nr);
	barrier();	/* else both tests need the mask in a register */
	tsk = current;
	/* bits of one word cannot be torn */
	if (unlikely(data_race(tsk->ktau.mask) & (KTAU_MASK_DIVERT | KTAU_GROUP_ACCOUNT)))
		return ktau_enter_from_user(frame, nr);
	frame->info = nr;
	frame->prev = tsk->ktau.top;
	frame->start = 0;
	frame->child = 0;
	barrier();	/* interrupts find the frame complete from here on */
	tsk->ktau.top = frame;
	barrier();
	WRITE_ONCE(frame->start, ktau_ticks());
	barrier();
	if (likely(!frame->child))
		return nr;
	__ktau_enter_hit(tsk, frame);
	return (u16)frame->info;
}

static __always_inline void ktau_compat_enter(struct ktau_frame *frame,
					      unsigned int nr)
{
	if (KTAU_ON_FOR(current, SYSCALL))
		__ktau_enter_compat(frame, nr);
}

static __always_inline void ktau_work_enter(struct ktau_frame *frame, void *fn)
{
	if (KTAU_ON_FOR(current, BH))
		__ktau_enter_work(frame, fn);
}

static __always_inline void ktau_softirq_enter(struct ktau_cpu_frame *frame,
					       unsigned int vec)
{
	if (KTAU_ON(BH))
		__ktau_cpu_enter(frame, KTAU_ID_SOFTIRQ + vec, KTAU_GROUP_BH);
}

static __always_inline void ktau_call_enter(struct ktau_cpu_frame *frame,
					    enum ktau_call call, void *fn)
{
	if (KTAU_ON(BH))
		__ktau_cpu_enter_call(frame, call, fn);
}

/*
 * System call @nr, of the other ABI if @compat, on an architecture that dispatches both in
 * the same function.
 */
static __always_inline void ktau_abi_enter(struct ktau_frame *frame, unsigned int nr,
					   bool compat)
{
	if (!KTAU_ON_FOR(current, SYSCALL))
		return;
	if (compat)
		__ktau_enter_compat(frame, nr);
	else
		ktau_enter_from_user(frame, nr);
}

/* An exception from user mode. */
static __always_inline void ktau_exception_enter(struct ktau_frame *frame,
						 enum ktau_static_id id)
{
	if (KTAU_ON_FOR(current, EXCEPTION) && likely(!in_nmi()))
		ktau_enter_from_user(frame, id);
}

/* A page fault at @address. */
static __always_inline void ktau_fault_enter(struct ktau_frame *frame,
					     enum ktau_static_id id,
					     unsigned long address)
{
	if (!KTAU_ON_FOR(current, EXCEPTION) || unlikely(in_nmi()))
		return;
	if (KTAU_ON(ACCOUNT) && id == KTAU_ID_PAGE_FAULT_USER) {
		if (ktau_root_name(id))
			return;
		frame->info = id;
		__ktau_enter_user_fault(current, frame, address);
	} else {
		frame->info = id;
		__ktau_enter_fault(current, frame, address);
	}
}

/* A function that handles a page fault at @address and has more than one return. */
#define KTAU_FAULT_SCOPE(regs, address)					\
	struct ktau_frame __ktau_frame __uninitialized			\
		__cleanup(ktau_exit);					\
	const int __ktau_entered __maybe_unused =			\
		(ktau_fault_enter(&__ktau_frame, user_mode(regs) ?	\
				  KTAU_ID_PAGE_FAULT_USER :		\
				  KTAU_ID_PAGE_FAULT_KERNEL, address), 0)

/* Like ktau_exit_key, but enabled when the account is first enabled. */
extern struct static_key_false ktau_root_key;

/* The current task leaves user mode or returns to it; interrupts disabled. */
void __ktau_user_exit(struct ktau_ref *ref);
void __ktau_user_enter(struct ktau_frame *top, struct ktau_ref *ref);
void __ktau_user_begin(struct ktau_ref *ref);

static __always_inline void ktau_vtime_user_exit(void)
{
	if (KTAU_ON_FOR(current, ACCOUNT))
		__ktau_user_exit(&current->ktau);
}

static __always_inline void ktau_vtime_user_enter(void)
{
	struct ktau_frame *top;

	if (!IS_ENABLED(CONFIG_KTAU_ACCOUNT) ||
	    !static_branch_unlikely(&ktau_root_key))
		return;
	top = current->ktau.top;
	if (top)
		__ktau_user_enter(top, &current->ktau);
	else if (KTAU_ON_FOR(current, ACCOUNT))
		__ktau_user_begin(&current->ktau);
}

/* Where the kernel accounts CPU time precisely, use the same boundary. */
static __always_inline bool ktau_vtime_is_precise(void)
{
	return IS_ENABLED(CONFIG_VIRT_CPU_ACCOUNTING_GEN) &&
	       vtime_accounting_enabled_this_cpu();
}

static __always_inline void ktau_user_exit(void)
{
	if (!ktau_vtime_is_precise())
		ktau_vtime_user_exit();
}

static __always_inline void ktau_user_enter(void)
{
	if (!ktau_vtime_is_precise())
		ktau_vtime_user_enter();
}

/*
 * Execute @statement, which calls @fn, a function of kind @call, on behalf of the task.
 */
#define KTAU_TASK_CALL(call, fn, statement)				\
	do {								\
		struct ktau_frame __frame __uninitialized;		\
									\
		if (KTAU_ON_FOR(current, ACCOUNT))			\
			__ktau_enter_call(&__frame, KTAU_CALL_##call,	\
					  fn);				\
		statement;						\
		ktau_exit(&__frame);					\
	} while (0)

/* NMIs, which are accounted to the CPU only, because they can hit an update of the task. */
void __ktau_nmi_enter(void);
void __ktau_nmi_exit(void);

static __always_inline void ktau_nmi_enter(void)
{
	if (IS_ENABLED(CONFIG_64BIT) && KTAU_ON(IRQ))
		__ktau_nmi_enter();
}

static __always_inline void ktau_nmi_exit(void)
{
	if (IS_ENABLED(CONFIG_64BIT) && static_branch_unlikely(&ktau_exit_key))
		__ktau_nmi_exit();
}

/* Guest mode: the current task runs a virtual CPU; interrupts disabled. */
void __ktau_guest_enter(void);
void __ktau_guest_exit(void);
void __ktau_kvm_enter(u32 vcpu, u32 frac_bits, u64 tsc_offset, u64 tsc_ratio);
void __ktau_kvm_exit(u32 vcpu, u32 reason);

static __always_inline void ktau_guest_enter(void)
{
	if (KTAU_ON_FOR(current, KVM))
		__ktau_guest_enter();
}

static __always_inline void ktau_guest_exit(void)
{
	if (IS_ENABLED(CONFIG_KTAU_KVM) &&
	    static_branch_unlikely(&ktau_exit_key) && current->ktau.state)
		__ktau_guest_exit();
}

static __always_inline bool ktau_kvm_is_traced(void)
{
	return KTAU_ON(KVM) && (READ_ONCE(current->ktau.mask) &
				(KTAU_GROUP_KVM | KTAU_MODE_TRACE)) ==
			       (KTAU_GROUP_KVM | KTAU_MODE_TRACE);
}

/* A macro, because the header of struct kvm_vcpu includes this one. */
#define ktau_kvm_enter(cpu, frac_bits)						\
	do {									\
		const struct kvm_vcpu *__vcpu = (cpu);				\
										\
		if (ktau_kvm_is_traced())					\
			__ktau_kvm_enter(__vcpu->vcpu_id, frac_bits,		\
					 __vcpu->arch.l1_tsc_offset,		\
					 __vcpu->arch.l1_tsc_scaling_ratio);	\
	} while (0)

static __always_inline void ktau_kvm_exit(u32 vcpu, u32 reason)
{
	if (ktau_kvm_is_traced())
		__ktau_kvm_exit(vcpu, reason);
}

/* Close the frame of a system call whose result is not in the registers yet. */
static __always_inline void ktau_syscall_exit(struct ktau_frame *frame,
					      unsigned long *reg, long result)
{
	if (static_branch_unlikely(&ktau_exit_key) &&
	    current->ktau.top == frame) {
		*reg = result;
		__ktau_exit(frame, current);
	}
}

struct seq_file;
struct pid_namespace;
struct pid;
int ktau_proc_pid_show(struct seq_file *m, struct pid_namespace *ns,
		       struct pid *pid, struct task_struct *task);

/* Entry of the tables of /proc/PID and /proc/PID/task/TID. */
#define KTAU_PROC_PID_ENTRY	ONE("ktau", 0444, ktau_proc_pid_show),

#include <linux/ktau_socket.h>
#include <linux/ktau_task.h>

#else /* !CONFIG_KTAU */

#include <linux/ktau_off.h>

#endif /* CONFIG_KTAU */

#endif /* _LINUX_KTAU_H */
