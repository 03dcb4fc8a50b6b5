/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * KTAU: the frames of interrupts and softirqs.
 */
#ifndef _KERNEL_KTAU_CPU_H
#define _KERNEL_KTAU_CPU_H

#include <linux/percpu.h>

#include "types.h"

DECLARE_PER_CPU(struct ktau_cpu, ktau_cpu);

#endif /* _KERNEL_KTAU_CPU_H */
