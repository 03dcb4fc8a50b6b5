/* SPDX-License-Identifier: LGPL-2.1-or-later */
/*
 * What a task was doing before its first event. Until that event the outermost frame is one of
 * KB_ID_BEFORE*. For a task that was off the CPU when the programs were attached, the iterator
 * writes down how; its next switch opens the frames.
 */
#ifndef KTAU_BPF_BEFORE_H
#define KTAU_BPF_BEFORE_H

#include "table.h"

#define TASK_INTERRUPTIBLE	1
#define TASK_STOPPED	(4 | 8)
#define TASK_NOLOAD	0x400
#define TASK_WAKING	0x200
#define TASK_NEW	0x800
#define PF_EXITING	4
#define TS_COMPAT	2
#define NO_SYSCALL	-1L
#define MIGRATIONS	4

extern const struct rq runqueues __ksym;

static __always_inline u32 cpu_of(struct task_struct *task)
{
	return bpf_core_field_exists(task->thread_info.cpu) ? task->thread_info.cpu : 0;
}

static __always_inline u64 cgroup_of(struct task_struct *task)
{
	return BPF_CORE_READ(task, cgroups, dfl_cgrp, kn, id);
}

/* The groups are read last, so that a later change of them is found by the next comparison. */
static __always_inline void note_cgroup(struct kb_state *st, struct task_struct *task)
{
	st->css_set = (u64)BPF_CORE_READ(task, cgroups);
	barrier();
	st->owner.cgroup = cgroup_of(task);
}

/* The system call that a task is in, if it is in the kernel. */
static __always_inline u32 call_of(struct task_struct *task)
{
	struct pt_regs *regs = (struct pt_regs *)bpf_task_pt_regs(task);
	long nr = (long)BPF_CORE_READ(regs, orig_ax);

	if (nr == NO_SYSCALL || task->flags & PF_KTHREAD)
		return KB_ID_NO_CALL;
	if (!has_calls)
		return KB_ID_BEFORE_KERNEL;
	if (task->thread_info.status & TS_COMPAT)
		return KB_ID_OTHER_COMPAT;
	/* Calls of numbers that do not exist have no frame. */
	return nr >= 0 && nr < KB_ID_SYSCALLS ? nr : KB_ID_BEFORE_KERNEL;
}

/* The current task is in the kernel: in a call since before its profile, or it was in user mode. */
static __noinline int settle(struct kb_state *st)
{
	u32 nr;

	if (!st || st->depth != 1 || st->frames[0].id != KB_ID_BEFORE)
		return 0;
	nr = call_of(bpf_get_current_task_btf());
	if (nr == KB_ID_NO_CALL)
		return end_before(st, 0, false);
	st->frames[0].id = nr;
	st->unsettled = 0;
	if (tracing && nr != KB_ID_BEFORE_KERNEL)
		trace_slot(st, st->start, KB_SLOT(KB_SLOT_ENTER, nr, 0, 0), 0, 0);
	return 0;
}

/* The same for the task that is interrupted, unless it is in the middle of an update. */
static __always_inline void settle_interrupted(struct kb_state *st)
{
	if (!st->unsettled || st->seq[KB_TASK] & 1)
		return;
	update_begin(st->seq, KB_TASK);
	settle(st);
	update_end(st->seq, KB_TASK);
}

/* Open the frames of a task that was off the CPU when its profile began. */
static __noinline int unfold_seed(struct kb_state *st, u64 off_since)
{
	struct kb_frame *f;
	u32 depth = 1;

	if (!st || off_since != st->start)
		return 0;
	if (st->frames[0].id == KB_ID_BEFORE) {
		st->frames[0].id = st->seed_call;
		depth = st->seed_call != KB_ID_NO_CALL;
	}
	f = &st->frames[depth & 1];
	f->start = st->start;
	f->own_start = st->start;
	f->child = 0;
	f->was_off = 0;
	f->id = st->seed_switch;
	st->off_asleep = st->seed_switch != KB_ID_SCHEDULE;
	st->seed_switch = 0;
	st->depth = depth + 1;
	st->unsettled = 0;
	return 0;
}

