/* SPDX-License-Identifier: GPL-2.0-only */
/* The events and fields that ktau export --ctf writes, which have LTTng's names. */
#ifndef KTAU_TOOLS_VIEW_XML_NAMES_H
#define KTAU_TOOLS_VIEW_XML_NAMES_H

#include <stdbool.h>
#include <stddef.h>

#include "vocabulary.h"

/**
 * struct xml_event - what an event of LTTng is in a recording
 * @name: its name; a system call has its own after it
 * @call: it is that of system calls
 * @event: the kind
 * @frame: ENTER and EXIT: the begin of the names of routines; of a system call without its own
 * @fields: "name=field ..." of the fields in addition to those of all events
 */
struct xml_event {
	const char *name;
	bool call;
	enum view_event event;
	const char *frame, *fields;
};

extern const struct xml_event xml_events[];
extern const size_t nr_xml_events;

/* Can an event with this name be meant by @pattern, which may end in "*"? */
bool xml_event_matches(const struct xml_event *event, const char *pattern);

/* A field of an event; NULL: of a program. VIEW_FIELDS if it is not known. */
enum view_field xml_field(const struct xml_event *event, const char *name);

#endif
