/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * KTAU: what a reader requests with KTAU_IOC_SELECT.
 */
#ifndef _KERNEL_KTAU_SELECT_H
#define _KERNEL_KTAU_SELECT_H

#include <linux/ktau.h>

struct ktau_listed;
struct ktau_state;
struct ktau_stream;

int ktau_select_read(struct ktau_select *select, const void __user *arg);
int ktau_select_check(const struct ktau_select *select, u32 content);
int ktau_select_tids(struct ktau_select *select, struct ktau_listed **listed);
void ktau_select_bind(const struct ktau_stream *stream, struct ktau_listed *listed, u32 nr);
void ktau_select_free(struct ktau_listed *listed, u32 nr);
bool ktau_select_task(const struct ktau_select *select, struct task_struct *task);
bool ktau_select_exited(const struct ktau_select *select,
			const struct ktau_state *state);

#endif /* _KERNEL_KTAU_SELECT_H */
