/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * KTAU: KTAU_IOC_REGIONS.
 */
#ifndef _KERNEL_KTAU_ATTACH_H
#define _KERNEL_KTAU_ATTACH_H

#include "extend/divert.h"

extern const struct ktau_region_targets ktau_region_targets;

long ktau_attach_ioctl(u32 access, void __user *arg);

#endif /* _KERNEL_KTAU_ATTACH_H */
