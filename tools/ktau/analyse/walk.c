// SPDX-License-Identifier: GPL-2.0-only
/*
 * The periods of a recording.
 *
 * Every stream goes into the later snapshot. Its records are also kept, and are added to the
 * earlier snapshot once the period that they end has been passed on. Memory is therefore bounded
 * by two snapshots and the streams of one period.
 */
#include <errno.h>
#include <stdlib.h>
#include <string.h>

#include "lib/cli.h"
#include "sleepers.h"
#include "source.h"
#include "walk.h"

/**
 * struct walking - progress of a walk
 * @w: the walk
 * @period: current period
 * @rows: rows of @period
 * @sleepers: live tasks, unless all of the rows is wanted
 * @gone: tasks were evicted or folded in @period
 * @stream: last profile stream; all 0 before the first
 * @host: selects the streams of a machine
 * @inside: the records belong to a profile stream that is selected
 * @kept: copies of the records since the start of the period, one after the other
 * @kept_bytes: their length
 * @room: allocated length of @kept
 * @stopped: @w->each has ended the walk
 */
struct walking {
	const struct walk *w;
	struct period period;
	struct aggregate rows;
	struct sleepers sleepers;
	bool gone;
	struct ktau_rec_stream stream;
	struct host_filter host;
	bool inside;
	char *kept;
	size_t kept_bytes, room;
	int stopped;
};

static void keep(struct walking *k, const struct ktau_rec *record)
{
	while (k->kept_bytes + record->size > k->room) {
		k->room = k->room ? k->room * 2 : 1 << 20;
		k->kept = cli_alloc(k->kept, k->room, 1);
	}
	memcpy(k->kept + k->kept_bytes, record, record->size);
	/* Sizes of records are multiples of 8 bytes. */
	k->kept_bytes += record->size;
}

/* The end of the period becomes the start of the next one. */
static int advance(struct walking *k)
{
	union ktau_record record;
	int err = 0;
	size_t at;

	for (at = 0; at < k->kept_bytes && !err; at += record.rec->size) {
		record.rec = (const struct ktau_rec *)(k->kept + at);
		err = ktau_snapshot_add(k->period.before, &record);
	}
	k->kept_bytes = 0;
	if (!err)
		err = ktau_snapshot_drop_exited(k->period.before);
	k->period.first = k->period.last;
	k->gone = false;
	aggregate_begin(&k->rows);
	return err;
}

/* Were tasks evicted in the period? The sum of them then has other figures. */
static bool has_evicted(const struct walking *k)
{
	const struct ktau_owned *after = ktau_snapshot_evicted(k->period.after);
	const struct ktau_owned *before = ktau_snapshot_evicted(k->period.before);
	uint32_t nr = after ? after->profile->nr_entries : 0;

	if (k->gone || !after != !before || (before && before->profile->nr_entries != nr))
		return true;
	return nr && memcmp(ktau_profile_entries(after->profile),
			    ktau_profile_entries(before->profile),
			    nr * sizeof(struct ktau_entry));
}

static int finish(struct walking *k)
{
	struct period *p = &k->period;

	if (k->w->want == WALK_ALL)
		return aggregate_finish(&k->rows, p->before, p->after);
	sleepers_add(&k->sleepers, p);
	if (k->w->want == WALK_TOTAL)
		return aggregate_finish_sums(&k->rows, has_evicted(k) ? p->before : NULL, p->after);
	aggregate_finish_rows(&k->rows);
	return 0;
}

static bool is_long_enough(const struct walking *k)
{
	const struct ktau_rec_stream *before = ktau_snapshot_stream(k->period.before);
	struct ktau_clock clock;

	ktau_clock_init(&clock, &k->stream);
	return ktau_clock_ns(&clock, k->stream.ticks - before->ticks) >= k->w->length_ns;
}

static int end_stream(struct walking *k)
{
	struct period *p = &k->period;
	int err = ktau_snapshot_drop_exited(p->after);

	p->last = ++p->streams;
	if (err || !p->first)
		return err ? err : advance(k);
	if (!is_long_enough(k))
		return 0;
	err = finish(k);
	if (!err)
		k->stopped = k->w->each(k->w->arg, p);
	return err ? err : advance(k);
}

