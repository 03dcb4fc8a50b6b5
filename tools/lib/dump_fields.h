/* SPDX-License-Identifier: GPL-2.0-only */
/* Fields of records and slots as text, by the list of <ktau_fields.h>. */
#ifndef KTAU_TOOLS_DUMP_FIELDS_H
#define KTAU_TOOLS_DUMP_FIELDS_H

#include <ktau.h>

#include "dump_slot.h"

/* The structures of the list: SHOWN_ktau_rec_stream and so on. */
enum dump_structure {
#define KTAU_STRUCT(structure) SHOWN_##structure,
#include <ktau_fields.h>
};

/* Print the fields of the structure at @from that the list shows, as label=value. */
void dump_fields(struct dump *d, enum dump_structure structure, const void *from);

/* Print a task by its serial; 0 means no task, or a hidden one. */
void dump_task(struct dump *d, uint64_t serial);

/* Print the payload of @s. Return: false if it is no structure of the list. */
bool dump_payload(struct dump *d, const struct ktau_slot *s);

/* Print the type of a record of the list, and the fields that the list shows. */
void dump_known(struct dump *d, const struct ktau_rec *rec);

#endif
