/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * KTAU: showing the configuration.
 */
#ifndef _KERNEL_KTAU_SHOW_H
#define _KERNEL_KTAU_SHOW_H

#include <linux/types.h>

struct seq_file;

int ktau_control_show(struct seq_file *m, bool all);

#endif /* _KERNEL_KTAU_SHOW_H */
