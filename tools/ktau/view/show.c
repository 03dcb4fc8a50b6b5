// SPDX-License-Identifier: GPL-2.0-only
#include <errno.h>
#include <stdlib.h>
#include <string.h>

#include "lib/cli.h"
#include "lib/report/hosts.h"
#include "lib/report/registry.h"
#include "lib/symbolize.h"
#include "analyse/records.h"
#include "analyse/timeline.h"
#include "draw.h"
#include "engine.h"
#include "print.h"
#include "show.h"

/**
 * struct reading - a view of the files
 * @options: the options
 * @view: the view
 * @registry: the events of all files
 * @timeline: merges the traces
 * @engine: applies the view
 * @host: selects the streams of a machine
 * @elsewhere: the current stream is of a machine that is not selected
 * @stream: the first stream that is, whose boot is that of all others
 * @end_ticks: time of the last stream with traces
 * @first_ns: time of the first event
 * @err: error of the engine
 */
struct reading {
	const struct view_show *options;
	struct view_rules *view;
	struct registry *registry;
	struct timeline *timeline;
	struct engine *engine;
	struct host_filter host;
	struct symbolize_map map;
	bool elsewhere;
	struct ktau_rec_stream stream;
	uint64_t end_ticks, first_ns;
	int err;
};

/* Reading */

static uint64_t moment_boottime(const struct moment *m, const struct reading *r)
{
	const struct ktau_rec_stream *stream = timeline_stream(r->timeline);

	if (m->relative)
		return r->first_ns + m->ns;
	return m->ns - stream->realtime_ns + stream->boottime_ns;
}

/* The time of the view is known when the first event is. */
static int take_event(void *arg, const struct timeline_event *e)
{
	struct reading *r = arg;
	struct times *times = &r->engine->times;

	if (!r->engine->events) {
		r->first_ns = times->from_ns = e->ns;
		if (r->options->from.given)
			times->from_ns = moment_boottime(&r->options->from, r);
		if (r->options->to.given)
			times->to_ns = moment_boottime(&r->options->to, r);
		if (r->options->live && times->from_ns < r->first_ns)
			times->from_ns = r->first_ns;
	}
	if (!r->err)
		r->err = engine_event(r->engine, e);
	return 0;
}

/*
 * The serials and ids of another boot have other meanings. Return: 0; -EXDEV if a selected stream
 * is of another boot.
 */
static int take_stream(struct reading *r, const struct ktau_rec_stream *stream)
{
	r->elsewhere = !host_is_selected(&r->host, stream);
	if (r->elsewhere)
		return 0;
	if (!r->stream.magic)
		r->stream = *stream;
	if (stream->content == KTAU_REC_TRACE)
		r->end_ticks = stream->ticks;
	return ktau_same_boot(&r->stream, stream) ? 0 : -EXDEV;
}

static int take_record(void *arg, const struct ktau_reader *reader,
		       const union ktau_record *record)
{
	struct reading *r = arg;
	int err = 0;

	/* The engine is full: what follows is not used. */
	if (r->err)
		return 0;
	if (record->rec->type == KTAU_REC_STREAM)
		err = take_stream(r, record->stream);
	if (err || r->elsewhere || !symbolize_map_record(&r->map, reader, record))
		return err;
	err = registry_put(r->registry, record);
	return err ? err : timeline_put(r->timeline, reader, record);
}

static int read_files(struct reading *r)
{
	int status = CLI_DONE, i;

	for (i = 0; i < r->options->nr_files && !r->err; i++) {
		symbolize_map_begin(&r->map, r->options->files[i]);
		status |= records_read(r->options->files[i], false, take_record, r);
	}
	if (!r->err)
		timeline_finish(r->timeline);
	return r->err || r->map.misfit ? CLI_FAILED : status;
}

/* Output */

/* The name of an event of the recording that is similar; NULL if there is none. */
static const char *nearest_name(struct reading *r, const char *name)
{
	const struct ktau_events *events = registry_events(r->registry);
	unsigned int best = (unsigned int)strlen(name) / 2 + 1, distance;
	const struct ktau_rec_event *event = NULL;
	const char *nearest = NULL, *other;

	while ((event = ktau_events_next(events, event))) {
		other = symbolize_event(r->engine->fields.names, event->id);
		distance = view_distance(name, other);
		if (distance < best) {
			best = distance;
			nearest = other;
		}
	}
	return nearest;
}

/* Is @h the first handler of its event? */
static bool is_first(const struct view_rules *view, const struct view_handler *h)
{
	const struct view_handler *other;

	for (other = view->handlers; other < h; other++)
		if (other->event == h->event && other->prefix == h->prefix &&
		    (!h->name || !strcmp(other->name, h->name)))
			return false;
	return true;
}

/* "'enter sys_reed' (a similar name is 'sys_read')" */
static void print_missing(struct reading *r, const struct view_handler *h, FILE *out)
{
	const char *nearest = h->name ? nearest_name(r, h->name) : NULL;

	fprintf(out, "'%s%s%s%s'", view_event_name(h->event), h->name ? " " : "",
		h->name ? h->name : "", h->prefix ? "*" : "");
	if (nearest)
		fprintf(out, " (a similar name is '%s')", nearest);
}

