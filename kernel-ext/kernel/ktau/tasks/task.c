// SPDX-License-Identifier: GPL-2.0-only
/*
 * KTAU: the life of a task: fork, exec and exit.
 *
 * A task gets its state (its profile, and a ring if it is traced) from its parent before
 * it first runs, or from the writer of /proc/ktau/control when a group is enabled (both
 * in switch.c). Once the task has been switched out for the last time, the state moves to the
 * exited queue as it is (exited.c).
 */
#include <linux/irqflags.h>
#include <linux/mm.h>
#include <linux/rcupdate.h>
#include <linux/sched/task.h>
#include <linux/timekeeping.h>

#include "base/arch.h"
#include "base/compat.h"
#include "base/core.h"
#include "base/memory.h"
#include "base/owner.h"
#include "measure/area.h"
#include "measure/changes.h"
#include "measure/cpu.h"
#include "measure/grow.h"
#include "measure/ring.h"
#include "measure/sched.h"
#include "measure/spare.h"
#include "measure/state.h"
#include "measure/table.h"
#include "measure/trace.h"
#include "exited.h"
#include "switch.h"
#include "task.h"

static void trace_fork(struct ktau_state *state, struct task_struct *p)
{
	struct ktau_slot_more more = { };

	ktau_spare_fill();
	rcu_read_lock();	/* the exec of another thread may change the leader */
	more.data[1] = ktau_read(&READ_ONCE(p->group_leader)->ktau.serial);
	rcu_read_unlock();
	ktau_trace_more(state, KTAU_WHAT(0, KTAU_TRACE_FORK, 0), p->ktau.serial,
			&more, 1);
}

/**
 * __ktau_task_fork() - set up a new task
 * @p: the task, complete but not running yet
 *
 * Context: May sleep, on behalf of the parent.
 */
void __ktau_task_fork(struct task_struct *p)
{
	struct ktau_ref *ref = &current->ktau;
	const u32 traced = KTAU_GROUP_SCHED | KTAU_MODE_TRACE;

	ktau_task_inherit(p);
	ktau_reserve_fill();
	if (p->ktau.state) {
		preempt_disable();	/* all groups may change while this task is preempted */
		p->ktau.flags |= KTAU_REF_NEW;
		/* The time spent creating it belongs to its parent. */
		ktau_write(&p->ktau.state->start_ticks, ktau_ticks());
		preempt_enable();
	}
	if ((ref->mask & traced) == traced)
		trace_fork(ref->state, p);
}

/* The numbers of the regions of the old program mean something else from now on. */
static void forget_regions(struct ktau_state *state)
{
	ktau_area_drop(state);
	ktau_task_refresh();
}

/**
 * __ktau_task_exec() - the current task has started another program
 *
 * Context: Task.
 */
void __ktau_task_exec(void)
{
	struct ktau_ref *ref = &current->ktau;

	if (static_branch_unlikely(&ktau_regions_key) && ref->state &&
	    ref->state->area)
		forget_regions(ref->state);
	ktau_task_reconsider();
	if (ref->state) {
		WRITE_ONCE(ref->state->exec_ns, ktime_get_boottime_ns());
		ktau_ring_relieve(ref->state);
	}
	if (ref->flags & KTAU_REF_RENEWED) {
		ref->flags &= ~KTAU_REF_RENEWED;	/* the old profile has the slot */
		return;
	}
	if (ref->mask & KTAU_MODE_TRACE)
		ktau_trace_comm(ref->state, KTAU_TRACE_EXEC);
}

/**
 * __ktau_task_exiting() - the current task begins to exit
 * @code: exit code
 *
 * Context: Task, while it has its address space.
 */
void __ktau_task_exiting(long code)
{
	struct ktau_ref *ref = &current->ktau;

	ref->state->dumpable = ktau_is_dumpable();
	ref->state->owner.net_ns = ktau_net_ns_of(current);
	ktau_path_keep(ref->state);
	if (ref->mask & KTAU_MODE_TRACE)
		ktau_trace(ref->state, 0, KTAU_TRACE_TASK_EXIT, 0, code);
}

