/* SPDX-License-Identifier: GPL-2.0-only */
/* What a maintainer asks about a machine first. */
#ifndef KTAU_TOOLS_MACHINE_H
#define KTAU_TOOLS_MACHINE_H

#include <stdio.h>

/*
 * Print the version of KTAU and what it was built with, the distribution, the processor, the clock,
 * and what the kernel and the rights of this process permit. No name of a host, user or process.
 */
void machine_print(FILE *out);

#endif
