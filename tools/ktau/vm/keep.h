/* SPDX-License-Identifier: GPL-2.0-only */
/* What the hosts among some machines took from their guests, for the paths of the guests' tasks. */
#ifndef KTAU_TOOLS_VM_KEEP_H
#define KTAU_TOOLS_VM_KEEP_H

#include "analyse/steals.h"
#include "lib/shared_options.h"

/*
 * Read the files, which have recordings of @nr machines, and fill in @steals, which is all zero. A
 * machine that is no guest, or cannot be shown to be one, has none. Return: CLI_DONE or, after a
 * message, CLI_FAILED.
 */
int vm_keep_steals(const struct shared_options *in, size_t nr, struct steals *steals);

#endif
