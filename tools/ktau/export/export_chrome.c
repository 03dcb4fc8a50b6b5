// SPDX-License-Identifier: GPL-2.0-only
/*
 * Chrome's JSON trace format, for Perfetto, speedscope and DevTools: duration events B
 * and E, with times in microseconds with three decimals, and one thread per track. Viewers know
 * threads by their pid and tid only, so no two tracks have the same.
 */
#include <inttypes.h>
#include <stdlib.h>

#include "lib/cli.h"
#include "analyse/point.h"
#include "export.h"
#include "lib/hash.h"
#include "lib/program_event.h"
#include "lib/table.h"

/* No task can have these: tids of idle tasks, which are all 0, and ids that are used again. */
enum { IDLE_TID = 0x40000000, AGAIN = 0x20000000, VIEW_PID = 0x30000000 };

/* What a track is called. */
struct ids {
	int32_t pid, tid;
};

/**
 * struct chrome - state of an export
 * @ids: ids by index of the track
 * @nr: length of @ids
 * @pids: serial of the first process with a pid
 * @tids: serial of the first thread with a tid
 * @again: ids of the others plus 1, by serial
 */
struct chrome {
	struct ids *ids;
	size_t nr;
	struct hash pids, tids, again;
};

/* A pid or tid that is used a second time gets a number of its own. */
static int32_t id_of(struct chrome *c, struct hash *users, int32_t id, uint64_t serial)
{
	uintptr_t user = hash_get(users, (uint32_t)id), again;

	if (!user)
		hash_put(users, (uint32_t)id, (uintptr_t)serial + 1);
	if (!user || user == (uintptr_t)serial + 1)
		return id;
	again = hash_get(&c->again, serial);
	if (!again) {
		again = c->again.nr + 1;
		hash_put(&c->again, serial, again);
	}
	return AGAIN + (int32_t)again - 1;
}

/* Each event is an object on its own line; a comma precedes all but the first. */
static void put_event(struct export_run *x, const char *phase, const struct track *track)
{
	const struct chrome *c = x->data;
	const struct ids *ids = &c->ids[track->index];

	fprintf(x->out, ",\n{\"ph\":\"%s\",\"pid\":%d,\"tid\":%d", phase, ids->pid, ids->tid);
}

static void put_time(struct export_run *x, const char *key, uint64_t ns)
{
	fprintf(x->out, ",\"%s\":%" PRIu64 ".%03" PRIu64, key, ns / 1000, ns % 1000);
}

static int begin(struct export_run *x)
{
	const struct ktau_rec_stream *stream = timeline_stream(x->timeline);
	struct chrome *c = cli_alloc(NULL, 1, sizeof(*c));

	*c = (struct chrome){ .nr = 0 };
	x->data = c;
	fputs("{\"displayTimeUnit\":\"ns\",\"otherData\":{\"host\":", x->out);
	json_string(stream->nodename, x->out);
	fputs(",\"release\":", x->out);
	json_string(stream->release, x->out);
	fputs("},\"traceEvents\":[\n{\"ph\":\"M\",\"pid\":0,\"name\":\"process_name\","
	      "\"args\":{\"name\":\"idle\"}}", x->out);
	return 0;
}

static void put_name(struct export_run *x, const struct track *track, const char *what)
{
	put_event(x, "M", track);
	fprintf(x->out, ",\"name\":\"%s\",\"args\":{\"name\":", what);
	json_string(track->owner.comm, x->out);
	fputs("}}", x->out);
}

static void put_label(struct export_run *x, const struct track *track)
{
	put_event(x, "M", track);
	fprintf(x->out, ",\"name\":\"process_labels\",\"args\":{\"labels\":\"pid %d\"}}",
		track->owner.tgid);
}

