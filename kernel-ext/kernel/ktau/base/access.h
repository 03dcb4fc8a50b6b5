/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * KTAU: how much a reader may see.
 */
#ifndef _KERNEL_KTAU_ACCESS_H
#define _KERNEL_KTAU_ACCESS_H

#include <linux/ktau.h>

extern int ktau_paranoid;
bool ktau_privileged(void);
u32 ktau_access(void);
u32 ktau_access_at(int level, bool privileged);

#endif /* _KERNEL_KTAU_ACCESS_H */
