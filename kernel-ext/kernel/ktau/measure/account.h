/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * KTAU: the account of a task's time.
 */
#ifndef _KERNEL_KTAU_ACCOUNT_H
#define _KERNEL_KTAU_ACCOUNT_H

#include "base/types.h"

void ktau_account_switch(const struct task_struct *prev, u64 now);
bool ktau_account_copy(struct ktau_rec_profile *rec, const struct ktau_state *state,
		       const struct ktau_frame *outermost, u64 open_ticks);
bool ktau_account_switching(const struct ktau_state *state);
void ktau_account_change(struct ktau_state *state, int cpu, u32 from, u32 to, u64 now);
u64 ktau_start_at(const struct ktau_state *state, const struct task_struct *task,
		  u64 woken, u64 ticks);
struct ktau_times ktau_times_at(const struct ktau_state *state,
				const struct task_struct *task, u64 woken, u64 ticks);

#endif /* _KERNEL_KTAU_ACCOUNT_H */
