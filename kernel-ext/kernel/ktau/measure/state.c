// SPDX-License-Identifier: GPL-2.0-only
/*
 * KTAU: the lifetime of a state, which holds everything that is measured about one owner.
 *
 * A task, the exited queue and each reader hold a reference. When the last one is dropped
 * the state is freed after a grace period, because readers look it up through its task
 * without a lock.
 */
#include <linux/rcupdate.h>
#include <linux/sched.h>

#include "base/arch.h"
#include "base/core.h"
#include "base/memory.h"
#include "base/origin.h"
#include "base/owner.h"
#include "base/user.h"
#include "area.h"
#include "ring.h"
#include "state.h"
#include "table.h"

static DEFINE_SPINLOCK(serial_lock);	/* last_serial, and the serials of tasks */
static u64 last_serial;
static atomic_t nr_states;

/**
 * ktau_serial_next() - allocate a serial
 *
 * Context: Task.
 * Return: The serial, unique in this boot.
 */
u64 ktau_serial_next(void)
{
	u64 serial;

	spin_lock(&serial_lock);
	serial = ++last_serial;
	spin_unlock(&serial_lock);
	return serial;
}

/**
 * ktau_task_serial() - the serial of a task, allocated if it has none
 * @task: the task, held by the caller
 *
 * At fork, the parent may call this for its child at the same time as a write to control,
 * which walks over all tasks.
 *
 * Context: Task.
 * Return: The serial.
 */
u64 ktau_task_serial(struct task_struct *task)
{
	u64 serial;

	spin_lock(&serial_lock);
	serial = task->ktau.serial;
	if (!serial) {
		serial = ++last_serial;
		ktau_write(&task->ktau.serial, serial);
	}
	spin_unlock(&serial_lock);
	return serial;
}

/**
 * ktau_state_create() - create an empty state; the caller sets its serial
 * @user: the user to charge
 * @gfp: how to allocate it
 *
 * Context: May sleep.
 * Return: The state with one reference. NULL if there is no memory; this is counted.
 */
struct ktau_state *ktau_state_create(struct ktau_user *user, gfp_t gfp)
{
	struct ktau_state *state = ktau_state_alloc(user, gfp);

	if (!state) {
		ktau_loss_of(user, KTAU_LOSS_NO_STATE, 1);
		return NULL;
	}
	state->user = ktau_user_get(user);
	atomic_inc(&user->nr_states);
	raw_spin_lock_init(&state->ring_lock);
	refcount_set(&state->ref, 1);
	atomic_long_set(&state->bytes, sizeof(*state));
	spin_lock_init(&state->mask_lock);
	atomic_inc(&nr_states);
	return state;
}

static void task_free(struct rcu_head *rcu)
{
	struct ktau_state *state = container_of(rcu, struct ktau_state, rcu);
	struct ktau_user *user = state->user;

	if (static_branch_unlikely(&ktau_regions_key))
		ktau_area_drop(state);
	ktau_table_free(state);
	ktau_ring_put(state->ring);
	ktau_path_drop(state);
	ktau_origin_free(state);
	ktau_state_free(state);
	atomic_dec(&user->nr_states);
	ktau_user_put(user);
	atomic_dec(&nr_states);
}

/**
 * ktau_state_put() - drop a reference to a state
 * @state: the state, or NULL
 *
 * Context: Any but NMI and not under a run-queue lock.
 */
void ktau_state_put(struct ktau_state *state)
{
	if (!state || !refcount_dec_and_test(&state->ref))
		return;
	if (state->ring && !state->taken)
		ktau_ring_lose(state->ring, KTAU_LOSS_UNREAD);
	/* ktau_state_get() may still read @ref. */
	call_rcu(&state->rcu, task_free);
}

/**
 * ktau_state_get() - take a reference to the state of a live task
 * @task: the task, held by the caller
 *
 * Context: Any.
 * Return: The state, or NULL if the task has none, or none any more.
 */
struct ktau_state *ktau_state_get(struct task_struct *task)
{
	struct ktau_state *state;

	rcu_read_lock();
	state = READ_ONCE(task->ktau.state);
	if (state && !refcount_inc_not_zero(&state->ref))
		state = NULL;
	rcu_read_unlock();
	return state;
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

/**
 * ktau_groups_throughout() - which groups have been enabled without interruption
 * @state: profile of a task or of a CPU
 * @mask: groups of interest
 * @since_ticks: start of the period
 *
 * Context: Any.
 * Return: The groups in @mask that have been profiled since @since_ticks or since the
 * profile began, whichever is later.
 */
u32 ktau_groups_throughout(const struct ktau_state *state, u32 mask,
			   u64 since_ticks)
{
	const u64 from = max(since_ticks, ktau_read(&state->start_ticks));
	unsigned long on = mask & READ_ONCE(state->profiled);
	unsigned int i;

	for_each_set_bit(i, &on, KTAU_NR_GROUPS)
		if (ktau_read(&state->group_since[i]) > from)
			on &= ~BIT(i);
	return on;
}
