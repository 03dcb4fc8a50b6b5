/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * KTAU: deferring work from contexts that cannot do it themselves.
 */
#ifndef _KERNEL_KTAU_DEFER_H
#define _KERNEL_KTAU_DEFER_H

#include <linux/cpumask.h>
#include <linux/irq_work.h>
#include <linux/jiffies.h>
#include <linux/smp.h>

#include "types.h"

/*
 * A CPU that is going down no longer runs its irq_work queue. An item left there would
 * stay pending and could not be queued again when the CPU comes back. Interrupts are
 * disabled. If any function that this calls is hooked, it must not open a frame: KTAU may be
 * changing a table or a ring. Return: whether the item is queued now and was not before.
 */
static inline bool ktau_irq_work(struct irq_work *work)
{
	const u32 flags = current->ktau.flags;
	bool queued;

	if (unlikely(!cpu_online(raw_smp_processor_id())))
		return false;
	current->ktau.flags = flags | KTAU_REF_INSIDE;
	barrier();
	queued = irq_work_queue(work);
	barrier();
	current->ktau.flags = flags;
	return queued;
}

/* Whether @at lies within the next second; anything farther away is long past. */
static inline bool ktau_is_soon(unsigned long at, unsigned long now)
{
	return at - now - 1 < HZ;
}

#endif /* _KERNEL_KTAU_DEFER_H */
