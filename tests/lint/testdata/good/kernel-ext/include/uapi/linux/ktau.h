/* SPDX-License-Identifier: GPL-2.0-only WITH Linux-syscall-note */
#ifndef _UAPI_LINUX_KTAU_H
#define _UAPI_LINUX_KTAU_H

#include <linux/types.h>

struct ktau_sample {
	__u32 size;
	__u32 type;
	__aligned_u64 value;
};

#endif /* _UAPI_LINUX_KTAU_H */
