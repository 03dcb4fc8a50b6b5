// SPDX-License-Identifier: GPL-2.0-only
/*
 * The period of a report.
 *
 * Streams are read once, in order. Each goes into the later snapshot; those up to the start of
 * the period also go into the earlier one. Tasks that exited within the period are added to
 * their rows as they are read, and the snapshots keep only what their sums need.
 *
 * If the period is given by times, each file is read from the last key block before the period,
 * and only up to the end of the period.
 */
#include <errno.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>

#include "lib/cli.h"
#include "lib/live.h"
#include "period.h"

int period_init(struct period *p, struct aggregate *rows)
{
	int err;

	memset(p, 0, sizeof(*p));
	p->rows = rows;
	p->registry = registry_create();
	err = ktau_snapshot_create(&p->before);
	if (!err)
		err = ktau_snapshot_create(&p->after);
	return err;
}

void period_deinit(struct period *p)
{
	ktau_snapshot_destroy(p->before);
	ktau_snapshot_destroy(p->after);
	registry_destroy(p->registry);
}

static void clear_regions(const struct period *p, unsigned int ends)
{
	if (p->rows->regions)
		regions_clear(p->rows->regions, ends);
}

static uint64_t moment_ns(const struct moment *m, const struct period_reading *r)
{
	uint64_t ns;

	if (!m->relative)
		return m->ns;
	return __builtin_add_overflow(r->first_realtime_ns, m->ns, &ns) ? UINT64_MAX : ns;
}

static bool same_boot(const struct period *p, const struct ktau_rec_stream *s)
{
	return p->reading.stream.magic && ktau_same_boot(s, &p->reading.stream);
}

/*
 * Does the period end before @s? A stream of traces belongs to the profiles before it, unless
 * the machine was rebooted in between.
 */
static bool is_beyond(const struct period *p, const struct ktau_rec_stream *s)
{
	const struct period_reading *r = &p->reading;

	if (s->content != KTAU_REC_PROFILE && (!p->streams || same_boot(p, s)))
		return false;
	switch (r->select->choice) {
	case PERIOD_NUMBER:
		return p->streams >= r->select->number;
	case PERIOD_TIMES:
		return r->select->to.given && s->realtime_ns > moment_ns(&r->select->to, r);
	case PERIOD_ALL:
	case PERIOD_BOOT:
		break;
	}
	return false;
}

static void clear(struct period *p)
{
	ktau_snapshot_clear(p->before);
	ktau_snapshot_clear(p->after);
	registry_clear(p->registry);
	clear_regions(p, REGIONS_BEFORE | REGIONS_AFTER);
	aggregate_reboot(p->rows);
	p->first = 0;
	p->overwritten = p->lost_periods = 0;
}

/*
 * A new boot makes all ids, serials and counters start again. Traces of a boot belong to no
 * profiles until it has some. Return: 0; -ESTALE if time goes backwards; -EXDEV if the stream is
 * from another machine.
 */
static int begin_boot(struct period *p, const struct ktau_rec_stream *s)
{
	struct period_reading *r = &p->reading;
	bool same = same_boot(p, s);

	if (same && s->content == KTAU_REC_PROFILE && s->ticks < r->ticks)
		return -ESTALE;
	if (!same && r->stream.magic) {
		if (!r->select->of_host && strcmp(s->nodename, r->stream.nodename))
			return -EXDEV;
		r->elsewhere = p->streams && s->content != KTAU_REC_PROFILE;
		if (r->elsewhere)
			return 0;
		clear(p);
		p->reboots += p->streams != 0;
		r->ticks = 0;
	}
	r->stream = *s;
	if (s->content == KTAU_REC_PROFILE)
		r->ticks = s->ticks;
	return 0;
}

/* Is @s a stream at or before the start of the period? */
static bool is_before(const struct period *p, const struct ktau_rec_stream *s)
{
	const struct period_reading *r = &p->reading;
	const struct period_select *select = r->select;

	switch (select->choice) {
	case PERIOD_ALL:
		return !p->first;
	case PERIOD_NUMBER:
		return p->streams < select->number;
	case PERIOD_TIMES:
		return !p->first || (select->from.given &&
				     s->realtime_ns <= moment_ns(&select->from, r));
	case PERIOD_BOOT:
		break;
	}
	return false;
}

/* Does the period begin after the file does? All that a file has lost is shown otherwise. */
static bool begins_later(const struct period_select *select)
{
	return select->choice == PERIOD_NUMBER ||
	       (select->choice == PERIOD_TIMES && select->from.given);
}

/*
 * The rows are cleared when the first stream begins and again at the next one, so that a source
 * with a single stream still shows what happened before it.
 */
