/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * KTAU: the folder /proc/ktau.
 */
#ifndef _KERNEL_KTAU_PROC_H
#define _KERNEL_KTAU_PROC_H

struct proc_dir_entry;

struct proc_dir_entry *ktau_proc_create(void);

#endif /* _KERNEL_KTAU_PROC_H */
