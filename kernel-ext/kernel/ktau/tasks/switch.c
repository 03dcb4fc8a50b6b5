// SPDX-License-Identifier: GPL-2.0-only
/*
 * KTAU: bringing tasks in line with the configuration.
 *
 * A write to control
 *
 *  1. walks over all tasks and creates what they need,
 *  2. enables the hooks of the new groups, which no task has yet,
 *  3. stops all CPUs, and sets the masks of all tasks (collect.c),
 *  4. disables the hooks of the groups that no task has any more.
 *
 * So a task never has a group without its hooks, and all accounts begin and end at one
 * moment. Meanwhile a task that forks or execs sets up its child or itself. A generation
 * count makes sure that the walk or the task sees the other's change: the write increments
 * it before the walk, and the task starts again if it has changed. A mask is computed and
 * set without preemption, so it agrees with the groups that are in effect.
 *
 * An exec may replace the state of its task. It must not wait for a write, so it does that
 * under @mask_lock of the old state. A change that is made under this lock is either taken
 * over, or finds that the state has been replaced and is made to the new one.
 */
#include <linux/irqflags.h>
#include <linux/pid.h>
#include <linux/rcupdate.h>
#include <linux/sched.h>
#include <linux/sched/task.h>
#include <linux/spinlock.h>
#include <linux/stop_machine.h>

#include "base/arch.h"
#include "base/core.h"
#include "base/filter.h"
#include "base/memory.h"
#include "base/user.h"
#include "measure/account.h"
#include "measure/area.h"
#include "measure/collect.h"
#include "measure/cpu.h"
#include "measure/frame.h"
#include "measure/grow.h"
#include "measure/off.h"
#include "measure/ring.h"
#include "measure/state.h"
#include "measure/trace.h"
#include "switch.h"

/* How often, a tick apart, the tasks that could not be changed are tried before control returns. */
#define TRIES	10

static unsigned int generation;

/* Groups that tasks may have; written while all CPUs are stopped. */
static u32 hooked;

/* The groups that @task should have, whether or not their hooks are enabled yet. */
static u32 groups_for(struct task_struct *task, const struct ktau_state *state)
{
	return ktau_filter_matches(task, READ_ONCE(state->selected)) ?
	       ktau_groups_enabled() : 0;
}

static u32 mask_for(struct task_struct *task, const struct ktau_state *state)
{
	const u32 groups = groups_for(task, state) & READ_ONCE(hooked);
	u32 modes = READ_ONCE(ktau_config.modes);
	u32 handled = READ_ONCE(ktau_config.held_groups) ? KTAU_MASK_HANDLED : 0;

	if (static_branch_unlikely(&ktau_regions_key) && READ_ONCE(state->region_word))
		handled = KTAU_MASK_HANDLED;
	if (!READ_ONCE(state->ring))
		modes &= ~KTAU_MODE_TRACE;
	return groups && modes ? groups | modes | handled : 0;
}

static int add_ring(struct ktau_state *state, u32 slots, gfp_t gfp)
{
	struct ktau_ring *ring;

	if (READ_ONCE(state->ring) ||
	    !(READ_ONCE(ktau_config.modes) & KTAU_MODE_TRACE))
		return 0;
	ring = gfp ? ktau_ring_create(state->user, slots, gfp) : NULL;
	if (!ring)
		return -ENOMEM;
	if (cmpxchg(&state->ring, NULL, ring))
		ktau_ring_put(ring);
	else	/* the task may have replaced the ring already */
		atomic_long_add(ktau_ring_bytes(slots), &state->bytes);
	return 0;
}

static struct ktau_state *make_state(struct task_struct *task, gfp_t gfp)
{
	struct ktau_user *user = ktau_user_of(task);
	struct ktau_state *state;

