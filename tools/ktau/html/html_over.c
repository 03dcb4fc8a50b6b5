// SPDX-License-Identifier: GPL-2.0-only
/*
 * An HTML report over time: what each process did from stream to stream.
 *
 * The files are read again. For each task only the parts of its account are kept, to compute
 * differences. A stream may omit tasks that have slept since the previous one, so what a task
 * did counts in the interval at whose end it is next seen.
 */
#include <errno.h>
#include <stdlib.h>
#include <string.h>

#include "lib/cli.h"
#include "html_over.h"
#include "lib/report/tally.h"

/* Maximum number of intervals; with more streams, several share an interval. */
enum { MAX_INTERVALS = 240 };

/* The parts that are written. ACCOUNT_ASLEEP is the rest of the interval. */
enum { PART_USER, PART_KERNEL, PART_IRQ, PART_RUNQ, PART_GUEST, NR_PARTS };

struct parts {
	uint64_t ticks[NR_PARTS];
};

/* What a row did in the interval. */
struct row_parts {
	struct parts parts;
	bool seen;
};

/* Time of one interrupt on one CPU. */
struct cpu_event {
	uint32_t cpu, id;
	uint64_t ticks, before;
};

/**
 * struct over - state of reading
 * @page: the page
 * @snapshot: last known state, to which difference records are applied
 * @row_of_serial: row of a leader plus 1, by serial, if it has one of its own
 * @row_of_tgid: row of a process whose leader is not known plus 1, by tgid
 * @others: serials of the leaders that share the last row
 * @known: index in @befores plus 1, by serial
 * @ended: serials of tasks that were first seen when they had exited
 * @befores: previous figures of each owner
 * @nr: length of @befores
 * @room: allocated length of @befores
 * @rows: sums of the current interval
 * @seen: rows that did something in the interval
 * @nr_seen: length of @seen
 * @cpu_events: interrupts of each CPU
 * @nr_cpu_events: length of @cpu_events
 * @by_cpu_event: index in @cpu_events plus 1, by CPU and id
 * @streams: number of profile streams so far, in all boots
 * @group: number of streams per interval
 * @inside: the current stream has profiles and is in the period or just before it
 * @ends_ns: time of the last stream
 */
struct over {
	struct html_page *page;
	struct ktau_snapshot *snapshot;
	struct hash row_of_serial, row_of_tgid;
	struct hash others;
	struct hash known, ended;
	struct parts *befores;
	size_t nr, room;
	struct row_parts *rows;
	uint32_t *seen;
	size_t nr_seen;
	struct cpu_event *cpu_events;
	size_t nr_cpu_events;
	struct hash by_cpu_event;
	uint64_t streams, group;
	bool inside;
	uint64_t ends_ns;
};

static struct parts parts_of(const struct ktau_rec_profile *p)
{
	return (struct parts){ {
		[PART_USER] = p->user_ticks, [PART_KERNEL] = p->kernel_ticks,
		[PART_IRQ] = p->irq_ticks, [PART_RUNQ] = p->runq_ticks,
		[PART_GUEST] = p->guest_ticks,
	} };
}

/* The figures of an owner so far. */
static struct parts *before_of(struct over *o, uint64_t serial)
{
	size_t index = hash_get(&o->known, serial);

	if (index)
		return &o->befores[index - 1];
	if (o->nr == o->room) {
		o->room = o->room ? o->room * 2 : 256;
		o->befores = cli_alloc(o->befores, o->room, sizeof(*o->befores));
	}
	o->befores[o->nr++] = (struct parts){ 0 };
	hash_put(&o->known, serial, o->nr);
	return &o->befores[o->nr - 1];
}

/*
 * The increase since the previous record of the same owner. Of a task that exited before it was
 * seen nothing is kept but that it has been counted.
 */
static struct parts advance(struct over *o, const struct ktau_owned *owned)
{
	const struct ktau_rec_profile *p = owned->profile;
	struct parts now = parts_of(p), *before, added;
	int i;

	if (owned->owner->kind == KTAU_OWNER_EXITED && !hash_get(&o->known, p->serial))
		return hash_add(&o->ended, p->serial) ? now : (struct parts){ 0 };
	before = before_of(o, p->serial);
	for (i = 0; i < NR_PARTS; i++)
		added.ticks[i] = less(now.ticks[i], before->ticks[i]);
	*before = now;
	return added;
}

