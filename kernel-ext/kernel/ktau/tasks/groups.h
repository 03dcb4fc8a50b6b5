/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * KTAU: changing the configuration, and with it the groups of all tasks.
 */
#ifndef _KERNEL_KTAU_GROUPS_H
#define _KERNEL_KTAU_GROUPS_H

#include <linux/types.h>

struct ktau_config;

int ktau_config_begin(const struct ktau_config *config, bool selects);
void ktau_config_finish(const struct ktau_config *old);
int ktau_config_hold(u32 groups);

#endif /* _KERNEL_KTAU_GROUPS_H */
