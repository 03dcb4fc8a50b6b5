/* SPDX-License-Identifier: GPL-2.0-only */
/* The CPUs of a host and its guests as rows of states, for a page or a time line. */
#ifndef KTAU_TOOLS_VM_ROWS_H
#define KTAU_TOOLS_VM_ROWS_H

#include "analyse/states.h"
#include "machine.h"

/*
 * Fill in @states, which is all zero, with a row for each CPU of matched machines, the host's
 * first, in the time of the host. A CPU of the host has the task that it ran, and where that is a
 * virtual CPU in its guest, the task there; one of a guest has its task, or why it did not run.
 * What is shorter than a 20000th part of the time belongs to what precedes it.
 */
void vm_rows(const struct vm_machine *machines, size_t nr, struct states *states);

#endif
