/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * KTAU: calling the handlers of modules.
 */
#ifndef _KERNEL_KTAU_HANDLER_H
#define _KERNEL_KTAU_HANDLER_H

#include <linux/jump_label.h>
#include <linux/ktau_api.h>

#include "measure/times.h"

/* There are handlers. */
DECLARE_STATIC_KEY_FALSE(ktau_handlers_key);

int ktau_handler_add(struct ktau_handler *handler);
bool ktau_handler_remove(struct ktau_handler *handler);
struct ktau_handler *
ktau_handler_find(bool (*gone)(unsigned long address, const void *data),
		  const void *data);
u32 ktau_handler_groups(void);
u64 ktau_handler_nested(void);

void ktau_handled_enter(struct task_struct *tsk, struct ktau_frame *frame);
void ktau_handled_fault(struct task_struct *tsk, struct ktau_frame *frame,
			unsigned long address);
void ktau_handled_root(struct task_struct *tsk, struct ktau_frame *frame, u32 flag,
		       u64 arg);
struct ktau_ended ktau_handled_leave(struct ktau_frame *frame, struct task_struct *tsk);
void ktau_handled_count(struct ktau_state *state, u64 ticks, unsigned int type,
			unsigned int id, u64 value);
void ktau_handled_switch(bool vol, struct task_struct *prev, struct task_struct *next,
			 unsigned int prev_state);
void ktau_handled_resume(void);

#endif /* _KERNEL_KTAU_HANDLER_H */
