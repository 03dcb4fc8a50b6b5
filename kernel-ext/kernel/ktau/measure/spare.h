/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * KTAU: rings in reserve.
 */
#ifndef _KERNEL_KTAU_SPARE_H
#define _KERNEL_KTAU_SPARE_H

#include "base/types.h"
#include "ring.h"

bool ktau_spare_fits(const struct ktau_ring *old);
struct ktau_ring *ktau_spare_take(struct ktau_user *user);
void ktau_spare_retire(struct ktau_ring *old);
void ktau_spare_fill(void);
void ktau_spare_refill(void);
void ktau_spare_init(void);

#endif /* _KERNEL_KTAU_SPARE_H */
