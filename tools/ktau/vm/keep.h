/* SPDX-License-Identifier: GPL-2.0-only */
/* Virtual machines for other commands: for paths, pages and time lines. */
#ifndef KTAU_TOOLS_VM_KEEP_H
#define KTAU_TOOLS_VM_KEEP_H

#include "analyse/states.h"
#include "analyse/steals.h"
#include "lib/shared_options.h"

/*
 * Read the files, which have recordings of @nr machines, and fill in @steals, which is all zero. A
 * machine that is no guest, or cannot be shown to be one, has none. Return: CLI_DONE or, after a
 * message, CLI_FAILED.
 */
int vm_keep_steals(const struct shared_options *in, size_t nr, struct steals *steals);

/*
 * The first file is that of a host, and the others are those of its guests: match them, and fill in
 * @states as vm_rows() does. Afterwards @in has the host's file only. Return: CLI_DONE or, after a
 * message, CLI_FAILED.
 */
int vm_keep_states(struct shared_options *in, struct states *states);

#endif
