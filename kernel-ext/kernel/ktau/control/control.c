// SPDX-License-Identifier: GPL-2.0-only
/*
 * KTAU: the configuration, set by /proc/ktau/control and the kernel command line.
 *
 * A write is applied as a whole or not at all, unless memory runs out.
 */
#include <linux/init.h>
#include <linux/mm.h>
#include <linux/sched.h>
#include <linux/sched/task.h>
#include <linux/security.h>
#include <linux/slab.h>
#include <linux/string.h>
#include <linux/workqueue.h>

#include "base/core.h"
#include "base/event.h"
#include "base/filter.h"
#include "base/ids.h"
#include "base/memory.h"
#include "measure/clock.h"
#include "measure/spare.h"
#include "measure/table.h"
#include "tasks/groups.h"
#include "tasks/switch.h"
#include "tasks/task.h"
#include "extend/hook.h"
#include "control.h"
#include "words.h"

static int find_task(const struct ktau_task_word *word, const char *tid,
		     struct task_struct **task)
{
	pid_t nr;

	if (kstrtoint(tid, 10, &nr) || nr <= 0) {
		pr_info_ratelimited("ktau: cannot set '%s' of '%.16s': not a tid\n",
				    word->key, tid);
		return -EINVAL;
	}
	*task = find_get_task_by_vpid(nr);
	return *task ? 0 : -ESRCH;
}

/*
 * Find each task of @word and, if @set, apply the word to it. @skip: ignore tasks that do
 * not exist.
 */
static int for_tids(const struct ktau_task_word *word, bool set, bool skip)
{
	struct task_struct *task;
	char *copy, *rest, *one;
	int err = 0;

	copy = kstrdup(word->tids, GFP_KERNEL);
	if (!copy)
		return -ENOMEM;
	rest = copy;
	while (!err && (one = strsep(&rest, ","))) {
		err = find_task(word, one, &task);
		if (err == -ESRCH && skip) {
			err = 0;
		} else if (err == -ESRCH) {
			pr_info_ratelimited("ktau: cannot set '%s' of %s: no such task\n",
					    word->key, one);
		} else if (!err) {
			err = set ? word->set(task, word->value) : 0;
			put_task_struct(task);
		}
	}
	kfree(copy);
	return err;
}

static int for_all_tasks(const struct ktau_task_word *word)
{
	struct task_struct *task;
	int nr = 1, err = 0;

	while (!err && (task = ktau_next_task(&nr))) {
		err = word->set(task, word->value);
		put_task_struct(task);
		cond_resched();
	}
	return err;
}

static int check_tasks(const struct ktau_request *req)
{
	const struct ktau_task_word *word;
	int err = 0;

	list_for_each_entry(word, &req->words, list)
		if (!err && word->tids)
			err = for_tids(word, false, req->restores);
	return err;
}

static int apply_to_tasks(const struct ktau_request *req)
{
	const struct ktau_task_word *word;
	int err = 0;

	list_for_each_entry(word, &req->words, list) {
		if (!err)
			err = word->tids ? for_tids(word, true, true) :
					   for_all_tasks(word);
	}
	return err;
}

static const char *hook_error(int err)
{
	switch (err) {
	case -ENOENT:
		return "no such function";
	case -E2BIG:
		return "too many functions";
	default:
		return "out of memory";
	}
}

static int cannot_hook(const char *name, int err)
{
	if (err)
		pr_info_ratelimited("ktau: cannot hook or unhook '%*pE': %s\n",
				    (int)min_t(size_t, strlen(name), 64), name, hook_error(err));
	return err;
}

/* Find the functions to unhook and to hook. Each pattern has to match some. */
static int find_hooks(struct ktau_request *req)
{
	unsigned int nr = 0;
	const char *name;
	int err = 0;

	for (name = req->unhook.first; name && !err;
	     name = ktau_next_pattern(&req->unhook, name))
		err = cannot_hook(name, ktau_hooks_leave(name) ? 0 : -ENOENT);
	for (name = req->hook.first; name && !err; name = ktau_next_pattern(&req->hook, name)) {
		/* Each pattern is compared with all symbols, which takes a while. */
		if (fatal_signal_pending(current))
			return -EINTR;
		err = ++nr > KTAU_NR_FUNCTION_IDS ? -E2BIG : ktau_hooks_find(name, &req->hooks);
		err = cannot_hook(name, err);
	}
	return err;
}

