/* SPDX-License-Identifier: GPL-2.0-only */
/* KTAU: tasks off the CPU. */
#ifndef _KERNEL_KTAU_SCHED_H
#define _KERNEL_KTAU_SCHED_H

void ktau_sched_dying(void);

#endif /* _KERNEL_KTAU_SCHED_H */
