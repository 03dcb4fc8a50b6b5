/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * KTAU: copying the regions of a task.
 */
#ifndef _KERNEL_KTAU_REGION_COPY_H
#define _KERNEL_KTAU_REGION_COPY_H

#include "base/types.h"

/**
 * struct ktau_region_copy - destination of a copy of the regions
 * @p: buffer for the records
 * @bytes: its size
 * @len: bytes used
 * @is_full: there were more
 */
struct ktau_region_copy {
	void	*p;
	size_t	bytes;
	size_t	len;
	bool	is_full;
};

size_t ktau_regions_bytes(const struct ktau_state *state);
void ktau_regions_copy(struct ktau_region_copy *copy, const struct ktau_state *state);

#endif /* _KERNEL_KTAU_REGION_COPY_H */
