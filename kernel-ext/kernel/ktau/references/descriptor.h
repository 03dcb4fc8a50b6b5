/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * KTAU: the file /proc/ktau/references.
 */
#ifndef _KERNEL_KTAU_DESCRIPTOR_H
#define _KERNEL_KTAU_DESCRIPTOR_H

#include <linux/init.h>
#include <linux/types.h>

struct proc_dir_entry;

bool __init ktau_references_create(struct proc_dir_entry *dir);

#endif /* _KERNEL_KTAU_DESCRIPTOR_H */