static void begin_stream(struct period *p, const struct ktau_rec_stream *s)
{
	struct period_reading *r = &p->reading;
	bool began = r->to_before;

	p->streams++;
	r->to_before = !r->over && is_before(p, s);
	r->to_after = !r->over;
	if (r->to_before) {
		p->first = p->streams;
		p->lost_periods = 0;
	}
	if (r->to_after)
		p->last = p->streams;
	if (r->to_before || (began && r->to_after))
		aggregate_begin(p->rows);
	/* The traces of the first stream are from before it. */
	if (r->to_before || (began && begins_later(r->select)))
		p->overwritten = 0;
}

/* Called after @record was added to the snapshots, which then know its owner. */
static void add_to_rows(struct period *p, const union ktau_record *record)
{
	bool begins = p->reading.to_before;
	const struct ktau_owned *owned;

	if (record->rec->type != KTAU_REC_PROFILE && record->rec->type != KTAU_REC_DIFF)
		return;
	owned = ktau_snapshot_find(p->after, record->profile->serial);
	if (owned && owned->owner->kind == KTAU_OWNER_EXITED)
		aggregate_exited(p->rows, owned, begins ? NULL : p->before);
	else if (!begins)
		aggregate_note_groups(p->rows, record->profile);
}

static void add_regions(const struct period *p, const struct ktau_reader *reader,
			const union ktau_record *record, unsigned int ends)
{
	if (p->rows->regions)
		regions_put(p->rows->regions, reader, record, ends);
}

static int add(struct period *p, const union ktau_record *record)
{
	const struct period_reading *r = &p->reading;
	int err = 0;

	add_regions(p, r->reader, record,
		    (r->to_before ? REGIONS_BEFORE : 0) | (r->to_after ? REGIONS_AFTER : 0));

	if (p->reading.to_before)
		err = ktau_snapshot_add(p->before, record);
	if (!err && p->reading.to_after)
		err = ktau_snapshot_add(p->after, record);
	if (!err && p->reading.to_after)
		add_to_rows(p, record);
	return err;
}

static int end_stream(struct period *p, const union ktau_record *record)
{
	int err = add(p, record);

	if (!err && p->reading.to_before)
		err = ktau_snapshot_drop_exited(p->before);
	if (!err && p->reading.to_after)
		err = ktau_snapshot_drop_exited(p->after);
	return err;
}

static int take_stream(struct period *p, const union ktau_record *record)
{
	struct period_reading *r = &p->reading;
	const struct ktau_rec_stream *s = record->stream;
	int err = 0;

	r->elsewhere = !host_is_selected(&r->host, s);
	if (r->elsewhere)
		return 0;
	r->inside = s->content == KTAU_REC_PROFILE;
	if (!r->first_realtime_ns && r->inside)
		r->first_realtime_ns = s->realtime_ns;
	r->over |= is_beyond(p, s);
	if (!r->over)
		err = begin_boot(p, s);
	if (err || !r->inside)
		return err;
	begin_stream(p, s);
	return add(p, record);
}

static int take(struct period *p, const union ktau_record *record)
{
	struct period_reading *r = &p->reading;

	if (record->rec->type == KTAU_REC_STREAM)
		return take_stream(p, record);
	if (r->elsewhere)
		return 0;
	switch (record->rec->type) {
	case KTAU_REC_EVENT:
	case KTAU_REC_CGROUP:
		return r->over ? 0 : registry_put(p->registry, record);
	case KTAU_REC_END:
		return r->inside ? end_stream(p, record) : 0;
	case KTAU_REC_GAP:
		if (!r->over)
			p->lost_periods += record->gap->periods;
		return 0;
	case KTAU_REC_TRACE:
		p->traces++;
		if (r->over)
			return 0;
		p->overwritten += record->trace->lost;
		aggregate_trace(p->rows, record->trace, r->reader);
		return 0;
	}
	return r->inside ? add(p, record) : 0;
}

void period_start(struct period *p, const struct period_select *select, uint64_t first_ns)
{
	p->reading = (struct period_reading){
		.select = select,
		.first_realtime_ns = first_ns,
		.host = { .host = select->host, .files = select->of_host },
	};
	p->partial = select->choice == PERIOD_TIMES;
}

void period_read_whole(struct period *p)
{
	p->reading.whole = true;
}

void period_skip_to(const struct period *p, struct ktau_reader *reader, uint64_t ns)
{
	if (!p->reading.whole && !ktau_reader_seek_time(reader, ns, UINT64_MAX))
		p->rows->skipped = true;
}

int period_open(const struct period *p, struct ktau_reader *reader, const char *file)
{
	const struct period_reading *r = &p->reading;
	const struct moment *from = &r->select->from;
	int err = ktau_reader_open_file(reader, file);

	if (!err && from->given && (!from->relative || r->first_realtime_ns))
		period_skip_to(p, reader, moment_ns(from, r));
	return err;
}