	if (!user) {
		ktau_loss(KTAU_LOSS_NO_MEMORY);
		ktau_loss(KTAU_LOSS_NO_STATE);
		return NULL;
	}
	state = ktau_state_create(user, gfp);
	ktau_user_put(user);
	if (!state)
		return NULL;
	state->serial = ktau_task_serial(task);
	refcount_inc(&state->ref);	/* one for the task, one for the caller */
	if (!cmpxchg(&task->ktau.state, NULL, state)) {
		/* An exec without memory for a state changes it before it drops the old one. */
		state->serial = ktau_read(&task->ktau.serial);
		return state;
	}
	refcount_dec(&state->ref);
	ktau_state_put(state);
	return ktau_state_get(task);
}

/*
 * Get the state of @task with a reference. If it has none, create one with @gfp unless
 * that is 0.
 * Return: 0, or -ENOMEM if it could not be created. An exiting task gets no new state,
 * which is not an error.
 */
static int get_state(struct task_struct *task, gfp_t gfp,
		     struct ktau_state **state)
{
	*state = ktau_state_get(task);
	if (*state || !gfp || (data_race(task->flags) & PF_EXITING)) /* a hint */
		return 0;
	*state = make_state(task, gfp);
	if (*state || (data_race(task->flags) & PF_EXITING)) /* a hint again */
		return 0;
	return -ENOMEM;
}

/* The groups in @mask whose activations are profiled. */
static u32 profiled(u32 mask)
{
	return mask & KTAU_MODE_PROFILE ? mask & KTAU_GROUP_ALL : 0;
}

/* The groups in @mask whose activations are traced. */
static u32 traced(u32 mask)
{
	return mask & KTAU_MODE_TRACE ? mask & KTAU_GROUP_ALL : 0;
}

/*
 * Note which groups are profiled from @now on; state->mask_lock held. Groups that are
 * enabled when the profile begins have been enabled since its start: their @group_since
 * stays 0.
 */
static void note_groups(struct ktau_state *state, u32 groups, u64 now)
{
	/* The root frame is that of a system call or exception, and ends with the account. */
	const u32 roots = KTAU_GROUP_SYSCALL | KTAU_GROUP_EXCEPTION;
	const u32 cut = state->profiled & ~groups & KTAU_GROUP_ACCOUNT ? roots : 0;
	unsigned long changed = (state->profiled ^ groups) | (groups & cut);
	unsigned int i;

	if (!state->start_ticks) {
		ktau_write(&state->start_ticks, now);
		changed = 0;
	}
	for_each_set_bit(i, &changed, KTAU_NR_GROUPS)
		ktau_write(&state->group_since[i], groups & BIT(i) ? now : U64_MAX);
	WRITE_ONCE(state->profiled, groups);
}

/*
 * The mask that @task should have. A task whose profile has been taken stays disabled. An
 * exiting task gets no further groups: it may be past __ktau_task_exited(), which has then
 * not seen this state, so its contents would be lost. A task without PF_EXITING here will
 * find the state: it sets the flag, executes a full barrier (atomic_dec_and_test()), and
 * looks for a state.
 */
static u32 wanted_mask(struct task_struct *task, const struct ktau_state *state)
{
	const u32 old = READ_ONCE(task->ktau.mask);
	bool exits;
	u32 mask;

	smp_mb();	/* the state is set before the flag is read */
	exits = data_race(task->flags) & PF_EXITING; /* one bit */
	if (old & KTAU_MASK_GONE)
		return old;
	mask = mask_for(task, state);
	if (exits)
		mask &= old;
	return mask & (KTAU_MODE_PROFILE | KTAU_MODE_TRACE) ? mask : 0;
}

/* Whether @task was preempted in the middle of an update of @state. */
static bool is_busy(const struct task_struct *task, const struct ktau_state *state)
{
	return task != current && ktau_read(&state->begin) != ktau_read(&state->end);
}

/*
 * The time for a slot of @task at @now. The slots of a wait for the CPU are written when it ends,
 * with the time at which it began, so none before them may be later.
 */
static u64 slot_ticks(const struct task_struct *task, const struct ktau_state *state, u64 now)
{
	u64 since = 0;

	if (ktau_is_off(state, READ_ONCE(task->ktau.top)))
		since = ktau_runnable_since(state, ktau_frame_id(&state->sched),
					    ktau_read(&task->ktau.wake_ticks));
	return since ? min(since, now) : now;
}

