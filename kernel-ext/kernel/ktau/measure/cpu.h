/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * KTAU: the frames of interrupts and softirqs.
 */
#ifndef _KERNEL_KTAU_CPU_H
#define _KERNEL_KTAU_CPU_H

#include <linux/percpu.h>

#include "base/types.h"

DECLARE_PER_CPU(struct ktau_cpu, ktau_cpu);

bool ktau_is_irq_time(unsigned int id);

#endif /* _KERNEL_KTAU_CPU_H */
