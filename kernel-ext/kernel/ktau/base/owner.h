/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * KTAU: the identity of an owner.
 */
#ifndef _KERNEL_KTAU_OWNER_H
#define _KERNEL_KTAU_OWNER_H

#include <linux/sched.h>

#include "types.h"

/*
 * The idle task of a CPU. PF_IDLE is not enough: the boot CPU's gets it when it has the CPU again
 * for the first time, which may be long after the first program has started, and a thread that
 * injects idle time has it, too.
 */
static __always_inline bool ktau_is_idle(const struct task_struct *task)
{
	return !task->pid;
}

void ktau_task_identify(struct ktau_owner *owner, struct task_struct *task);
void ktau_task_usage(struct ktau_owner *owner, struct task_struct *task);
u32 ktau_net_ns_of(struct task_struct *task);
char *ktau_path_of(struct task_struct *task, char *buffer);
void ktau_path_keep(struct ktau_state *state);
void ktau_path_drop(struct ktau_state *state);

#endif /* _KERNEL_KTAU_OWNER_H */
