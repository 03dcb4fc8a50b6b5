/* SPDX-License-Identifier: LGPL-2.1-or-later */
/*
 * Every task that this process has read, with its latest figures. Nothing is ever removed,
 * because programs subtract an earlier list from a later one, and rely on the later one to
 * contain everything that is in the earlier one.
 */
#ifndef KTAU_LEGACY_TASKS_H
#define KTAU_LEGACY_TASKS_H

#include <stddef.h>
#include <stdint.h>
#include <sys/types.h>

/* One routine: an entry of a list. */
struct ktau__row {
	uint64_t addr;
	uint64_t count;
	uint64_t incl;
	uint64_t excl;
	uint32_t index;
	uint32_t reserved;	/* 0 */
};

/* A task, identified by its serial, because a pid can be reused. */
struct ktau__task {
	uint64_t serial;
	pid_t pid;
	size_t nr_rows;
	struct ktau__row *rows;		/* ascending index */
};

/* Ascending pid, then serial. */
struct ktau__tasks {
	struct ktau__task *task;
	size_t nr;
	size_t room;
};

/*
 * Store the current figures of a task: @nr rows in ascending order of their index. A figure
 * never decreases, and a row keeps its first address. 0, -ENOMEM.
 */
int ktau__tasks_put(struct ktau__tasks *tasks, uint64_t serial, pid_t pid,
		    const struct ktau__row *rows, size_t nr);

/* Sort rows, and add up those with the same index. Returns the number of rows left. */
size_t ktau__rows_fold(struct ktau__row *rows, size_t nr);

#endif /* KTAU_LEGACY_TASKS_H */
