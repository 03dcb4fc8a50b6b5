/* SPDX-License-Identifier: GPL-2.0-only */
/* Slots of a trace as text, for dump.c. */
#ifndef KTAU_TOOLS_DUMP_SLOT_H
#define KTAU_TOOLS_DUMP_SLOT_H

#include <ktau.h>

#include "dump_fields.h"

/* Print the contents of a slot, without its time and CPU. */
void dump_slot(struct dump *d, const struct ktau_slot *s);

#endif
