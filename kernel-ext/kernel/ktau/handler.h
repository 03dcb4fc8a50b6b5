/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * KTAU: calling the handlers of modules.
 */
#ifndef _KERNEL_KTAU_HANDLER_H
#define _KERNEL_KTAU_HANDLER_H

#include <linux/ktau_api.h>

int ktau_handler_add(struct ktau_handler *handler);
bool ktau_handler_remove(struct ktau_handler *handler);
struct ktau_handler *
ktau_handler_find(bool (*gone)(unsigned long address, const void *data),
		  const void *data);
u32 ktau_handler_groups(void);
u64 ktau_handler_nested(void);
void ktau_handler_divert(bool on);

#endif /* _KERNEL_KTAU_HANDLER_H */