/* A pid can be used again, so it only tells the row if nothing else does. */
static bool has_no_leader(const struct ktau_rec_owner *owner)
{
	return !owner->leader_serial && owner->tgid != owner->tid;
}

static uint64_t leader_of(const struct ktau_rec_owner *owner)
{
	return owner->leader_serial ? owner->leader_serial : owner->serial;
}

static uint32_t row_of(const struct over *o, const struct ktau_rec_owner *owner)
{
	uintptr_t row;

	if (has_no_leader(owner))
		row = hash_get(&o->row_of_tgid, (uint32_t)owner->tgid);
	else
		row = hash_get(&o->row_of_serial, leader_of(owner));
	if (!row && hash_has(&o->others, leader_of(owner)))
		row = o->page->nr_rows;
	return row ? (uint32_t)row - 1 : UINT32_MAX;
}

static void add_task(struct over *o, const struct ktau_owned *owned, bool counts)
{
	struct parts added = advance(o, owned);
	uint32_t row = row_of(o, owned->owner);
	uint64_t sum = 0;
	int i;

	if (!counts || row == UINT32_MAX)
		return;
	for (i = 0; i < NR_PARTS; i++) {
		o->rows[row].parts.ticks[i] += added.ticks[i];
		sum += added.ticks[i];
	}
	if (!sum || o->rows[row].seen)
		return;
	o->rows[row].seen = true;
	o->seen[o->nr_seen++] = row;
}

static struct cpu_event *cpu_event_of(struct over *o, uint32_t cpu, uint32_t id)
{
	uint64_t key = (uint64_t)cpu << 32 | id;
	size_t index = hash_get(&o->by_cpu_event, key);

	if (index)
		return &o->cpu_events[index - 1];
	if (!(o->nr_cpu_events & (o->nr_cpu_events - 1)))
		o->cpu_events = cli_alloc(o->cpu_events,
					  o->nr_cpu_events ? o->nr_cpu_events * 2 : 1,
					  sizeof(*o->cpu_events));
	o->cpu_events[o->nr_cpu_events++] = (struct cpu_event){ .cpu = cpu, .id = id };
	hash_put(&o->by_cpu_event, key, o->nr_cpu_events);
	return &o->cpu_events[o->nr_cpu_events - 1];
}

static void add_cpu(struct over *o, const struct ktau_owned *owned, bool counts)
{
	const struct ktau_entry *entry = ktau_profile_entries(owned->profile);
	struct cpu_event *e;
	uint32_t i;

	for (i = 0; i < owned->profile->nr_entries; i++, entry++) {
		if (entry->kind != KTAU_KIND_TIMER)
			continue;
		e = cpu_event_of(o, owned->owner->cpu, entry->id);
		if (counts)
			e->ticks += less(entry->excl, e->before);
		e->before = entry->excl;
	}
}

static void put_interval(struct over *o)
{
	struct html_page *page = o->page;
	struct section_out *s = &page->section;
	struct row_parts *row;
	struct cpu_event *e;
	size_t i, k, nr = 0;

	section_number(s, 1);
	section_number(s, less(o->ends_ns, page->from_ns));
	section_number(s, o->nr_seen);
	for (i = 0; i < o->nr_seen; i++) {
		row = &o->rows[o->seen[i]];
		section_number(s, o->seen[i]);
		for (k = 0; k < NR_PARTS; k++)
			section_number(s, ktau_clock_ns(&page->clock, row->parts.ticks[k]));
		*row = (struct row_parts){ 0 };
	}
	o->nr_seen = 0;
	for (e = o->cpu_events; e < o->cpu_events + o->nr_cpu_events; e++)
		nr += e->ticks != 0;
	section_number(s, nr);
	for (e = o->cpu_events; e < o->cpu_events + o->nr_cpu_events; e++) {
		if (!e->ticks)
			continue;
		section_number(s, e->cpu);
		section_number(s, html_event(page, e->id));
		section_number(s, ktau_clock_ns(&page->clock, e->ticks));
		e->ticks = 0;
	}
}

