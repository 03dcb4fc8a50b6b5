/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * KTAU: assigning ids to events.
 */
#ifndef _KERNEL_KTAU_IDS_H
#define _KERNEL_KTAU_IDS_H

#include <linux/ktau.h>

extern struct ktau_point __start_ktau_points[], __stop_ktau_points[];

unsigned int ktau_point_id(struct ktau_point *point);
unsigned int ktau_call_id(enum ktau_call call, void *fn);
unsigned int ktau_call_lookup(enum ktau_call call, void *fn);
unsigned int ktau_irq_id(unsigned int irq);
unsigned int ktau_compat_id(unsigned int nr);
unsigned int ktau_function_id(unsigned long fn, const char *function);
int ktau_module_id(u32 group, unsigned int kind, const char *name);
void ktau_ids_forget(bool (*gone)(unsigned long fn, const void *data),
		     const void *data);
void ktau_ids_init(void);

#endif /* _KERNEL_KTAU_IDS_H */
