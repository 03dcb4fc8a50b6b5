/* SPDX-License-Identifier: GPL-2.0-only */
/* A part of a path. */
#ifndef KTAU_TOOLS_PATH_SEGMENT_H
#define KTAU_TOOLS_PATH_SEGMENT_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

/* Why the state of a segment or an edge is UNKNOWN. */
enum path_unknown {
	UNKNOWN_LOST,		/* slots were lost */
	UNKNOWN_BEFORE,		/* it has no earlier slot, and its creation is not in the trace */
	UNKNOWN_AFTER,		/* it has no later slot */
	UNKNOWN_CYCLE,		/* wakeups lead from task to task, but not back in time */
	UNKNOWN_UNTRACED,	/* the group sched was not traced when it began */
	UNKNOWN_REASONS,
};

/**
 * struct path_segment - a part of a path
 * @from_ns: start, CLOCK_BOOTTIME
 * @to_ns: end, which is the start of the next segment
 * @task: index of the task
 * @row: private to rows.c
 * @cpu, @wait, @cause: as in struct path_edge
 * @state: enum path_state
 * @unknown: UNKNOWN: enum path_unknown
 */
struct path_segment {
	uint64_t from_ns, to_ns;
	uint32_t task, row;
	uint16_t cpu, wait, cause;
	uint8_t state, unknown;
};

/* Segments in a row. */
struct path_part {
	const struct path_segment *segments;
	size_t nr;
};

/* True if @later continues @s, in the order of time. */
static inline bool segment_continues(const struct path_segment *s, const struct path_segment *later)
{
	return s->to_ns == later->from_ns && s->task == later->task && s->state == later->state &&
	       s->cpu == later->cpu && s->wait == later->wait && s->cause == later->cause &&
	       s->unknown == later->unknown;
}

#endif
