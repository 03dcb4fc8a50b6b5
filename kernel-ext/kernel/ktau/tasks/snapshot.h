/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * KTAU: copying a profile.
 */
#ifndef _KERNEL_KTAU_SNAPSHOT_H
#define _KERNEL_KTAU_SNAPSHOT_H

#include "base/types.h"

struct ktau_region_copy;

#define KTAU_SNAPSHOT_OPEN	32	/* open frames that are listed */
#define KTAU_SNAPSHOT_BYTES						\
	(sizeof(struct ktau_rec_profile) +				\
	 KTAU_NR_IDS * sizeof(struct ktau_entry) +			\
	 KTAU_SNAPSHOT_OPEN * sizeof(struct ktau_open))

size_t ktau_snapshot_bytes(const struct ktau_state *state);
int ktau_snapshot_regions(struct ktau_rec_profile *rec, size_t bytes,
			  struct ktau_state *state, struct task_struct *task,
			  struct ktau_region_copy *regions);

/* Copy a profile without regions. */
static inline int ktau_snapshot_into(struct ktau_rec_profile *rec, size_t bytes,
				     struct ktau_state *state, struct task_struct *task)
{
	return ktau_snapshot_regions(rec, bytes, state, task, NULL);
}

#endif /* _KERNEL_KTAU_SNAPSHOT_H */
