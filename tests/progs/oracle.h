/* SPDX-License-Identifier: GPL-2.0-only */
/* What the kernel accounted to the tasks that have exited: /proc/oracle. */
#ifndef KTAU_TESTS_ORACLE_H
#define KTAU_TESTS_ORACLE_H

#include <stdint.h>

/**
 * struct oracle_task - a task, or a sum over tasks
 * @tid: its number
 * @utime: nanoseconds in user mode, without @gtime
 * @stime: in the kernel
 * @gtime: in guest mode
 * @runtime: what the scheduler says that it ran
 * @transitions: how often it came from user mode into the kernel
 * @switches: how often it was switched away from
 */
struct oracle_task {
	int32_t tid;
	uint64_t utime;
	uint64_t stime;
	uint64_t gtime;
	uint64_t runtime;
	uint64_t transitions;
	uint64_t switches;
};

/* Forget all. Ends the program where the kernel has no oracle, or it is not active. */
void oracle_clear(void);

/* Take the tasks that have exited since then. */
void oracle_read(void);

/* The one with that number, or NULL. */
const struct oracle_task *oracle_find(int32_t tid);

#endif /* KTAU_TESTS_ORACLE_H */
