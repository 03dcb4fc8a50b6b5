// SPDX-License-Identifier: GPL-2.0-only
/*
 * A TAU trace in the form that tau_merge writes: tau.trc contains records of 24 bytes in time
 * order, and tau.edf describes their events. A node is a process. Times are microseconds.
 */
#include <errno.h>
#include <inttypes.h>
#include <stdlib.h>
#include <string.h>

#include "lib/cli.h"
#include "export.h"
#include "export_tau.h"

enum { NR_IDS = 65536, US = 1000 };

/* TAU's own events. */
enum { EV_INIT = 60000, EV_FLUSH_ENTER, EV_FLUSH_EXIT, EV_CLOSE, EV_INITM, EV_WALL_CLOCK,
       EV_CONT_EVENT, EV_MESSAGE_SEND, EV_MESSAGE_RECV };

static const struct {
	int id;
	const char *rest;
} special[] = {
	{ EV_INIT, "TRACER 0 \"EV_INIT\" none" },
	{ EV_FLUSH_ENTER, "TRACER 0 \"FLUSH_ENTER\" none" },
	{ EV_FLUSH_EXIT, "TRACER 0 \"FLUSH_EXIT\" none" },
	{ EV_CLOSE, "TRACER 0 \"FLUSH_CLOSE\" none" },
	{ EV_INITM, "TRACER 0 \"FLUSH_INITM\" none" },
	{ EV_WALL_CLOCK, "TRACER 0 \"WALL_CLOCK\" none" },
	{ EV_CONT_EVENT, "TRACER 0 \"CONT_EVENT\" none" },
	{ EV_MESSAGE_SEND, "TAU_MESSAGE -7 \"MESSAGE_SEND\" par" },
	{ EV_MESSAGE_RECV, "TAU_MESSAGE -8 \"MESSAGE_RECV\" par" },
};

enum { NR_SPECIAL = sizeof(special) / sizeof(*special), LOST = 1, INIT_PARAMETER = 3 };

struct tau_record {
	int32_t event;
	uint16_t node, thread;
	int64_t parameter;
	uint64_t us;
};

/**
 * struct tau_track - a task
 * @started: its first records have been written
 * @lost_until: end of the current gap; 0 if there is none
 */
struct tau_track {
	struct tau_ids ids;
	bool started;
	uint64_t lost_until;
};

/**
 * struct tau_trace - state of an export
 * @numbers: numbers of event ids in the trace; 0 if an id does not occur
 * @ids: event id of each number
 * @nr: number of events; event 1 is "trace lost"
 * @ns: time of the last record
 */
struct tau_trace {
	FILE *out;
	struct tau_numbering numbering;
	struct tau_track *tracks;
	size_t nr_tracks;
	uint32_t numbers[NR_IDS];
	uint32_t ids[NR_IDS + 2];
	uint32_t nr;
	uint64_t ns;
};

static int begin(struct export_run *x)
{
	struct tau_trace *t = calloc(1, sizeof(*t));

	if (!t)
		return -ENOMEM;
	x->data = t;
	t->nr = LOST;
	t->out = output_add(x->output, "tau.trc");
	return t->out ? 0 : -EIO;
}

static int track(struct export_run *x, struct track *track)
{
	struct tau_trace *t = x->data;
	struct tau_ids ids;
	size_t i = t->nr_tracks;

	if (track->index < i && track->writer)
		return 0;
	if (track->index >= i) {
		t->nr_tracks = 2 * (size_t)track->index + 16;
		t->tracks = cli_alloc(t->tracks, t->nr_tracks, sizeof(*t->tracks));
		memset(t->tracks + i, 0, (t->nr_tracks - i) * sizeof(*t->tracks));
	}
	track->writer = 1;
	ids = tau_number(&t->numbering, &track->owner);
	if (ids.context > UINT16_MAX || ids.thread > UINT16_MAX) {
		complain("%s: a TAU trace cannot number more than 65536 processes or threads",
			 output_name(x->output));
		return -EIO;
	}
	t->tracks[track->index].ids = ids;
	return 0;
}

/* All tasks share one file, so no record may be older than the previous one. */
static void put(struct tau_trace *t, const struct tau_track *track, uint32_t event,
		int64_t parameter, uint64_t ns)
{
	struct tau_record record = {
		.event = (int32_t)event,
		.node = (uint16_t)track->ids.context, .thread = (uint16_t)track->ids.thread,
		.parameter = parameter,
	};

	if (ns > t->ns)
		t->ns = ns;
	record.us = t->ns / US;
	fwrite(&record, sizeof(record), 1, t->out);
}