static int track(struct export_run *x, struct track *track)
{
	const struct ktau_rec_owner *o = &track->owner;
	uint64_t process = o->leader_serial ? o->leader_serial : o->serial;
	struct chrome *c = x->data;
	struct ids *ids;

	if (track->index >= c->nr) {
		c->nr = 2 * (size_t)track->index + 16;
		c->ids = cli_alloc(c->ids, c->nr, sizeof(*c->ids));
	}
	ids = &c->ids[track->index];
	*ids = (struct ids){ 0, IDLE_TID + (int32_t)o->cpu };
	if (!(o->flags & KTAU_OWNER_IDLE)) {
		ids->pid = id_of(c, &c->pids, o->tgid, process);
		ids->tid = id_of(c, &c->tids, o->tid, o->serial);
	}
	if (ids->pid != o->tgid)
		put_label(x, track);
	put_name(x, track, "thread_name");
	if (track->owner.tid && track->owner.tid == track->owner.tgid)
		put_name(x, track, "process_name");
	return 0;
}

static void put_enter(struct export_run *x, const struct timeline_event *e)
{
	put_event(x, "B", e->track);
	put_time(x, "ts", e->ns);
	fputs(",\"cat\":", x->out);
	json_string(symbolize_group(x->names, e->id), x->out);
	fputs(",\"name\":", x->out);
	json_string(symbolize_event(x->names, e->id), x->out);
	fputs("}", x->out);
}

/*
 * speedscope finds the B of an E by its name and arguments, and complains if it is not the last
 * one. Most arguments are known only at the end of a frame, so B and E have none.
 */
static void put_exit(struct export_run *x, const struct timeline_event *e)
{
	put_event(x, "E", e->track);
	put_time(x, "ts", e->ns);
	fputs(",\"name\":", x->out);
	json_string(symbolize_event(x->names, e->id), x->out);
	fputs("}", x->out);
}

/* A pair, not an X: a reader's ts + dur can exceed the start of the next event by rounding. */
static void put_lost(struct export_run *x, const struct timeline_event *e)
{
	int end;

	for (end = 0; end < 2; end++) {
		put_event(x, end ? "E" : "B", e->track);
		put_time(x, "ts", end ? e->to_ns : e->ns);
		fprintf(x->out, ",\"name\":\"trace lost\",\"args\":{\"slots\":%" PRIu64 "}}",
			e->lost);
	}
}

static void put_count(struct export_run *x, const struct timeline_event *e)
{
	uint64_t value = 0;

	ktau_slot_count(e->slot, &value);
	put_event(x, "C", e->track);
	put_time(x, "ts", e->ns);
	fputs(",\"name\":", x->out);
	json_string(symbolize_event(x->names, e->id), x->out);
	fprintf(x->out, ",\"args\":{\"value\":%" PRIu64 "}}", value);
}

/* All fields of an event of a program. Texts as JSON takes them, numbers as they are. */
static void put_fields(struct export_run *x, const struct timeline_event *e, const char *name)
{
	struct program_field field;
	struct program_walk walk;
	char key[PROGRAM_NAME];
	const char *comma = "";

	fputs(",\"args\":{", x->out);
	program_begin(&walk, name, e->slot);
	while (program_next(&walk, &field)) {
		snprintf(key, sizeof(key), "%.*s", (int)field.name_bytes, field.name);
		fputs(comma, x->out);
		json_string(key, x->out);
		fputc(':', x->out);
		if (field.type <= PROGRAM_S64)
			fputs(program_text(&field), x->out);
		else
			json_string(program_text(&field), x->out);
		comma = ",";
	}
	fputc('}', x->out);
}

/* An instant of the thread. */
static void put_mark(struct export_run *x, const struct timeline_event *e)
{
	const char *fields = symbolize_fields(x->names, e->id);
	const struct user_slot *m = e->mark;

	put_event(x, "i", e->track);
	put_time(x, "ts", e->ns);
	fputs(",\"s\":\"t\",\"cat\":", x->out);
	json_string(symbolize_group(x->names, e->id), x->out);
	fputs(",\"name\":", x->out);
	json_string(symbolize_event(x->names, e->id), x->out);
	if (fields)
		put_fields(x, e, fields);
	else if (m->type == USER_VALUE)
		fprintf(x->out, ",\"args\":{\"value\":%" PRIu64 "}", m->value);
	else if (m->type == USER_MESSAGE)
		fprintf(x->out, ",\"args\":{\"peer\":%" PRId32 ",\"bytes\":%" PRIu64 "}", m->peer,
			m->value);
	fputs("}", x->out);
}

