// SPDX-License-Identifier: GPL-2.0-only
/*
 * KTAU: the state that all other files share, and the reaction to internal errors.
 *
 * An internal error is a contradiction that KTAU finds in its own state. To protect the
 * kernel, KTAU reports the first one and disables itself. An internal error may be found
 * under any lock and in any context, but disabling sleeps. So control.c registers a work
 * item at boot, and the error only queues it.
 */
#include <linux/export.h>
#include <linux/init.h>
#include <linux/irq_work.h>
#include <linux/printk.h>
#include <linux/sched.h>
#include <linux/spinlock.h>
#include <linux/workqueue.h>

#include "core.h"

/* Guards ktau_config, the filter, and everything that tasks have because of them. */
DEFINE_MUTEX(ktau_mutex);

/*
 * Makes a change of several settings one change for readers that do not hold ktau_mutex, and
 * must not: a reader may lose its CPU.
 */
static DEFINE_SPINLOCK(config_lock);

struct ktau_config ktau_config __read_mostly = {
	.modes = KTAU_MODE_PROFILE,
	.ring_slots = 1024,
	.watermark_slots = 512,
};

const u32 ktau_groups_built =
#define KTAU_GROUP(symbol, name, bit) (IS_ENABLED(CONFIG_KTAU_##symbol) ? BIT(bit) : 0) |
#include <uapi/linux/ktau_groups.h>
	0;

const u32 ktau_groups_in_task =
#define KTAU_TASK_GROUP(symbol, name, bit) (IS_ENABLED(CONFIG_KTAU_##symbol) ? BIT(bit) : 0) |
#include <uapi/linux/ktau_groups.h>
	0;

/* NULL for the bits between the listed groups and those of modules. */
const char * const ktau_group_names[KTAU_NR_GROUP_BITS] = {
#define KTAU_GROUP(symbol, name, bit) [bit] = #name,
#include <uapi/linux/ktau_groups.h>
	[KTAU_MODULE_BIT] = "module0", "module1", "module2", "module3", "module4",
	"module5", "module6", "module7", "module8", "module9", "module10", "module11",
};

struct static_key_false ktau_keys[KTAU_NR_GROUPS] = {
	[0 ... KTAU_NR_GROUPS - 1] = STATIC_KEY_FALSE_INIT
};
EXPORT_SYMBOL_GPL(ktau_keys);

/*
 * Enabled with the first group and never disabled: a frame may outlive its group, and
 * only the test behind this key finds it.
 */
DEFINE_STATIC_KEY_FALSE(ktau_exit_key);
EXPORT_SYMBOL_GPL(ktau_exit_key);

/*
 * Enabled with the group "account" and never disabled, because the root frame of a task may
 * outlive the group too.
 */
DEFINE_STATIC_KEY_FALSE(ktau_root_key);

/* The account of the system: CPUs, kernel threads, the reserves, privileged tasks. */
struct ktau_user ktau_system = {
	.uid = KUIDT_INIT(-1),	/* INVALID_UID */
	.ref = REFCOUNT_INIT(1),	/* its own: it is never freed */
	.exited = LIST_HEAD_INIT(ktau_system.exited),
	.foldable = LIST_HEAD_INIT(ktau_system.foldable),
	.exited_node = LIST_HEAD_INIT(ktau_system.exited_node),
	.watches = LIST_HEAD_INIT(ktau_system.watches),
};

DEFINE_PER_CPU(unsigned long [KTAU_NR_LOSSES], ktau_losses);

/**
 * ktau_config_set() - replace the configuration
 *
 * A task that forks reads settings without a lock, and sees the old or the new value of each.
 *
 * Context: Task; ktau_mutex held.
 */
void ktau_config_set(const struct ktau_config *config)
{
	spin_lock(&config_lock);
	WRITE_ONCE(ktau_config.groups, config->groups);
	WRITE_ONCE(ktau_config.held_groups, config->held_groups);
	WRITE_ONCE(ktau_config.modes, config->modes);
	WRITE_ONCE(ktau_config.tags, config->tags);
	WRITE_ONCE(ktau_config.inherit, config->inherit);
	WRITE_ONCE(ktau_config.ring_slots, config->ring_slots);
	WRITE_ONCE(ktau_config.watermark_slots, config->watermark_slots);
	WRITE_ONCE(ktau_config.memory_limit_bytes, config->memory_limit_bytes);
	WRITE_ONCE(ktau_config.exited_limit_bytes, config->exited_limit_bytes);
	spin_unlock(&config_lock);
}

/**
 * ktau_config_get() - copy the configuration
 * @config: receives the copy
 *
 * Context: Task; ktau_mutex need not be held.
 */
void ktau_config_get(struct ktau_config *config)
{
	spin_lock(&config_lock);
	*config = data_race(ktau_config); /* only the list of tasks changes @tags */
	spin_unlock(&config_lock);
}

/**
 * ktau_loss_of() - count something that a user was refused or has lost
 * @user: the account that the loss is counted for
 * @reason: KTAU_LOSS_*
 * @nr: how many, of what @reason counts
 *
 * Context: Any.
 */
void ktau_loss_of(struct ktau_user *user, enum ktau_loss reason,
		  unsigned long nr)
{
	this_cpu_add(ktau_losses[reason], nr);
	atomic_long_add(nr, &user->losses[reason]);
}

/**
 * ktau_loss() - count something that the current task was refused or has lost
 * @reason: KTAU_LOSS_*
 *
 * Like its time, the losses of an interrupt are those of the interrupted task.
 *
 * Context: Any.
 */
void ktau_loss(enum ktau_loss reason)
{
	const struct ktau_state *state = READ_ONCE(current->ktau.state);

	ktau_loss_of(state ? state->user : &ktau_system, reason, 1);
}

/**
 * ktau_loss_total() - sum a loss counter over all CPUs
 * @reason: KTAU_LOSS_*
 *
 * Context: Any.
 * Return: The count since boot.
 */
u64 ktau_loss_total(enum ktau_loss reason)
{
	unsigned long sum = 0;
	int cpu;

	for_each_possible_cpu(cpu)
		sum += READ_ONCE(per_cpu(ktau_losses[reason], cpu));
	return sum;
}

static struct work_struct *disabling_work;

static void queue_disable(struct irq_work *work)
{
	if (disabling_work)
		schedule_work(disabling_work);
}

static DEFINE_IRQ_WORK(disable_irq_work, queue_disable);

/**
 * ktau_disable_register() - set the work item that disables all groups
 * @work: the work item
 *
 * Context: Boot, before any group is enabled.
 */
void __init ktau_disable_register(struct work_struct *work)
{
	disabling_work = work;
}

/**
 * ktau_internal_error() - disable KTAU after a contradiction
 * @what: what was found
 *
 * The current task is no longer measured when this returns; all groups are disabled soon
 * after. The first error is logged, and all are counted.
 *
 * Context: Any.
 */
void ktau_internal_error(const char *what)
{
	static bool reported;

	ktau_loss(KTAU_LOSS_INTERNAL);
	WRITE_ONCE(current->ktau.mask, 0);
	if (!xchg(&reported, true))
		printk_deferred(KERN_WARNING "ktau: internal error: %s (%s[%d]); disabling KTAU\n",
				what, current->comm, current->pid);
	irq_work_queue(&disable_irq_work);
}
