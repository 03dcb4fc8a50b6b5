/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * KTAU: what the files that assign ids and describe events share.
 */
#ifndef _KERNEL_KTAU_IDS_H
#define _KERNEL_KTAU_IDS_H

#include "ktau.h"

#define KTAU_NR_STATIC		(KTAU_ID_POINT - KTAU_ID_STATIC)
#define KTAU_NR_POINTS		(KTAU_ID_FOREIGN - KTAU_ID_POINT)
#define KTAU_NR_FOREIGN		(KTAU_ID_IRQ - KTAU_ID_FOREIGN)
#define KTAU_NR_LINES		(KTAU_ID_CALL - KTAU_ID_IRQ)

/* Longest name that is copied, its zero included. */
#define KTAU_NAME_BYTES		64

extern struct ktau_event ktau_events[KTAU_NR_IDS];
extern const char * const ktau_source_names[KTAU_NR_SOURCES];

/* event.c */
void ktau_event_define(unsigned int id, const struct ktau_event *event,
		       const char *name);

#endif /* _KERNEL_KTAU_IDS_H */
