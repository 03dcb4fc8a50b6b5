// SPDX-License-Identifier: GPL-2.0-only
/*
 * KTAU: tracing changes that other tasks make to a task.
 *
 * Only the CPU that runs a task writes its ring. When another task renames it or moves it
 * to another control group, that other task
 *
 *	sets a bit in the task's state and
 *	interrupts the CPU that runs the task, if there is one.
 *
 * In that interrupt, or when it next gets a CPU, the task traces its current name or
 * control group.
 */
#include <linux/sched.h>
#include <linux/sched/signal.h>
#include <linux/smp.h>
#include <linux/string.h>
#include <linux/wait.h>

#include "base/cgroup.h"
#include "changes.h"
#include "ring.h"
#include "state.h"
#include "trace.h"

/**
 * ktau_trace_comm() - trace the current task's name
 * @type: KTAU_TRACE_EXEC or KTAU_TRACE_COMM
 *
 * Context: Any but NMI, including under the lock of the run queue.
 */
void ktau_trace_comm(struct ktau_state *state, unsigned int type)
{
	struct ktau_slot_more more = { };

	static_assert(sizeof(more.data) == TASK_COMM_LEN);
	/* A thread that changes the name meanwhile traces it afterwards. */
	data_race(memcpy(more.data, current->comm, TASK_COMM_LEN - 1));
	ktau_trace_more(state, KTAU_WHAT(0, type, 0), 0, &more, 1);
}

/**
 * ktau_trace_changes() - trace what other tasks have changed about the current task
 *
 * Context: Any but NMI, including under the lock of the run queue.
 */
void ktau_trace_changes(struct ktau_state *state)
{
	unsigned long changed = xchg(&state->changed, 0);

	if (!(READ_ONCE(current->ktau.mask) & KTAU_MODE_TRACE))
		return;
	if (changed & BIT(KTAU_CHANGED_COMM))
		ktau_trace_comm(state, KTAU_TRACE_COMM);
	if (changed & BIT(KTAU_CHANGED_CGROUP))
		ktau_trace(state, 0, KTAU_TRACE_CGROUP, 0,
			   ktau_cgroup_of(current));
}

/* Runs on the CPU that ran the task when the change was noted. */
static void trace_changes_here(void *task)
{
	struct ktau_state *state = current->ktau.state;

	if (current == task && state)
		ktau_trace_changes(state);
}

struct change {
	struct ktau_state *state;
	unsigned int bit;
};

/*
 * Called while the task can neither be put on a CPU nor taken off one. If it is on none,
 * it sees the bit when it next gets one.
 */
static int note_change(struct task_struct *p, void *data)
{
	const struct change *change = data;

	set_bit(change->bit, &change->state->changed);
	return task_curr(p);
}

static void task_changed(struct task_struct *p, unsigned int bit)
{
	struct change change = { .bit = bit };

	if (!(READ_ONCE(p->ktau.mask) & KTAU_MODE_TRACE))
		return;
	change.state = ktau_state_get(p);
	if (!change.state)
		return;
	if (p == current) {
		set_bit(bit, &change.state->changed);
		ktau_trace_changes(change.state);
	} else if (task_call_func(p, note_change, &change)) {
		smp_call_function_single(task_cpu(p), trace_changes_here, p, 1);
	}
	ktau_state_put(change.state);
}

/**
 * __ktau_task_comm() - a task has been renamed
 * @p: the task, held by the caller
 *
 * Context: Task, interrupts on.
 */
void __ktau_task_comm(struct task_struct *p)
{
	task_changed(p, KTAU_CHANGED_COMM);
}

/**
 * __ktau_task_cgroup() - a task or process has been moved to another control group
 * @p: the task, with @threadgroup the leader, held by the caller
 * @threadgroup: whether the other threads have been moved too
 *
 * Context: Task, interrupts on.
 */
void __ktau_task_cgroup(const struct cgroup *cgroup, struct task_struct *p,
			bool threadgroup)
{
	struct task_struct *thread;

	if (!ktau_cgroup_is_default(cgroup))
		return;
	if (!threadgroup) {
		task_changed(p, KTAU_CHANGED_CGROUP);
		return;
	}
	rcu_read_lock();
	for_each_thread(p, thread)
		task_changed(thread, KTAU_CHANGED_CGROUP);
	rcu_read_unlock();
}