static void put_profile(struct over *o, const struct ktau_rec_profile *p)
{
	const struct ktau_owned *owned = ktau_snapshot_find(o->snapshot, p->serial);
	bool counts = o->streams > o->page->period->first;

	if (!owned)
		return;
	switch (owned->owner->kind) {
	case KTAU_OWNER_TASK:
	case KTAU_OWNER_EXITED:
		add_task(o, owned, counts);
		break;
	case KTAU_OWNER_CPU:
		add_cpu(o, owned, counts);
		break;
	}
}

static int end_stream(struct over *o, const union ktau_record *rec)
{
	uint64_t first = o->page->period->first, last = o->page->period->last;
	int err = ktau_snapshot_add(o->snapshot, rec);

	if (!err)
		err = ktau_snapshot_drop_exited(o->snapshot);
	if (o->streams > first &&
	    (!((o->streams - first) % o->group) || o->streams == last))
		put_interval(o);
	return err;
}

static void begin_stream(struct over *o, const struct ktau_rec_stream *stream)
{
	o->inside = false;
	if (stream->content != KTAU_REC_PROFILE)
		return;
	o->streams++;
	o->inside = o->streams <= o->page->period->last &&
		    ktau_same_boot(stream, o->page->stream);
	o->ends_ns = ktau_clock_boottime_ns(&o->page->clock, stream->ticks);
}

static int put_record(struct over *o, const union ktau_record *rec)
{
	int err;

	if (rec->rec->type == KTAU_REC_STREAM)
		begin_stream(o, rec->stream);
	if (!o->inside || rec->rec->type == KTAU_REC_TRACE)
		return 0;
	if (rec->rec->type == KTAU_REC_END)
		return end_stream(o, rec);
	err = ktau_snapshot_add(o->snapshot, rec);
	if (!err && (rec->rec->type == KTAU_REC_PROFILE || rec->rec->type == KTAU_REC_DIFF))
		put_profile(o, rec->profile);
	return err;
}

static void find_rows(struct over *o)
{
	const struct aggregate *rows = o->page->period->rows;
	const struct ktau_rec_owner *owner;
	uint32_t row;
	size_t i;

	for (i = 0; i < rows->nr; i++) {
		owner = &rows->processes[i].owner;
		row = o->page->row_of[i] + 1;
		if (has_no_leader(owner))
			hash_put(&o->row_of_tgid, (uint32_t)owner->tgid, row);
		else if (row < o->page->nr_rows)
			hash_put(&o->row_of_serial, leader_of(owner), row);
		else
			hash_add(&o->others, leader_of(owner));
	}
	o->rows = cli_alloc(NULL, o->page->nr_rows + 1, sizeof(*o->rows));
	memset(o->rows, 0, (o->page->nr_rows + 1) * sizeof(*o->rows));
	o->seen = cli_alloc(NULL, o->page->nr_rows + 1, sizeof(*o->seen));
}

static int read_file(struct over *o, const char *file)
{
	struct progress progress = { 0 };
	struct ktau_reader *reader;
	union ktau_record rec;
	uint64_t records = 0;
	int err = ktau_reader_create(&reader);

	if (!err)
		err = period_open(o->page->period, reader, file);
	while (!err && (err = ktau_reader_next(reader, &rec)) > 0) {
		progress_step(&progress, "over time", ++records);
		err = put_record(o, &rec);
	}
	progress_end(&progress);
	/* Damage was already reported when the period was read. */
	if (err != -EBADMSG && err)
		cli_reader_failed(reader, err);
	ktau_reader_destroy(reader);
	return err;
}

int html_over(struct html_page *page)
{
	const struct period *period = page->period;
	struct over o = {
		.page = page,
		.group = 1 + (period->last - period->first - 1) / MAX_INTERVALS,
	};
	int err, i;

	section_begin(&page->section, page->out, "over");
	find_rows(&o);
	err = ktau_snapshot_create(&o.snapshot);
	for (i = 0; !err && i < page->r->nr_files; i++)
		err = read_file(&o, page->r->files[i]);
	section_number(&page->section, 0);
	section_end(&page->section);
	ktau_snapshot_destroy(o.snapshot);
	hash_deinit(&o.row_of_serial);
	hash_deinit(&o.row_of_tgid);
	hash_deinit(&o.others);
	hash_deinit(&o.known);
	hash_deinit(&o.ended);
	hash_deinit(&o.by_cpu_event);
	free(o.befores);
	free(o.rows);
	free(o.seen);
	free(o.cpu_events);
	return err;
}
