// SPDX-License-Identifier: GPL-2.0-only
#include <errno.h>
#include <fnmatch.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "collect.h"
#include "log.h"

/* A damaged block spoils the sums of a file for so many periods at most. */
#define FULL_EVERY 60

int collect_init(struct collect *collect, const struct config *config,
		 struct output *out, const char *root)
{
	*collect = (struct collect){
		.config = config,
		.out = out,
		.profile.content = KTAU_REC_PROFILE,
		.trace.content = KTAU_REC_TRACE,
	};
	if (root && (asprintf(&collect->profile.path, "%s/profile", root) < 0 ||
		     asprintf(&collect->trace.path, "%s/trace", root) < 0))
		return -ENOMEM;
	return 0;
}

static void stop(struct stream *stream)
{
	stream->active = false;
	ktau_record_free(stream->head);
	stream->head = NULL;
	stream->head_done = false;
}

void collect_new_file(struct collect *collect, const struct config *config)
{
	/* Profiles come again. Slots have left their rings: the stream goes on here. */
	stop(&collect->profile);
	if (!(config->info & CONFIG_TRACE))
		stop(&collect->trace);
	collect->trace.head_done = false;
	collect->trace.nr_records = 0;
	collect->config = config;
	collect->since_full = 0;
	baseline_clear(&collect->base);
}

static void deinit_stream(struct stream *stream)
{
	stop(stream);
	ktau_reader_destroy(stream->reader);
	free(stream->path);
}

void collect_deinit(struct collect *collect)
{
	deinit_stream(&collect->profile);
	deinit_stream(&collect->trace);
	baseline_clear(&collect->base);
}

static int compare_pids(const void *a, const void *b)
{
	int32_t x = *(const int32_t *)a, y = *(const int32_t *)b;

	return (x > y) - (x < y);
}

static bool in_list(const struct config *config, int32_t pid)
{
	return bsearch(&pid, config->pids, config->nr_pids, sizeof(pid), compare_pids);
}

static bool name_matches(const struct config *config, const char *comm)
{
	size_t i;

	for (i = 0; i < config->nr_names; i++)
		if (!fnmatch(config->names[i], comm, 0))
			return true;
	return false;
}

/* The kernel chooses among the living, this among the dead and by name. */
static bool wanted(const struct config *config, const struct ktau_owner *owner)
{
	switch (config->mode) {
	case CONFIG_SELF:
		return owner->tgid == getpid();
	case CONFIG_PID:
		return in_list(config, owner->tgid) || in_list(config, owner->tid);
	case CONFIG_NAME:
		return owner->kind != KTAU_OWNER_REAPED && name_matches(config, owner->comm);
	default:
		return true;
	}
}

/*
 * Of a task that has not run nothing is read or written. That it lives on is
 * certain only where the dead are read too.
 */
static uint32_t all_tasks(const struct collect *collect, const struct stream *stream)
{
	if (stream->content != KTAU_REC_PROFILE)
		return KTAU_TARGET_ALL;
	if (collect->full || !collect->config->exited)
		return KTAU_TARGET_ALL | KTAU_TARGET_REAPED;
	return KTAU_TARGET_CHANGED | KTAU_TARGET_REAPED;
}

static void make_query(const struct collect *collect, const struct stream *stream,
		       struct ktau_query *query)
{
	const struct config *config = collect->config;

	*query = (struct ktau_query){
		.content = stream->content,
		.dead_since = stream->dead_since,
	};
	switch (config->mode) {
	case CONFIG_SELF:
		query->target = KTAU_TARGET_SELF;
		query->flags = KTAU_SELECT_THREADS;
		break;
	case CONFIG_PID:
		query->target = KTAU_TARGET_LIST;
		query->flags = KTAU_SELECT_THREADS;
		query->tids = config->pids;
		query->nr_tids = config->nr_pids;
		break;
	case CONFIG_NAME:
		query->target = all_tasks(collect, stream);
		break;
	case CONFIG_ALL:
		query->target = all_tasks(collect, stream);
		if (stream->content == KTAU_REC_PROFILE)
			query->target |= KTAU_TARGET_CPU;
		break;
	}
	if (config->exited && config->mode != CONFIG_SELF)
		query->target |= KTAU_TARGET_DEAD;
}

static int start(struct collect *collect, struct stream *stream)
{
	struct ktau_query query;
	int err;

	make_query(collect, stream, &query);
	if (stream->reader && !stream->path) {
		err = ktau_reader_restart(stream->reader, &query);
	} else {
		if (!stream->reader) {
			err = ktau_reader_create(&stream->reader);
			if (err)
				return err;
		}
		err = stream->path ? ktau_reader_open_file(stream->reader, stream->path) :
				     ktau_reader_open_live(stream->reader, &query);
	}
	if (err)
		return err;
	stream->active = true;
	stream->nr_records = 0;
	return 0;
}

static void put_head(struct collect *collect, struct stream *stream)
{
	if (stream->head_done || !stream->head)
		return;
	output_stream(collect->out, collect->config, stream->head);
	stream->head_done = true;
}

static void put_owner(struct collect *collect, struct stream *stream,
		      const struct ktau_rec *record)
{
	put_head(collect, stream);
	output_record(collect->out, record);
	stream->nr_records++;
}

static void handle_profile(struct collect *collect, const struct ktau_rec_profile *profile)
{
	struct ktau_rec_profile *diff = NULL;

	if (profile->owner.kind == KTAU_OWNER_DEAD)
		baseline_forget(&collect->base, profile->owner.serial);
	/* Some died between two streams and were summed up before they were read. */
	if (profile->owner.kind == KTAU_OWNER_REAPED && collect->profile.changed &&
	    profile->owner.dead_seq > collect->profile.dead_since)
		collect->since_full = 0;
	if (!wanted(collect->config, &profile->owner))
		return;
	/* Only the living come again. */
	if (!collect->config->cumulative && profile->owner.kind == KTAU_OWNER_TASK)
		diff = baseline_update(&collect->base, profile);
	put_owner(collect, &collect->profile, diff ? &diff->rec : &profile->rec);
	ktau_record_free(diff);
}

