// SPDX-License-Identifier: GPL-2.0-only
/*
 * KTAU: giving tasks what the switches say they should have.
 *
 * What pushes the state into a task and what switches it are kept apart by a
 * generation count: who switches bumps it first and then walks over all tasks;
 * a parent looks whether it has changed after it has set its child up.
 */
#include <linux/pid.h>
#include <linux/rcupdate.h>
#include <linux/sched.h>
#include <linux/sched/task.h>

#include "ktau.h"

static unsigned int generation;

static u32 mask_for(const struct ktau_task *state)
{
	const struct ktau_config *config = &ktau_config;
	u32 groups = config->groups;

	if (state->own_groups)
		groups = state->own_groups;
	else if (config->chosen_only && !state->chosen)
		groups = 0;
	return groups && config->modes ? groups | config->modes : 0;
}

static int add_ring(struct ktau_task *state, u32 slots, gfp_t gfp)
{
	struct ktau_ring *ring;

	if (READ_ONCE(state->ring) || !(ktau_config.modes & KTAU_MODE_TRACE))
		return 0;
	ring = ktau_ring_create(state->user, slots, gfp);
	if (!ring)
		return -ENOMEM;
	if (cmpxchg(&state->ring, NULL, ring))
		ktau_ring_free(ring);
	else
		atomic_long_add(ktau_ring_bytes(ring->size), &state->bytes);
	return 0;
}

static struct ktau_task *create_for(struct task_struct *task, gfp_t gfp)
{
	struct ktau_user *user = ktau_user_of(task);
	struct ktau_task *state;

	if (!user) {
		ktau_loss(KTAU_LOSS_NO_MEMORY);
		ktau_loss(KTAU_LOSS_NO_STATE);
		return NULL;
	}
	state = ktau_task_create(user, gfp);
	ktau_user_put(user);
	return state;
}

/*
 * The state of @task with a reference; created, if there is none, with @gfp unless
 * that is 0. NULL if it has none.
 */
static struct ktau_task *state_get(struct task_struct *task, gfp_t gfp)
{
	struct ktau_task *state = ktau_task_get(task);

	if (state || !gfp || (data_race(task->flags) & PF_EXITING)) /* a hint */
		return state;
	state = create_for(task, gfp);
	if (!state)
		return NULL;
	refcount_inc(&state->ref);	/* one is the task's, one the caller's */
	if (!cmpxchg(&task->ktau.state, NULL, state))
		return state;
	refcount_dec(&state->ref);
	ktau_task_put(state);
	return ktau_task_get(task);
}

/*
 * A task that has been harvested stays off whatever is switched. One that exits is
 * given nothing more: it may be past __ktau_task_exited(), which has then not seen
 * a state that has come since, and what that would count nobody would ever see.
 * If it is not yet marked here, where the state is there, it will see it: it marks
 * itself, takes part in a full barrier, atomic_dec_and_test(), and looks for one.
 */
static void set_mask(struct task_struct *task, u32 mask)
{
	u32 old = READ_ONCE(task->ktau.mask), new;
	bool exits;

	smp_mb();	/* the state before the look at the mark */
	exits = data_race(task->flags) & PF_EXITING; /* one bit */
	do {
		if (old & KTAU_MASK_GONE)
			return;
		new = exits ? old & mask : mask;
		if (!(new & (KTAU_MODE_PROFILE | KTAU_MODE_TRACE)))
			new = 0;
	} while (!try_cmpxchg(&task->ktau.mask, &old, new));
}

/* Give @task what the switches say it should have, allocated with @gfp. */
static int set_up(struct task_struct *task, bool choose, gfp_t gfp)
{
	bool wanted = choose || (ktau_config.groups && !ktau_config.chosen_only);
	struct ktau_task *state = state_get(task, wanted ? gfp : 0);
	u32 mask;

	if (!state)
		return wanted && /* a hint again */
		       !(data_race(task->flags) & PF_EXITING) ? -ENOMEM : 0;
	if (choose)
		state->chosen = true;
	mask = mask_for(state);
	if ((mask & KTAU_MODE_TRACE) &&
	    add_ring(state, ktau_ring_start_slots(task), gfp))
		mask &= ~KTAU_MODE_TRACE;
	set_mask(task, mask);
	ktau_task_put(state);
	return 0;
}

/* Live tasks one after the other, by global pid; the caller puts each. */
static struct task_struct *next_task_from(int *nr)
{
	struct task_struct *task = NULL;
	struct pid *pid;

	rcu_read_lock();
	while (!task) {
		pid = find_ge_pid(*nr, &init_pid_ns);
		if (!pid)
			break;
		*nr = pid_nr(pid) + 1;
		task = get_pid_task(pid, PIDTYPE_PID);
	}
	rcu_read_unlock();
	return task;
}

/* Bring @task in line with the switches. Return: the groups that it has for itself. */
static u32 update(struct task_struct *task)
{
	struct ktau_task *state;
	u32 groups = 0;

	set_up(task, false, GFP_KERNEL);
	state = ktau_task_get(task);
	if (state)
		groups = state->own_groups;
	ktau_task_put(state);
	return groups;
}

/**
 * ktau_tasks_update() - bring all tasks in line with the switches
 *
 * Finds out, too, which groups some task still has for itself. Those of a task
 * that has ended since count until then.
 *
 * Context: May sleep; ktau_mutex held.
 */
