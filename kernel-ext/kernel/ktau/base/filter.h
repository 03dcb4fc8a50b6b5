/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * KTAU: the filter: which tasks are measured.
 */
#ifndef _KERNEL_KTAU_FILTER_H
#define _KERNEL_KTAU_FILTER_H

#include <linux/rcupdate.h>
#include <linux/types.h>
#include <linux/uidgid.h>

#define KTAU_FILTER_ITEMS	64

struct seq_file;
struct task_struct;

enum ktau_filter_kind {
	KTAU_FILTER_UID,
	KTAU_FILTER_CGROUP,
	KTAU_FILTER_TAG,
	KTAU_NR_FILTER_KINDS
};

/**
 * struct ktau_filter_item - a condition that a task may meet
 * @kind: KTAU_FILTER_*
 * @uid: real user id
 * @cgroup: id of a control group: tasks in it or below it
 * @tag: tag
 */
struct ktau_filter_item {
	enum ktau_filter_kind kind;
	union {
		kuid_t	uid;
		u64	cgroup;
		u32	tag;
	};
};

/**
 * struct ktau_filter - which tasks are measured; not modified once it is in force
 * @rcu: frees it
 * @selection: number that selected tasks have in their state; never 0
 * @nr_items: number of items in @item
 * @item: alternative conditions
 */
struct ktau_filter {
	struct rcu_head		rcu;
	u32			selection;
	unsigned int		nr_items;
	struct ktau_filter_item	item[KTAU_FILTER_ITEMS];
};

/* What a control word does with its items. */
enum ktau_edit {
	KTAU_EDIT_SET,
	KTAU_EDIT_ADD,
	KTAU_EDIT_REMOVE,
};

struct ktau_filter *ktau_filter_create(void);
int ktau_filter_copy(struct ktau_filter **copy);
int ktau_filter_edit(struct ktau_filter *filter, enum ktau_filter_kind kind,
		     char *value, bool add, bool skip);
int ktau_filter_kind(const char *name);
void ktau_filter_put_in_force(struct ktau_filter *filter);
bool ktau_filter_has_conditions(void);
u32 ktau_filter_selection(void);
bool ktau_filter_matches(struct task_struct *task, u32 selected);
int ktau_filter_show(struct seq_file *m, const char *separator);

#endif /* _KERNEL_KTAU_FILTER_H */
