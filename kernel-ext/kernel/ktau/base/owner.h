/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * KTAU: the identity of an owner.
 */
#ifndef _KERNEL_KTAU_OWNER_H
#define _KERNEL_KTAU_OWNER_H

#include "types.h"

void ktau_task_identify(struct ktau_owner *owner, struct task_struct *task);
void ktau_task_usage(struct ktau_owner *owner, struct task_struct *task);
u32 ktau_net_ns_of(struct task_struct *task);
char *ktau_path_of(struct task_struct *task, char *buffer);
void ktau_path_keep(struct ktau_state *state);
void ktau_path_drop(struct ktau_state *state);

#endif /* _KERNEL_KTAU_OWNER_H */
