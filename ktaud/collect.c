// SPDX-License-Identifier: GPL-2.0-only
#include <errno.h>
#include <fcntl.h>
#include <inttypes.h>
#include <limits.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>
#include <sys/stat.h>
#include <unistd.h>

#include <ktau_bpf.h>

#include "collect.h"
#include "earlier.h"
#include "log.h"

/*
 * Every 60th stream has full profiles instead of differences, and begins a key block. A damaged
 * block therefore affects at most this many periods, and readers of a time window can start at
 * full streams. Without profiles, every 60th stream of traces begins a key block.
 */
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
	chosen_init(&collect->chosen);
	if (root && (asprintf(&collect->profile.path, "%s/profile", root) < 0 ||
		     asprintf(&collect->trace.path, "%s/trace", root) < 0))
		return -ENOMEM;
	return 0;
}

int collect_catch_up(struct collect *collect)
{
	int found = earlier_load(&collect->out->rotate, collect->out->dir, &collect->positions);

	if (found > 0) {
		collect->catch_up = CATCH_UP_READ;
		collect->positions.repeats = true;
	}
	return found < 0 ? found : 0;
}

static void stop(struct stream *stream)
{
	stream->active = false;
	ktau_record_free(stream->head);
	stream->head = NULL;
	stream->head_done = false;
	stream->last_serial = 0;
	stream->cut_ticks = 0;
}

void collect_new_file(struct collect *collect, const struct config *config)
{
	/*
	 * Profiles, including those of exited tasks, can be read again, so that the new file
	 * has all tasks that are evicted later. Consumed slots cannot be read again, so the
	 * rest of their stream goes to the new file.
	 */
	stop(&collect->profile);
	collect->profile.exited_since = 0;
	if (!(config->info & CONFIG_TRACE))
		stop(&collect->trace);
	collect->trace.head_done = false;
	collect->trace.nr_records = 0;
	collect->trace.last_serial = 0;
	if (!config->openmetrics)
		metrics_clear(&collect->metrics);
	collect->config = config;
	collect->since_full = 0;
	collect->since_key = 0;
	baseline_clear(&collect->base);
}

static void close_saved(struct stream *stream)
{
	if (stream->saved_fd)
		close(stream->saved_fd);
	stream->saved_fd = 0;
}

static void deinit_stream(struct stream *stream)
{
	stop(stream);
	ktau_reader_destroy(stream->reader);
	close_saved(stream);
	free(stream->path);
}

void collect_deinit(struct collect *collect)
{
	deinit_stream(&collect->profile);
	deinit_stream(&collect->trace);
	baseline_clear(&collect->base);
	positions_clear(&collect->positions);
	chosen_deinit(&collect->chosen);
	metrics_clear(&collect->metrics);
}

static bool name_matches(const struct config *config, const char *comm)
{
	size_t i;

	for (i = 0; i < config->nr_names; i++)
		if (ktau_glob_task(config->names[i], comm))
			return true;
	return false;
}

/* The kernel selects live tasks by tid. Exited tasks and names are selected here. */
static bool wanted(struct collect *collect, const struct ktau_rec_owner *owner)
{
	const struct config *config = collect->config;

	if (config->mode == CONFIG_ALL)
		return true;
	if (!owner)
		return false;
	switch (config->mode) {
	case CONFIG_SELF:
		return owner->tgid == getpid();
	case CONFIG_PID:
		return chosen_has(&collect->chosen, config, owner);
	case CONFIG_NAME:
		return owner->kind != KTAU_OWNER_EVICTED && name_matches(config, owner->comm);
	default:
		return true;
	}
}

/*
 * Tasks that have not run are not read. A reader can only conclude that such a task is still alive
 * if exited tasks are read as well.
 */
static uint32_t all_tasks(const struct collect *collect, const struct stream *stream)
{
	if (stream->content != KTAU_REC_PROFILE)
		return KTAU_TARGET_ALL;
	if (collect->full || !collect->config->exited)
		return KTAU_TARGET_ALL | KTAU_TARGET_EVICTED;
	return KTAU_TARGET_CHANGED | KTAU_TARGET_EVICTED;
}

static void begin_query(const struct collect *collect, const struct stream *stream,
			struct ktau_query *query)
{
	*query = (struct ktau_query){
		.content = stream->content,
		.exited_since = stream->exited_since,
	};
	if (stream->content == KTAU_REC_PROFILE)
		query->since_ticks = stream->began_ticks;
	else if (collect->catch_up != CATCH_UP_READ)
		query->flags = KTAU_SELECT_CONSUME;
}

