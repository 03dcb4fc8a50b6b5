/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * KTAU: KTAU_IOC_REGIONS.
 */
#ifndef _KERNEL_KTAU_ATTACH_H
#define _KERNEL_KTAU_ATTACH_H

struct ktau_stream;

long ktau_attach_ioctl(const struct ktau_stream *stream, void __user *arg);

#endif /* _KERNEL_KTAU_ATTACH_H */
