/* SPDX-License-Identifier: GPL-2.0-only */
/* The fields of an event of a CTF trace, as those of an event of a program. */
#ifndef KTAU_TOOLS_IMPORT_CTF_FIELDS_H
#define KTAU_TOOLS_IMPORT_CTF_FIELDS_H

#include <babeltrace2/babeltrace.h>

#include "import.h"

/* What is known of a kind of event: its name with its fields, and their types. */
struct ctf_fields;

/* Never returns NULL. */
struct ctf_fields *ctf_fields_create(const bt_event_class *class);
void ctf_fields_destroy(struct ctf_fields *fields);

const char *ctf_fields_name(const struct ctf_fields *fields);

/* The number of fields that found no room in the name. */
size_t ctf_fields_left_out(const struct ctf_fields *fields);

/* Put the values of an event into @payload. Return: words. */
size_t ctf_fields_put(const struct ctf_fields *fields, const bt_event *event,
		      uint64_t payload[PROGRAM_WORDS]);

#endif