static int begin_boot(struct walking *k)
{
	ktau_snapshot_clear(k->period.before);
	ktau_snapshot_clear(k->period.after);
	registry_clear(k->period.registry);
	aggregate_reboot(&k->rows);
	sleepers_clear(&k->sleepers);
	k->kept_bytes = 0;
	k->period.first = 0;
	return 0;
}

static int begin_stream(struct walking *k, const struct ktau_rec_stream *s)
{
	bool first = !k->stream.magic, same = !first && ktau_same_boot(s, &k->stream);

	if (!host_is_selected(&k->host, s))
		return 0;
	if (same && s->ticks < k->stream.ticks)
		return -ESTALE;
	if (!first && !same && !k->w->of_host && strcmp(s->nodename, k->stream.nodename))
		return -EXDEV;
	if (!first && !same)
		begin_boot(k);
	k->stream = *s;
	k->inside = true;
	return 0;
}

/* Add an exited task to its row at once, as in period.c. */
static void add_to_rows(struct walking *k, const union ktau_record *record)
{
	const struct ktau_owned *owned;

	if (record->rec->type != KTAU_REC_PROFILE && record->rec->type != KTAU_REC_DIFF)
		return;
	owned = ktau_snapshot_find(k->period.after, record->profile->serial);
	if (owned && owned->owner->kind == KTAU_OWNER_EXITED)
		aggregate_exited(&k->rows, owned, k->period.first ? k->period.before : NULL);
	else if (k->period.first)
		aggregate_note_groups(&k->rows, record->profile);
}

static int take(struct walking *k, const union ktau_record *record)
{
	int err = 0;

	if (record->rec->type == KTAU_REC_STREAM) {
		k->inside = false;
		if (record->stream->content == KTAU_REC_PROFILE)
			err = begin_stream(k, record->stream);
	} else if (record->rec->type == KTAU_REC_EVENT || record->rec->type == KTAU_REC_CGROUP) {
		return registry_put(k->period.registry, record);
	}
	if (err || !k->inside)
		return err;
	if (k->w->want != WALK_ALL)
		sleepers_put(&k->sleepers, record);
	k->gone |= record->rec->type == KTAU_REC_GONE;
	err = ktau_snapshot_add(k->period.after, record);
	if (err)
		return err;
	keep(k, record->rec);
	add_to_rows(k, record);
	return record->rec->type == KTAU_REC_END ? end_stream(k) : 0;
}

static int read_file(struct walking *k, struct ktau_reader *reader, int number)
{
	const uint64_t from_ns = k->w->from_ns ? k->w->from_ns[number] : 0;
	const char *file = k->w->files[number];
	struct progress progress = { 0 };
	union ktau_record record;
	uint64_t records = 0;
	int err = 0, failed = 0;

	if (ktau_reader_open_file(reader, file) ||
	    (from_ns && ktau_reader_seek_time(reader, from_ns, UINT64_MAX))) {
		complain("%s", ktau_reader_error(reader));
		return CLI_FAILED;
	}
	k->inside = false;
	while (!failed && !k->stopped && (err = ktau_reader_next(reader, &record)) > 0) {
		failed = take(k, &record);
		progress_step(&progress, file, ++records);
	}
	progress_end(&progress);
	if (k->stopped)
		return CLI_DONE;
	if (failed || err)
		source_failed(reader, file, failed ? failed : err);
	return failed || err ? CLI_FAILED : CLI_DONE;
}

int walk_files(const struct walk *w)
{
	struct walking k = { .w = w, .host = { .host = w->host, .files = w->of_host } };
	struct ktau_reader *reader = NULL;
	int status = CLI_DONE, of_file, i;

	if (period_init(&k.period, &k.rows)) {
		complain("out of memory");
		period_deinit(&k.period);
		return CLI_FAILED;
	}
	aggregate_init(&k.rows, w->by, w->filter, k.period.registry);
	for (i = 0; i < w->nr_files && !k.stopped; i++) {
		if (ktau_reader_create(&reader)) {
			complain("out of memory");
			status = CLI_FAILED;
			break;
		}
		of_file = read_file(&k, reader, i);
		status |= of_file;
		if (w->statuses)
			w->statuses[i] = of_file;
		ktau_reader_destroy(reader);
	}
	sleepers_deinit(&k.sleepers);
	free(k.kept);
	aggregate_deinit(&k.rows);
	period_deinit(&k.period);
	return status;
}
