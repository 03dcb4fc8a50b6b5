// SPDX-License-Identifier: GPL-2.0-only
/* The trace of an HTML report: the timeline of each task, and the call paths of all tasks. */
#include <errno.h>
#include <inttypes.h>
#include <stdlib.h>
#include <string.h>

#include "lib/cli.h"
#include "html_trace.h"
#include "lib/report/tally.h"
#include "analyse/point.h"
#include "analyse/stacks.h"
#include "analyse/timeline.h"
#include "analyse/user_trace.h"

/* Maximum size of all timelines before base64 encoding, which adds a third. */
enum { MAX_BYTES = 24 << 20 };

/* An event is encoded as 8 * (nanoseconds since the previous event) + one of these. */
enum { LINE_ENTER, LINE_EXIT, LINE_CUT, LINE_LOST, LINE_WOKEN, LINE_CPU, LINE_SWITCH, LINE_MARK };

/* The timeline of a task across all files; empty if other tasks only refer to it. */
struct line {
	uint64_t serial;
	struct ktau_rec_owner owner;
	struct packed data;
	struct stack_walk walk;
	uint64_t first_ns, ns, events;
	uint32_t cpu;
	bool begun, in_period;
};

/**
 * struct trace - state of reading
 * @page: the page
 * @timeline: merged traces of the current file
 * @stacks: call paths of the traces
 * @by_serial: number of a line plus 1
 * @lines: all lines
 * @nr: length of @lines
 * @room: allocated length of @lines
 * @bytes: size of all lines
 * @from_ns: events before this time are left out
 * @to_ns: events after this time are left out
 * @cut: number of events left out because the timelines were full
 * @cut_ns: time of the first of them
 */
struct trace {
	struct html_page *page;
	struct timeline *timeline;
	struct stacks stacks;
	struct hash by_serial;
	struct line **lines;
	size_t nr, room;
	uint64_t bytes;
	uint64_t from_ns, to_ns;
	uint64_t cut, cut_ns;
};

static struct line *line_of(struct trace *t, uint64_t serial, uint64_t *number)
{
	size_t index = hash_get(&t->by_serial, serial);

	if (!index) {
		if (t->nr == t->room) {
			t->room = t->room ? t->room * 2 : 64;
			t->lines = cli_alloc(t->lines, t->room, sizeof(*t->lines));
		}
		t->lines[t->nr] = cli_alloc(NULL, 1, sizeof(**t->lines));
		*t->lines[t->nr] = (struct line){ .serial = serial };
		index = ++t->nr;
		hash_put(&t->by_serial, serial, index);
	}
	*number = index;
	return t->lines[index - 1];
}

static void put_op(struct line *line, uint64_t ns, unsigned int op)
{
	if (!line->begun) {
		line->first_ns = line->ns = ns;
		line->begun = true;
	}
	packed_number(&line->data, less(ns, line->ns) << 3 | op);
	line->ns = more(ns, line->ns);
	line->events++;
}

static void put_woken(struct trace *t, struct line *line, const struct timeline_event *e)
{
	struct ktau_slot_woken woken;
	uint64_t waking_ns, waker = 0;

	if (!ktau_slot_woken(e->slot, &woken))
		return;
	if (woken.waker_serial)
		line_of(t, woken.waker_serial, &waker);
	waking_ns = ktau_clock_boottime_ns(timeline_clock(t->timeline), woken.waking_ticks);
	put_op(line, e->ns, LINE_WOKEN);
	packed_number(&line->data, waker);
	packed_number(&line->data, less(e->ns, waking_ns));
	packed_number(&line->data, woken.waker_ctx);
}

/* Segments of TCP, new names and others: what, details as a text, and a number. */
static void put_point(struct trace *t, struct line *line, const struct timeline_event *e)
{
	enum { POINT = 32 };
	char text[2 * POINT_TEXT + 8] = "";
	struct point p;

	if (!point_describe(&p, t->timeline, t->page->period->registry, e))
		return;
	if (e->type == KTAU_TRACE_NET_SEND || e->type == KTAU_TRACE_NET_RECV)
		snprintf(text, sizeof(text), "%s to %s", p.args[0].text, p.args[1].text);
	else if (p.nr && p.args[0].text)
		snprintf(text, sizeof(text), "%s", p.args[0].text);
	else if (p.nr)
		snprintf(text, sizeof(text), "%s %" PRId64, p.args[0].name, p.args[0].number);
	put_op(line, e->ns, LINE_MARK);
	packed_number(&line->data, POINT + e->type);
	packed_number(&line->data, texts_number(&t->page->texts, text) + 1);
	packed_number(&line->data, (uint64_t)p.value);
	packed_signed(&line->data, 0);
}

