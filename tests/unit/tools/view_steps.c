// SPDX-License-Identifier: GPL-2.0-only
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <cmocka.h>

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "analyse/user_trace.h"
#include "view/labels.h"
#include "view_steps.h"

/* What a test does not mention is 0. */
#pragma GCC diagnostic ignored "-Wmissing-field-initializers"

static const struct {
	uint16_t id;
	uint32_t group;
	const char *name;
} names[] = {
	{ WORK, SYMBOLIZE_USER, "mpi:work(rank)" },
	{ WAIT, SYMBOLIZE_USER, "mpi:wait(rank)" },
	{ CALL, SYMBOLIZE_USER, "MPI_Send" },
	{ CALL_2, SYMBOLIZE_USER, "MPI_Finalize" },
	{ INIT, SYMBOLIZE_USER, "MPI_Init" },
	{ RANK, SYMBOLIZE_USER, "MPI rank" },
	{ SEND, SYMBOLIZE_USER, "MPI send" },
	{ READ, KTAU_GROUP_SYSCALL, "sys_read" },
	{ FUTEX, KTAU_GROUP_SYSCALL, "sys_futex" },
};

struct registry *steps_registry(void)
{
	struct registry *r = registry_create();
	struct {
		struct ktau_rec_event event;
		char name[32];
	} e;
	union ktau_record record;
	size_t i;

	for (i = 0; i < sizeof(names) / sizeof(*names); i++) {
		memset(&e, 0, sizeof(e));
		e.event = (struct ktau_rec_event){
			.rec = { sizeof(e), KTAU_REC_EVENT, sizeof(e.event) },
			.id = names[i].id,
			.group = names[i].group,
			.name_bytes = (uint32_t)strlen(names[i].name) + 1,
		};
		strcpy(e.name, names[i].name);
		record.event = &e.event;
		assert_int_equal(registry_put(r, &record), 0);
	}
	return r;
}

int steps_take(struct engine *g, const struct step *s)
{
	struct {
		struct ktau_slot slot;
		union {
			struct ktau_slot_switch to;
			struct ktau_slot_waking waking;
		};
	} slot = { .slot = { .ticks = s->ns, .type = (uint8_t)s->type, .words = 4 },
		   .to.state = (uint32_t)s->value };
	struct timeline_frame call = { .id = FUTEX };
	struct user_slot mark = {
		.ticks = s->ns,
		.value = s->value,
		.type = s->peer ? USER_MESSAGE : USER_VALUE,
		.peer = s->peer,
	};
	struct timeline_frame frame = { .id = s->id };
	struct track track = { .serial = s->serial, .cpu = 3, .frames = &frame };
	const struct timeline_event e = {
		.track = &track,
		.slot = &slot.slot,
		.type = s->type,
		.id = s->id,
		.ns = s->ns,
		.frame = &frame,
		.from_ns = s->ns,
		.mark = &mark,
		.lost = s->value,
		.off = (enum timeline_off)s->value,
	};

	if (s->type == KTAU_TRACE_SWITCH) {
		track.frames = &call;
		track.depth = 1;
	} else if (s->type == KTAU_TRACE_WAKING) {
		slot.slot.ctx = (uint8_t)s->id;
		slot.waking.serial = s->value;
	}
	track.owner = (struct ktau_rec_owner){
		.rec.type = KTAU_REC_OWNER,
		.serial = s->serial,
		.tid = (int32_t)s->serial,
		.comm = "task",
	};
	return engine_event(g, &e);
}

char *steps_intervals(struct engine *g)
{
	const struct times_interval *interval;
	char *text = NULL;
	uint32_t label;
	size_t size, i;
	FILE *out = open_memstream(&text, &size);

	for (i = 0; i < g->times.nr_intervals; i++) {
		interval = &g->times.intervals[i];
		label = engine_label(g, &g->times.rows[interval->row]);
		fprintf(out, "%d-%d %s %s\n", (int)interval->from_ns, (int)interval->to_ns,
			g->view->texts.texts[label], view_value_text(g, interval->value));
	}
	fclose(out);
	return text;
}

void steps_expect(steps_parse parse, const char *text, const struct step *steps,
		  char *(*text_of)(struct engine *g), const char *expected)
{
	struct registry *registry = steps_registry();
	struct symbolizer *symbols = symbolize_create(registry_events(registry), NULL);
	struct view_rules view = { 0 };
	struct engine *g;
	char *seen;

	assert_true(parse(&view, "v", text, strlen(text)));
	g = engine_create(&view, symbols);
	g->times.keep = true;
	for (; steps->ns; steps++)
		assert_int_equal(steps_take(g, steps), 0);
	assert_true(times_finish(&g->times, 100));
	seen = text_of(g);
	assert_string_equal(seen, expected);
	free(seen);
	engine_destroy(g);
	view_deinit(&view);
	symbolize_destroy(symbols);
	registry_destroy(registry);
}
