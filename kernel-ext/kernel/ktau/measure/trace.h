/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * KTAU: writing slots to a trace.
 */
#ifndef _KERNEL_KTAU_TRACE_H
#define _KERNEL_KTAU_TRACE_H

#include <linux/static_call_types.h>

#include "base/types.h"
#include "ring.h"

void ktau_trace(struct ktau_state *state, u64 ticks, unsigned int type,
		unsigned int small, u64 arg);

/* Replaced while modules have handlers or programs have regions; see extend/divert.c. */
DECLARE_STATIC_CALL(ktau_divert_count, ktau_trace);

/* Also accounts the value of a counter to a region, once programs have regions. */
DECLARE_STATIC_CALL(ktau_divert_value,
		    void (struct ktau_ref *ref, unsigned int id, u64 value));

u64 ktau_trace_frame(struct ktau_state *state, u32 what, u64 arg,
		     const u64 *sum, u64 *before);
void ktau_trace_more(struct ktau_state *state, u32 what, u64 arg,
		     const struct ktau_slot_more *more, unsigned int nr);
void ktau_trace_groups(const struct task_struct *task, struct ktau_state *state, u64 ticks,
		       u32 groups);
void ktau_trace_woken(struct ktau_state *state, u64 ticks, u64 waking_ticks);
void ktau_ring_wake(struct ktau_ring *ring);
void ktau_ring_rearm(struct ktau_ring *ring);

#endif /* _KERNEL_KTAU_TRACE_H */
