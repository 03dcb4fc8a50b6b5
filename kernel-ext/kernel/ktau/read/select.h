/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * KTAU: which tasks a reader may see, has requested and has seen; KTAU_IOC_INFO.
 */
#ifndef _KERNEL_KTAU_SELECT_H
#define _KERNEL_KTAU_SELECT_H

#include <linux/ktau.h>
#include <linux/types.h>

#include "base/types.h"

struct ktau_listed;
struct ktau_state;
struct ktau_stream;

bool ktau_may_read_exited(const struct ktau_state *state);
int ktau_task_check(struct task_struct *task, u32 access);
int ktau_task_recheck(struct task_struct *task, const struct ktau_state *state, u32 access);

int ktau_select_check(const struct ktau_select *select, u32 content);
int ktau_select_tids(struct ktau_select *select, struct ktau_listed **listed);
void ktau_select_bind(const struct ktau_stream *stream, struct ktau_listed *listed, u32 nr);
void ktau_select_free(struct ktau_listed *listed, u32 nr);
bool ktau_select_task(const struct ktau_select *select, struct task_struct *task);
bool ktau_select_exited(const struct ktau_select *select,
			const struct ktau_state *state);

u64 ktau_look_number(void);
bool ktau_look(struct ktau_state *state, struct task_struct *task, u64 number,
	       u64 since);
void ktau_look_again(struct ktau_state *state);

int ktau_info_write(const struct ktau_stream *stream, void __user *arg);
void ktau_boot_id(u8 id[16]);

#endif /* _KERNEL_KTAU_SELECT_H */
