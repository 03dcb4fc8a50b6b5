/* SPDX-License-Identifier: LGPL-2.1-or-later */
/* Copies of the states of tasks that may run at the same time. */
#ifndef KTAU_BPF_READ_H
#define KTAU_BPF_READ_H

#include "before.h"
#include "table.h"

#define COPY_RETRIES		32

/* The part of an interrupt, which took @took until @now, since the task has a profile. */
static __always_inline u64 within_life(const struct kb_state *st, u64 now, u64 took)
{
	u64 life = now - st->start;

	if ((s64)life < 0)
		life = 0;
	return took < life ? took : life;
}

static __always_inline u64 sum_of_seq(const struct kb_state *st)
{
	const volatile u64 *seq = st->seq;
	u64 task = seq[KB_TASK], soft = seq[KB_SOFT], hard = seq[KB_HARD], waker = seq[KB_WAKER];

	/* An odd number is an update in progress. Each number only grows. */
	return (task | soft | hard | waker) & 1 ? 0 : task + soft + hard + waker + 1;
}

#define COPY_BYTES __builtin_offsetof(struct kb_state, index)

static __always_inline u64 irq_seq(const struct kb_cpu *c)
{
	const volatile u64 *seq = c->seq;
	u64 hard = seq[KB_HARD], soft = seq[KB_SOFT];

	return (hard | soft) & 1 ? 0 : hard + soft + 1;
}

static __always_inline void read_in_progress(struct kb_in_progress *to, const struct kb_cpu *c)
{
	const volatile struct kb_in_progress *now = &c->now;

	to->hard_ns = now->hard_ns;
	to->hard_start = now->hard_start;
	to->soft_start = now->soft_start;
	to->soft_own_start = now->soft_own_start;
	to->hard_cell = now->hard_cell;
	to->soft_cell = now->soft_cell;
}

/* Whether they are the same as before, so that none has begun since. */
static __always_inline bool is_unchanged(const struct kb_in_progress *irqs, const struct kb_cpu *c)
{
	const volatile struct kb_in_progress *now = &c->now;

	return now->hard_start == irqs->hard_start && now->soft_start == irqs->soft_start;
}

/*
 * A consistent copy of both chunks of a task that may run on another CPU at the same time, with
 * the time of the interrupts in progress there.
 */
static __noinline int copy_state(struct task_struct *task, struct kb_state *st,
				 struct kb_state *to, struct kb_more *to_next)
{
	struct kb_in_progress irqs;
	const struct kb_cpu *c;
	struct kb_more *next;
	u64 before, irqs_before;
	u32 cpu;
	int i;

	if (!task || !st || !to || !to_next)
		return 0;
	for (i = 0; i < COPY_RETRIES; i++) {
		u32 bytes = __builtin_offsetof(struct kb_state, cells), nr;

		cpu = cpu_of(task);
		c = bpf_map_lookup_elem(&cpus, &cpu);
		before = sum_of_seq(st);
		if (!before || !c)
			continue;
		/* All that decides what is copied is read after the sum. */
		barrier();
		irqs_before = irq_seq(c);
		barrier();
		read_in_progress(&irqs, c);
		barrier();
		nr = st->nr_cells;
		bytes += (nr < KB_NR_FIRST ? nr : KB_NR_FIRST) * sizeof(struct kb_cell);
		if (bytes > COPY_BYTES)
			bytes = COPY_BYTES;
		if (bpf_probe_read_kernel(to, bytes, st))
			return 0;
		if (nr > KB_NR_FIRST) {
			next = bpf_task_storage_get(&more, task, NULL, 0);
			if (!next)
				continue;
			if (bpf_probe_read_kernel(to_next, sizeof(*to_next), next))
				return 0;
		}
		to->now = bpf_ktime_get_ns();
		barrier();
		__builtin_memset(&to->irqs_now, 0, sizeof(to->irqs_now));
		if (to->off_since <= KB_ON_CPU) {
			if (!irqs_before || irq_seq(c) != irqs_before || !is_unchanged(&irqs, c) ||
			    cpu_of(task) != cpu)
				continue;
			to->irqs_now = irqs;
		}
		barrier();
		if (sum_of_seq(st) == before)
			return 1;
	}
	return 0;
}

static __noinline int fill_owner(struct kb_state *st, struct task_struct *task)
{
	struct kb_owner *o;

	if (!st || !task)
		return 0;
	o = &st->owner;
	o->start_ns = BPF_CORE_READ(task, start_boottime);
	o->utime_ns = BPF_CORE_READ(task, utime);
	o->stime_ns = BPF_CORE_READ(task, stime);
	o->nvcsw = BPF_CORE_READ(task, nvcsw);
	o->nivcsw = BPF_CORE_READ(task, nivcsw);
	o->migrations = BPF_CORE_READ(task, se.nr_migrations);
	o->cgroup = cgroup_of(task);
	o->tid = BPF_CORE_READ(task, pid);
	o->tgid = BPF_CORE_READ(task, tgid);
	o->ppid = BPF_CORE_READ(task, real_parent, tgid);
	o->cpu = cpu_of(task);
	o->uid = BPF_CORE_READ(task, real_cred, uid.val);
	o->gid = BPF_CORE_READ(task, real_cred, gid.val);
	o->prio = BPF_CORE_READ(task, prio);
	o->policy = BPF_CORE_READ(task, policy);
	o->exit_code = BPF_CORE_READ(task, exit_code);
	o->kthread = !!(BPF_CORE_READ(task, flags) & PF_KTHREAD);
	o->pid_ns = BPF_CORE_READ(task, nsproxy, pid_ns_for_children, ns.inum);
	o->net_ns = BPF_CORE_READ(task, nsproxy, net_ns, ns.inum);
	__builtin_memset(o->comm, 0, sizeof(o->comm));
	bpf_probe_read_kernel_str(o->comm, sizeof(o->comm), &task->comm);
	return 0;
}

/*
 * Whether the record of the exited task has what a copy would have. The kernel goes on to count
 * what a task does after that record: for instance, the last switch is a voluntary one. So what is
 * read of the task later may not be in a record of a live task, which would be ahead of that of its
 * exit. While that record is being made, the reader tries again.
 */
static __always_inline bool is_taken(const struct kb_state *st, const struct task_struct *task)
{
	return st->task != key_of(task) || st->exited == KB_EXITED;
}

#endif /* KTAU_BPF_READ_H */
