/* SPDX-License-Identifier: GPL-2.0-only */
/* What ktaud switches on in the kernel, and puts back when it ends. */
#ifndef KTAUD_CONTROL_H
#define KTAUD_CONTROL_H

#include "config.h"

/**
 * struct control - how to put back what was changed
 * @restore: words for /proc/ktau/control; NULL if nothing was changed
 */
struct control {
	char *restore;
};

/*
 * Switch on what @config asks for and is not on yet. Return: 0, -errno with a
 * message given and nothing changed.
 */
int control_apply(struct control *control, const struct config *config);

void control_restore(struct control *control);

#endif /* KTAUD_CONTROL_H */
