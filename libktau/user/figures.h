/* SPDX-License-Identifier: LGPL-2.1-or-later */
/* libktau-user: the figures of one event. */
#ifndef KTAU_INTERNAL_FIGURES_H
#define KTAU_INTERNAL_FIGURES_H

#include <stdbool.h>
#include <stdint.h>

/*
 * @incl, @excl: of a counter, the sum and the minimum
 * @refused: activations for which the kernel had no room
 */
struct ktau__figures {
	uint64_t count, incl, excl, refused;
};

#define KTAU__ALL_REGIONS	UINT32_MAX

/*
 * Read the figures of this thread by system calls: those of @region, or, with
 * KTAU__ALL_REGIONS, those of its profile. Returns 0 or -errno.
 */
int ktau__stream_read(uint32_t event, uint32_t region, struct ktau__figures *figures);

/* Find the id of the event @name. Returns it, -ENOENT if no event has this name, or -errno. */
int ktau__event_find(const char *name);

/*
 * Whether the event @id, below KTAU_AREA_EVENTS, is a counter. It is looked up once, at the latest
 * here. Returns 1; 0, also if it has not happened in any task; or -errno.
 */
int ktau__event_is_counter(uint32_t id);

/* Ticks per second. Returns 0 or -errno. */
int ktau__stream_hz(uint64_t *hz);

#endif /* KTAU_INTERNAL_FIGURES_H */
