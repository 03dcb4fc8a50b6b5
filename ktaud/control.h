/* SPDX-License-Identifier: GPL-2.0-only */
/* What ktaud enables in the kernel, and restores when it ends. */
#ifndef KTAUD_CONTROL_H
#define KTAUD_CONTROL_H

#include "config.h"

enum control_key {
	CONTROL_GROUPS,
	CONTROL_PROFILE,
	CONTROL_RING,
	CONTROL_WATERMARK,
	CONTROL_TRACE,
	CONTROL_NR_KEYS,
};

/**
 * struct control - how to restore changed settings
 * @was: the previous values; NULL for keys that were not changed
 */
struct control {
	char *was[CONTROL_NR_KEYS];
};

/*
 * Enable what @config requests, and restore what it no longer requests. Keys that already have the
 * right value are not written, because resizing rings loses their contents. Return: 0, or -errno
 * with a message logged and nothing changed.
 */
int control_apply(struct control *control, const struct config *config);

void control_restore(struct control *control);

#endif /* KTAUD_CONTROL_H */
