/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * KTAU: the page that a thread shares with the kernel.
 */
#ifndef _KERNEL_KTAU_AREA_H
#define _KERNEL_KTAU_AREA_H

#include "types.h"

struct ktau_area *ktau_area_create(struct ktau_user *user);
void ktau_area_put(struct ktau_area *area);
void ktau_area_drop(struct ktau_state *state);

#endif /* _KERNEL_KTAU_AREA_H */
