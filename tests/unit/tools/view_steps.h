/* SPDX-License-Identifier: GPL-2.0-only */
/* Events that tests of views make up. */
#ifndef KTAU_TESTS_VIEW_STEPS_H
#define KTAU_TESTS_VIEW_STEPS_H

#include "lib/report/registry.h"
#include "view/engine.h"

/* Ids of events. */
enum { WORK = 100,
       WAIT,
       CALL,
       CALL_2,
       INIT,
       RANK,
       SEND,
       READ,
       FUTEX };

/* An event of the task with this serial, which is also its tid. */
struct step {
	uint64_t ns;
	uint32_t serial, type, id;
	uint64_t value;
	int32_t peer; /* 0: the event is not a message */
};

#define MARK(t, task, id, value) ((struct step){ t, task, TIMELINE_MARK, id, value })
#define MESSAGE(t, task, id, bytes, peer) \
	((struct step){ t, task, TIMELINE_MARK, id, bytes, peer })
#define ENTER(t, task, id) ((struct step){ t, task, KTAU_TRACE_ENTER, id })
#define EXIT(t, task, id) ((struct step){ t, task, KTAU_TRACE_EXIT, id })
#define SWITCH(t, task, state) \
	((struct step){ t, task, KTAU_TRACE_SWITCH, KTAU_ID_NONE, state })
/* The task wakes the one with this serial; a context other than 0 is an interrupt. */
#define WAKING(t, task, context, woken) \
	((struct step){ t, task, KTAU_TRACE_WAKING, context, woken })
#define ON(t, task) ((struct step){ t, task, TIMELINE_ON, KTAU_ID_NONE })
#define OFF(t, task) ((struct step){ t, task, TIMELINE_OFF, KTAU_ID_NONE, OFF_BY_SWITCH })
#define LOST(t, task) ((struct step){ t, task, TIMELINE_LOST, KTAU_ID_NONE, 7 })

#define STEPS(...) ((const struct step[]){ __VA_ARGS__, { 0 } })

/* The names of the ids. */
struct registry *steps_registry(void);

int steps_take(struct engine *g, const struct step *s);

/* The intervals in order of their ends: from, to, row, state. */
char *steps_intervals(struct engine *g);

/* Reads a view. */
typedef bool (*steps_parse)(struct view_rules *v, const char *file, const char *text, size_t bytes);

/* What a view makes of events from 0 to 100. */
void steps_expect(steps_parse parse, const char *text, const struct step *steps,
		  char *(*text_of)(struct engine *g), const char *expected);

#endif
