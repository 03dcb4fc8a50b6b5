/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * KTAU: registering the handlers of modules; linux/ktau_api.h has the rest.
 */
#ifndef _KERNEL_KTAU_REGISTER_H
#define _KERNEL_KTAU_REGISTER_H

#include <linux/types.h>

unsigned int ktau_register_forget(bool (*gone)(unsigned long address, const void *data),
				  const void *data);

#endif /* _KERNEL_KTAU_REGISTER_H */
