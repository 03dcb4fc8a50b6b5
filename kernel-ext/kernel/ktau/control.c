// SPDX-License-Identifier: GPL-2.0-only
/*
 * KTAU: switching, by /proc/ktau/control and by the kernel command line.
 *
 * Both take the same words. A write is applied as a whole or not at all.
 */
#include <linux/capability.h>
#include <linux/init.h>
#include <linux/irq_work.h>
#include <linux/mm.h>
#include <linux/seq_file.h>
#include <linux/slab.h>
#include <linux/sched.h>
#include <linux/sched/task.h>
#include <linux/string.h>
#include <linux/workqueue.h>

#include "words.h"

/* Guards ktau_config, and what tasks have because of it. */
DEFINE_MUTEX(ktau_mutex);

struct ktau_config ktau_config __read_mostly = {
	.modes = KTAU_MODE_PROFILE,
	.ring_slots = 1024,
	.wake_slots = 512,
};

static int check_tid(pid_t tid, u32 unused)
{
	struct task_struct *task = find_get_task_by_vpid(tid);

	if (!task)
		return -ESRCH;
	put_task_struct(task);
	return 0;
}

/* One that was there when it was checked and has gone since needs nothing. */
static int choose_tid(pid_t tid, u32 on)
{
	int err = ktau_task_choose(tid, on);

	return err == -ESRCH ? 0 : err;
}

static int own_tid(pid_t tid, u32 groups)
{
	int err = ktau_task_own_groups(tid, groups);

	return err == -ESRCH ? 0 : err;
}

/* Do @what with each tid of a list. */
static int for_tids(const char *list, int (*what)(pid_t tid, u32 arg), u32 arg)
{
	char *copy, *rest, *one;
	int err = 0;
	pid_t tid;

	if (!list)
		return 0;
	copy = kstrdup(list, GFP_KERNEL);
	if (!copy)
		return -ENOMEM;
	rest = copy;
	while (!err && (one = strsep(&rest, ","))) {
		if (kstrtoint(one, 10, &tid) || tid <= 0)
			err = -EINVAL;
		else
			err = what(tid, arg);
	}
	kfree(copy);
	return err;
}

static void switch_keys(u32 groups)
{
	unsigned int i;

	for (i = 0; i < KTAU_NR_GROUPS; i++) {
		if (groups & BIT(i))
			static_branch_enable(&ktau_keys[i]);
		else
			static_branch_disable(&ktau_keys[i]);
	}
}

/* What is asked for the tasks that are named. */
static int apply_to_named(const struct ktau_request *req)
{
	int err = for_tids(req->unchoose, choose_tid, false);

	if (!err)
		err = for_tids(req->choose, choose_tid, true);
	return err ?: for_tids(req->own, own_tid, req->own_groups);
}

static int apply(struct ktau_request *req)
{
	struct ktau_config old = ktau_config;
	struct ktau_config *new = &req->config;
	bool wanted;
	int err;

	new->own_groups |= req->own_groups;
	ktau_config = *new;
	/* The chosen have states before anything is on, and pass it on to children. */
	wanted = new->groups || new->own_groups || req->choose;
	if (wanted && !(old.groups | old.own_groups)) {
		err = ktau_tasks_start();
		if (err) {
			ktau_config = old;
			return err;
		}
		static_branch_enable(&ktau_exit_key);
	}
	/* What was refused for want of memory is not waited for. */
	if (new->cap_bytes > old.cap_bytes && (new->groups | new->own_groups))
		ktau_reserve_start();
	err = apply_to_named(req);
	/* On: keys last, when all tasks are ready. Off: keys first is as good. */
	ktau_tasks_update();
	switch_keys(ktau_config.groups | ktau_config.own_groups);
	if (new->ring_slots != old.ring_slots)
		ktau_tasks_resize();
	if (new->dead_bytes < old.dead_bytes)
		ktau_exited_trim();
	return err;
}

/**
 * ktau_control_write() - do what a line of words says
 * @words: the words, blank separated; taken apart
 *
 * Context: May sleep.
 * Return: 0; -EINVAL for a word that is not understood, -ESRCH for a tid that is
 * not there: then nothing is done. -ENOMEM: then part of it may be.
 */
