/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * KTAU: arguments of ioctl(), which begin with their size.
 */
#ifndef _KERNEL_KTAU_ARGS_H
#define _KERNEL_KTAU_ARGS_H

#include <linux/uaccess.h>

/* Read the size at @arg, at least @least. Return: 0, -EFAULT, -EINVAL or -E2BIG. */
static inline int ktau_args_size(u32 *size, u32 least, const void __user *arg)
{
	if (get_user(*size, (const u32 __user *)arg))
		return -EFAULT;
	if (*size < least)
		return -EINVAL;
	return *size > PAGE_SIZE ? -E2BIG : 0;
}

/* Read the @bytes at @arg; -E2BIG also if it sets fields that this kernel does not know. */
static inline int ktau_args_read(void *args, size_t bytes, u32 least, const void __user *arg)
{
	u32 size;

	return ktau_args_size(&size, least, arg) ?: copy_struct_from_user(args, bytes, arg, size);
}

#endif /* _KERNEL_KTAU_ARGS_H */
