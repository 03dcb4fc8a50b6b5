/* SPDX-License-Identifier: GPL-2.0-only */
/* The kernel's accounting of exited tasks: /proc/oracle. */
#ifndef KTAU_TESTS_ORACLE_H
#define KTAU_TESTS_ORACLE_H

#include <stdint.h>

/**
 * struct oracle_task - a task, or a sum over tasks
 * @tid: its tid
 * @utime: nanoseconds in user mode, without @gtime
 * @stime: nanoseconds in the kernel
 * @gtime: nanoseconds in guest mode
 * @runtime: the scheduler's sum_exec_runtime
 * @transitions: number of entries from user mode into the kernel
 * @switches: number of switches away from it
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

/* Discard all records. Ends the program if the kernel has no oracle or it is not active. */
void oracle_clear(void);

/* Read the records of tasks that have exited since then. */
void oracle_read(void);

/* The record of @tid, or NULL. */
const struct oracle_task *oracle_find(int32_t tid);

#endif /* KTAU_TESTS_ORACLE_H */
