/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * KTAU: tracing changes that other tasks make to a task.
 */
#ifndef _KERNEL_KTAU_CHANGES_H
#define _KERNEL_KTAU_CHANGES_H

#include "base/types.h"

void ktau_trace_comm(struct ktau_state *state, unsigned int type);
void ktau_trace_changes(struct ktau_state *state);

#endif /* _KERNEL_KTAU_CHANGES_H */
