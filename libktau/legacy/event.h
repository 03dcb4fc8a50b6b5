/* SPDX-License-Identifier: LGPL-2.1-or-later */
/* How an event appears to programs that were written for another numbering. */
#ifndef KTAU_LEGACY_EVENT_H
#define KTAU_LEGACY_EVENT_H

#include <ktau.h>

#include "tasks.h"

/* Counters have the indices from here to the limit, which TAU takes for user events. */
#define KTAU__COUNTERS_FIRST	300
#define KTAU__COUNTERS_END	400

/* System calls from the same number on are moved up by this. */
#define KTAU__SYSCALLS_END	512
#define KTAU__MOVED		65536

/* Added to the id of an event without an address: below all kernel addresses. */
#define KTAU__NO_ADDRESS	0x10000

/*
 * A function of its own: a system call or a hooked function. A callback has an address too,
 * which may be that of a hooked function, so it is known by its id instead.
 */
bool ktau__is_function(const struct ktau_rec_event *event);

/* The address under which an event is known; @event may be NULL. */
uint64_t ktau__event_addr(const struct ktau_rec_event *event, uint32_t id);

/* The id of the event that is known under @addr, or has those low 32 bits. -1: not seen. */
int ktau__event_by_addr(const struct ktau_events *events, uint64_t addr);

/* A counter's index stays the same as long as the process runs. */
struct ktau__counters {
	uint16_t id[KTAU__COUNTERS_END - KTAU__COUNTERS_FIRST];
	unsigned int nr;
};

uint32_t ktau__event_index(struct ktau__counters *counters, const struct ktau_entry *entry);

#endif /* KTAU_LEGACY_EVENT_H */
