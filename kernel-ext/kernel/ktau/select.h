/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * KTAU: what a reader requests with KTAU_IOC_SELECT.
 */
#ifndef _KERNEL_KTAU_SELECT_H
#define _KERNEL_KTAU_SELECT_H

#include <linux/ktau.h>

struct ktau_state;

int ktau_select_read(struct ktau_select *select, const void __user *arg);
int ktau_select_check(const struct ktau_select *select, u32 content);
int ktau_select_pids(struct ktau_select *select, s32 **pids);
bool ktau_select_task(const struct ktau_select *select, struct task_struct *task);
bool ktau_select_exited(const struct ktau_select *select,
			const struct ktau_state *state);

#endif /* _KERNEL_KTAU_SELECT_H */
