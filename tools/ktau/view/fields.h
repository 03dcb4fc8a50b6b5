/* SPDX-License-Identifier: GPL-2.0-only */
/* What an event of a timeline says in the language of views. */
#ifndef KTAU_TOOLS_VIEW_FIELDS_H
#define KTAU_TOOLS_VIEW_FIELDS_H

#include "analyse/timeline.h"
#include "lib/symbolize.h"
#include "rules.h"

/**
 * struct fields - what is needed to read fields
 * @timeline: has the owners of serials
 * @names: names of events
 * @texts: strings are added to these
 */
struct fields {
	const struct timeline *timeline;
	struct symbolizer *names;
	struct strings *texts;
};

/* The kind of an event; VIEW_EVENTS if no rule can be about it. */
enum view_event fields_event(const struct timeline_event *e);

/* The value of a field of an event; none if it is not known. @name: as in struct view_operand. */
struct view_value fields_value(const struct fields *f, const struct timeline_event *e,
			       enum view_field field, struct view_value name);

#endif
