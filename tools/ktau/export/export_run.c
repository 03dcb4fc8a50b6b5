// SPDX-License-Identifier: GPL-2.0-only
/*
 * Reads the input of an export. Each record goes to the merged timeline and, if the format has
 * profiles, to the sums of the period, one host after the other.
 */
#include <errno.h>
#include <string.h>

#include "lib/cli.h"
#include "export.h"
#include "lib/report/hosts.h"

/**
 * struct input - state of reading
 * @x: the export
 * @sink: receives the merged sequence
 * @symtab: symbols of a map, or NULL
 * @file: current file
 * @reader: reader of @file
 * @started: a host has been started
 * @host: selects the streams of a machine
 * @elsewhere: the current stream is of a machine that is not selected
 * @period: profiles of the host
 * @rows: sums of @period
 * @task_err: what writing an exited task has returned
 * @totals: totals of all hosts
 */
struct input {
	struct export_run *x;
	struct timeline_sink sink;
	struct ktau_symtab *symtab;
	const char *file;
	struct ktau_reader *reader;
	struct host_filter host;
	bool started, elsewhere;
	struct period period;
	struct aggregate rows;
	int task_err;
	struct export_totals *totals;
};

/* TASK_IDLE is TASK_UNINTERRUPTIBLE with TASK_NOLOAD, and is reported as a bit of its own. */
enum { STATE_IDLE = 0x402, REPORTED = 0x7f, REPORTED_IDLE = 0x80 };

static const struct task_filter no_filter;
static const struct period_select whole_period = { .choice = PERIOD_ALL };

uint32_t export_state(uint32_t state)
{
	if ((state & STATE_IDLE) == STATE_IDLE)
		return REPORTED_IDLE;
	return state & (REPORTED | REPORTED_IDLE);
}

/* Called when there is something to write for the current host. */
static int enter_host(struct export_run *x)
{
	const struct exporter *format = x->format;
	int err = 0;

	if (x->entered)
		return 0;
	if (x->begun && !format->hosts) {
		complain("the input contains several boots or hosts, but --%s can hold only one: "
			 "export them separately", format->name);
		return -EIO;
	}
	x->host += x->begun;
	if (!x->begun && format->begin)
		err = format->begin(x);
	x->begun = x->entered = true;
	return err || !format->start_host ? err : format->start_host(x);
}

static int take_track(void *arg, struct track *track)
{
	struct export_run *x = arg;
	int err = enter_host(x);

	return err || !x->format->track ? err : x->format->track(x, track);
}

void export_put(struct export_run *x, const struct timeline_event *e)
{
	export_put_fn put = NULL;

	if (e->type == TIMELINE_LOST)
		put = x->format->lost;
	else if (e->type == TIMELINE_MARK)
		put = x->format->mark;
	else if (e->type == TIMELINE_GONE)
		put = x->format->gone;
	else if (e->type <= UINT8_MAX)
		put = x->format->put[e->type];
	if (put)
		put(x, e);
}

static int take_event(void *arg, const struct timeline_event *e)
{
	struct export_run *x = arg;
	int err = x->entered ? 0 : enter_host(x);

	if (!err && x->format->event)
		err = x->format->event(x, e);
	else if (!err)
		export_put(x, e);
	if (!err && x->out && output_check(x->output, x->out))
		err = -EIO;
	return err;
}

static void take_task(void *arg, const struct process *p)
{
	struct input *in = arg;
	struct export_run *x = in->x;

	if (!in->task_err)
		in->task_err = enter_host(x);
	if (!in->task_err)
		in->task_err = x->format->task(x, p);
	if (!in->task_err && x->out && output_check(x->output, x->out))
		in->task_err = -EIO;
}

static int start_host(struct input *in, const struct ktau_rec_stream *stream)
{
	struct export_run *x = in->x;
	int err = period_init(&in->period, &in->rows);

	in->started = true;
	aggregate_init(&in->rows, BY_THREAD, &no_filter, in->period.registry);
	in->rows.regions = regions_create(x->options.region_names);
	in->rows.pass_on = x->format->task ? take_task : NULL;
	in->rows.arg = in;
	period_start(&in->period, &whole_period, 0);
	x->stream = *stream;
	x->entered = false;
	x->profile_from_ns = x->profile_to_ns = 0;
	x->period = &in->period;
	x->timeline = timeline_create(NULL, &in->sink);
	timeline_regions(x->timeline, x->options.region_names, in->period.registry);
	x->names = symbolize_create(registry_events(in->period.registry), in->symtab);
	return err;
}

static void add_counts(struct timeline_counts *to, const struct timeline_counts *c)
{
	to->slots += c->slots;
	to->enters += c->enters;
	to->lost += c->lost;
	to->gaps += c->gaps;
	to->half_exits += c->half_exits;
	to->half_enters += c->half_enters;
	to->unfinished += c->unfinished;
	to->clamped += c->clamped;
	to->misplaced += c->misplaced;
}

