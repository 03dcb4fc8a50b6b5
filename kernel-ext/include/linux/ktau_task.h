/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * The hooks of the scheduler, and of the life of a task. Included by linux/ktau.h.
 */
#ifndef _LINUX_KTAU_TASK_H
#define _LINUX_KTAU_TASK_H

/* Scheduler. */
void __ktau_sched_switch(bool vol, struct task_struct *prev,
			 struct task_struct *next, unsigned int prev_state);
void __ktau_sched_switched(struct task_struct *prev);
void __ktau_sched_resume(void);
void __ktau_sched_waking(struct task_struct *p, unsigned int target_cpu);
void __ktau_sched_yield(bool yields);

/* Replaced while modules have handlers; see kernel/ktau/extend/handler.c. */
DECLARE_STATIC_CALL(ktau_divert_switch, __ktau_sched_switch);
DECLARE_STATIC_CALL(ktau_divert_resume, __ktau_sched_resume);

/*
 * @prev is about to lose the CPU to @next; the kernel counts that in nvcsw if @vol. Under
 * the run-queue lock.
 */
static __always_inline void ktau_sched_switch(bool vol,
					      struct task_struct *prev,
					      struct task_struct *next,
					      unsigned int prev_state)
{
	if (KTAU_ON_FOR(prev, SCHED))
		static_call(ktau_divert_switch)(vol, prev, next, prev_state);
}

/*
 * Whether @tsk has work to do at a switch: it was switched out, is new, was woken, has no
 * root frame yet, or may have changes by other tasks to trace.
 */
static __always_inline bool __ktau_sched_pending(const struct task_struct *tsk)
{
	const struct ktau_ref *ref = &tsk->ktau;

	return ref->flags || ref->wake_ticks ||
	       (data_race(ref->mask) & KTAU_MODE_TRACE) || /* one bit */
	       (!ref->top && /* one bit */
		(data_race(ref->mask) & KTAU_GROUP_ACCOUNT));
}

/*
 * The current task has got the CPU from @prev, which no other CPU runs yet. From here on,
 * time and slots are not those of @prev.
 */
static __always_inline void ktau_sched_switched(struct task_struct *prev)
{
	if (static_branch_unlikely(&ktau_exit_key) &&
	    (KTAU_ON(ACCOUNT) || prev->ktau.flags || __ktau_sched_pending(current)))
		__ktau_sched_switched(prev);
}

/* The current task has got the CPU, and the previous task may run elsewhere. */
static __always_inline void ktau_sched_resume(void)
{
	if (static_branch_unlikely(&ktau_exit_key) &&
	    __ktau_sched_pending(current))
		static_call(ktau_divert_resume)();
}

/* Whether the wakeup of @p by the current task, or an interrupt of it, is measured. */
static __always_inline bool __ktau_sched_wakes(struct task_struct *p)
{
	return KTAU_ON(SCHED) &&	/* one bit */
	       (data_race(current->ktau.mask | p->ktau.mask) & KTAU_GROUP_SCHED);
}

/*
 * The current task, or an interrupt of it, wakes @p, which enters the run queue of
 * @target_cpu; under @p's pi_lock. Another CPU may finish the wakeup. A macro, because
 * task_cpu() is a volatile read, which a function would make even if it is not used.
 */
#define ktau_sched_waking(p, target_cpu)				\
do {									\
	struct task_struct *__woken = (p);				\
									\
	if (__ktau_sched_wakes(__woken))				\
		__ktau_sched_waking(__woken, target_cpu);		\
} while (0)

/* The current task is about to yield, or has yielded. */
static __always_inline void ktau_sched_yield(bool yields)
{
	if (yields ? KTAU_ON_FOR(current, SCHED) :
		     static_branch_unlikely(&ktau_exit_key) &&
		     current->ktau.flags)
		__ktau_sched_yield(yields);
}

/* Life of a task. */
void __ktau_task_fork(struct task_struct *p);
void __ktau_task_exec_begin(const struct linux_binprm *bprm);
void __ktau_task_comm(struct task_struct *p);
void __ktau_task_cgroup(const struct cgroup *cgroup, struct task_struct *p,
			bool threadgroup);
void __ktau_task_exec(void);
void __ktau_task_exiting(long code);
void __ktau_task_exited(void);
void __ktau_task_dying(void);
void __ktau_task_dead(struct task_struct *p);
void __ktau_task_free(struct task_struct *p);

/* @p is a copy of the current task, including its tag. */
static inline void ktau_task_init(struct task_struct *p)
{
	p->ktau = (struct ktau_ref) { .tag = p->ktau.tag };
}

/* @p is complete and about to run for the first time. */
static inline void ktau_task_fork(struct task_struct *p)
{
	if (static_branch_unlikely(&ktau_exit_key))
		__ktau_task_fork(p);
}

/*
 * The current task is about to give up its old program, and still has its old
 * credentials.
 */
static inline void ktau_task_exec_begin(const struct linux_binprm *bprm)
{
	if (static_branch_unlikely(&ktau_exit_key) && current->ktau.state)
		__ktau_task_exec_begin(bprm);
}

static inline void ktau_task_exec(void)
{
	if (static_branch_unlikely(&ktau_exit_key))
		__ktau_task_exec();
}

/* @p has a new name. The name set by an @exec is traced with the exec. */
static inline void ktau_task_comm(struct task_struct *p, bool exec)
{
	if (static_branch_unlikely(&ktau_exit_key) && !exec)
		__ktau_task_comm(p);
}

/*
 * @p, or with @threadgroup its whole process, has been moved to @cgroup; nothing has if
 * that is NULL.
 */
static inline void ktau_task_cgroup(const struct cgroup *cgroup,
				    struct task_struct *p, bool threadgroup)
{
	if (static_branch_unlikely(&ktau_exit_key) && cgroup)
		__ktau_task_cgroup(cgroup, p, threadgroup);
}

/* The current task begins to exit, and still has its address space. */
static inline void ktau_task_exiting(long code)
{
	if (static_branch_unlikely(&ktau_exit_key) && current->ktau.state)
		__ktau_task_exiting(code);
}

/* The current task is about to notify its parent. */
static inline void ktau_task_exited(void)
{
	if (static_branch_unlikely(&ktau_exit_key) && current->ktau.state)
		__ktau_task_exited();
}

/* The current task is about to be switched out for the last time. */
static inline void ktau_task_dying(void)
{
	if (static_branch_unlikely(&ktau_exit_key) && current->ktau.state)
		__ktau_task_dying();
}

/* @p has been switched out for the last time. */
static inline void ktau_task_dead(struct task_struct *p)
{
	if (static_branch_unlikely(&ktau_exit_key) && p->ktau.state)
		__ktau_task_dead(p);
}

/* The last reference to @p is gone. */
static inline void ktau_task_free(struct task_struct *p)
{
	if (unlikely(p->ktau.state))
		__ktau_task_free(p);
}

#endif /* _LINUX_KTAU_TASK_H */
