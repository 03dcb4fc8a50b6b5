// SPDX-License-Identifier: LGPL-2.1-or-later
/* The cost of KTAU itself by the kind of hook, estimated from the kernel's measurement at boot. */
#include <string.h>

#include "util.h"

/* Only frames of tasks have the fast exit; frames of a CPU are accounted twice. */
static uint64_t static_mticks(const struct ktau_rec_stream *stream,
			      const struct ktau_rec_event *event)
{
	switch (event->group) {
	case KTAU_GROUP_SCHED:
		/* schedule_wait has no hook of its own: it is written by the hook of the switch. */
		return strcmp(ktau_event_name(event), "schedule_wait") ? stream->switch_mticks :
									 0;
	case KTAU_GROUP_IRQ:
	case KTAU_GROUP_BH:
		return stream->cpu_pair_mticks;
	default:
		return stream->profile_pair_mticks;
	}
}

static uint64_t profile_mticks(const struct ktau_rec_stream *stream,
			       const struct ktau_rec_event *event)
{
	switch (event->source) {
	case KTAU_SOURCE_SYSCALL:
		return stream->profile_pair_mticks;
	case KTAU_SOURCE_STATIC:
		return static_mticks(stream, event);
	case KTAU_SOURCE_POINT:
		return event->group == KTAU_GROUP_IRQ ? stream->cpu_pair_mticks :
							stream->profile_pair_mticks;
	case KTAU_SOURCE_IRQ:
		return stream->cpu_pair_mticks;
	default:
		return stream->call_pair_mticks;
	}
}

uint64_t ktau_hook_mticks(const struct ktau_rec_stream *stream, const struct ktau_rec_event *event)
{
	uint64_t mticks = event ? profile_mticks(stream, event) : stream->profile_pair_mticks;

	if (event && event->kind != KTAU_KIND_TIMER)
		return 0;
	if (mticks && stream->modes & KTAU_MODE_TRACE)
		mticks += stream->trace_pair_mticks - stream->profile_pair_mticks;
	return mticks;
}

uint64_t ktau_hook_ticks(const struct ktau_rec_stream *stream, const struct ktau_rec_event *event,
			 uint64_t count)
{
	uint64_t mticks = ktau_hook_mticks(stream, event);

	return count / 1000 * mticks + count % 1000 * mticks / 1000;
}
