/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * KTAU: adding the profile of one exited task to another.
 */
#ifndef _KERNEL_KTAU_MERGE_H
#define _KERNEL_KTAU_MERGE_H

#include "base/types.h"

void ktau_merge(struct ktau_state *to, struct ktau_state *from);
void ktau_merge_sum(struct ktau_state *sum, struct ktau_state *from);

#endif /* _KERNEL_KTAU_MERGE_H */
