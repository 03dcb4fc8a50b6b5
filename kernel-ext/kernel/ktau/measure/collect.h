/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * KTAU: beginning and ending the account of a task.
 */
#ifndef _KERNEL_KTAU_COLLECT_H
#define _KERNEL_KTAU_COLLECT_H

#include "base/types.h"

bool ktau_collect(struct task_struct *task, u32 from, u32 to, u64 now);
#endif /* _KERNEL_KTAU_COLLECT_H */
