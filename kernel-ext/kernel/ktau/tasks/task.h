/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * KTAU: the life of a task.
 */
#ifndef _KERNEL_KTAU_TASK_H
#define _KERNEL_KTAU_TASK_H

int ktau_tasks_start(void);

#endif /* _KERNEL_KTAU_TASK_H */
