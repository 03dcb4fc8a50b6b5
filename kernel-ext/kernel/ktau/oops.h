/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * KTAU: ending the frames of a task that is about to exit.
 */
#ifndef _KERNEL_KTAU_OOPS_H
#define _KERNEL_KTAU_OOPS_H

void ktau_end_frames(void);

#endif /* _KERNEL_KTAU_OOPS_H */