bool period_needs_all(const struct period *p)
{
	return p->rows->skipped && !p->rows->filter->flags &&
	       aggregate_unread(p->rows, p->before, p->after);
}

void period_restart(struct period *p)
{
	uint64_t first_ns = p->reading.first_realtime_ns;

	clear(p);
	p->last = p->streams = p->reboots = p->traces = 0;
	p->rows->skipped = false;
	period_start(p, p->reading.select, first_ns);
	p->reading.whole = true;
}

int period_put(struct period *p, const struct ktau_reader *reader,
	       const union ktau_record *record)
{
	p->reading.reader = reader;
	return take(p, record);
}

int period_read(struct period *p, struct ktau_reader *reader, const char *name)
{
	struct progress progress = { 0 };
	union ktau_record record;
	uint64_t records = 0;
	int err, failed = 0;

	p->reading.inside = false;
	p->reading.reader = reader;
	while ((err = ktau_reader_next(reader, &record)) > 0 && !failed) {
		failed = take(p, &record);
		progress_step(&progress, name, ++records);
		if (p->partial && p->reading.over)
			break;
	}
	progress_end(&progress);
	return failed ? failed : err < 0 ? err : 0;
}

/* If there is only one stream, show what happened before it, unless that is older than --from. */
void period_stop(struct period *p)
{
	const struct period_reading *r = &p->reading;
	const struct moment *from = &r->select->from;

	if (p->first != p->last ||
	    (from->given && r->stream.boot_realtime_ns < moment_ns(from, r)))
		return;
	ktau_snapshot_clear(p->before);
	clear_regions(p, REGIONS_BEFORE);
	p->first = 0;
}

static const struct ktau_query live_query = {
	.content = KTAU_REC_PROFILE,
	.target = KTAU_TARGET_ALL | KTAU_TARGET_EXITED | KTAU_TARGET_EVICTED | KTAU_TARGET_CPU,
};

/* Read one stream of the running kernel like ktau_snapshot_read(), and its regions. */
static int read_stream(const struct period *p, struct ktau_reader *reader,
		       struct ktau_snapshot *snapshot)
{
	const unsigned int ends = snapshot == p->before ? REGIONS_BEFORE : REGIONS_AFTER;
	union ktau_record record;
	int err;

	while ((err = ktau_reader_next(reader, &record)) > 0) {
		err = ktau_snapshot_add(snapshot, &record);
		if (err)
			return err;
		add_regions(p, reader, &record, ends);
		if (record.rec->type == KTAU_REC_END)
			return 1;
	}
	return err;
}

static int live_snapshot(const struct period *p, struct ktau_reader *reader,
			 const struct ktau_query *query, struct ktau_snapshot *snapshot, bool again)
{
	int err = again ? ktau_reader_restart(reader, query) : live_open(reader, query);

	return err ? err : read_stream(p, reader, snapshot);
}

/* Read the end of a period; @filter is NULL for all tasks. */
static int live_end(struct period *p, struct ktau_reader *reader, bool again,
		    const struct task_filter *filter)
{
	const struct ktau_rec_stream *before = ktau_snapshot_stream(p->before);
	struct ktau_query query = live_query;
	int err;

	if (before)
		query.since_ticks = before->ticks;
	if (filter) {
		query.flags = filter->flags;
		query.cgroup = filter->cgroup_id;
		query.uid = filter->uid;
		query.tag = filter->tag;
	}
	err = live_snapshot(p, reader, &query, p->after, again);
	if (err < 0)
		return err;
	p->last = ++p->streams;
	return registry_put_all(p->registry, reader);
}

int period_live(struct period *p, struct ktau_reader *reader, uint64_t interval_ns,
		const struct task_filter *filter)
{
	struct timespec left = {
		.tv_sec = (time_t)(interval_ns / 1000000000),
		.tv_nsec = (long)(interval_ns % 1000000000),
	};
	int err;

	if (interval_ns) {
		err = live_snapshot(p, reader, &live_query, p->before, false);
		if (err < 0)
			return err;
		while (nanosleep(&left, &left) && errno == EINTR)
			;
		p->first = p->streams = 1;
	}
	return live_end(p, reader, interval_ns != 0, filter);
}

int period_live_next(struct period *p, struct ktau_reader *reader, bool again,
		     const struct task_filter *filter)
{
	struct ktau_snapshot *before = p->before;

	ktau_snapshot_clear(before);
	if (again) {
		p->before = p->after;
		p->after = before;
		p->first = p->last;
	}
	if (p->rows->regions)
		regions_turn(p->rows->regions);
	aggregate_reboot(p->rows);
	return live_end(p, reader, again, filter);
}
