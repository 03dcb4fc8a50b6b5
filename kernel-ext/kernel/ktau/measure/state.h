/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * KTAU: the lifetime of a state.
 */
#ifndef _KERNEL_KTAU_STATE_H
#define _KERNEL_KTAU_STATE_H

#include "base/types.h"

u64 ktau_serial_next(void);
u64 ktau_task_serial(struct task_struct *task);
struct ktau_state *ktau_state_create(struct ktau_user *user, gfp_t gfp);
struct ktau_state *ktau_state_get(struct task_struct *task);
void ktau_state_put(struct ktau_state *state);
u32 ktau_groups_throughout(const struct ktau_state *state, u32 mask, u64 since_ticks);
unsigned int ktau_nr_states(void);

#endif /* _KERNEL_KTAU_STATE_H */
