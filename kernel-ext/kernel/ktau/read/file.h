/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * KTAU: the files /proc/ktau/profile and /proc/ktau/trace.
 */
#ifndef _KERNEL_KTAU_FILE_H
#define _KERNEL_KTAU_FILE_H

#include <linux/proc_fs.h>

struct ktau_stream;

struct ktau_stream *ktau_stream_create(u32 content, u32 needs);
void ktau_stream_destroy(struct ktau_stream *stream);

extern const struct proc_ops ktau_profile_ops;
extern const struct proc_ops ktau_trace_ops;

#endif /* _KERNEL_KTAU_FILE_H */