/*
 * Bring the mask of @task in line with the configuration; state->mask_lock held, interrupts
 * disabled. Return: whether this has to be repeated.
 */
static bool set_mask(struct task_struct *task, struct ktau_state *state, u64 now)
{
	const u32 mask = wanted_mask(task, state);
	bool again = false;

	if (mask & KTAU_MASK_GONE)
		return false;
	if (mask != task->ktau.mask && is_busy(task, state))
		return true;
	if (task->ktau.state == state && traced(mask) != traced(task->ktau.mask))
		ktau_trace_groups(task, state, slot_ticks(task, state, now), traced(mask));
	if (task->ktau.state == state && !is_busy(task, state))
		again = ktau_collect(task, state->profiled, profiled(mask), now);
	WRITE_ONCE(task->ktau.mask, mask);
	note_groups(state, profiled(mask), now);
	return again;
}

/*
 * Create what @task needs as the configuration says, with @gfp unless that is 0.
 * @selected: the selection that it joins, or 0. Return: its state, with a reference; NULL
 * if it has none.
 */
static struct ktau_state *provide(struct task_struct *task, u32 selected, gfp_t gfp)
{
	bool wanted = selected ||
		      (ktau_groups_enabled() && ktau_filter_matches(task, 0));
	struct ktau_state *state;

	/* Without memory the task gets no state, which is counted. */
	get_state(task, wanted ? gfp : 0, &state);
	if (!state)
		return NULL;
	if (selected)
		WRITE_ONCE(state->selected, selected);
	/* Without a ring it is not traced. */
	if ((READ_ONCE(ktau_config.modes) & KTAU_MODE_TRACE) && groups_for(task, state))
		add_ring(state, ktau_ring_start_slots(task), gfp);
	return state;
}

/* Set the mask of the current task, or of one that has never run. */
static void set_mask_here(struct task_struct *task, struct ktau_state *state)
{
	unsigned long flags;

	spin_lock(&state->mask_lock);
	if (task == current) {
		local_irq_save(flags);
		set_mask(task, state, ktau_ticks());
		local_irq_restore(flags);
	} else {
		WRITE_ONCE(task->ktau.mask, wanted_mask(task, state));
		note_groups(state, profiled(task->ktau.mask), ktau_ticks());
	}
	spin_unlock(&state->mask_lock);
}

static void set_up(struct task_struct *task, u32 selected, gfp_t gfp)
{
	struct ktau_state *state = provide(task, selected, gfp);

	if (!state)
		return;
	set_mask_here(task, state);
	ktau_state_put(state);
}

/**
 * ktau_next_task() - iterate over the live tasks
 * @nr: global pid to continue from, 1 to begin; advanced
 *
 * Context: Task.
 * Return: The next task, which the caller must put; NULL after the last one. Idle tasks
 * are not included.
 */
struct task_struct *ktau_next_task(int *nr)
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

/* Create what @task needs. Return: whether it has a tag. */
static bool prepare(struct task_struct *task)
{
	const gfp_t gfp = ktau_groups_enabled() ? GFP_KERNEL : 0;

	if (static_key_enabled(&ktau_exit_key))
		ktau_task_serial(task);
	ktau_state_put(provide(task, 0, gfp));
	return READ_ONCE(task->ktau.tag);
}

/**
 * ktau_tasks_prepare() - create what the tasks need that the configuration selects
 *
 * Also determines whether there are tags.
 *
 * Context: May sleep; ktau_mutex held.
 */
void ktau_tasks_prepare(void)
{
	struct task_struct *task;
	bool tags = false;
	int nr = 1, cpu;

	WRITE_ONCE(generation, generation + 1);
	smp_mb();	/* pairs with set_up_here() */
	for_each_possible_cpu(cpu)
		tags |= prepare(idle_task(cpu));
	while ((task = ktau_next_task(&nr))) {
		tags |= prepare(task);
		put_task_struct(task);
		cond_resched();
	}
	ktau_config.tags = tags;
}

