/* SPDX-License-Identifier: LGPL-2.1-or-later */
/* What is traced besides the beginning and the end of frames. */
#ifndef KTAU_BPF_TRACING_H
#define KTAU_BPF_TRACING_H

#include "before.h"
#include "table.h"

/* Trace that the task has left the CPU, to wait in @state. */
static __noinline int trace_off(struct kb_state *st, u32 id, struct task_struct *prev,
				struct task_struct *next, u32 state)
{
	struct kb_ring *ring = this_ring();
	struct kb_state *to = NULL;
	u64 prios, serial = 0;

	if (!st || !prev || !next)
		return 0;
	if (next->pid)
		to = find(next);
	if (to)
		serial = to->serial;
	else if (ring && !next->pid)
		serial = ring->idle_serial;
	prios = (u32)prev->prio | (u64)(u32)next->prio << 32;
	return trace_slot(st, st->off_since, KB_SLOT(KB_SLOT_OFF, id, 0, state), serial, prios);
}

/* Trace that the task has the CPU again, and if it was asleep, who woke it. */
static __noinline int trace_back(struct kb_state *st, u64 now, u64 off, u32 id)
{
	u64 woken, serial;
	u32 context;

	if (!st)
		return 0;
	woken = st->woken;
	serial = st->waker_serial;
	context = st->waker_ctx;
	if (!st->off_asleep || woken < off || woken > now)
		woken = serial = context = 0;
	return trace_slot(st, now, KB_SLOT(KB_SLOT_BACK, id, 0, context), woken, serial);
}

/* The interrupted task's state; NULL for the idle task. */
static __always_inline struct kb_state *hit(void)
{
	struct task_struct *task = bpf_get_current_task_btf();
	struct kb_state *st = NULL;

	if (task->pid)
		st = find(task);
	return st && !st->exited ? st : NULL;
}

static __noinline int trace_irq(u64 now, u32 type, u32 in_cpu, u32 context)
{
	u64 what = KB_SLOT(type, in_cpu, context, 0);
	struct kb_state *st;

	if (!bpf_get_current_task_btf()->pid)
		return trace_idle(now, what, 0, 0);
	st = hit();
	if (!st || context >= KB_NR_CONTEXTS)
		return 0;
	update_begin(st->seq, context);
	trace_slot(st, now, what, 0, 0);
	update_end(st->seq, context);
	return 0;
}

/* Trace that the current task, or an interrupt during it, has woken @p. */
static __noinline int trace_waking(struct kb_state *st, struct task_struct *p)
{
	struct task_struct *task = bpf_get_current_task_btf();
	struct kb_cpu *c = this_cpu();
	struct kb_ring *ring = this_ring();
	struct kb_state *waker = NULL;
	u64 what, prio;
	u32 context;

	if (!st || !p || !c || !ring)
		return 0;
	context = c->now.hard_start ? KB_HARD : c->now.soft_start ? KB_SOFT : KB_TASK;
	what = KB_SLOT(KB_SLOT_WAKING, KB_ID_ANY, context, cpu_of(p));
	prio = (u32)p->prio;
	if (task->pid)
		waker = find(task);
	st->waker_ctx = context;
	st->waker_serial = waker ? waker->serial : task->pid ? 0 :
							       ring->idle_serial;
	if (!task->pid)
		return trace_idle(st->woken, what, st->serial, prio);
	if (!waker || waker->exited)
		return 0;
	update_begin(waker->seq, context);
	trace_slot(waker, st->woken, what, st->serial, prio);
	update_end(waker->seq, context);
	return 0;
}

static __noinline int trace_fork(struct kb_state *parent, struct kb_state *st)
{
	if (!parent || !st)
		return 0;
	task_begin(parent);
	trace_slot(parent, bpf_ktime_get_ns(), KB_SLOT(KB_SLOT_FORK, KB_ID_ANY, 0, 0), st->serial,
		   st->leader_serial);
	task_end(parent);
	return 0;
}

static __noinline int trace_exec(struct kb_state *st)
{
	char comm[16] = "";

	if (!st || st->exited)
		return 0;
	bpf_get_current_comm(comm, sizeof(comm));
	task_begin(st);
	trace_slot(st, bpf_ktime_get_ns(), KB_SLOT(KB_SLOT_EXEC, KB_ID_ANY, 0, 0),
		   *(u64 *)comm, *(u64 *)(comm + 8));
	task_end(st);
	return 0;
}

/* Trace the name that @owner has, between update_begin() and update_end(). */
static __always_inline void trace_name(struct kb_state *st)
{
	const u64 *name = (const u64 *)st->owner.comm;

	trace_slot(st, bpf_ktime_get_ns(), KB_SLOT(KB_SLOT_COMM, KB_ID_ANY, 0, 0), name[0],
		   name[1]);
}

/*
 * A task gets a name, by itself or by another one. The latter may not write slots of the task,
 * which does so itself when it next gets a CPU.
 */
static __noinline int trace_rename(struct kb_state *st, const char *comm, u32 by_itself)
{
	if (!st || st->exited)
		return 0;
	__builtin_memset(st->owner.comm, 0, sizeof(st->owner.comm));
	bpf_probe_read_kernel_str(st->owner.comm, sizeof(st->owner.comm), comm);
	if (by_itself) {
		task_begin(st);
		trace_name(st);
		task_end(st);
		return 0;
	}
	st->renamed = 1;
	barrier();
	st->css_set = 0;
	return 0;
}

/* Trace what has been changed about a task since it last got a CPU. */
static __noinline int trace_changes(struct kb_state *st, struct task_struct *task)
{
	u64 before;

	if (!st || !task || st->exited)
		return 0;
	before = st->owner.cgroup;
	update_begin(st->seq, KB_TASK);
	note_cgroup(st, task);
	if (__sync_lock_test_and_set(&st->renamed, 0))
		trace_name(st);
	if (before && st->owner.cgroup != before)
		trace_slot(st, bpf_ktime_get_ns(), KB_SLOT(KB_SLOT_CGROUP, KB_ID_ANY, 0, 0),
			   st->owner.cgroup, 0);
	update_end(st->seq, KB_TASK);
	return 0;
}

#endif /* KTAU_BPF_TRACING_H */
