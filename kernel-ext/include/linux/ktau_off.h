/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * The hooks of linux/ktau.h without CONFIG_KTAU. Each object file must be the same as without
 * the hooks. So these are macros: even an empty variable or an unused argument can change the
 * code around it.
 */
#ifndef _LINUX_KTAU_OFF_H
#define _LINUX_KTAU_OFF_H

#define KTAU_SCOPE(g, fn)			static_assert(true)
#define KTAU_TASK_SCOPE(g, fn)			static_assert(true)
#define KTAU_NAMED_SCOPE(g, name)		static_assert(true)
#define KTAU_USER_SCOPE(g, fn, regs)		static_assert(true)
#define KTAU_CPU_SCOPE(g, fn)			static_assert(true)
#define KTAU_TRAP_SCOPE(fn, regs)		static_assert(true)
#define KTAU_NAMED_TRAP_SCOPE(name, regs)	static_assert(true)
#define KTAU_FAULT_SCOPE(regs, address)		static_assert(true)
#define KTAU_REGION(g, name)			static_assert(true)
#define KTAU_TASK_REGION(g, name)		static_assert(true)

#define KTAU_REGION_ENTER(g, name)		do { } while (0)
#define KTAU_COUNT(g, name, value)		do { } while (0)
#define KTAU_COUNT_SENT(sock, result)		do { } while (0)
#define KTAU_RECEIVE(sock, msg, flags, expr)	(expr)
#define KTAU_SEND_PAGE(sock, expr)		(expr)
#define KTAU_SPLICE_READ(expr)			(expr)
#define KTAU_CALL(call, fn, expr)		(expr)
#define KTAU_SOFTIRQ(vec, expr)			(expr)
#define KTAU_WORK(fn, expr)			(expr)
#define KTAU_TASK_CALL(call, fn, statement)	statement
#define KTAU_IPI(name, statement)		statement
#define KTAU_PROC_PID_ENTRY

#define ktau_exit(frame)			((void)(frame))
#define ktau_syscall_enter(frame, nr)		((void)(frame), (nr))
#define ktau_compat_enter(frame, nr)		((void)(frame))
#define ktau_abi_enter(frame, nr, compat)	((void)(frame))
#define ktau_exception_enter(frame, id)		((void)(frame))
#define ktau_fault_enter(frame, id, address)	((void)(frame))
#define ktau_syscall_exit(frame, reg, result)	((void)(frame))
#define ktau_sched_switch(vol, prev, next, state)	do { } while (0)

static inline void ktau_sched_switched(struct task_struct *prev) { }
#define ktau_kvm_enter(vcpu, frac_bits)		do { } while (0)
#define ktau_kvm_exit(vcpu, reason)		do { } while (0)
static inline void ktau_nmi_enter(void) { }
static inline void ktau_nmi_exit(void) { }
static inline void ktau_guest_enter(void) { }
static inline void ktau_guest_exit(void) { }
static inline void ktau_user_exit(void) { }
static inline void ktau_vtime_user_exit(void) { }
static inline void ktau_vtime_user_enter(void) { }
static inline void ktau_user_enter(void) { }
static inline void ktau_sched_resume(void) { }
#define ktau_sched_waking(p, target_cpu) do { } while (0)
static inline void ktau_sched_yield(bool yields) { }
static inline void ktau_task_init(struct task_struct *p) { }
static inline void ktau_task_fork(struct task_struct *p) { }
static inline void ktau_task_exec_begin(const struct linux_binprm *bprm) { }
static inline void ktau_task_comm(struct task_struct *p, bool exec) { }
static inline void ktau_task_cgroup(const struct cgroup *cgroup,
				    struct task_struct *p, bool threadgroup) { }
static inline void ktau_task_exec(void) { }
static inline void ktau_task_exiting(long code) { }
static inline void ktau_task_exited(void) { }
static inline void ktau_task_dying(void) { }
static inline void ktau_task_dead(struct task_struct *p) { }
static inline void ktau_task_free(struct task_struct *p) { }
static inline void ktau_net_send(const struct sock *sk,
				 const struct sk_buff *skb) { }
static inline void ktau_net_recv(const struct sock *sk,
				 const struct sk_buff *skb) { }

#endif /* _LINUX_KTAU_OFF_H */
