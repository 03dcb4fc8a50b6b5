// SPDX-License-Identifier: GPL-2.0-only
/*
 * KTAU: changing the configuration, and with it the groups of all tasks. Control words
 * (control/control.c) and handlers of modules (extend/register.c) do so.
 */
#include <linux/jump_label.h>
#include <linux/workqueue.h>

#include "base/core.h"
#include "base/memory.h"
#include "measure/spare.h"
#include "exited.h"
#include "groups.h"
#include "switch.h"
#include "task.h"

static void enable_hooks(u32 groups)
{
	unsigned int i;

	for (i = 0; i < KTAU_NR_GROUPS; i++)
		if (groups & BIT(i))
			static_branch_enable(&ktau_keys[i]);
}

static void disable_hooks(u32 groups)
{
	unsigned int i;

	for (i = 0; i < KTAU_NR_GROUPS; i++)
		if (groups & BIT(i))
			static_branch_disable(&ktau_keys[i]);
}

/* The groups that any task has, or may have. */
static u32 all_groups(const struct ktau_config *config)
{
	return config->groups | config->held_groups;
}

static void change_again(struct work_struct *work);
static DECLARE_DELAYED_WORK(change_work, change_again);

/*
 * Change the groups of all tasks, with hooks enabled before and disabled afterwards. If a
 * task cannot be changed because it does not get to run, the rest is done later.
 */
static void change_groups(void)
{
	const u32 groups = all_groups(&ktau_config);
	u32 kept;

	enable_hooks(groups);
	kept = ktau_tasks_change(groups);
	disable_hooks(~(groups | kept));
	if (kept & ~groups)
		schedule_delayed_work(&change_work, HZ / 10);
}

static void change_again(struct work_struct *work)
{
	mutex_lock(&ktau_mutex);
	change_groups();
	mutex_unlock(&ktau_mutex);
}

/**
 * ktau_config_begin() - change the configuration, before what depends on it
 * @selects: tasks will be selected
 *
 * Context: May sleep; ktau_mutex held. Unless this fails, ktau_config_finish() follows.
 * Return: 0, or -ENOMEM with the configuration unchanged.
 */
int ktau_config_begin(const struct ktau_config *config, bool selects)
{
	const struct ktau_config old = ktau_config;
	int err;

	ktau_config_set(config);
	/*
	 * Selected tasks need states before a group is enabled, because children inherit.
	 */
	if ((all_groups(config) || selects) && !all_groups(&old)) {
		err = ktau_tasks_start();
		if (err) {
			ktau_config_set(&old);
			return err;
		}
		static_branch_enable(&ktau_exit_key);
	}
	if (all_groups(config) & KTAU_GROUP_ACCOUNT)
		static_branch_enable(&ktau_root_key);
	/* With more memory, refill the reserves at once. */
	if (config->memory_limit_bytes > old.memory_limit_bytes && all_groups(config))
		ktau_reserve_start();
	return 0;
}

/* Whether tasks are traced with @config. */
static bool has_trace(const struct ktau_config *config)
{
	return all_groups(config) && (config->modes & KTAU_MODE_TRACE);
}

/**
 * ktau_config_finish() - bring all tasks in line with the configuration
 * @old: what it was before ktau_config_begin()
 *
 * Context: May sleep; ktau_mutex held.
 */
void ktau_config_finish(const struct ktau_config *old)
{
	ktau_tasks_prepare();
	change_groups();
	if (ktau_config.ring_slots != old->ring_slots)
		ktau_tasks_resize();
	if (has_trace(&ktau_config) != has_trace(old) ||
	    ktau_config.ring_slots != old->ring_slots)
		ktau_spare_refill();
	if (ktau_config.exited_limit_bytes < old->exited_limit_bytes)
		ktau_exited_trim();
}

/**
 * ktau_config_hold() - enable groups whatever the control words say
 * @groups: the groups that handlers need, 0 if there are no handlers
 *
 * Context: May sleep; ktau_mutex held.
 * Return: 0 or -ENOMEM. Fewer groups never fail.
 */
int ktau_config_hold(u32 groups)
{
	const struct ktau_config old = ktau_config;
	struct ktau_config config = old;
	int err;

	config.held_groups = groups;
	err = ktau_config_begin(&config, false);
	if (!err)
		ktau_config_finish(&old);
	return err;
}
