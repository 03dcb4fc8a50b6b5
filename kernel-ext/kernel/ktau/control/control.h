/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * KTAU: applying control words.
 */
#ifndef _KERNEL_KTAU_CONTROL_H
#define _KERNEL_KTAU_CONTROL_H

#include <linux/types.h>

int ktau_control_apply(char *words);

#endif /* _KERNEL_KTAU_CONTROL_H */
