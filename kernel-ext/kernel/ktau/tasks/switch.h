/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * KTAU: bringing tasks in line with the configuration.
 */
#ifndef _KERNEL_KTAU_SWITCH_H
#define _KERNEL_KTAU_SWITCH_H

#include "base/types.h"

struct cred;

void ktau_tasks_prepare(void);
u32 ktau_tasks_change(u32 groups);
void ktau_tasks_resize(void);
struct task_struct *ktau_next_task(int *nr);
int ktau_task_select(struct task_struct *task, u32 selection);
int ktau_task_set_tag(struct task_struct *task, u32 tag);
void ktau_task_inherit(struct task_struct *task);
void ktau_task_reconsider(void);
void ktau_task_refresh(void);
struct ktau_state *ktau_task_successor(const struct ktau_state *old,
				       const struct cred *cred);
bool ktau_task_successor_ring(struct ktau_state *state, const struct ktau_state *old);
bool ktau_task_succeed(struct ktau_state *state, const struct ktau_state *old);

#endif /* _KERNEL_KTAU_SWITCH_H */