static uint32_t number_of(struct tau_trace *t, uint32_t id)
{
	if (!t->numbers[id]) {
		t->numbers[id] = ++t->nr;
		t->ids[t->nr] = id;
	}
	return t->numbers[id];
}

static void put_wall_clock(struct export_run *x, struct tau_track *track, uint64_t ns)
{
	uint64_t realtime_ns = x->stream.realtime_ns - x->stream.boottime_ns + ns;

	put(x->data, track, EV_WALL_CLOCK, (int64_t)(realtime_ns / 1000000000), ns);
}

static void start(struct export_run *x, struct tau_track *track, uint64_t ns)
{
	struct tau_trace *t = x->data;

	track->started = true;
	put(t, track, EV_INIT, INIT_PARAMETER, ns);
	put_wall_clock(x, track, ns);
}

static int event(struct export_run *x, const struct timeline_event *e)
{
	struct tau_trace *t = x->data;
	struct tau_track *own = &t->tracks[e->track->index];
	uint64_t value = 0;

	if (!own->started)
		start(x, own, e->ns);
	if (own->lost_until)
		put(t, own, LOST, -1, own->lost_until);
	own->lost_until = 0;
	switch (e->type) {
	case KTAU_TRACE_ENTER:
		put(t, own, number_of(t, e->id), 1, e->ns);
		break;
	case KTAU_TRACE_EXIT:
		put(t, own, number_of(t, e->id), -1, e->ns);
		break;
	case KTAU_TRACE_COUNT:
		ktau_slot_count(e->slot, &value);
		put(t, own, number_of(t, e->id), (int64_t)value, e->ns);
		break;
	case TIMELINE_MARK:
		value = e->mark->type == USER_MARK ? 1 : e->mark->value;
		put(t, own, number_of(t, e->id), (int64_t)value, e->ns);
		break;
	case TIMELINE_LOST:
		put(t, own, LOST, 1, e->ns);
		own->lost_until = e->to_ns ? e->to_ns : 1;
		break;
	}
	return output_check(x->output, t->out) ? -EIO : 0;
}

static bool is_counter(struct export_run *x, uint32_t id)
{
	const struct ktau_rec_event *event =
		ktau_events_find(registry_events(x->period->registry), id);

	return event && event->kind == KTAU_KIND_COUNTER;
}

static int write_events(struct export_run *x)
{
	FILE *out = output_add(x->output, "tau.edf");
	struct tau_trace *t = x->data;
	char group[TAU_GROUP_BYTES];
	uint32_t i, id;

	if (!out)
		return -EIO;
	fprintf(out, "%" PRIu32 " dynamic_trace_events\n", t->nr + NR_SPECIAL);
	fputs("# FunctionId Group Tag \"Name Type\" Parameters\n", out);
	fprintf(out, "%d KTAU_LOST 0 \"trace lost  \" EntryExit\n", LOST);
	for (i = LOST + 1; i <= t->nr; i++) {
		id = t->ids[i];
		if (is_counter(x, id))
			fprintf(out, "%" PRIu32 " TAUEVENT 0 \"", i);
		else
			fprintf(out, "%" PRIu32 " %s 0 \"", i,
				tau_group(symbolize_group(x->names, id), group));
		tau_name(symbolize_event(x->names, id), out);
		fputs(is_counter(x, id) ? "\" TriggerValue\n" : "  \" EntryExit\n", out);
	}
	for (i = 0; i < NR_SPECIAL; i++)
		fprintf(out, "%d %s\n", special[i].id, special[i].rest);
	return output_close(x->output, out) ? -EIO : 0;
}

static int end_host(struct export_run *x)
{
	struct tau_trace *t = x->data;
	struct tau_track *own;

	for (own = t->tracks; own < t->tracks + t->nr_tracks; own++) {
		if (!own->started)
			continue;
		if (own->lost_until)
			put(t, own, LOST, -1, own->lost_until);
		/* A reader ends at the wall clock after the close, and never without one. */
		put(t, own, EV_CLOSE, 0, t->ns);
		put_wall_clock(x, own, t->ns);
	}
	return write_events(x);
}

static int end(struct export_run *x)
{
	struct tau_trace *t = x->data;
	int err = t->out && output_close(x->output, t->out) ? -EIO : 0;

	tau_numbering_deinit(&t->numbering);
	free(t->tracks);
	free(t);
	return err;
}

EXPORT_FORMAT(tau_trace) = {
	.name = "tau-trace",
	.suffix = ".tau-trace",
	.opens = "tau2slog2 for Jumpshot, and TAU's converters: a directory",
	.directory = true,
	.begin = begin,
	.track = track,
	.event = event,
	.end_host = end_host,
	.end = end,
};