/**
 * struct change - a change of the groups of all tasks
 * @groups: the groups that they may have from now on
 * @now: the moment of the change, in ticks
 * @kept: groups of tasks that could not be changed
 * @again: whether some tasks have to be looked at again
 * @refused: whether there was no memory for chunks
 */
struct change {
	u32 groups;
	u64 now;
	u32 kept;
	bool again;
	bool refused;
};

static void change_task(struct task_struct *task, struct change *change)
{
	struct ktau_state *state = task->ktau.state;

	if (!state)
		return;
	/* Each task may take chunks for the frames that end. */
	if (!change->refused)
		change->refused = !ktau_reserve_add();
	spin_lock(&state->mask_lock);
	if (set_mask(task, state, change->now)) {
		change->kept |= task->ktau.mask & KTAU_GROUP_ALL;
		change->again = true;
	}
	spin_unlock(&state->mask_lock);
}

static void change_cpu(int cpu, const struct change *change)
{
	struct ktau_state *state = per_cpu_ptr(&ktau_cpu, cpu)->state;

	if (!state || (state->profiled == change->groups && state->start_ticks))
		return;
	spin_lock(&state->mask_lock);
	ktau_account_change(state, cpu, state->profiled, change->groups, change->now);
	note_groups(state, change->groups, change->now);
	spin_unlock(&state->mask_lock);
}

/* Called while all other CPUs are stopped. */
static int change_all(void *data)
{
	struct change *change = data;
	struct task_struct *task;
	int nr = 1, cpu;

	change->now = ktau_ticks();
	change->kept = 0;
	change->again = false;
	change->refused = false;
	WRITE_ONCE(hooked, change->groups);
	for_each_possible_cpu(cpu) {
		change_cpu(cpu, change);
		change_task(idle_task(cpu), change);
	}
	while ((task = ktau_next_task(&nr))) {
		change_task(task, change);
		put_task_struct(task);
	}
	return 0;
}

static bool differs(struct task_struct *task)
{
	struct ktau_state *state = ktau_state_get(task);
	const bool differs = state && (!state->start_ticks ||
				       wanted_mask(task, state) != task->ktau.mask);

	ktau_state_put(state);
	return differs;
}

/* Whether any task has to be changed. */
static bool any_differs(void)
{
	struct task_struct *task;
	bool found = false;
	int nr = 1, cpu;

	for_each_possible_cpu(cpu)
		found |= differs(idle_task(cpu));
	while (!found && (task = ktau_next_task(&nr))) {
		found = differs(task);
		put_task_struct(task);
		cond_resched();
	}
	return found;
}

/**
 * ktau_tasks_change() - change the groups of all tasks as the configuration says
 * @groups: the groups that tasks may have; their hooks are enabled
 *
 * Context: May sleep; ktau_mutex held; after ktau_tasks_prepare().
 * Return: Groups that tasks still have although they should not, because they have not
 * run for a while. Then the call must be repeated later.
 */
u32 ktau_tasks_change(u32 groups)
{
	struct change change = { .groups = groups };
	unsigned int i;

	if (groups == hooked && !any_differs())
		return 0;
	for (i = 0; i < TRIES; i++) {
		stop_machine(change_all, &change, NULL);
		if (!change.again)
			break;
		schedule_timeout_uninterruptible(1);
	}
	return change.kept;
}

/* Free rings that were replaced, and count their unread slots. */
static void free_rings(struct ktau_ring **list)
{
	struct ktau_ring *ring;

	if (!*list)
		return;
	/* A write to an old ring ends before preemption is enabled again. */
	synchronize_rcu();
	while ((ring = *list)) {
		*list = ring->next;
		ktau_ring_lose(ring, KTAU_LOSS_RESIZED);
		ktau_ring_put(ring);
		cond_resched();
	}
}

/*
 * Whether @state has a ring that is neither of @slots slots nor able to grow to them. A ring that
 * is able to is asked to grow. @grows: whether the rings of the task may grow.
 */
