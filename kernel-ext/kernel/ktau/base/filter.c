// SPDX-License-Identifier: GPL-2.0-only
/*
 * KTAU: the filter, which decides which tasks are measured.
 *
 * Without a filter every task is measured. With one, a task is measured if it was
 * selected by its tid or meets one of the conditions: a user, a control group, a tag.
 * Items are alternatives: adding one never excludes a task and removing one never
 * includes one, so jobs can come and go independently of each other. A reader that wants
 * tasks that meet several conditions filters when it reads.
 *
 * A selected task has the number of the selection in its state. A filter that replaces
 * another has a new number, which deselects all tasks at once. switch.c evaluates the
 * conditions: for every task after each write to control, and for a single task at fork
 * and exec.
 */
#include <linux/cred.h>
#include <linux/kernel.h>
#include <linux/limits.h>
#include <linux/sched.h>
#include <linux/seq_file.h>
#include <linux/slab.h>
#include <linux/string.h>
#include <linux/string_helpers.h>
#include <linux/uidgid.h>

#include "cgroup.h"
#include "core.h"
#include "filter.h"

/*
 * Characters that must be escaped in a path: the separators of words, lists and items,
 * and the escape character.
 */
#define PATH_ESCAPED	" \t\n\\,+"

/* NULL if every task is measured. Replaced under ktau_mutex. */
static struct ktau_filter __rcu *in_force;
static u32 last_selection;	/* under ktau_mutex */

static const char * const kind_names[KTAU_NR_FILTER_KINDS] = {
	[KTAU_FILTER_UID] = "uid",
	[KTAU_FILTER_CGROUP] = "cgroup",
	[KTAU_FILTER_TAG] = "tag",
};

static struct ktau_filter *locked(void)
{
	return rcu_dereference_protected(in_force,
					 lockdep_is_held(&ktau_mutex));
}

/**
 * ktau_filter_create() - create a filter that matches no task
 *
 * Context: May sleep; ktau_mutex held.
 * Return: The filter, for the caller to free, or NULL.
 */
struct ktau_filter *ktau_filter_create(void)
{
	struct ktau_filter *filter = kzalloc(sizeof(*filter), GFP_KERNEL);

	if (!filter)
		return NULL;
	filter->selection = ++last_selection ?: ++last_selection;
	return filter;
}

/**
 * ktau_filter_copy() - copy the filter in force
 * @copy: receives the copy, for the caller to free; NULL if no filter is in force
 *
 * Context: May sleep; ktau_mutex held.
 * Return: 0 or -ENOMEM.
 */
int ktau_filter_copy(struct ktau_filter **copy)
{
	const struct ktau_filter *filter = locked();

	*copy = NULL;
	if (!filter)
		return 0;
	*copy = kmemdup(filter, sizeof(*filter), GFP_KERNEL);
	return *copy ? 0 : -ENOMEM;
}

/**
 * ktau_filter_kind() - look up a kind of condition by name
 *
 * Context: Any.
 * Return: KTAU_FILTER_*, or -EINVAL.
 */
int ktau_filter_kind(const char *name)
{
	return match_string(kind_names, KTAU_NR_FILTER_KINDS, name);
}

static int parse_item(struct ktau_filter_item *item, char *value)
{
	u32 number;

	if (item->kind == KTAU_FILTER_CGROUP) {
		if (*value != '/')
			return -EINVAL;
		string_unescape_inplace(value, UNESCAPE_OCTAL);
		return ktau_cgroup_find(value, &item->cgroup);
	}
	if (kstrtou32(value, 0, &number))
		return -EINVAL;
	if (item->kind == KTAU_FILTER_TAG) {
		item->tag = number;
		return number ? 0 : -EINVAL;
	}
	item->uid = make_kuid(current_user_ns(), number);
	return uid_valid(item->uid) ? 0 : -EINVAL;
}

static bool same(const struct ktau_filter_item *a,
		 const struct ktau_filter_item *b)
{
	if (a->kind != b->kind)
		return false;
	switch (a->kind) {
	case KTAU_FILTER_UID:
		return uid_eq(a->uid, b->uid);
	case KTAU_FILTER_CGROUP:
		return a->cgroup == b->cgroup;
	default:
		return a->tag == b->tag;
	}
}

/* Adding an item twice or removing one that is not there is not an error. */
static int edit_item(struct ktau_filter *filter,
		     const struct ktau_filter_item *item, bool add)
{
	unsigned int i = 0;

	while (i < filter->nr_items && !same(&filter->item[i], item))
		i++;
	if (add && i == KTAU_FILTER_ITEMS)
		return -E2BIG;
	if (add && i == filter->nr_items)
		filter->item[filter->nr_items++] = *item;
	else if (!add && i < filter->nr_items)
		filter->item[i] = filter->item[--filter->nr_items];
	return 0;
}

/**
 * ktau_filter_edit() - add conditions to a filter or remove them
 * @filter: the filter, not in force
 * @value: comma-separated list of conditions; modified
 * @add: whether to add; otherwise remove
 * @skip: ignore control groups that do not exist
 *
 * Context: May sleep. Users and paths are those of the current task's namespaces.
 * Return: 0; -EINVAL; -E2BIG for more than KTAU_FILTER_ITEMS; -ENOENT for a control group
 * that does not exist; -EOPNOTSUPP in a kernel without control groups.
 */