/* Forks, segments of TCP and other points: instants of the thread. */
static void put_point(struct export_run *x, const struct timeline_event *e)
{
	struct point p;
	size_t i;

	if (!point_describe(&p, x->timeline, x->period->registry, e))
		return;
	put_event(x, "i", e->track);
	put_time(x, "ts", e->ns);
	fprintf(x->out, ",\"s\":\"t\",\"name\":\"%s\",\"args\":{", p.name);
	for (i = 0; i < p.nr; i++) {
		fprintf(x->out, "%s\"%s\":", i ? "," : "", p.args[i].name);
		if (p.args[i].text)
			json_string(p.args[i].text, x->out);
		else
			fprintf(x->out, "%" PRId64, p.args[i].number);
	}
	fputs("}}", x->out);
}

static void put_row_event(struct export_run *x, const char *phase, uint32_t row)
{
	fprintf(x->out, ",\n{\"ph\":\"%s\",\"pid\":%d,\"tid\":%d", phase, VIEW_PID,
		VIEW_PID + (int)row);
}

/* The view is a process, and its rows are the threads. */
static int put_states(struct export_run *x, const struct states *s)
{
	const struct states_interval *i;
	uint32_t row;
	int end;

	for (row = 0; row < s->nr_rows; row++) {
		put_row_event(x, "M", row);
		fputs(",\"name\":\"thread_name\",\"args\":{\"name\":", x->out);
		json_string(s->rows[row], x->out);
		fputs("}}", x->out);
	}
	put_row_event(x, "M", 0);
	fputs(",\"name\":\"process_name\",\"args\":{\"name\":", x->out);
	json_string(s->title, x->out);
	fputs("}}", x->out);
	for (i = s->intervals; i < s->intervals + s->nr_intervals; i++) {
		for (end = 0; end < 2; end++) {
			put_row_event(x, end ? "E" : "B", i->row);
			put_time(x, "ts", end ? i->to_ns : i->from_ns);
			fputs(",\"name\":", x->out);
			json_string(s->names[i->name].text, x->out);
			fputs("}", x->out);
		}
	}
	return 0;
}

static int end(struct export_run *x)
{
	struct chrome *c = x->data;

	fputs("\n]}\n", x->out);
	hash_deinit(&c->pids);
	hash_deinit(&c->tids);
	hash_deinit(&c->again);
	free(c->ids);
	free(c);
	return 0;
}

EXPORT_FORMAT(chrome) = {
	.name = "chrome",
	.suffix = ".json",
	.opens = "Perfetto, speedscope, DevTools",
	.begin = begin,
	.track = track,
	.put = {
		[KTAU_TRACE_ENTER] = put_enter,
		[KTAU_TRACE_EXIT] = put_exit,
		[KTAU_TRACE_COUNT] = put_count,
		[KTAU_TRACE_FORK] = put_point,
		[KTAU_TRACE_EXEC] = put_point,
		[KTAU_TRACE_TASK_EXIT] = put_point,
		[KTAU_TRACE_COMM] = put_point,
		[KTAU_TRACE_CGROUP] = put_point,
		[KTAU_TRACE_NET_SEND] = put_point,
		[KTAU_TRACE_NET_RECV] = put_point,
		[KTAU_TRACE_KVM_ENTER] = put_point,
		[KTAU_TRACE_KVM_EXIT] = put_point,
	},
	.lost = put_lost,
	.mark = put_mark,
	.states = put_states,
	.end = end,
};
