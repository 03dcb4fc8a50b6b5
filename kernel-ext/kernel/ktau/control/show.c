// SPDX-License-Identifier: GPL-2.0-only
/*
 * KTAU: reading /proc/ktau/control, which shows the configuration as the words that
 * restore it when they are written back.
 */
#include <linux/minmax.h>
#include <linux/mm.h>
#include <linux/sched.h>
#include <linux/sched/task.h>
#include <linux/seq_file.h>
#include <linux/sort.h>
#include <linux/string.h>

#include "base/core.h"
#include "base/filter.h"
#include "measure/state.h"
#include "tasks/switch.h"
#include "show.h"
#include "words.h"

static void show_group_names(struct seq_file *m, u32 groups, char separator)
{
	const char before[] = { separator, '\0' };
	const char *sep = "";
	unsigned int i;

	for (i = 0; i < KTAU_NR_GROUP_BITS; i++) {
		if (!(groups & BIT(i)))
			continue;
		seq_printf(m, "%s%s", sep, ktau_group_names[i]);
		sep = before;
	}
}

/* A task, and the value under which it is listed. */
struct listed {
	u32 value;
	pid_t tid;
};

/**
 * struct tid_list - tasks to show
 * @value: returns the value of a task, 0 if it is not listed
 * @task: the tasks
 * @nr: number of tasks
 * @room: size of @task
 */
struct tid_list {
	u32 (*value)(struct task_struct *task);
	struct listed *task;
	size_t nr;
	size_t room;
};

static u32 selected_of(struct task_struct *task)
{
	struct ktau_state *state = ktau_state_get(task);
	u32 selected = state ? state->selected : 0;

	ktau_state_put(state);
	return selected == ktau_filter_selection() ? selected : 0;
}

static u32 tag_of(struct task_struct *task)
{
	return READ_ONCE(task->ktau.tag);
}

static int by_value(const void *a, const void *b)
{
	const struct listed *x = a, *y = b;

	if (x->value != y->value)
		return x->value < y->value ? -1 : 1;
	return x->tid - y->tid;
}

static int add_listed(struct tid_list *list, struct task_struct *task)
{
	const struct listed new = {
		.value = list->value(task), .tid = task_pid_vnr(task)
	};
	size_t room = list->room ? 2 * list->room : 64;
	struct listed *more;

	/* A task outside the reader's pid namespace has no tid there. */
	if (!new.value || !new.tid)
		return 0;
	if (list->nr == list->room) {
		more = kvmalloc_array(room, sizeof(*more), GFP_KERNEL);
		if (!more)
			return -ENOMEM;
		memcpy(more, list->task, list->nr * sizeof(*more));
		kvfree(list->task);
		list->task = more;
		list->room = room;
	}
	list->task[list->nr++] = new;
	return 0;
}

/* Fill in @list, whose @value is set; the caller frees @task. Return: 0 or -ENOMEM. */
static int list_tids(struct tid_list *list)
{
	struct task_struct *task;
	int nr = 1, err = 0;

	while (!err && (task = ktau_next_task(&nr))) {
		err = add_listed(list, task);
		put_task_struct(task);
		cond_resched();
	}
	sort(list->task, list->nr, sizeof(*list->task), by_value, NULL);
	return err;
}

/* Show the tids of all tasks with the value of task @i. Return: the next task. */
static size_t show_tids(struct seq_file *m, const struct tid_list *list, size_t i)
{
	const u32 value = list->task[i].value;
	const char *sep = "";

	for (; i < list->nr && list->task[i].value == value; i++) {
		seq_printf(m, "%s%d", sep, list->task[i].tid);
		sep = ",";
	}
	return i;
}

static int show_filter(struct seq_file *m)
{
	struct tid_list list = { .value = selected_of };
	int err, shown;

	if (!ktau_filter_selection()) {
		seq_puts(m, "filter=none\n");
		return 0;
	}
	err = list_tids(&list);
	seq_puts(m, "filter=");
	if (list.nr) {
		seq_puts(m, "pid:");
		show_tids(m, &list, 0);
	}
	shown = err ?: ktau_filter_show(m, list.nr ? "+" : "");
	/* A filter that matches no task, until one is selected. */
	if (!shown && !list.nr)
		seq_puts(m, "pid:");
	seq_putc(m, '\n');
	kvfree(list.task);
	return min(shown, 0);
}

static int show_tags(struct seq_file *m)
{
	struct tid_list list = { .value = tag_of };
	int err = ktau_config.tags ? list_tids(&list) : 0;
	size_t i = 0;

	if (!err && !list.nr)
		seq_puts(m, "tag=none\n");
	while (i < list.nr) {
		const u32 tag = list.task[i].value;

		seq_puts(m, "tag=");
		i = show_tids(m, &list, i);
		seq_printf(m, ":%u\n", tag);
	}
	kvfree(list.task);
	return err;
}

static const char *on_off(bool on)
{
	return on ? "on" : "off";
}

static void show_config(struct seq_file *m, const struct ktau_config *config)
{
	seq_puts(m, "groups=");
	if (config->groups)
		show_group_names(m, config->groups, ',');
	else
		seq_puts(m, "none");
	seq_printf(m, "\nprofile=%s\n", on_off(config->modes & KTAU_MODE_PROFILE));
	seq_printf(m, "trace=%s\n", on_off(config->modes & KTAU_MODE_TRACE));
	seq_printf(m, "ring=%u\n", config->ring_slots);
	seq_printf(m, "watermark=%u\n", config->watermark_slots);
	seq_printf(m, "memory_limit=%llu\n", config->memory_limit_bytes);
	seq_printf(m, "exited_limit=%llu\n", config->exited_limit_bytes);
	seq_printf(m, "inherit=%s\n", on_off(config->inherit));
}

static int show_all(struct seq_file *m)
{
	int err;

	mutex_lock(&ktau_mutex);
	show_config(m, &ktau_config);
	err = show_filter(m);
	if (!err)
		err = show_tags(m);
	mutex_unlock(&ktau_mutex);
	return err;
}

/**
 * ktau_control_show() - show the configuration as control words
 * @all: include words that identify tasks and users
 *
 * A reader that is not shown those may be any task, so it must not hold up writers: it gets a
 * copy of the rest.
 *
 * Context: May sleep.
 * Return: 0 or -ENOMEM.
 */
int ktau_control_show(struct seq_file *m, bool all)
{
	struct ktau_config config;

	seq_puts(m, "restore\n");
	if (all)
		return show_all(m);
	ktau_config_get(&config);
	show_config(m, &config);
	seq_printf(m, "filter=%s\n", ktau_filter_selection() ? "hidden" : "none");
	return 0;
}
