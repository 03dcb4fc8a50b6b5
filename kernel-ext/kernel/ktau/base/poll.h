/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * KTAU: waking the readers that wait for rings to fill, and the one that empties them.
 */
#ifndef _KERNEL_KTAU_POLL_H
#define _KERNEL_KTAU_POLL_H

#include <linux/wait.h>

extern wait_queue_head_t ktau_trace_wait;
extern atomic_t ktau_trace_fills;
void ktau_poll_wake(void);
int ktau_consume(const void *reader, bool on);
bool ktau_is_consumed(void);

#endif /* _KERNEL_KTAU_POLL_H */
