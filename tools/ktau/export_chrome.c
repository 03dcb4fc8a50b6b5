// SPDX-License-Identifier: GPL-2.0-only
/*
 * Chrome's JSON trace format, for Perfetto, speedscope and DevTools: duration events B
 * and E, with times in microseconds with three decimals, and one thread per track.
 */
#include <inttypes.h>

#include "export.h"
#include "table.h"

/* All idle tasks have tid 0. Give each CPU's idle task a tid that no task can have. */
#define IDLE_TID	0x40000000

static int32_t shown_tid(const struct track *track)
{
	if (track->owner.flags & KTAU_OWNER_IDLE)
		return IDLE_TID + (int32_t)track->owner.cpu;
	return track->owner.tid;
}

/* Each event is an object on its own line; a comma precedes all but the first. */
static void put_event(struct export_run *x, const char *phase, const struct track *track)
{
	fprintf(x->out, ",\n{\"ph\":\"%s\",\"pid\":%d,\"tid\":%d", phase, track->owner.tgid,
		shown_tid(track));
}

static void put_time(struct export_run *x, const char *key, uint64_t ns)
{
	fprintf(x->out, ",\"%s\":%" PRIu64 ".%03" PRIu64, key, ns / 1000, ns % 1000);
}

static int begin(struct export_run *x)
{
	const struct ktau_rec_stream *stream = timeline_stream(x->timeline);

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

static int track(struct export_run *x, struct track *track)
{
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
 * speedscope ignores an E whose name is not that of its B, and one with the time of its B unless
 * the arguments are equal, too.
 */
static void put_exit(struct export_run *x, const struct timeline_event *e)
{
	int64_t result;

	put_event(x, "E", e->track);
	put_time(x, "ts", e->ns);
	fputs(",\"name\":", x->out);
	json_string(symbolize_event(x->names, e->id), x->out);
	if (e->ns == e->from_ns)
		fputs("}", x->out);
	else if (e->ended == ENDED_BY_END)
		fputs(",\"args\":{\"unfinished\":true}}", x->out);
	else if (e->ended == ENDED_BY_LOSS)
		fputs(",\"args\":{\"lost\":true}}", x->out);
	else if (e->slot && ktau_slot_result(e->slot, &result))
		fprintf(x->out, ",\"args\":{\"result\":%" PRId64 "}}", result);
	else
		fputs("}", x->out);
}

/* A pair, not an X: a reader's ts + dur can exceed the start of the next event by rounding. */
static void put_lost(struct export_run *x, const struct timeline_event *e)
{
	put_event(x, "B", e->track);
	put_time(x, "ts", e->ns);
	fprintf(x->out, ",\"name\":\"trace lost\",\"args\":{\"slots\":%" PRIu64 "}}", e->lost);
	put_event(x, "E", e->track);
	put_time(x, "ts", e->to_ns);
	fputs(",\"name\":\"trace lost\"}", x->out);
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

/* An instant of the thread. */
static void put_mark(struct export_run *x, const struct timeline_event *e)
{
	const struct user_slot *m = e->mark;

	put_event(x, "i", e->track);
	put_time(x, "ts", e->ns);
	fputs(",\"s\":\"t\",\"cat\":", x->out);
	json_string(symbolize_group(x->names, e->id), x->out);
	fputs(",\"name\":", x->out);
	json_string(symbolize_event(x->names, e->id), x->out);
	if (m->type == USER_VALUE)
		fprintf(x->out, ",\"args\":{\"value\":%" PRIu64 "}", m->value);
	else if (m->type == USER_MESSAGE)
		fprintf(x->out, ",\"args\":{\"peer\":%" PRId32 ",\"bytes\":%" PRIu64 "}", m->peer,
			m->value);
	fputs("}", x->out);
}

static int end(struct export_run *x)
{
	fputs("\n]}\n", x->out);
	return 0;
}

const struct exporter export_chrome = {
	.name = "chrome",
	.suffix = ".json",
	.opens = "Perfetto, speedscope, DevTools",
	.begin = begin,
	.track = track,
	.put = {
		[KTAU_TRACE_ENTER] = put_enter,
		[KTAU_TRACE_EXIT] = put_exit,
		[KTAU_TRACE_COUNT] = put_count,
	},
	.lost = put_lost,
	.mark = put_mark,
	.end = end,
};