int ktau_control_write(char *words)
{
	struct ktau_request req;
	int err;

	mutex_lock(&ktau_mutex);
	req = (struct ktau_request) { .config = ktau_config };
	err = ktau_words_parse(words, &req);
	if (!err)
		err = for_tids(req.choose, check_tid, 0);
	if (!err)
		err = for_tids(req.unchoose, check_tid, 0);
	if (!err)
		err = for_tids(req.own, check_tid, 0);
	if (!err)
		err = apply(&req);
	mutex_unlock(&ktau_mutex);
	return err;
}

static void switch_off_work(struct work_struct *work)
{
	char words[] = "groups=none profile=off trace=off";

	ktau_control_write(words);
}

static DECLARE_WORK(off_work, switch_off_work);

static void want_off(struct irq_work *want)
{
	schedule_work(&off_work);
}

static DEFINE_IRQ_WORK(off_want, want_off);

/**
 * ktau_switch_off() - have all groups switched off, soon
 *
 * Context: Any.
 */
void ktau_switch_off(void)
{
	irq_work_queue(&off_want);
}

static void show_groups(struct seq_file *m, u32 groups)
{
	const char *sep = "";
	unsigned int i;

	seq_puts(m, "groups=");
	for (i = 0; i < KTAU_NR_GROUPS; i++) {
		if (!(groups & BIT(i)))
			continue;
		seq_printf(m, "%s%s", sep, ktau_group_names[i]);
		sep = ",";
	}
	seq_puts(m, groups ? "\n" : "none\n");
}

static const char *on_off(bool on)
{
	return on ? "on" : "off";
}

/**
 * ktau_control_show() - show the switches, in the words that set them
 * @m: where
 *
 * Context: May sleep.
 */
void ktau_control_show(struct seq_file *m)
{
	const struct ktau_config *config = &ktau_config;

	mutex_lock(&ktau_mutex);
	show_groups(m, config->groups);
	seq_printf(m, "profile=%s\n", on_off(config->modes & KTAU_MODE_PROFILE));
	seq_printf(m, "trace=%s\n", on_off(config->modes & KTAU_MODE_TRACE));
	seq_printf(m, "select=%s\n", config->chosen_only ? "chosen" : "all");
	seq_printf(m, "inherit=%s\n", on_off(config->inherit));
	seq_printf(m, "ring=%u\n", config->ring_slots);
	seq_printf(m, "wake=%u\n", config->wake_slots);
	seq_printf(m, "cap=%llu\n", config->cap_bytes);
	seq_printf(m, "dead=%llu\n", config->dead_bytes);
	mutex_unlock(&ktau_mutex);
}

/*
 * Command line: "ktau=all" or "ktau=syscall,irq", "ktau.trace=1", and the words
 * of the original, "ktau_syscall" to "ktau_icmp" and "ktau_trace".
 */
static u32 boot_groups __initdata;
static u32 boot_modes __initdata;

static int __init boot_list(char *list)
{
	u32 groups;

	if (ktau_words_groups(list, &groups))
		pr_warn("ktau: ktau=%s is not understood\n", list);
	else
		boot_groups |= groups;
	return 1;
}
__setup("ktau=", boot_list);

static int __init boot_trace(char *value)
{
	bool on;

	if (!kstrtobool(value, &on) && on)
		boot_modes |= KTAU_MODE_TRACE;
	return 1;
}
__setup("ktau.trace=", boot_trace);

/* What follows "ktau_" is the name of a group or "trace". */
static int __init boot_word(char *name)
{
	u32 group;

	if (!strcmp(name, "trace"))
		boot_modes |= KTAU_MODE_TRACE;
	else if (!ktau_words_groups(name, &group))
		boot_groups |= group;
	else
		return 0;
	return 1;
}
__setup("ktau_", boot_word);

static int __init ktau_init(void)
{
	struct ktau_request req;
	int err = 0;

	ktau_clock_read(&ktau_clock_boot);
	ktau_config.cap_bytes = min_t(u64, (u64)totalram_pages() << PAGE_SHIFT >> 4,
				      SZ_256M);
	/* The dead must leave room for the living. */
	ktau_config.dead_bytes = min_t(u64, ktau_config.cap_bytes >> 2, SZ_16M);
	ktau_event_init();
	ktau_memory_init();
	ktau_clock_measure();
	if (!boot_groups)
		return 0;

	mutex_lock(&ktau_mutex);
	req = (struct ktau_request) { .config = ktau_config };
	req.config.groups = boot_groups;
	req.config.modes |= boot_modes;
	err = apply(&req);
	mutex_unlock(&ktau_mutex);
	return err;
}
late_initcall(ktau_init);