static bool is_unsuitable(struct ktau_state *state, u32 slots, bool grows)
{
	struct ktau_ring *ring;
	bool unsuitable;

	raw_spin_lock(&state->ring_lock);
	ring = state->ring;
	unsuitable = ring && ring->size != slots;
	if (unsuitable && grows && ring->size < slots) {
		ktau_ring_nudge(ring);
		unsuitable = false;
	}
	raw_spin_unlock(&state->ring_lock);
	return unsuitable;
}

/*
 * Let the ring of @task grow. A ring that is too large, or that of a kernel thread, is
 * replaced by an empty one. The old ring is added to @olds, so that one grace period is
 * enough for many.
 */
static void resize_ring(struct task_struct *task, struct ktau_state *state,
			struct ktau_ring **olds)
{
	const u32 start = ktau_ring_start_slots(task);
	struct ktau_ring *ring, *old;

	if (!is_unsuitable(state, ktau_ring_full_slots(task), ktau_ring_grows(task)))
		return;
	if (!ktau_has_room(ktau_ring_bytes(start)))
		free_rings(olds);
	ring = ktau_ring_create(state->user, start, GFP_KERNEL);
	if (!ring)
		return;
	raw_spin_lock(&state->ring_lock);
	old = state->ring;
	smp_store_release(&state->ring, ring);	/* it is complete */
	ktau_kvm_clock_due(state);
	atomic_long_add((long)ktau_ring_bytes(start) -
			(long)ktau_ring_bytes(old->size), &state->bytes);
	raw_spin_unlock(&state->ring_lock);
	old->next = *olds;
	*olds = old;
}

static void resize(struct task_struct *task, struct ktau_ring **olds)
{
	struct ktau_state *state = ktau_state_get(task);

	if (state)
		resize_ring(task, state, olds);
	ktau_state_put(state);
}

/**
 * ktau_tasks_resize() - bring the rings of all live tasks in line with ring=
 *
 * A ring that is too large is replaced by an empty one; its unread slots are counted as
 * lost. A ring that may be larger grows as its task continues.
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
	while ((task = ktau_next_task(&nr))) {
		resize(task, &olds);
		put_task_struct(task);
		cond_resched();
	}
	free_rings(&olds);
}

/**
 * ktau_task_select() - select a task by its tid, or deselect it
 * @task: the task, held by the caller
 * @selection: number of the filter's selection; 0 deselects the task
 *
 * A task without a state gets one, unless it is deselected. An exec takes the selection over.
 *
 * Context: May sleep; ktau_mutex held. The caller calls ktau_tasks_prepare().
 * Return: 0 or -ENOMEM.
 */
int ktau_task_select(struct task_struct *task, u32 selection)
{
	struct ktau_state *state;
	bool done;
	int err;

	do {
		err = get_state(task, selection ? GFP_KERNEL : 0, &state);
		if (!state)
			return err;
		spin_lock(&state->mask_lock);
		done = READ_ONCE(task->ktau.state) == state;
		if (done)
			WRITE_ONCE(state->selected, selection);
		spin_unlock(&state->mask_lock);
		ktau_state_put(state);
	} while (!done);
	return 0;
}

/* Let the ring of @task grow before the task returns to user mode, if it starts larger now. */
static void grow_to_start(struct task_struct *task)
{
	struct ktau_state *state = ktau_state_get(task);
	struct ktau_ring *ring;

	if (!state)
		return;
	raw_spin_lock(&state->ring_lock);
	ring = state->ring;
	if (ring && ring->size < ktau_ring_start_slots(task) && ktau_ring_grows(task))
		ktau_ring_nudge(ring);
	raw_spin_unlock(&state->ring_lock);
	ktau_state_put(state);
}

/**
 * ktau_task_set_tag() - set the tag of a task, which its later children inherit
 * @task: the task, held by the caller
 * @tag: the tag; 0 for none
 *
 * Context: May sleep; ktau_mutex held. The caller calls ktau_tasks_prepare().
 * Return: 0.
 */