static int put_profiles(struct input *in)
{
	struct export_run *x = in->x;
	int err;

	if (!x->format->profile)
		return 0;
	if (in->period.streams)
		period_stop(&in->period);
	err = aggregate_finish(&in->rows, in->period.before, in->period.after);
	err = err ? err : in->task_err;
	if (err || !in->period.streams)
		return err;
	regions_sum(in->rows.regions, ktau_snapshot_stream(in->period.after), &x->regions);
	err = enter_host(x);
	in->totals->profiles += in->rows.nr + in->rows.passed_sum.tasks;
	return err ? err : x->format->profile(x);
}

/* End the host. After an error @err nothing more is written, but everything is freed. */
static int end_host(struct input *in, int err)
{
	struct export_run *x = in->x;
	int end_err = 0;

	if (!in->started)
		return err;
	if (!err)
		err = timeline_finish(x->timeline);
	if (!err)
		err = put_profiles(in);
	if (!err && x->entered && x->options.states)
		err = x->format->states(x, x->options.states);
	if (x->entered && x->format->end_host)
		end_err = x->format->end_host(x);
	in->totals->hosts += x->entered;
	add_counts(&in->totals->counts, timeline_counts(x->timeline));
	timeline_destroy(x->timeline);
	symbolize_destroy(x->names);
	region_sums_deinit(&x->regions);
	regions_destroy(in->rows.regions);
	aggregate_deinit(&in->rows);
	period_deinit(&in->period);
	in->started = false;
	return err ? err : end_err;
}

static void note_profiles(struct export_run *x, const struct ktau_rec_stream *stream)
{
	if (!x->profile_from_ns)
		x->profile_from_ns = stream->boottime_ns;
	x->profile_to_ns = stream->boottime_ns;
}

static int take_stream(struct input *in, const struct ktau_rec_stream *stream)
{
	int err = 0;

	in->elsewhere = !host_is_selected(&in->host, stream);
	if (in->elsewhere)
		return 0;
	if (in->started && !ktau_same_boot(&in->x->stream, stream))
		err = end_host(in, 0);
	if (!err && !in->started)
		err = start_host(in, stream);
	if (!err && stream->content == KTAU_REC_PROFILE)
		note_profiles(in->x, stream);
	if (!err && in->symtab && symbolize_fit_map(in->symtab, in->file, in->reader))
		err = -EIO;
	return err;
}

static int take_record(struct input *in, const union ktau_record *record)
{
	int err = 0;

	if (record->rec->type == KTAU_REC_STREAM)
		err = take_stream(in, record->stream);
	if (err || !in->started || in->elsewhere)
		return err;
	if (in->x->format->profile)
		err = period_put(&in->period, in->reader, record);
	else
		err = registry_put(in->period.registry, record);
	err = err ? err : in->task_err;
	return err ? err : timeline_put(in->x->timeline, in->reader, record);
}

static int read_file(struct input *in)
{
	struct progress progress = { 0 };
	union ktau_record record;
	uint64_t records = 0;
	int err = 0, read;

	while ((read = ktau_reader_next(in->reader, &record)) > 0 && !err) {
		progress_step(&progress, in->file, ++records);
		output_enter();
		err = take_record(in, &record);
		output_exit();
	}
	progress_end(&progress);
	return err ? err : read;
}

static void export_failed(const struct input *in, int err)
{
	switch (err) {
	case 0:
	case -EIO:
		return;
	case -ESTALE:
		complain("%s: begins before the previous file ended; files must be in time order",
			 in->file);
		return;
	case -EXDEV:
		complain("%s: is from a different boot or machine than what precedes it; select a "
			 "machine with --host=NAME",
			 in->file);
		return;
	case -ENOMEM:
		complain("out of memory");
		return;
	}
	complain("%s: %s", output_name(in->x->output), strerror(-err));
}

/* The undamaged part of a damaged file is exported. */
static int export_file(struct input *in, int *status)
{
	int err;

	if (ktau_reader_create(&in->reader))
		return -ENOMEM;
	err = ktau_reader_open_file(in->reader, in->file);
	if (err) {
		complain("%s", ktau_reader_error(in->reader));
		err = -EIO;
	} else {
		err = read_file(in);
	}
	if (err == -EBADMSG) {
		cli_reader_failed(in->reader, err);
		*status = CLI_FAILED;
		err = 0;
	}
	ktau_reader_destroy(in->reader);
	return err;
}

int export_files(struct export_run *x, char **files, int nr_files, struct ktau_symtab *symtab,
		 struct export_totals *totals)
{
	struct input in = {
		.x = x, .sink = { take_track, take_event, x }, .symtab = symtab,
		.totals = totals, .host.host = x->options.host,
	};
	int err = 0, end_err = 0, status = CLI_DONE, i;

	for (i = 0; !err && i < nr_files; i++) {
		in.file = files[i];
		err = export_file(&in, &status);
	}
	output_enter();
	err = end_host(&in, err);
	if (x->begun && x->format->end)
		end_err = x->format->end(x);
	output_exit();
	err = err ? err : end_err;
	export_failed(&in, err);
	if (!err && !x->begun && x->options.host) {
		complain("the input contains nothing of host %s", x->options.host);
		err = -EIO;
	} else if (!err && !x->begun) {
		complain("the input contains no trace%s: record one with trace=on",
			 x->format->profile ? " and no profile" : "");
		err = -EIO;
	}
	if (!err)
		return status;
	totals->hosts = 0;
	return CLI_FAILED;
}
