/* SPDX-License-Identifier: LGPL-2.1-or-later */
/* EVENT records by id: what the library itself needs of the table. */
#ifndef KTAU_INTERNAL_EVENTS_H
#define KTAU_INTERNAL_EVENTS_H

#include "util.h"

/* NULL if an EVENT record in normal form is valid, else what is wrong with it. */
const char *ktau__bad_event(const struct ktau_rec_event *event);

/* True if the table has a record equal to @event. */
bool ktau__events_has(const struct ktau_events *events, const struct ktau_rec_event *event);
void ktau__events_clear(struct ktau_events *events);

#endif /* KTAU_INTERNAL_EVENTS_H */
