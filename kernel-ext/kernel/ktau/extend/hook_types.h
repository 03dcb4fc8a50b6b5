/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * KTAU: whether a function has all of its arguments in registers.
 */
#ifndef _KERNEL_KTAU_HOOK_TYPES_H
#define _KERNEL_KTAU_HOOK_TYPES_H

struct module;

int ktau_hook_types(const char *name, unsigned long fn, const struct module *module);

#endif /* _KERNEL_KTAU_HOOK_TYPES_H */
