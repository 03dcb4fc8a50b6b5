// SPDX-License-Identifier: LGPL-2.1-or-later
/* Indices and addresses of events. */
#include "event.h"

bool ktau__is_function(const struct ktau_rec_event *event)
{
	return event->address &&
	       (event->source == KTAU_SOURCE_SYSCALL || event->source == KTAU_SOURCE_POINT ||
		event->source == KTAU_SOURCE_FUNCTION);
}

uint64_t ktau__event_addr(const struct ktau_rec_event *event, uint32_t id)
{
	return event && ktau__is_function(event) ? event->address : KTAU__NO_ADDRESS | id;
}

int ktau__event_by_addr(const struct ktau_events *events, uint64_t addr)
{
	const struct ktau_rec_event *event = NULL;
	uint64_t known;

	while ((event = ktau_events_next(events, event))) {
		known = ktau__event_addr(event, event->id);
		if (known == addr || (uint32_t)known == addr ||
		    (KTAU__NO_ADDRESS | event->id) == addr)
			return event->id;
	}
	return -1;
}

static uint32_t counter_index(struct ktau__counters *counters, uint32_t id)
{
	unsigned int i = 0;

	while (i < counters->nr && counters->id[i] != id)
		i++;
	if (i == KTAU__COUNTERS_END - KTAU__COUNTERS_FIRST)
		return KTAU__MOVED + id;
	if (i == counters->nr)
		counters->id[counters->nr++] = id;
	return KTAU__COUNTERS_FIRST + i;
}

uint32_t ktau__event_index(struct ktau__counters *counters, const struct ktau_entry *entry)
{
	if (entry->kind == KTAU_KIND_COUNTER)
		return counter_index(counters, entry->id);
	if (entry->id >= KTAU__COUNTERS_FIRST && entry->id < KTAU__SYSCALLS_END)
		return KTAU__MOVED + entry->id;
	return entry->id;
}
