/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * KTAU: which tasks have run since a reader last saw them.
 */
#ifndef _KERNEL_KTAU_LOOK_H
#define _KERNEL_KTAU_LOOK_H

#include "base/types.h"

u64 ktau_look_number(void);
bool ktau_look(struct ktau_state *state, struct task_struct *task, u64 number,
	       u64 since);
void ktau_look_again(struct ktau_state *state);

#endif /* _KERNEL_KTAU_LOOK_H */