void ktau_tasks_update(void)
{
	struct task_struct *task;
	u32 own_groups = 0;
	int nr = 1, cpu;

	WRITE_ONCE(generation, generation + 1);
	smp_mb();	/* pairs with ktau_task_inherit() */
	for_each_possible_cpu(cpu)
		own_groups |= update(idle_task(cpu));
	while ((task = next_task_from(&nr))) {
		own_groups |= update(task);
		put_task_struct(task);
		cond_resched();
	}
	ktau_config.own_groups = own_groups;
}

/* Those that were replaced, counting what nobody has read. */
static void free_rings(struct ktau_ring **list)
{
	struct ktau_ring *ring;

	if (!*list)
		return;
	/* A write with an old one goes on at most until preemption is on again. */
	synchronize_rcu();
	while ((ring = *list)) {
		*list = ring->next;
		ktau_ring_lose(ring, KTAU_LOSS_RESIZED);
		ktau_ring_free(ring);
		cond_resched();
	}
}

/*
 * Let the ring of @task grow, or replace one that is too large, or a kernel thread's,
 * by an empty one. The old one goes to @olds: one grace period is enough for many.
 */
static void resize_ring(struct task_struct *task, struct ktau_task *state,
			struct ktau_ring **olds)
{
	const u32 start = ktau_ring_start_slots(task);
	const u32 slots = ktau_config.ring_slots;
	struct ktau_ring *ring, *old;
	bool grows = start < slots;

	mutex_lock(&state->read_lock);
	old = state->ring;
	if (!old || old->size == slots)
		goto out;
	if (grows && old->size < slots) {
		ktau_ring_nudge(old);
		goto out;
	}
	if (!ktau_has_room(ktau_ring_bytes(start)))
		free_rings(olds);
	ring = ktau_ring_create(state->user, start, GFP_KERNEL);
	if (!ring)
		goto out;
	WRITE_ONCE(state->ring, ring);
	atomic_long_add((long)ktau_ring_bytes(start) -
			(long)ktau_ring_bytes(old->size), &state->bytes);
	old->next = *olds;
	*olds = old;
out:
	mutex_unlock(&state->read_lock);
}

static void resize(struct task_struct *task, struct ktau_ring **olds)
{
	struct ktau_task *state = ktau_task_get(task);

	if (state)
		resize_ring(task, state, olds);
	ktau_task_put(state);
}

/**
 * ktau_tasks_resize() - bring the rings of all live tasks in line with ring=
 *
 * A ring that is too large is replaced by an empty one; what was in it is lost, and
 * counted. One that may be larger grows as its task goes on.
 *
 * Context: May sleep; ktau_mutex held.
 */
void ktau_tasks_resize(void)
{
	struct ktau_ring *olds = NULL;
	struct task_struct *task;
	int nr = 1, cpu;

	for_each_possible_cpu(cpu)
		resize(idle_task(cpu), &olds);
	while ((task = next_task_from(&nr))) {
		resize(task, &olds);
		put_task_struct(task);
		cond_resched();
	}
	free_rings(&olds);
}

/**
 * ktau_task_choose() - choose a task, or take that back
 * @tid: its id in the caller's pid namespace
 * @on: which
 *
 * Context: May sleep; ktau_mutex held.
 * Return: 0, -ESRCH, -ENOMEM.
 */
int ktau_task_choose(pid_t tid, bool on)
{
	struct task_struct *task = find_get_task_by_vpid(tid);
	struct ktau_task *state;
	int err;

	if (!task)
		return -ESRCH;
	state = ktau_task_get(task);
	if (state && !on)
		state->chosen = false;
	ktau_task_put(state);
	err = set_up(task, on, GFP_KERNEL);
	put_task_struct(task);
	return err;
}

/**
 * ktau_task_own_groups() - give a task groups of its own
 * @tid: its id in the caller's pid namespace
 * @groups: the groups, whatever the others have; 0: what the others have
 *
 * Context: May sleep; ktau_mutex held.
 * Return: 0, -ESRCH, -ENOMEM.
 */
int ktau_task_own_groups(pid_t tid, u32 groups)
{
	struct task_struct *task = find_get_task_by_vpid(tid);
	struct ktau_task *state;
	int err;

	if (!task)
		return -ESRCH;
	state = state_get(task, groups ? GFP_KERNEL : 0);
	if (state)
		state->own_groups = groups;
	err = state || !groups ? set_up(task, false, GFP_KERNEL) : -ENOMEM;
	ktau_task_put(state);
	put_task_struct(task);
	return err;
}

/**
 * ktau_task_inherit() - give a new task what it has from the current one
 * @task: the task, not yet running
 *
 * Context: May sleep, on behalf of the parent.
 */
void ktau_task_inherit(struct task_struct *task)
{
	const struct ktau_ref *parent = &current->ktau;
	unsigned int seen;
	bool choose;

	do {
		seen = READ_ONCE(generation);
		smp_mb();	/* pairs with ktau_tasks_update() */
		choose = READ_ONCE(ktau_config.inherit) && parent->state &&
			 parent->state->chosen;
		set_up(task, choose, GFP_KERNEL_ACCOUNT);
		smp_mb();	/* the mask before the second look */
	} while (seen != READ_ONCE(generation));
}