/* Of several records of a ring the first one says how much there was to read. */
static void note_fill(struct collect *collect, const struct ktau_rec_trace *trace)
{
	double fill = 1;

	if (trace->owner.kind != KTAU_OWNER_TASK || !trace->ring_slots)
		return;
	if (!trace->lost)
		fill = (double)(trace->written - trace->first) / trace->ring_slots;
	if (fill > collect->fullest)
		collect->fullest = fill;
}

static void handle_trace(struct collect *collect, const struct ktau_rec_trace *trace)
{
	note_fill(collect, trace);
	if ((!trace->nr_slots && !trace->lost) || !wanted(collect->config, &trace->owner))
		return;
	collect->lost_slots += trace->lost;
	put_owner(collect, &collect->trace, &trace->rec);
}

static void handle_end(struct collect *collect, struct stream *stream,
		       const struct ktau_rec_end *end)
{
	struct ktau_rec_end copy = *end;

	/* A trace stream in which nothing was new leaves nothing behind. */
	if (stream->content == KTAU_REC_PROFILE)
		put_head(collect, stream);
	if (stream->head_done) {
		copy.nr_records = stream->nr_records;
		copy.rec.size = sizeof(copy);
		copy.rec.head = sizeof(copy);
		output_record(collect->out, &copy.rec);
	}
	if (stream->content == KTAU_REC_TRACE && stream->ended)
		collect->reaped_slots += end->lost_reaped - stream->lost_reaped;
	stream->ended = true;
	stream->lost_reaped = end->lost_reaped;
	stream->dead_since = end->dead_next;
	if (stream->content == KTAU_REC_PROFILE && !stream->changed)
		baseline_sweep(&collect->base);
}

static int handle(struct collect *collect, struct stream *stream, union ktau_record record)
{
	switch (record.rec->type) {
	case KTAU_REC_STREAM:
		ktau_record_free(stream->head);
		stream->head = ktau_record_dup(record.rec);
		stream->changed = record.stream->target & KTAU_TARGET_CHANGED;
		if (stream->content == KTAU_REC_TRACE)
			collect->fullest = 0;
		return stream->head ? 0 : -ENOMEM;
	case KTAU_REC_PROFILE:
		if (stream->content == KTAU_REC_PROFILE)
			handle_profile(collect, record.profile);
		return 0;
	case KTAU_REC_TRACE:
		if (stream->content == KTAU_REC_TRACE)
			handle_trace(collect, record.trace);
		return 0;
	case KTAU_REC_END:
		handle_end(collect, stream, record.end);
		return 0;
	default:
		return 0;
	}
}

/* Until the stream ends or the output is blocked: then it stays active. */
static int pump(struct collect *collect, struct stream *stream)
{
	union ktau_record record;
	int err;

	while (!output_blocked(collect->out)) {
		err = ktau_reader_next(stream->reader, &record);
		if (err > 0)
			err = handle(collect, stream, record);
		else if (!err) {
			stop(stream);
			return 0;
		}
		if (err) {
			stop(stream);
			return err;
		}
	}
	return 0;
}

static const char *reason(const struct stream *stream, int err)
{
	const char *text = stream->reader ? ktau_reader_error(stream->reader) : "";

	return *text ? text : strerror(-err);
}

/*
 * What goes wrong once a period is told once. The next stream begins with a new
 * descriptor and in full.
 */
static int conclude(struct collect *collect, struct stream *stream, int err)
{
	if (err && err != stream->last_error)
		log_error("%s", reason(stream, err));
	stream->last_error = err;
	if (err) {
		ktau_reader_destroy(stream->reader);
		stream->reader = NULL;
		collect->since_full = 0;
	}
	return err;
}

static int run(struct collect *collect, struct stream *stream)
{
	int err = start(collect, stream);

	if (!err)
		err = pump(collect, stream);
	return conclude(collect, stream, err);
}

static void resume(struct collect *collect, struct stream *stream)
{
	if (stream->active)
		conclude(collect, stream, pump(collect, stream));
}

bool collect_resume(struct collect *collect)
{
	if (!output_flush(collect->out))
		return false;
	resume(collect, &collect->profile);
	resume(collect, &collect->trace);
	return output_flush(collect->out);
}

int collect_traces(struct collect *collect)
{
	if (!collect_resume(collect))
		return 0;
	return run(collect, &collect->trace);
}

static int run_profile(struct collect *collect)
{
	collect->full = !collect->since_full;
	if (collect->full)
		baseline_clear(&collect->base);
	collect->since_full = (collect->since_full + 1) % FULL_EVERY;
	return run(collect, &collect->profile);
}

int collect_period(struct collect *collect)
{
	int err = 0, trace_err = 0;

	if (!collect_resume(collect)) {
		collect->lost_periods++;
		return 0;
	}
	if (collect->config->info & CONFIG_PROFILE)
		err = run_profile(collect);
	if (collect->config->info & CONFIG_TRACE && !output_blocked(collect->out))
		trace_err = run(collect, &collect->trace);
	if (!err)
		err = trace_err;
	if (err)
		collect->failed_periods++;
	else
		collect->periods++;
	output_flush(collect->out);
	return err;
}

int collect_trace_fd(const struct collect *collect)
{
	if (!(collect->config->info & CONFIG_TRACE) || !collect->trace.reader ||
	    collect->trace.path)
		return -1;
	return ktau_reader_fd(collect->trace.reader);
}
