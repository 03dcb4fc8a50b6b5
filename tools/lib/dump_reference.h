/* SPDX-License-Identifier: GPL-2.0-only */
/* Slots about references to pages as text, for dump_slot.c. */
#ifndef KTAU_TOOLS_DUMP_REFERENCE_H
#define KTAU_TOOLS_DUMP_REFERENCE_H

#include <stdbool.h>
#include <stdio.h>

#include <ktau.h>

/* Print the contents of a slot. Return: false if it is of another type. */
bool dump_reference(const struct ktau_slot *s, FILE *out);

#endif
