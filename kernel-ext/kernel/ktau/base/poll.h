/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * KTAU: waking the readers that wait for rings to fill.
 */
#ifndef _KERNEL_KTAU_POLL_H
#define _KERNEL_KTAU_POLL_H

#include <linux/wait.h>

extern wait_queue_head_t ktau_trace_wait;
extern atomic_t ktau_trace_fills;
void ktau_poll_wake(void);

#endif /* _KERNEL_KTAU_POLL_H */
