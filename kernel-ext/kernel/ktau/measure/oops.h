/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * KTAU: ending the frames of a task that is about to exit.
 */
#ifndef _KERNEL_KTAU_OOPS_H
#define _KERNEL_KTAU_OOPS_H

#include <linux/types.h>

/**
 * struct ktau_last - the outermost frame of a task that has ended all of them
 * @id: its event
 * @incl: its duration
 * @end: when it ended
 */
struct ktau_last {
	unsigned int	id;
	u64		incl;
	u64		end;
};

struct ktau_last ktau_end_frames(void);

#endif /* _KERNEL_KTAU_OOPS_H */
