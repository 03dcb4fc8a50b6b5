/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * KTAU: beginning and ending to measure a task off the CPU.
 */
#ifndef _KERNEL_KTAU_SCHED_H
#define _KERNEL_KTAU_SCHED_H

#include "base/types.h"

void ktau_sched_start(struct task_struct *task, u64 now);
void ktau_sched_dying(void);
void ktau_sched_stop(struct ktau_ref *ref, u64 now);

#endif /* _KERNEL_KTAU_SCHED_H */