static void put_mark(struct trace *t, struct line *line, const struct timeline_event *e)
{
	struct ktau_slot_fork fork;
	uint64_t value = 0;

	if (ktau_slot_fork(e->slot, &fork) && fork.serial)
		line_of(t, fork.serial, &value);
	put_op(line, e->ns, LINE_MARK);
	packed_number(&line->data, e->type);
	packed_number(&line->data, value);
}

/* The time on a CPU that ends with @e, as far as it is in the period. */
static void put_run(struct trace *t, struct line *line, const struct timeline_event *e)
{
	enum { RUN = 24 };
	uint64_t from_ns = more(e->from_ns, t->from_ns);
	uint64_t to_ns = e->ns < t->to_ns ? e->ns : t->to_ns;

	if (from_ns >= to_ns)
		return;
	put_op(line, to_ns, LINE_MARK);
	packed_number(&line->data, RUN);
	packed_number(&line->data, to_ns - from_ns);
}

/* What a program has noted; the number of its event takes the place of a task. */
static void put_noted(struct trace *t, struct line *line, const struct timeline_event *e)
{
	enum { USER = 16 };

	put_op(line, e->ns, LINE_MARK);
	packed_number(&line->data, USER + e->mark->type);
	packed_number(&line->data, html_event(t->page, e->id) + 1);
	packed_number(&line->data, e->mark->value);
	packed_signed(&line->data, e->mark->peer);
}

static void put_switch(struct line *line, const struct timeline_event *e)
{
	struct ktau_slot_switch to;

	if (!ktau_slot_switch(e->slot, &to))
		return;
	put_op(line, e->ns, LINE_SWITCH);
	packed_number(&line->data, to.state);
}

static void put_enter(struct trace *t, struct line *line, uint64_t ns, uint32_t id)
{
	put_op(line, ns, LINE_ENTER);
	packed_number(&line->data, html_event(t->page, id));
}

/* Before the first event of a track in the period: enter the frames that were open at its start. */
static void put_open_frames(struct trace *t, struct line *line, const struct timeline_event *e)
{
	const struct track *track = e->track;
	size_t i;

	line->in_period = true;
	for (i = 0; i < track->depth; i++)
		if (track->frames[i].ns < t->from_ns)
			put_enter(t, line, t->from_ns, track->frames[i].id);
	/* A frame that ends is no longer among those of the track. */
	if (e->type == KTAU_TRACE_EXIT && e->frame->ns < t->from_ns)
		put_enter(t, line, t->from_ns, e->frame->id);
}

static void put_event(struct trace *t, struct line *line, const struct timeline_event *e)
{
	uint64_t from_ns = more(e->ns, t->from_ns);

	if (!line->in_period)
		put_open_frames(t, line, e);
	if (e->slot && e->slot->cpu + 1U != line->cpu) {
		line->cpu = e->slot->cpu + 1U;
		put_op(line, e->ns, LINE_CPU);
		packed_number(&line->data, e->slot->cpu);
	}
	switch (e->type) {
	case KTAU_TRACE_ENTER:
		put_enter(t, line, e->ns, e->id);
		break;
	case KTAU_TRACE_EXIT:
		put_op(line, e->ns, e->ended == ENDED_BY_EXIT ? LINE_EXIT : LINE_CUT);
		break;
	case TIMELINE_LOST:
		put_op(line, from_ns, LINE_LOST);
		packed_number(&line->data, less(e->to_ns, from_ns));
		packed_number(&line->data, e->lost);
		break;
	case KTAU_TRACE_WOKEN:
		put_woken(t, line, e);
		break;
	case KTAU_TRACE_SWITCH:
		put_switch(line, e);
		break;
	case TIMELINE_MARK:
		put_noted(t, line, e);
		break;
	case TIMELINE_OFF:
		put_run(t, line, e);
		break;
	case KTAU_TRACE_FORK:
	case KTAU_TRACE_EXEC:
	case KTAU_TRACE_TASK_EXIT:
		put_mark(t, line, e);
		break;
	default:
		put_point(t, line, e);
		break;
	}
}

static int take_event(void *arg, const struct timeline_event *e)
{
	struct trace *t = arg;
	struct line *line = (struct line *)e->track->writer;
	uint64_t number;
	size_t before;

	if (!line) {
		line = line_of(t, e->track->serial, &number);
		e->track->writer = (uintptr_t)line;
	}
	/* Open frames must be tracked outside the period as well. */
	stacks_event(&t->stacks, &line->walk, e);
	if ((e->type == TIMELINE_LOST ? e->to_ns : e->ns) < t->from_ns ||
	    (e->ns > t->to_ns && e->type != TIMELINE_OFF))
		return 0;
	before = line->data.nr;
	if (t->bytes <= MAX_BYTES)
		put_event(t, line, e);
	else if (!t->cut++)
		t->cut_ns = e->ns;
	t->bytes += line->data.nr - before;
	return 0;
}