int ktau_task_set_tag(struct task_struct *task, u32 tag)
{
	WRITE_ONCE(task->ktau.tag, tag);
	grow_to_start(task);
	return 0;
}

/*
 * Set up @task, which is current or not running yet, while the configuration may change.
 */
static void set_up_here(struct task_struct *task, u32 selected)
{
	unsigned int seen;

	do {
		seen = READ_ONCE(generation);
		smp_mb();	/* pairs with ktau_tasks_prepare() */
		set_up(task, selected, GFP_KERNEL_ACCOUNT);
		smp_mb();	/* the mask is set before the generation is read again */
	} while (seen != READ_ONCE(generation));
}

/**
 * ktau_task_inherit() - set up a new task with what it inherits from the current one
 * @task: the task, not running yet
 *
 * Context: May sleep, on behalf of the parent.
 */
void ktau_task_inherit(struct task_struct *task)
{
	const struct ktau_state *parent = current->ktau.state;
	u32 selected = 0;

	ktau_task_serial(task);
	if (READ_ONCE(ktau_config.inherit) && parent)
		selected = READ_ONCE(parent->selected);
	/* The filter of the selection may have been replaced. */
	if (selected && selected != ktau_filter_selection())
		selected = 0;
	set_up_here(task, selected);
}

/**
 * ktau_task_successor_ring() - give a successor a ring if its predecessor has one
 * @state: from ktau_task_successor()
 * @old: the state that it replaces
 *
 * Context: May sleep, on behalf of the current task.
 * Return: Whether it has what it needs; not if there is no memory, which is counted.
 */
bool ktau_task_successor_ring(struct ktau_state *state, const struct ktau_state *old)
{
	if (!READ_ONCE(old->ring) || state->ring)
		return true;
	state->ring = ktau_ring_create(state->user, ktau_ring_start_slots(current),
				       GFP_KERNEL_ACCOUNT);
	if (!state->ring)
		return false;
	atomic_long_add(ktau_ring_bytes(state->ring->size), &state->bytes);
	return true;
}

/**
 * ktau_task_successor() - create a state to replace one that is ended by an exec
 * @old: state of the current task
 * @cred: the new credentials, whose user is charged
 *
 * Context: May sleep, for long if the task's control group has no memory left.
 * Return: The state, for ktau_task_succeed(). NULL if there is no memory; this is counted.
 */
struct ktau_state *ktau_task_successor(const struct ktau_state *old,
				       const struct cred *cred)
{
	struct ktau_user *user = ktau_user_find(ktau_user_uid(cred));
	struct ktau_state *state;

	if (!user) {
		ktau_loss(KTAU_LOSS_NO_STATE);
		return NULL;
	}
	state = ktau_state_create(user, GFP_KERNEL_ACCOUNT);
	ktau_user_put(user);
	if (!state)
		return NULL;
	state->serial = ktau_serial_next();
	return state;
}

/**
 * ktau_task_succeed() - let a successor take over what writes to control have set
 * @state: from ktau_task_successor(), not in use yet
 * @old: the state that it replaces, with @mask_lock held until the task has the new one
 *
 * Open frames may be traced, so the successor must have a ring if the old state has one.
 *
 * Context: Task. The caller calls ktau_task_refresh() afterwards.
 * Return: false if the old state has got a ring meanwhile that the successor lacks.
 */
bool ktau_task_succeed(struct ktau_state *state, const struct ktau_state *old)
{
	if (READ_ONCE(old->ring) && !state->ring)
		return false;
	state->selected = old->selected;
	note_groups(state, profiled(READ_ONCE(current->ktau.mask)), ktau_ticks());
	return true;
}

/**
 * ktau_task_reconsider() - evaluate the filter again for the current task
 *
 * Its user and control group may have changed.
 *
 * Context: May sleep.
 */
void ktau_task_reconsider(void)
{
	if (ktau_filter_has_conditions())
		set_up_here(current, 0);
}

/**
 * ktau_task_refresh() - set the mask of the current task again
 *
 * Context: May sleep.
 */
void ktau_task_refresh(void)
{
	set_up_here(current, 0);
}
