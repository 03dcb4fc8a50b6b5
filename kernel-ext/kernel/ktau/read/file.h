/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * KTAU: the files /proc/ktau/profile and /proc/ktau/trace.
 */
#ifndef _KERNEL_KTAU_FILE_H
#define _KERNEL_KTAU_FILE_H

#include <linux/proc_fs.h>

extern const struct proc_ops ktau_profile_ops;
extern const struct proc_ops ktau_trace_ops;

#endif /* _KERNEL_KTAU_FILE_H */