static void make_query(const struct collect *collect, const struct stream *stream,
		       struct ktau_query *query)
{
	const struct config *config = collect->config;

	begin_query(collect, stream, query);
	switch (config->mode) {
	case CONFIG_SELF:
		query->target = KTAU_TARGET_SELF;
		query->flags |= KTAU_SELECT_THREADS;
		break;
	case CONFIG_PID:
		query->target = KTAU_TARGET_LIST;
		query->flags |= KTAU_SELECT_THREADS;
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
		query->target |= KTAU_TARGET_EXITED;
}

/* The kernel leaves out tasks that do not match the filters. */
static int add_filters(const struct config *config, struct ktau_query *query)
{
	int err;

	if (config->uid_given) {
		query->flags |= KTAU_SELECT_UID;
		query->uid = config->uid;
	}
	if (config->tag) {
		query->flags |= KTAU_SELECT_TAG;
		query->tag = config->tag;
	}
	if (!config->cgroup)
		return 0;
	query->flags |= KTAU_SELECT_CGROUP;
	err = ktau_cgroup_id(config->cgroup, &query->cgroup);
	if (err)
		log_error("cannot use control group %s: %s", config->cgroup, strerror(-err));
	return err;
}

/*
 * A saved stream may be replaced while ktaud runs. Opening a FIFO would wait for a writer, and
 * ktaud could not handle signals while it waits.
 */
static int open_saved(struct stream *stream)
{
	int fd = open(stream->path, O_RDONLY | O_NONBLOCK | O_CLOEXEC);
	struct stat st;

	if (fd < 0)
		return -errno;
	close_saved(stream);
	stream->saved_fd = fd;
	if (fstat(fd, &st) || !S_ISREG(st.st_mode))
		return -ESPIPE;
	return ktau_reader_open_fd(stream->reader, fd, stream->path);
}

/* Both streams are of the same programs, so that they are of the same tasks. */
static int open_bpf(const struct collect *collect, struct stream *stream,
		    const struct ktau_query *query)
{
	const struct stream *other = stream == &collect->trace ? &collect->profile :
								 &collect->trace;
	struct ktau_bpf_options options = collect->bpf_options;

	options.with = other->reader;
	return ktau_reader_open_bpf(stream->reader, &options, query);
}

static int open_stream(const struct collect *collect, struct stream *stream,
		       const struct ktau_query *query)
{
	int err = stream->reader ? 0 : ktau_reader_create(&stream->reader);

	if (err)
		return err;
	if (stream->path)
		return open_saved(stream);
	if (collect->bpf)
		return open_bpf(collect, stream, query);
	return ktau_reader_open_live(stream->reader, query);
}

static int start(struct collect *collect, struct stream *stream)
{
	struct ktau_query query;
	int err;

	make_query(collect, stream, &query);
	err = add_filters(collect->config, &query);
	if (err)
		return err;
	if (stream->reader && !stream->path)
		err = ktau_reader_restart(stream->reader, &query);
	else
		err = open_stream(collect, stream, &query);
	if (err)
		return err;
	stream->active = true;
	stream->nr_records = 0;
	return 0;
}

static bool begins_key(struct collect *collect, const struct stream *stream)
{
	if (stream->content == KTAU_REC_PROFILE)
		return collect->full;
	if (collect->config->info & CONFIG_PROFILE)
		return false;
	collect->since_key = (collect->since_key + 1) % FULL_EVERY;
	return !collect->since_key;
}

/*
 * Write the STREAM record and all names that the stream has given so far. The file may be new, and
 * the kernel does not repeat names. The writer skips names that the file already has.
 */
static void put_head(struct collect *collect, struct stream *stream)
{
	const struct ktau_rec_cgroup *cgroup = NULL;
	const struct ktau_rec_event *event = NULL;
	const struct ktau_rec_owner *owner = NULL;
	struct ktau_reader *reader = stream->reader;

	if (stream->head_done || !stream->head)
		return;
	output_stream(collect->out, collect->config, stream->head, begins_key(collect, stream));
	stream->head_done = true;
	while ((event = ktau_events_next(ktau_reader_events(reader), event)))
		output_record(collect->out, &event->rec);
	while ((cgroup = ktau_reader_next_cgroup(reader, cgroup)))
		output_record(collect->out, &cgroup->rec);
	while ((owner = ktau_reader_next_owner(reader, owner)))
		if (owner->flags & KTAU_OWNER_NAMED)
			output_record(collect->out, &owner->rec);
}

static void put_record(struct collect *collect, struct stream *stream,
		       const struct ktau_rec_owner *owner, const struct ktau_rec *record)
{
	put_head(collect, stream);
	if (owner && owner->serial != stream->last_serial) {
		output_record(collect->out, &owner->rec);
		stream->last_serial = owner->serial;
	}
	output_record(collect->out, record);
	stream->nr_records++;
}

/* A name precedes its use. Until the head has been written, put_head() writes the names. */
static void handle_name(struct collect *collect, struct stream *stream,
			const struct ktau_rec *record)
{
	if (stream->head_done)
		output_record(collect->out, record);
}

static void handle_owner(struct collect *collect, struct stream *stream,
			 const struct ktau_rec_owner *owner)
{
	if (owner->flags & KTAU_OWNER_NAMED)
		handle_name(collect, stream, &owner->rec);
}

static void handle_profile(struct collect *collect, const struct ktau_rec_profile *profile)
{
	struct stream *stream = &collect->profile;
	const struct ktau_rec_owner *owner = ktau_reader_owner(stream->reader, profile->serial);
	struct ktau_rec_profile *diff = NULL;

	if (owner && owner->kind == KTAU_OWNER_EXITED)
		baseline_forget(&collect->base, profile->serial);
	if (!wanted(collect, owner))
		return;
	/* Only live tasks have later profiles. */
	if (!collect->config->cumulative && owner && owner->kind == KTAU_OWNER_TASK)
		diff = baseline_update(&collect->base, &(struct ktau_owned){ owner, profile });
	put_record(collect, stream, owner, diff ? &diff->rec : &profile->rec);
	ktau_record_free(diff);
}

/* The regions of a task follow its profile; END does not count them. */
static void handle_region(struct collect *collect, const struct ktau_rec_region *region)
{
	struct stream *stream = &collect->profile;
	const struct ktau_rec_owner *owner = ktau_reader_owner(stream->reader, region->serial);

	if (wanted(collect, owner) && region->serial == stream->last_serial)
		output_record(collect->out, &region->rec);
}

/* Folded and evicted tasks have no later profiles. */
static void handle_gone(struct collect *collect, struct stream *stream,
			const struct ktau_rec_gone *gone)
{
	const uint64_t *serials = ktau_gone_serials(gone);
	uint32_t i;

	for (i = 0; i < gone->nr_serials; i++)
		baseline_forget(&collect->base, serials[i]);
	put_head(collect, stream);
	output_record(collect->out, &gone->rec);
}

/* The first of several records of a ring shows how full the ring was. */
static void note_fill(struct collect *collect, const struct ktau_rec_trace *trace,
		      const struct ktau_rec_owner *owner)
{
	double fill = 1;

	if (!owner || owner->kind != KTAU_OWNER_TASK || !trace->ring_slots)
		return;
	if (!trace->lost)
		fill = (double)(trace->written - trace->first) / trace->ring_slots;
	if (fill > collect->fullest)
		collect->fullest = fill;
}

/* Log the first loss of each kind; the files have all of them. */
static void report_missing(struct collect *collect, uint64_t nr)
{
	if (collect->catch_up != CATCH_UP_NONE && !collect->lost_missing)
		log_error("trace slots that an earlier ktaud had read, but not written, are lost");
	else if (collect->catch_up == CATCH_UP_NONE && !collect->told_missing)
		log_error("another process consumes the traces as well, so slots are missing in "
			  "this file");
	collect->told_missing |= collect->catch_up == CATCH_UP_NONE;
	collect->lost_missing += nr;
}

/* Only records of a stream that consumes, or catches up, continue those before. */
static int put_trace(struct collect *collect, const struct ktau_rec_owner *owner,
		     const struct ktau_rec_trace *trace)
{
	struct stream *stream = &collect->trace;
	struct positions *positions = &collect->positions;
	uint64_t missing = positions->missing;
	struct ktau_rec_trace *own = NULL;
	int ret = 1;

	if (stream->head && (stream->head->flags & KTAU_SELECT_CONSUME || positions->repeats))
		ret = positions_follow(positions, trace, stream->head->ticks, &own);
	if (ret <= 0)
		return ret;
	if (positions->missing > missing)
		report_missing(collect, positions->missing - missing);
	collect->lost_slots += own ? own->lost : trace->lost;
	if (own && own->lost_to_ticks > stream->cut_ticks)
		stream->cut_ticks = own->lost_to_ticks;
	put_record(collect, stream, owner, own ? &own->rec : &trace->rec);
	ktau_record_free(own);
	return 0;
}

static int handle_trace(struct collect *collect, const struct ktau_rec_trace *trace)
{
	const struct ktau_rec_owner *owner = ktau_reader_owner(collect->trace.reader,
							       trace->serial);

	note_fill(collect, trace, owner);
	if ((!trace->nr_slots && !trace->lost) || !wanted(collect, owner))
		return 0;
	return put_trace(collect, owner, trace);
}

/* After a stream of traces that was complete. Return: true if exited tasks are to be read again. */
static bool advance_catch_up(struct collect *collect)
{
	bool again = collect->catch_up == CATCH_UP_READ;

	collect->catch_up = again ? CATCH_UP_CONSUME : CATCH_UP_NONE;
	collect->positions.repeats = again;
	return again;
}

static void handle_end(struct collect *collect, struct stream *stream,
		       const struct ktau_rec_end *end)
{
	struct ktau_rec_end copy = *end;

	/* A trace stream without new slots is not written at all. */
	if (stream->content == KTAU_REC_PROFILE)
		put_head(collect, stream);
	if (stream->head_done) {
		copy.nr_records = stream->nr_records;
		if (copy.cut_ticks < stream->cut_ticks)
			copy.cut_ticks = stream->cut_ticks;
		copy.rec.size = sizeof(copy);
		copy.rec.head = sizeof(copy);
		output_record(collect->out, &copy.rec);
	}
	if (stream->content == KTAU_REC_TRACE && stream->ended)
		collect->evicted_slots += end->lost_evicted - stream->lost_evicted;
	stream->ended = true;
	stream->lost_evicted = end->lost_evicted;
	stream->exited_since = end->exited_next;
	/* The sum contains some tasks twice until everything has been read again. */
	if (stream->content == KTAU_REC_PROFILE && end->refused_gone) {
		stream->exited_since = 0;
		collect->since_full = 0;
	}
	if (stream->head)
		stream->began_ticks = stream->head->ticks;
	if (collect->config->mode == CONFIG_PID)
		chosen_end(&collect->chosen, collect->config);
	if (stream->content == KTAU_REC_TRACE && advance_catch_up(collect))
		stream->exited_since = 0;
	if (stream->content == KTAU_REC_PROFILE)
		baseline_end(&collect->base, !stream->changed);
}

/* A file has streams of one boot only, that of this machine. */
static bool is_this_boot(const uint8_t id[16])
{
	uint8_t own[16];

	return ktau_boot_id(own) || !memcmp(id, own, sizeof(own));
}

static int handle(struct collect *collect, struct stream *stream, union ktau_record record)
{
	switch (record.rec->type) {
	case KTAU_REC_STREAM:
		if (stream->path && !is_this_boot(record.stream->boot_id))
			return -ESTALE;
		ktau_record_free(stream->head);
		stream->head = ktau_record_dup(record.rec);
		stream->changed = record.stream->target & KTAU_TARGET_CHANGED;
		stream->last_serial = 0;
		if (stream->content == KTAU_REC_TRACE)
			collect->fullest = 0;
		return stream->head ? 0 : -ENOMEM;
	case KTAU_REC_EVENT:
	case KTAU_REC_CGROUP:
		handle_name(collect, stream, record.rec);
		return 0;
	case KTAU_REC_OWNER:
		handle_owner(collect, stream, record.owner);
		return 0;
	case KTAU_REC_PROFILE:
		if (stream->content == KTAU_REC_PROFILE)
			handle_profile(collect, record.profile);
		return 0;
	case KTAU_REC_REGION:
		if (stream->content == KTAU_REC_PROFILE)
			handle_region(collect, record.region);
		return 0;
	case KTAU_REC_TRACE:
		return stream->content == KTAU_REC_TRACE ? handle_trace(collect, record.trace) : 0;
	case KTAU_REC_GONE:
		handle_gone(collect, stream, record.gone);
		return 0;
	case KTAU_REC_END:
		handle_end(collect, stream, record.end);
		return 0;
	default:
		return 0;
	}
}

/* The totals are taken from what the kernel returns, before differences are made. */
static int count(struct collect *collect, const struct stream *stream,
		 const union ktau_record *record)
{
	int err;

	if (!collect->config->openmetrics || stream->content != KTAU_REC_PROFILE)
		return 0;
	err = metrics_add(&collect->metrics, record);
	if (!err && record->rec->type == KTAU_REC_END)
		metrics_write(&collect->metrics, ktau_reader_events(stream->reader),
			      collect->config->openmetrics);
	return err;
}

/* Read until the stream ends. If the output is blocked, stop and leave the stream active. */
static int pump(struct collect *collect, struct stream *stream)
{
	union ktau_record record;
	int err;

	while (!output_blocked(collect->out)) {
		err = ktau_reader_next(stream->reader, &record);
		if (err > 0) {
			err = count(collect, stream, &record);
			if (!err)
				err = handle(collect, stream, record);
		} else if (!err) {
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
	const char *text = stream->reader ? ktau_reader_error(stream->reader) : "", *why = NULL;
	static char replaced[PATH_MAX + 64];

	if (err == -ESPIPE)
		why = "not a regular file";
	else if (err == -ESTALE)
		why = "a stream of another boot than this one";
	else if (!*text)
		why = strerror(-err);
	if (!why || !stream->path)
		return *text ? text : strerror(-err);
	snprintf(replaced, sizeof(replaced), "cannot read %s: %s", stream->path, why);
	return replaced;
}

/*
 * An error that repeats in every period is logged once. The next stream uses a new descriptor
 * and is a full stream.
 */
static int conclude(struct collect *collect, struct stream *stream, int err)
{
	if (err && err != stream->last_error)
		log_error("%s", reason(stream, err));
	stream->last_error = err;
	if (err) {
		ktau_reader_destroy(stream->reader);
		stream->reader = NULL;
		/* The new descriptor does not know what the old one has returned. */
		stream->exited_since = 0;
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

/* Two streams if the first one only catches up. */
static int run_traces(struct collect *collect)
{
	int err;

	do {
		err = run(collect, &collect->trace);
	} while (!err && collect->catch_up == CATCH_UP_CONSUME && !output_blocked(collect->out));
	return err;
}

static bool flush(struct collect *collect)
{
	collect->flushed_ns = now_ns(CLOCK_MONOTONIC);
	return output_flush(collect->out);
}

/*
 * What has been consumed exists nowhere else, but small blocks take more time and space, so only
 * what is older than this is written before its block is full or the period ends.
 */
#define FLUSH_NS	1000000000ULL

int collect_traces(struct collect *collect)
{
	int err;

	if ((output_blocked(collect->out) || collect->profile.active || collect->trace.active) &&
	    !collect_resume(collect))
		return 0;
	err = run_traces(collect);
	if (now_ns(CLOCK_MONOTONIC) - collect->flushed_ns >= FLUSH_NS)
		flush(collect);
	return err;
}

static int run_profile(struct collect *collect)
{
	collect->full = !collect->since_full;
	if (collect->full)
		baseline_clear(&collect->base);
	collect->since_full = (collect->since_full + 1) % FULL_EVERY;
	return run(collect, &collect->profile);
}

static void lose_period(struct collect *collect)
{
	struct ktau_rec_gap *gap = &collect->gap;

	collect->lost_periods++;
	gap->to_ns = now_ns(CLOCK_REALTIME);
	gap->error = (uint32_t)collect->out->blocked;
	if (!gap->periods++)
		gap->from_ns = gap->to_ns;
}

void collect_note_gap(struct collect *collect)
{
	struct ktau_rec_gap *gap = &collect->gap;

	if (!gap->periods || output_blocked(collect->out) || !output_has_content(collect->out))
		return;
	gap->rec = (struct ktau_rec){ sizeof(*gap), KTAU_REC_GAP, sizeof(*gap) };
	output_record(collect->out, &gap->rec);
	*gap = (struct ktau_rec_gap){ 0 };
}

int collect_give_up(struct collect *collect)
{
	int err;

	if (output_flush(collect->out))
		return 0;
	err = -collect->out->blocked;
	lose_period(collect);
	collect->gap.from_ns = collect->began_ns;
	output_drop(collect->out);
	collect_note_gap(collect);
	if (!output_flush(collect->out))
		log_error("%s does not say that periods are missing at its end",
			  collect->out->path);
	return err;
}

int collect_period(struct collect *collect)
{
	int err = 0, trace_err = 0;

	if (!collect_resume(collect)) {
		lose_period(collect);
		return 0;
	}
	collect->began_ns = now_ns(CLOCK_REALTIME);
	if (collect->config->info & CONFIG_PROFILE)
		err = run_profile(collect);
	if (collect->config->info & CONFIG_TRACE && !output_blocked(collect->out))
		trace_err = run_traces(collect);
	if (!err)
		err = trace_err;
	if (err)
		collect->failed_periods++;
	else
		collect->periods++;
	collect_note_gap(collect);
	flush(collect);
	return err;
}

int collect_trace_fd(const struct collect *collect)
{
	if (!(collect->config->info & CONFIG_TRACE) || !collect->trace.reader ||
	    collect->trace.path)
		return -1;
	return ktau_reader_fd(collect->trace.reader);
}
