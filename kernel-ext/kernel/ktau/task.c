// SPDX-License-Identifier: GPL-2.0-only
/*
 * KTAU: life of a task.
 *
 * A task gets its state (profile, and ring if it is traced) from its parent
 * before it first runs, or when a group is switched on, from who switches (both
 * in switch.c). At exit the state moves, as it is, to the queue of the dead
 * (dead.c).
 */
#include <linux/mm.h>
#include <linux/rcupdate.h>
#include <linux/sched/coredump.h>
#include <linux/sched/cputime.h>
#include <linux/sched/signal.h>
#include <linux/sched/task.h>
#include <linux/seq_file.h>
#include <linux/timekeeping.h>
#include <linux/user_namespace.h>

#include "ktau.h"

static atomic64_t last_serial;
static atomic_t nr_states;

/**
 * ktau_task_create() - make an empty state
 *
 * Context: May sleep.
 * Return: The state with one reference, or NULL: counted.
 */
struct ktau_task *ktau_task_create(void)
{
	struct ktau_task *state = ktau_state_alloc();

	if (!state) {
		ktau_loss(KTAU_LOSS_NO_STATE);
		return NULL;
	}
	mutex_init(&state->read_lock);
	refcount_set(&state->ref, 1);
	atomic_long_set(&state->bytes, sizeof(*state));
	state->serial = atomic64_inc_return(&last_serial);
	atomic_inc(&nr_states);
	return state;
}

static void task_free(struct rcu_head *rcu)
{
	struct ktau_task *state = container_of(rcu, struct ktau_task, rcu);
	unsigned int i;

	for_each_set_bit(i, state->used, KTAU_NR_CHUNKS)
		ktau_chunk_free(state->chunk[i]);
	ktau_ring_free(state->ring);
	ktau_path_drop(state);
	put_pid(state->pid);
	put_pid(state->tgid);
	put_pid(state->parent);
	if (state->rights.user_ns)
		put_user_ns(state->rights.user_ns);
	ktau_state_free(state);
	atomic_dec(&nr_states);
}

/**
 * ktau_task_put() - drop a reference to a state
 * @state: the state, or NULL
 *
 * Context: Any but NMI and not under a run-queue lock.
 */
void ktau_task_put(struct ktau_task *state)
{
	if (!state || !refcount_dec_and_test(&state->ref))
		return;
	if (state->ring && !state->taken)
		ktau_ring_lose(state->ring, KTAU_LOSS_REAPED);
	/* ktau_task_get() may still look at @ref. */
	call_rcu(&state->rcu, task_free);
}

/**
 * ktau_task_get() - take a reference to the state of a live task
 * @task: the task, held by the caller
 *
 * Context: Any.
 * Return: The state, or NULL if it has none (any more).
 */
struct ktau_task *ktau_task_get(struct task_struct *task)
{
	struct ktau_task *state;

	rcu_read_lock();
	state = READ_ONCE(task->ktau.state);
	if (state && !refcount_inc_not_zero(&state->ref))
		state = NULL;
	rcu_read_unlock();
	return state;
}

/**
 * __ktau_task_fork() - set up a new task
 * @p: the task, complete but not yet running
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
		p->ktau.flags |= KTAU_REF_NEW;
		p->ktau.wake_ticks = ktau_ticks();
	}
	if ((ref->mask & traced) == traced)
		ktau_trace(ref->state, 0, KTAU_TRACE_FORK,
			   thread_group_leader(p), p->ktau.serial);
}

/**
 * __ktau_task_exec() - the current task runs another program
 *
 * Context: Task.
 */
void __ktau_task_exec(void)
{
	struct ktau_ref *ref = &current->ktau;
	struct ktau_slot_more more = { };

	ref->state->exec_ns = ktime_get_boottime_ns();
	if (ref->flags & KTAU_REF_RENEWED) {
		ref->flags &= ~KTAU_REF_RENEWED;	/* the profile before has the slot */
		return;
	}
	if (!(ref->mask & KTAU_MODE_TRACE))
		return;
	__get_task_comm((char *)more.data, sizeof(more.data), current);
	ktau_trace_more(ref->state, KTAU_TRACE_EXEC, 0, &more, 1);
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
	struct mm_struct *mm = current->mm;

	ref->state->dumpable = !mm || get_dumpable(mm) == SUID_DUMP_USER;
	ref->state->obit.net_ns = ktau_net_ns_of(current);
	ktau_path_keep(ref->state);
	if (ref->mask & KTAU_MODE_TRACE)
		ktau_trace(ref->state, 0, KTAU_TRACE_TASK_EXIT, 0, code);
}

/**
 * __ktau_task_exited() - take the measurements of the current task
 *
 * The frames still open, exit_group() among them, end here: they never return.
 *
 * Context: Task, before its parent is told.
 */
void __ktau_task_exited(void)
{
	struct ktau_ref *ref = &current->ktau;
	struct ktau_task *state = ref->state;
	struct ktau_owner *obit = &state->obit;

	ktau_end_frames();
	WRITE_ONCE(ref->state, NULL);
	ktau_reserve_fill();	/* some CPU may see no fork, but it sees the ends */

	ktau_task_identify(obit, current);
	obit->serial = state->serial;
	obit->exec_ns = state->exec_ns;
	obit->kind = KTAU_OWNER_EXITED;
	obit->exit_code = current->exit_code;
	obit->exit_ns = ktime_get_boottime_ns();
	ktau_dead_bury(state);
}

/**
 * __ktau_task_free() - drop a state that its task did not take along
 * @p: a task that nobody holds any more
 *
 * A group switched on while the task was exiting may have given it one: empty,
 * see set_mask().
 *
 * Context: Any but NMI and not under a run-queue lock.
 */
void __ktau_task_free(struct task_struct *p)
{
	ktau_task_put(p->ktau.state);
	p->ktau.state = NULL;
}

static int start_cpus(void)
{
	struct ktau_cpu *cpu_state;
	int cpu;

	for_each_possible_cpu(cpu) {
		cpu_state = per_cpu_ptr(&ktau_cpu, cpu);
		if (cpu_state->state)
			continue;
		cpu_state->state = ktau_task_create();
		if (!cpu_state->state)
			return -ENOMEM;
		cpu_state->state->serial = 0;
	}
	return 0;
}

/**
 * ktau_tasks_start() - make what has to be there before any group is on
 *
 * Context: May sleep; ktau_mutex held. Can be repeated after a failure.
 * Return: 0 or -ENOMEM.
 */
int ktau_tasks_start(void)
{
	int err = start_cpus();

	if (!err)
		err = ktau_dead_start();
	return err ?: ktau_reserve_start();
}

/**
 * ktau_nr_states() - number of states in memory
 *
 * Context: Any.
 * Return: The number.
 */
unsigned int ktau_nr_states(void)
{
	return atomic_read(&nr_states);
}