/* "no event 'user a', 'user b', 'user c' and 4 others of the view" */
static void print_events(struct reading *r, FILE *out)
{
	enum { NAMED = 3 };
	const struct view_rules *view = r->view;
	const struct view_handler *h;
	size_t missing = 0;

	for (h = view->handlers; h < view->handlers + view->nr_handlers; h++) {
		if (h->matched || !is_first(view, h))
			continue;
		if (missing < NAMED) {
			fputs(missing ? ", " : "no event ", out);
			print_missing(r, h, out);
		}
		missing++;
	}
	if (missing > NAMED)
		fprintf(out, " and %zu others of the view", missing - NAMED);
	if (!missing)
		fputs("all events of the view", out);
}

/* No event has changed a state: say which events of the view there are not. */
static void explain(struct reading *r)
{
	char *events = NULL;
	size_t size;
	FILE *out = open_memstream(&events, &size);

	if (out) {
		print_events(r, out);
		fclose(out);
	}
	complain("%s: no row of the view has a state in this time: the recording has %s",
		 r->options->files[0], events ? events : "other events");
	free(events);
}

static bool has_rows(const struct times *times)
{
	size_t i;

	for (i = 0; i < times->nr_rows; i++)
		if (times->rows[i].known)
			return true;
	return false;
}

/* Is the time of the view one of the trace? Prints a message if not. */
static bool is_in_trace(const struct reading *r, uint64_t end_ns)
{
	const struct times *times = &r->engine->times;
	const bool open = times->to_ns == UINT64_MAX;

	if (times->from_ns >= r->first_ns && times->from_ns < (open ? end_ns : times->to_ns) &&
	    (open || times->to_ns <= end_ns))
		return true;
	complain("%s: the times are not within the trace, which is %.6f s long",
		 r->options->files[0], (double)(end_ns - r->first_ns) / 1e9);
	return false;
}

/* Give the rows to the caller, or print them. */
static int print(struct reading *r)
{
	const struct view_show *o = r->options;

	if (o->take) {
		o->take(r->engine, o->arg);
		return CLI_DONE;
	}
	if (o->format == FORMAT_TEXT)
		view_print_title(r->engine, o->files[0], stdout);
	/* With too many intervals, there is no picture. */
	if (o->format == FORMAT_TEXT && o->picture && !o->intervals && r->engine->times.keep)
		view_draw(r->engine, table_width(stdout), stdout);
	if (o->intervals)
		view_print_intervals(r->engine, o->format);
	else
		view_print_sums(r->engine, o->format);
	return CLI_DONE;
}

static int show(struct reading *r)
{
	struct times *times = &r->engine->times;
	const char *file = r->options->files[0];
	uint64_t end_ns = ktau_clock_boottime_ns(timeline_clock(r->timeline), r->end_ticks);
	bool exact;

	if (end_ns < r->engine->end_ns)
		end_ns = r->engine->end_ns;
	if (!is_in_trace(r, end_ns))
		return CLI_FAILED;
	exact = times_finish(times, end_ns);
	if (times->full)
		complain("%s: more than %zu intervals or states: raise --max-states, or select a "
			 "part with --from and --to",
			 file, times->most);
	else if (!exact)
		complain("%s: internal error: the times do not add up", file);
	else if (!has_rows(times) && !r->options->live)
		explain(r);
	else
		return print(r);
	return CLI_FAILED;
}

/* The engine had no room, which has ended the reading. */
static void explain_full(const struct reading *r)
{
	const struct engine *engine = r->engine;
	const char *file = r->options->files[0];

	if (engine->times.full)
		complain("%s: more than %zu intervals or states: raise --max-states, or select a "
			 "part with --from and --to",
			 file, engine->times.most);
	else
		complain("%s: the view makes more than %d attributes, values on stacks or strings",
			 file, TREE_MOST);
}

static int read_and_show(const struct view_show *o, struct view_rules *view,
			 struct ktau_symtab *symtab)
{
	struct reading r = {
		.options = o,
		.view = view,
		.registry = registry_create(),
		.host.host = o->host,
		.map.symtab = symtab,
	};
	struct symbolizer *names = symbolize_create(registry_events(r.registry), symtab);
	const struct timeline_sink sink = { NULL, take_event, &r };
	int status;

	r.engine = engine_create(view, names);
	r.engine->times.most = o->max_states;
	r.engine->times.keep =
		o->intervals || o->take || (o->picture && o->format == FORMAT_TEXT);
	r.engine->times.spare = !o->intervals && !o->take;
	r.engine->fields.timeline = r.timeline = timeline_create(NULL, &sink);
	timeline_regions(r.timeline, o->region_names, r.registry);
	status = read_files(&r);
	if (r.err) {
		explain_full(&r);
	} else if (r.map.misfit) {
		;	/* Its names would be wrong. */
	} else if (r.engine->events) {
		status |= show(&r);
	} else if (!status && o->host && !r.stream.magic) {
		complain("%s: contains nothing of host %s", o->files[0], o->host);
		status = CLI_FAILED;
	} else if (!status && !o->live) {
		complain("%s: has no trace: record one with ktaud --info=both", o->files[0]);
		status = CLI_FAILED;
	}
	timeline_destroy(r.timeline);
	engine_destroy(r.engine);
	symbolize_destroy(names);
	registry_destroy(r.registry);
	return status;
}

int view_show_files(const struct view_show *o, struct view_rules *view)
{
	struct ktau_symtab *symtab = NULL;
	int status;

	if (o->map && symbolize_load_map(&symtab, o->map))
		return CLI_FAILED;
	status = read_and_show(o, view, symtab);
	ktau_symtab_destroy(symtab);
	return status;
}
