/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * KTAU: differences between configurations and versions of the kernel. The code tests for
 * features, never for version numbers.
 */
#ifndef _KERNEL_KTAU_COMPAT_H
#define _KERNEL_KTAU_COMPAT_H

#include <linux/cred.h>
#include <linux/ftrace.h>
#include <linux/hrtimer.h>
#include <linux/kallsyms.h>
#include <linux/mm.h>
#include <linux/module.h>
#include <linux/nsproxy.h>
#include <linux/percpu.h>
#include <linux/perf_event.h>
#include <linux/preempt.h>
#include <linux/sched.h>
#include <linux/sched/coredump.h>
#include <linux/security.h>
#include <linux/sysctl.h>
#include <linux/time_namespace.h>

/* Threads of a process that never run in user mode. */
#ifdef PF_USER_WORKER
#define KTAU_PF_USER_WORKER	(PF_IO_WORKER | PF_USER_WORKER)
#else
#define KTAU_PF_USER_WORKER	PF_IO_WORKER
#endif

/* Whether @task sleeps although it is still in a run queue, as newer kernels let it. */
static inline bool ktau_dequeue_is_delayed(const struct task_struct *task)
{
#ifdef KTAU_SCHED_DELAYED
	return task->se.sched_delayed;
#else
	return false;
#endif
}

/*
 * Whether a thread with @flags of a process neither runs in user mode nor runs its task work:
 * those of vhost, but not those of io_uring.
 */
static inline bool ktau_skips_task_work(u32 flags)
{
	const u32 others = KTAU_PF_USER_WORKER & ~PF_IO_WORKER;

	return others && (flags & KTAU_PF_USER_WORKER) == others;
}

/* Ask the LSMs whether the current credentials may use @type, PERF_SECURITY_*. */
#ifdef CONFIG_PERF_EVENTS
static inline int ktau_lsm_perf_by_type(void *hook, int type)
{
	int (*fn)(int type) = hook;

	return fn(type);
}

static inline int ktau_lsm_perf_by_attr(void *hook, int type)
{
	int (*fn)(struct perf_event_attr *attr, int type) = hook;
	struct perf_event_attr attr = { .size = sizeof(attr) };

	return fn(&attr, type);
}

/* Newer kernels have dropped the first argument of the hook. */
static inline int ktau_lsm_perf(int type)
{
	const bool by_type =
		__builtin_types_compatible_p(typeof(security_perf_event_open),
					     int (int type));

	return (by_type ? ktau_lsm_perf_by_type : ktau_lsm_perf_by_attr)
		((void *)security_perf_event_open, type);
}
#else
#define PERF_SECURITY_OPEN		0
#define PERF_SECURITY_CPU		1
#define PERF_SECURITY_KERNEL		2
#define PERF_SECURITY_TRACEPOINT	3

static inline int ktau_lsm_perf(int type)
{
	return 0;
}
#endif

/*
 * Change the flags of a mapping that is being created. In newer kernels the field is const,
 * because changing the flags of a mapping in use requires a lock.
 */
static inline void ktau_vma_flags(struct vm_area_struct *vma, unsigned long set,
				  unsigned long clear)
{
	unsigned long *flags = (unsigned long *)&vma->vm_flags;

	*flags = (*flags | set) & ~clear;
}

/* The LSM's id of the subject that @cred stands for, 0 if no LSM has one. */
static inline u32 ktau_secid(const struct cred *cred)
{
	u32 secid = 0;

	security_cred_getsecid(cred, &secid);
	return secid;
}

/*
 * Whether @cred is confined by Landlock. Landlock has no interface for this question: its
 * hooks only decide whether one live task may trace another.
 */
#ifdef CONFIG_SECURITY_LANDLOCK
#include "../../../security/landlock/cred.h"

static inline bool ktau_is_landlocked(const struct cred *cred)
{
	/* Credentials have no Landlock blob before Landlock is initialised. */
	return landlock_initialized && landlock_cred(cred)->domain;
}
#else
static inline bool ktau_is_landlocked(const struct cred *cred)
{
	return false;
}
#endif

/*
 * Whether the owner of the current task's program may trace it. Newer kernels keep this
 * with the task instead of the address space.
 */
static inline bool ktau_is_dumpable(void)
{
	struct mm_struct *mm = current->mm;

#ifdef SUID_DUMP_USER
	return !mm || get_dumpable(mm) == SUID_DUMP_USER;
#else
	return !mm || task_exec_state_get_dumpable(current) == TASK_DUMPABLE_OWNER;
#endif
}

/*
 * preempt_count(), with the other bits of its word: x86 keeps there whether to reschedule,
 * and removing that bit takes an instruction. The Makefile has the word's name.
 */
static __always_inline u32 ktau_preempt_count(void)
{
#ifdef KTAU_PREEMPT_COUNT
	return raw_cpu_read(KTAU_PREEMPT_COUNT);
#else
	return preempt_count();
#endif
}

/* Initialise @timer. The Makefile tests for the kernel's function of this name. */
static inline void ktau_hrtimer_setup(struct hrtimer *timer,
				      enum hrtimer_restart (*fn)(struct hrtimer *),
				      clockid_t clock, enum hrtimer_mode mode)
{
#ifdef KTAU_HRTIMER_SETUP
	hrtimer_setup(timer, fn, clock, mode);
#else
	hrtimer_init(timer, clock, mode);
	timer->function = fn;
#endif
}

static inline void
ktau_hrtimer_setup_on_stack(struct hrtimer *timer,
			    enum hrtimer_restart (*fn)(struct hrtimer *),
			    clockid_t clock, enum hrtimer_mode mode)
{
#ifdef KTAU_HRTIMER_SETUP
	hrtimer_setup_on_stack(timer, fn, clock, mode);
#else
	hrtimer_init_on_stack(timer, clock, mode);
	timer->function = fn;
#endif
}

