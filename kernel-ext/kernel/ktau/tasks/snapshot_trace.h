/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * KTAU: copying a trace.
 */
#ifndef _KERNEL_KTAU_SNAPSHOT_TRACE_H
#define _KERNEL_KTAU_SNAPSHOT_TRACE_H

#include "base/types.h"

/* Size of the longest slot in a stream. */
#define KTAU_SLOT_MAX_BYTES						\
	(sizeof(struct ktau_slot) + sizeof(struct ktau_slot_net))

/**
 * struct ktau_reach - how far a stream has read the ring of one owner
 * @ring: serial of the ring, 0 if there was none yet
 * @next: the slot to continue with, if reading does not consume
 * @until: slots written when the stream came to this owner; later ones are left to the
 *	next stream
 * @ticks: time of the last slot read, 0 if there was none
 * @since_ticks: older slots are skipped, and not counted as lost
 * @consume: reading consumes
 */
struct ktau_reach {
	u64 ring;
	u64 next;
	u64 until;
	u64 ticks;
	u64 since_ticks;
	bool consume;
};

size_t ktau_snapshot_trace_bytes(struct ktau_state *state);
int ktau_snapshot_trace(struct ktau_rec_trace *rec, u32 max_bytes,
			struct ktau_state *state, struct task_struct *task,
			struct ktau_reach *reach);

#endif /* _KERNEL_KTAU_SNAPSHOT_TRACE_H */