static int begin_hooks(struct ktau_request *req)
{
	int err;

	if (!req->hook.first && !req->unhook.first)
		return 0;
	if (req->hook.first && security_locked_down(LOCKDOWN_TRACEFS))
		return -EPERM;
	err = ktau_hooks_lock();
	if (err)
		return err;
	req->hooking = true;
	return find_hooks(req);
}

/* Hook and unhook functions if @apply, and end the request that begin_hooks() has begun. */
static void end_hooks(struct ktau_request *req, bool apply)
{
	if (apply) {
		ktau_hooks_remove();
		ktau_hooks_add(&req->hooks);
	}
	ktau_hooks_unlock();
}

static int apply(struct ktau_request *req)
{
	const struct ktau_config old = ktau_config;
	int err;

	err = ktau_config_begin(&req->config, req->selects);
	if (err)
		return err;
	if (req->filters) {
		ktau_filter_put_in_force(req->filter);
		req->filter = NULL;
	}
	err = apply_to_tasks(req);
	ktau_config_finish(&old);
	return err;
}

/* Initialise @req, and parse @words. */
static int parse(char *words, struct ktau_request *req)
{
	ktau_request_init(req);
	return ktau_words_parse(words, req) ?: check_tasks(req);
}

/* Apply @words, except to functions. */
static int apply_settings(char *words)
{
	struct ktau_request req;
	int err;

	mutex_lock(&ktau_mutex);
	err = parse(words, &req) ?: apply(&req);
	mutex_unlock(&ktau_mutex);
	ktau_request_deinit(&req);
	return err;
}

/**
 * ktau_control_apply() - apply control words
 * @words: the words, separated by white space; modified
 *
 * Context: May sleep. Tids, users and control groups are those of the current task's
 * namespaces.
 * Return: 0. On error nothing is applied, and the reason is logged: -EINVAL for an
 * invalid word, -ESRCH for a task or -ENOENT for a control group or function that does not
 * exist, -E2BIG for too many filter items or functions, -EOPNOTSUPP for a control group or
 * function in a kernel without support for them, -EPERM for a function in a kernel that is
 * locked down, -EBUSY while functions are being hooked or unhooked, -EINTR after a fatal
 * signal. With -ENOMEM, part of the request may have been applied.
 */
int ktau_control_apply(char *words)
{
	struct ktau_request functions;
	char *copy = kstrdup(words, GFP_KERNEL);
	int err;

	if (!copy)
		return -ENOMEM;
	mutex_lock(&ktau_mutex);
	err = parse(copy, &functions);
	mutex_unlock(&ktau_mutex);
	/*
	 * Finding functions and hooking them can take many seconds, in which other settings may
	 * change.
	 */
	if (!err)
		err = begin_hooks(&functions);
	if (!err)
		err = apply_settings(words);
	if (functions.hooking)
		end_hooks(&functions, !err);
	ktau_request_deinit(&functions);
	kfree(copy);
	return err;
}

static void disable_all(struct work_struct *work)
{
	char words[] = "groups=none profile=off trace=off";

	ktau_control_apply(words);
}

static DECLARE_WORK(disable_all_work, disable_all);

/*
 * Command line: "ktau=all" or "ktau=syscall,irq", "ktau.trace=1", and the words of the
 * original KTAU, "ktau_syscall" to "ktau_icmp" and "ktau_trace".
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

/* "ktau_" is followed by the name of a group or "trace". */
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

	ktau_disable_register(&disable_all_work);
	ktau_clock_read(&ktau_clock_boot);
	ktau_config.memory_limit_bytes =
		min_t(u64, (u64)totalram_pages() << PAGE_SHIFT >> 4, SZ_256M);
	/* The tables of the CPUs are allocated when a group is enabled. */
	ktau_config.memory_limit_bytes =
		max_t(u64, ktau_config.memory_limit_bytes,
		      (u64)num_possible_cpus() * SZ_256K);
	/* Exited tasks must leave room for live ones. */
	ktau_config.exited_limit_bytes =
		min_t(u64, ktau_config.memory_limit_bytes >> 2, SZ_16M);
	ktau_event_init();
	ktau_ids_init();
	ktau_memory_init(ktau_table_construct);
	ktau_spare_init();
	ktau_clock_measure();
	if (!boot_groups)
		return 0;

	mutex_lock(&ktau_mutex);
	ktau_request_init(&req);
	req.config.groups = boot_groups;
	req.config.modes |= boot_modes;
	err = apply(&req);
	ktau_request_deinit(&req);
	mutex_unlock(&ktau_mutex);
	return err;
}
late_initcall(ktau_init);
