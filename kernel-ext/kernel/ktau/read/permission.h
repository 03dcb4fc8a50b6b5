/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * KTAU: which tasks a reader may see.
 */
#ifndef _KERNEL_KTAU_PERMISSION_H
#define _KERNEL_KTAU_PERMISSION_H

#include "base/types.h"

bool ktau_may_read(const struct ktau_rights *rights);
bool ktau_may_read_task(struct task_struct *task);
bool ktau_may_read_exited(const struct ktau_state *state);
int ktau_task_check(struct task_struct *task, u32 access);
int ktau_task_recheck(struct task_struct *task, const struct ktau_state *state, u32 access);

#endif /* _KERNEL_KTAU_PERMISSION_H */
