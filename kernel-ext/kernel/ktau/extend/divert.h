/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * KTAU: where unusual frames are diverted to.
 */
#ifndef _KERNEL_KTAU_DIVERT_H
#define _KERNEL_KTAU_DIVERT_H

#include <linux/types.h>

void ktau_divert_to_handlers(bool on);
void ktau_divert_to_regions(void);

#endif /* _KERNEL_KTAU_DIVERT_H */
