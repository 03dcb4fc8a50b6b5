/* SPDX-License-Identifier: GPL-2.0-only */
/* Traces in a short notation, and the sequence of events that a timeline makes of them. */
#ifndef KTAU_TOOLS_RINGS_H
#define KTAU_TOOLS_RINGS_H

#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <cmocka.h>

#include <ktau.h>

#include "fixture.h"
#include "analyse/timeline.h"

/* What a test does not mention is 0. */
#pragma GCC diagnostic ignored "-Wmissing-field-initializers"

/* A slot in the tests' notation; @word is the payload unless it is 0. */
struct given {
	uint64_t ticks;
	uint8_t type;
	uint16_t id;
	uint64_t word;
	uint16_t cpu;
	uint8_t flags;
};

/* A trace record of at most 16 slots, of a task that may have started or exited. */
struct ring {
	uint64_t serial, first, lost, lost_from, lost_to;
	struct given slots[16];
	uint64_t start_ns, exit_ns;
	uint32_t groups;
};

/* A stream of at most 4 rings, begun at @ticks. */
struct stream {
	uint64_t ticks;
	uint8_t boot;
	struct ring rings[4];
	uint32_t content;	/* 0: traces */
};

/* Ids of the group sched. */
enum { SCHEDULE = 8, SCHEDULE_WAIT = 9 };

#define ENTER(t, i) ((struct given){ t, KTAU_TRACE_ENTER, i, 0 })
#define BEFORE(t, i) ((struct given){ t, KTAU_TRACE_ENTER, i, 0, 0, KTAU_SLOT_OFF_CPU })
#define EXIT(t, i) ((struct given){ t, KTAU_TRACE_EXIT, i, 0 })
#define CALL(t, i, d) ENTER(t, i), EXIT((t) + (d), i)

#define SET_GROUPS(t, g) ((struct given){ t, KTAU_TRACE_GROUPS, KTAU_ID_NONE, g })
#define SWITCH(t) ((struct given){ t, KTAU_TRACE_SWITCH, KTAU_ID_NONE, 77 })

/* Ids of regions; they are shown as u1, u2... */
enum { FIRST_USER = 60000 };

/* The resulting events, one per line: time, serial, event. */
struct seen {
	char text[2048];
	size_t used;
	uint64_t refuse_after;
	bool with_users, with_excl, with_cpus;
	struct timeline_counts counts;
};

/* Templates of the file and of the directory for the tests. */
extern char rings_path[], rings_folder[];

/* The streams that rings_put() puts. */
extern const struct stream *rings_given;
extern size_t rings_nr;

int rings_put(struct sink *s);

/* Read the streams with a timeline. Return: what timeline_read() has returned. */
int rings_convert(struct seen *seen);

struct seen convert_ok(const struct stream *s, size_t nr);

#endif