/*
 * The same in a copy if no program sees switches: until its next event, the task is in the call in
 * which it waited.
 */
static __always_inline void unfold_call(struct kb_state *st)
{
	if (!st->unsettled || st->seed_call == KB_ID_NO_CALL)
		return;
	st->frames[0].id = st->seed_call;
	st->unsettled = 0;
}

/* Trace the frames that unfold_seed() has opened. */
static __noinline int trace_seed(struct kb_state *st)
{
	u32 id;

	if (!st)
		return 0;
	id = st->frames[0].id;
	if (!is_before(st))
		trace_slot(st, st->start, KB_SLOT(KB_SLOT_ENTER, id, 0, KB_OFF_CPU), 0, 0);
	id = st->frames[1].id;
	if (st->depth == 2)
		trace_slot(st, st->start, KB_SLOT(KB_SLOT_ENTER, id, 0, KB_OFF_CPU), 0, 0);
	return 0;
}

static __always_inline u32 switch_id(struct task_struct *prev, bool preempt, u32 state)
{
	if (preempt || !state)
		return KB_ID_SCHEDULE;
	if (BPF_CORE_READ_BITFIELD(prev, in_iowait))
		return KB_ID_SCHEDULE_VOL_IO;
	if (state & TASK_INTERRUPTIBLE)
		return KB_ID_SCHEDULE_VOL_INTERRUPTIBLE;
	if (state & TASK_STOPPED)
		return KB_ID_SCHEDULE_VOL_STOPPED;
	if (state & TASK_NOLOAD)
		return KB_ID_SCHEDULE_VOL_IDLE;
	return KB_ID_SCHEDULE_VOL_UNINTERRUPTIBLE;
}

/* A new profile's task was off the CPU, but the iterator has not seen that: it begins now. */
static __noinline int begin_again(struct kb_state *st, u64 now)
{
	if (!st || st->depth != 1 || !is_before(st) || st->stolen_ns || st->frames[0].child)
		return 0;
	st->start = now;
	st->frames[0].start = now;
	st->frames[0].own_start = now;
	return 0;
}

/*
 * Whether a task is off the CPU: it is not the current one of its CPU, which cannot change while it
 * waits, except by a migration.
 */
static __noinline int is_off(struct task_struct *task)
{
	struct rq *rq;
	u32 cpu;
	int i;

	for (i = 0; i < MIGRATIONS; i++) {
		cpu = cpu_of(task);
		rq = (struct rq *)bpf_per_cpu_ptr(&runqueues, cpu);
		if (!rq || BPF_CORE_READ(rq, curr) == task)
			return 0;
		if (cpu_of(task) == cpu)
			return 1;
	}
	return 0;
}

/*
 * Give a task that is older than the programs a state. If it is off the CPU after that, its next
 * switch finds the state: what the task waits for is known, unless that switch comes first.
 */
static __noinline int activate(struct task_struct *task)
{
	u32 id = task->flags & PF_KTHREAD ? KB_ID_BEFORE_KERNEL : KB_ID_BEFORE;
	struct kb_state *st;

	/* The programs see all of a new task, and nothing of one that exits. */
	if (task->__state == TASK_NEW || task->flags & PF_EXITING || find(task))
		return 0;
	st = claim_slot(task, id);
	if (!st)
		st = try_create(task, id);
	if (st && tracing)
		note_cgroup(st, task);
	if (!st || !is_off(task))
		return 0;
	st->seed_call = call_of(task);
	st->seed_switch = switch_id(task, false, task->__state & ~TASK_WAKING);
	barrier();
	if (has_switches)
		__sync_val_compare_and_swap(&st->off_since, KB_ON_UNKNOWN, st->start);
	return 0;
}

#endif /* KTAU_BPF_BEFORE_H */