int ktau_filter_edit(struct ktau_filter *filter, enum ktau_filter_kind kind,
		     char *value, bool add, bool skip)
{
	struct ktau_filter_item item = { .kind = kind };
	int err = 0;
	char *one;

	while (!err && (one = strsep(&value, ","))) {
		err = parse_item(&item, one);
		if (!err)
			err = edit_item(filter, &item, add);
		else if (err == -ENOENT && skip)
			err = 0;
	}
	return err;
}

/**
 * ktau_filter_put_in_force() - replace the filter in force
 * @filter: the filter, freed when it is replaced; NULL to measure every task
 *
 * Context: May sleep; ktau_mutex held. The caller calls ktau_tasks_prepare().
 */
void ktau_filter_put_in_force(struct ktau_filter *filter)
{
	struct ktau_filter *old = rcu_replace_pointer(in_force, filter,
					lockdep_is_held(&ktau_mutex));

	if (old)
		kfree_rcu(old, rcu);
}

/**
 * ktau_filter_has_conditions() - whether an exec may change the result of the filter
 *
 * Context: Any.
 * Return: Whether there are conditions besides selected tasks.
 */
bool ktau_filter_has_conditions(void)
{
	const struct ktau_filter *filter;
	bool has;

	rcu_read_lock();
	filter = rcu_dereference(in_force);
	has = filter && filter->nr_items;
	rcu_read_unlock();
	return has;
}

/**
 * ktau_filter_selection() - the number of the selection in force
 *
 * Context: Any.
 * Return: The number; 0 without a filter.
 */
u32 ktau_filter_selection(void)
{
	const struct ktau_filter *filter;
	u32 selection;

	rcu_read_lock();
	filter = rcu_dereference(in_force);
	selection = filter ? filter->selection : 0;
	rcu_read_unlock();
	return selection;
}

static bool meets(struct task_struct *task, const struct ktau_filter_item *item)
{
	switch (item->kind) {
	case KTAU_FILTER_UID:
		return uid_eq(task_uid(task), item->uid);
	case KTAU_FILTER_CGROUP:
		return ktau_cgroup_contains(item->cgroup, task);
	default:
		return READ_ONCE(task->ktau.tag) == item->tag;
	}
}

/**
 * ktau_filter_matches() - whether a task is measured
 * @task: the task, held by the caller
 * @selected: the selection that includes the task, 0 if none
 *
 * Context: Any.
 * Return: Whether it is.
 */
bool ktau_filter_matches(struct task_struct *task, u32 selected)
{
	const struct ktau_filter *filter;
	unsigned int i;
	bool matches;

	rcu_read_lock();
	filter = rcu_dereference(in_force);
	matches = !filter || selected == filter->selection;
	for (i = 0; !matches && i < filter->nr_items; i++)
		matches = meets(task, &filter->item[i]);
	rcu_read_unlock();
	return matches;
}

/*
 * @path: buffer of PATH_MAX bytes. Return: whether the item was shown.
 */
static bool show_item(struct seq_file *m, const struct ktau_filter_item *item,
		      const char *before, char *path)
{
	/* A removed control group matches no task any more. */
	if (item->kind == KTAU_FILTER_CGROUP &&
	    ktau_cgroup_format_path(item->cgroup, path, PATH_MAX))
		return false;
	seq_puts(m, before);
	switch (item->kind) {
	case KTAU_FILTER_UID:
		seq_printf(m, "%u", from_kuid_munged(current_user_ns(), item->uid));
		break;
	case KTAU_FILTER_CGROUP:
		seq_escape(m, path, PATH_ESCAPED);
		break;
	default:
		seq_printf(m, "%u", item->tag);
	}
	return true;
}

/*
 * Return: the number of conditions of @kind that were shown.
 */
static int show_kind(struct seq_file *m, enum ktau_filter_kind kind,
		     const char *separator, char *path)
{
	const struct ktau_filter *filter = locked();
	unsigned int i, shown = 0;
	char before[16];

	snprintf(before, sizeof(before), "%s%s:", separator, kind_names[kind]);
	for (i = 0; i < filter->nr_items; i++)
		if (filter->item[i].kind == kind &&
		    show_item(m, &filter->item[i], shown ? "," : before, path))
			shown++;
	return shown;
}

/**
 * ktau_filter_show() - show the conditions of the filter in force
 * @separator: printed before the first condition
 *
 * Context: May sleep; ktau_mutex held.
 * Return: The number of conditions shown, or -ENOMEM.
 */
int ktau_filter_show(struct seq_file *m, const char *separator)
{
	char *path = kmalloc(PATH_MAX, GFP_KERNEL);
	enum ktau_filter_kind kind;
	int shown = 0;

	if (!path)
		return -ENOMEM;
	for (kind = 0; kind < KTAU_NR_FILTER_KINDS; kind++)
		shown += show_kind(m, kind, shown ? "+" : separator, path);
	kfree(path);
	return shown;
}
