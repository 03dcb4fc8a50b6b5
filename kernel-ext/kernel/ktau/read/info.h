/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * KTAU: KTAU_IOC_INFO.
 */
#ifndef _KERNEL_KTAU_INFO_H
#define _KERNEL_KTAU_INFO_H

#include <linux/types.h>

struct ktau_stream;

int ktau_info_write(const struct ktau_stream *stream, void __user *arg);
void ktau_boot_id(u8 id[16]);

#endif /* _KERNEL_KTAU_INFO_H */