/* Limit the timeline to the period, unless that is the whole file. */
static void find_window(struct trace *t)
{
	const struct period_select *select = t->page->period->reading.select;

	t->to_ns = UINT64_MAX;
	if (!select || select->choice == PERIOD_ALL || select->choice == PERIOD_BOOT)
		return;
	t->from_ns = t->page->from_ns;
	t->to_ns = ktau_clock_boottime_ns(&t->page->clock, t->page->stream->ticks);
}

static void put_lines(struct trace *t)
{
	struct html_page *page = t->page;
	const struct ktau_rec_owner *owner;
	const struct line *line;
	size_t i;

	section_begin(&page->section, page->out, "lines");
	section_number(&page->section, t->nr);
	section_number(&page->section, t->cut);
	for (i = 0; i < t->nr; i++) {
		line = t->lines[i];
		owner = &line->owner;
		html_text(page, owner->comm);
		section_signed(&page->section, owner->tgid);
		section_signed(&page->section, owner->tid);
		section_number(&page->section, owner->flags);
		section_number(&page->section, owner->cpu);
		section_number(&page->section, line->events);
		/* A trace may begin before the period. */
		section_signed(&page->section,
			       line->begun ? (int64_t)(line->first_ns - page->from_ns) : 0);
		section_number(&page->section, line->ns - line->first_ns);
		section_number(&page->section, line->data.nr);
		section_bytes(&page->section, line->data.bytes, line->data.nr);
	}
	section_end(&page->section);
}

static void put_paths(struct trace *t)
{
	struct html_page *page = t->page;
	const struct stack_node *node;
	uint32_t i;

	section_begin(&page->section, page->out, "paths");
	section_number(&page->section, t->stacks.nr);
	for (i = 0; i < t->stacks.nr; i++) {
		node = &t->stacks.nodes[i];
		if (node->parent == STACKS_NONE) {
			section_number(&page->section, 0);
			html_text(page, node->name);
			continue;
		}
		section_number(&page->section, i - node->parent);
		section_number(&page->section, html_event(page, node->id));
		section_number(&page->section, node->self_ns);
		section_number(&page->section, node->count);
	}
	section_end(&page->section);
}

/* Keep the owners that the current file describes. */
static void keep_owners(struct trace *t)
{
	const struct ktau_rec_owner *owner;
	size_t i;

	for (i = 0; i < t->nr; i++) {
		owner = timeline_owner(t->timeline, t->lines[i]->serial);
		if (owner)
			t->lines[i]->owner = *owner;
	}
}

static int read_file(struct trace *t, const char *file)
{
	const struct timeline_sink sink = { NULL, take_event, t };
	struct ktau_reader *reader;
	int err = ktau_reader_create(&reader);

	if (err)
		return err;
	err = period_open(t->page->period, reader, file);
	if (!err) {
		t->timeline = timeline_create(reader, &sink);
		timeline_regions(t->timeline, t->page->r->region_names,
				 t->page->period->registry);
		err = timeline_read(t->timeline);
		keep_owners(t);
		timeline_destroy(t->timeline);
	}
	if (err == -EXDEV)
		complain("%s: contains traces of several boots; the timeline ends with the first",
			 file);
	else if (err != -EBADMSG && err)
		cli_reader_failed(reader, err);
	ktau_reader_destroy(reader);
	return err;
}

/*
 * Need the files not be read again? To merge traces, the names of all tasks are kept, which of very
 * many exited ones is more than all their rows.
 */
static bool has_no_traces(const struct trace *t)
{
	return t->to_ns == UINT64_MAX && !t->page->period->traces;
}

/* The page has the first events; another one can begin where it ends. */
static void complain_of_cut(const struct trace *t)
{
	const struct ktau_rec_stream *stream = t->page->stream;
	uint64_t end_ns = ktau_clock_boottime_ns(&t->page->clock, stream->ticks);
	uint64_t cut_s = less(stream->realtime_ns, less(end_ns, t->cut_ns)) / 1000000000;

	complain("the timeline is full: %llu events are left out, from @%llu on; select a shorter "
		 "period with --from and --to, such as --from=@%llu for a page of those",
		 (unsigned long long)t->cut, (unsigned long long)cut_s, (unsigned long long)cut_s);
}

int html_trace(struct html_page *page)
{
	struct trace t = { .page = page };
	int err = 0, file;
	size_t i;

	find_window(&t);
	stacks_init(&t.stacks, registry_events(page->period->registry));
	t.stacks.from_ns = t.from_ns;
	t.stacks.to_ns = t.to_ns;
	for (file = 0; !err && file < page->r->nr_files && !has_no_traces(&t); file++)
		err = read_file(&t, page->r->files[file]);
	put_lines(&t);
	put_paths(&t);
	stacks_deinit(&t.stacks);
	if (t.cut)
		complain_of_cut(&t);
	for (i = 0; i < t.nr; i++) {
		packed_deinit(&t.lines[i]->data);
		free(t.lines[i]);
	}
	free(t.lines);
	hash_deinit(&t.by_serial);
	return err;
}