/**
 * __ktau_task_exited() - the current task is about to notify its parent of its exit
 *
 * It is described while it still has its ids and its parent. It remains a live task for KTAU until
 * it has been switched out for the last time, but a stream that reads exited tasks waits for it
 * from now on: a parent that has waited for the task finds its record.
 *
 * Context: Task; may sleep.
 */
void __ktau_task_exited(void)
{
	struct ktau_state *state = current->ktau.state;
	struct ktau_owner *owner = &state->owner;

	if (static_branch_unlikely(&ktau_regions_key))
		ktau_area_detach(state);
	ktau_reserve_fill();	/* a CPU that sees no forks still sees exits */

	ktau_task_identify(owner, current);
	owner->serial = state->serial;
	owner->exec_ns = state->exec_ns;
	owner->kind = KTAU_OWNER_EXITED;
	owner->exit_code = current->exit_code;
	ktau_exited_announce(state);
}

/* Whether __ktau_task_exited() has found the state; see also __ktau_task_free(). */
static bool is_announced(const struct ktau_state *state)
{
	return state->owner.kind == KTAU_OWNER_EXITED;
}

/**
 * __ktau_task_dying() - the current task is about to be switched out for the last time
 *
 * The frames that are still open, such as that of exit_group(), end here because they
 * never return. Interrupts are disabled until the task has been switched out, so nothing else
 * happens in its context.
 *
 * Context: Task.
 */
void __ktau_task_dying(void)
{
	if (!is_announced(current->ktau.state))
		return;
	local_irq_disable();
	ktau_sched_dying();
}

/**
 * __ktau_task_dead() - a task has been switched out for the last time
 * @p: the task, whose state becomes that of an exited task
 *
 * Context: The task that has got the CPU, preemption disabled; not under a run-queue lock.
 */
void __ktau_task_dead(struct task_struct *p)
{
	struct ktau_state *state = p->ktau.state;

	if (!is_announced(state))
		return;
	WRITE_ONCE(p->ktau.state, NULL);
	ktau_task_usage(&state->owner, p);
	state->owner.exit_ns = ktime_get_boottime_ns();
	ktau_exited_end(state);
}

/**
 * __ktau_task_free() - drop a state that was left in an exited task
 * @p: a task without references
 *
 * A group that was enabled while the task was exiting may have given it an empty one; see
 * set_mask().
 *
 * Context: Any but NMI and not under a run-queue lock.
 */
void __ktau_task_free(struct task_struct *p)
{
	ktau_state_put(p->ktau.state);
	p->ktau.state = NULL;
}

static struct ktau_state *create_cpu(int cpu)
{
	struct ktau_state *state = ktau_state_create(&ktau_system, GFP_KERNEL);

	if (!state || !ktau_table_flat(state)) {
		ktau_state_put(state);
		return NULL;
	}
	state->serial = ktau_serial_next();
	state->is_cpu = true;
	state->owner.kind = KTAU_OWNER_CPU;
	state->owner.cpu = cpu;
	return state;
}

static int start_cpus(void)
{
	struct ktau_cpu *cpu_state;
	int cpu;

	for_each_possible_cpu(cpu) {
		cpu_state = per_cpu_ptr(&ktau_cpu, cpu);
		if (!cpu_state->state)
			cpu_state->state = create_cpu(cpu);
		if (!cpu_state->state)
			return -ENOMEM;
	}
	return 0;
}

/**
 * ktau_tasks_start() - create what is needed before a group is enabled
 *
 * Context: May sleep; ktau_mutex held. May be repeated after a failure.
 * Return: 0 or -ENOMEM.
 */
int ktau_tasks_start(void)
{
	int err = start_cpus();

	if (!err)
		err = ktau_exited_start();
	if (!err)
		err = ktau_reserve_start();
	return err;
}
