// SPDX-License-Identifier: LGPL-2.1-or-later
/* What has been read so far. */
#include <errno.h>
#include <stdlib.h>
#include <string.h>

#include "tasks.h"

static int compare_task(const struct ktau__task *task, uint64_t serial, pid_t pid)
{
	if (task->pid != pid)
		return task->pid < pid ? -1 : 1;
	return task->serial < serial ? -1 : task->serial > serial;
}

/* Where the task is, or would be. */
static size_t find(const struct ktau__tasks *tasks, uint64_t serial, pid_t pid)
{
	size_t low = 0, high = tasks->nr, middle;

	while (low < high) {
		middle = low + (high - low) / 2;
		if (compare_task(&tasks->task[middle], serial, pid) < 0)
			low = middle + 1;
		else
			high = middle;
	}
	return low;
}

static int insert(struct ktau__tasks *tasks, size_t at, uint64_t serial, pid_t pid)
{
	size_t room = tasks->nr < tasks->room ? tasks->room : 2 * tasks->room + 64;
	struct ktau__task *task = tasks->task;

	if (room > tasks->room) {
		task = reallocarray(task, room, sizeof(*task));
		if (!task)
			return -ENOMEM;
		tasks->task = task;
		tasks->room = room;
	}
	memmove(task + at + 1, task + at, (tasks->nr - at) * sizeof(*task));
	task[at] = (struct ktau__task){ .serial = serial, .pid = pid };
	tasks->nr++;
	return 0;
}

static void raise_to(uint64_t *value, uint64_t now)
{
	if (*value < now)
		*value = now;
}

static void update(struct ktau__row *row, const struct ktau__row *now)
{
	raise_to(&row->count, now->count);
	raise_to(&row->incl, now->incl);
	raise_to(&row->excl, now->excl);
}

/* Merge two ascending lists into @out, which has room for both. */
static size_t merge(const struct ktau__task *task, const struct ktau__row *rows, size_t nr,
		    struct ktau__row *out)
{
	size_t old = 0, fresh = 0, n = 0;

	while (old < task->nr_rows || fresh < nr) {
		if (fresh == nr ||
		    (old < task->nr_rows && task->rows[old].index < rows[fresh].index)) {
			out[n++] = task->rows[old++];
			continue;
		}
		out[n] = rows[fresh];
		if (old < task->nr_rows && task->rows[old].index == rows[fresh].index) {
			out[n] = task->rows[old++];
			update(&out[n], &rows[fresh]);
		}
		fresh++;
		n++;
	}
	return n;
}

int ktau__tasks_put(struct ktau__tasks *tasks, uint64_t serial, pid_t pid,
		    const struct ktau__row *rows, size_t nr)
{
	size_t at = find(tasks, serial, pid);
	struct ktau__task *task;
	struct ktau__row *merged;

	if (at == tasks->nr || compare_task(&tasks->task[at], serial, pid))
		if (insert(tasks, at, serial, pid))
			return -ENOMEM;
	task = &tasks->task[at];
	merged = reallocarray(NULL, task->nr_rows + nr + 1, sizeof(*merged));
	if (!merged)
		return -ENOMEM;
	task->nr_rows = merge(task, rows, nr, merged);
	free(task->rows);
	task->rows = merged;
	return 0;
}

static int by_index(const void *left, const void *right)
{
	const struct ktau__row *a = left, *b = right;

	return a->index < b->index ? -1 : a->index > b->index;
}

size_t ktau__rows_fold(struct ktau__row *rows, size_t nr)
{
	size_t i, n = 0;

	qsort(rows, nr, sizeof(*rows), by_index);
	for (i = 0; i < nr; i++) {
		if (n && rows[n - 1].index == rows[i].index) {
			rows[n - 1].count += rows[i].count;
			rows[n - 1].incl += rows[i].incl;
			rows[n - 1].excl += rows[i].excl;
		} else {
			rows[n++] = rows[i];
		}
	}
	return n;
}
