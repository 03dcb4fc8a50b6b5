/* SPDX-License-Identifier: LGPL-2.1-or-later */
/* Indices and addresses of events, as programs written for the first KTAU expect them. */
#ifndef KTAU_LEGACY_EVENT_H
#define KTAU_LEGACY_EVENT_H

#include <ktau.h>

#include "tasks.h"

/* Indices of counters: those that TAU uses for user events. */
#define KTAU__COUNTERS_FIRST	300
#define KTAU__COUNTERS_END	400

/* KTAU__MOVED is added to system calls from KTAU__COUNTERS_FIRST to KTAU__SYSCALLS_END. */
#define KTAU__SYSCALLS_END	512
#define KTAU__MOVED		65536

/* Added to the id of an event without an address: below all kernel addresses. */
#define KTAU__NO_ADDRESS	0x10000

/*
 * True for a system call or a hooked function, which is identified by its address. A callback
 * has an address too, but its function may also be hooked, so it is identified by its id.
 */
bool ktau__is_function(const struct ktau_rec_event *event);

/* The address that identifies an event; @event may be NULL. */
uint64_t ktau__event_addr(const struct ktau_rec_event *event, uint32_t id);

/* The id of the event with address @addr, or with those low 32 bits; -1 if there is none yet. */
int ktau__event_by_addr(const struct ktau_events *events, uint64_t addr);

/* A counter's index stays the same as long as the process runs. */
struct ktau__counters {
	uint16_t id[KTAU__COUNTERS_END - KTAU__COUNTERS_FIRST];
	unsigned int nr;
};

uint32_t ktau__event_index(struct ktau__counters *counters, const struct ktau_entry *entry);

#endif /* KTAU_LEGACY_EVENT_H */