#ifdef CONFIG_KTAU_FUNC
/*
 * Call @fn for each symbol of the kernel itself, in the order of their addresses, until it
 * returns something other than 0. Older kernels pass a module, too, which is NULL.
 */
struct ktau_symbol_walk {
	int (*fn)(void *data, const char *name, unsigned long address);
	void *data;
};

static inline int ktau_symbol_visit(void *walk, const char *name, struct module *mod,
				    unsigned long address)
{
	const struct ktau_symbol_walk *w = walk;

	return w->fn(w->data, name, address);
}

static inline int ktau_each_symbol(int (*fn)(void *data, const char *name,
					     unsigned long address), void *data)
{
	int (*each)(void *visit, void *data) = (void *)kallsyms_on_each_symbol;
	struct ktau_symbol_walk walk = { .fn = fn, .data = data };

	if (__builtin_types_compatible_p(typeof(kallsyms_on_each_symbol),
					 int (int (*)(void *, const char *, unsigned long),
					      void *)))
		return each(fn, data);
	return each(ktau_symbol_visit, &walk);
}

/*
 * The same for the symbols of all modules, with the mutex of the modules held. The Makefile tests
 * for the parameter with the name of a module.
 */
static inline int ktau_each_module_symbol(int (*fn)(void *data, const char *name,
						    unsigned long address), void *data)
{
#ifdef KTAU_SYMBOLS_OF_MODULE
	return IS_ENABLED(CONFIG_MODULES) ? module_kallsyms_on_each_symbol(NULL, fn, data) : 0;
#else
	struct ktau_symbol_walk walk = { .fn = fn, .data = data };

	return IS_ENABLED(CONFIG_MODULES) ?
	       module_kallsyms_on_each_symbol(ktau_symbol_visit, &walk) : 0;
#endif
}

/* The live module with a function at @address. The mutex of the modules is held. */
static inline struct module *ktau_module_of(unsigned long address)
{
#ifdef CONFIG_MODULES
	struct module *module = __module_text_address(address);

	if (module && module->state == MODULE_STATE_LIVE &&
	    !within_module_init(address, module))
		return module;
#endif
	return NULL;
}

/* Let the functions of @ops call @address directly. The Makefile tests for the old names. */
static inline int ktau_direct_attach(struct ftrace_ops *ops, unsigned long address)
{
#ifdef KTAU_DIRECT_MULTI
	return register_ftrace_direct_multi(ops, address);
#else
	return register_ftrace_direct(ops, address);
#endif
}

static inline int ktau_direct_detach(struct ftrace_ops *ops, unsigned long address)
{
#ifdef KTAU_DIRECT_MULTI
	int err = unregister_ftrace_direct_multi(ops, address);

	if (!err)
		ftrace_free_filter(ops);
	return err;
#else
	return unregister_ftrace_direct(ops, address, true);
#endif
}
#endif

/* Clock offsets of a time namespace relative to the initial one. */
#ifdef CONFIG_TIME_NS
static inline s64 ktau_boottime_offset(const struct nsproxy *ns)
{
	return timespec64_to_ns(&ns->time_ns->offsets.boottime);
}

static inline s64 ktau_monotonic_offset(const struct nsproxy *ns)
{
	return timespec64_to_ns(&ns->time_ns->offsets.monotonic);
}
#else
static inline s64 ktau_boottime_offset(const struct nsproxy *ns)
{
	return 0;
}

static inline s64 ktau_monotonic_offset(const struct nsproxy *ns)
{
	return 0;
}
#endif

/* Register the first entry of @table. An empty entry follows it. */
static inline void ktau_sysctl_register(struct ctl_table *table)
{
#ifdef register_sysctl
	register_sysctl_sz("kernel", table, 1);
#else
	register_sysctl("kernel", table);
#endif
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

/* Make a PTE of @vma writable. The Makefile tests for the argument. */
static inline pte_t ktau_pte_mkwrite(pte_t pte, struct vm_area_struct *vma)
{
#ifdef KTAU_MKWRITE_VMA
	return pte_mkwrite(pte, vma);
#else
	return pte_mkwrite(pte);
#endif
}

/*
 * Wait until no fault holds only the lock of @vma, as those of newer kernels do. mmap_lock is
 * held for writing.
 */
static inline void ktau_vma_start_write(struct vm_area_struct *vma)
{
#ifdef CONFIG_PER_VMA_LOCK
	vma_start_write(vma);
#endif
}

/* Find the lock of the PTE of a fault. Newer kernels have done so; see the Makefile. */
static inline void ktau_fault_lock(struct vm_fault *vmf)
{
#ifndef KTAU_FAULT_HAS_LOCK
	vmf->ptl = pte_lockptr(vmf->vma->vm_mm, vmf->pmd);
#endif
}

/* Whether private copies of pages of a file are unmapped, too. The Makefile tests for the field. */
static inline bool ktau_zaps_cows(const struct zap_details *details)
{
#ifdef KTAU_ZAP_SKIPS_COWS
	return !details->skip_cows;
#else
	return details->even_cows;
#endif
}

/* Shadow stacks are writable without being so. */
#ifdef VM_SHADOW_STACK
#define KTAU_VM_SHADOW_STACK	VM_SHADOW_STACK
#else
#define KTAU_VM_SHADOW_STACK	0
#endif

/* Without IPv6 support a socket has no IPv6 address. */
#if IS_ENABLED(CONFIG_IPV6)
#define KTAU_V6_DADDR(sk)	(&(sk)->sk_v6_daddr)
#else
#define KTAU_V6_DADDR(sk)	NULL
#endif

#endif /* _KERNEL_KTAU_COMPAT_H */
