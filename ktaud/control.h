/* SPDX-License-Identifier: GPL-2.0-only */
/* What ktaud switches on in the kernel, and puts back when it ends. */
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
 * struct control - how to put back what was changed
 * @was: the values from before; NULL for what was not changed
 */
struct control {
	char *was[CONTROL_NR_KEYS];
};

/*
 * Switch on what @config asks for, and put back what it no longer does. What is as it
 * should be is not written: a ring that is resized loses what is in it. Return: 0,
 * -errno with a message given and nothing changed.
 */
int control_apply(struct control *control, const struct config *config);

void control_restore(struct control *control);

#endif /* KTAUD_CONTROL_H */
