// SPDX-License-Identifier: GPL-2.0-only
/* The traces of all tasks as one sequence; timeline.h describes the rules. */
#include <errno.h>
#include <stdlib.h>
#include <string.h>

#include "lib/cli.h"
#include "lib/program_event.h"
#include "timeline.h"
#include "timeline_pass.h"

struct timeline *timeline_create(struct ktau_reader *reader,
				 const struct timeline_sink *sink)
{
	struct timeline *t = cli_alloc(NULL, 1, sizeof(*t));

	*t = (struct timeline){ .reader = reader, .sink = sink, .user_end_ticks = UINT64_MAX,
				.begin_ticks = UINT64_MAX };
	if (!ktau_events_create(&t->events))
		return t;
	complain("out of memory");
	exit(CLI_FAILED);
}

void timeline_regions(struct timeline *t, const char *path, struct registry *registry)
{
	t->path = path ? path : ".";
	t->registry = registry;
}

void timeline_destroy(struct timeline *t)
{
	struct run *run;
	size_t i;

	if (!t)
		return;
	for (i = 0; i < t->nr_tracks; i++) {
		while ((run = t->tracks[i]->first)) {
			t->tracks[i]->first = run->next;
			timeline_free_run(run);
		}
		free(t->tracks[i]->frames);
		free(t->tracks[i]->user);
		free(t->tracks[i]);
	}
	for (i = 0; i < t->named.room; i++)
		free((void *)t->named.entries[i].value);
	hash_deinit(&t->named);
	hash_deinit(&t->by_serial);
	ktau_events_destroy(t->events);
	user_traces_free(t->users);
	track_heap_deinit(&t->heap);
	free(t->tracks);
	free(t);
}

const struct timeline_counts *timeline_counts(const struct timeline *t)
{
	return &t->counts;
}

const struct ktau_rec_stream *timeline_stream(const struct timeline *t)
{
	return t->stream.rec.type ? &t->stream : NULL;
}

const struct ktau_clock *timeline_clock(const struct timeline *t)
{
	return &t->clock;
}

struct track *timeline_track(const struct timeline *t, uint64_t serial)
{
	return (struct track *)hash_get(&t->by_serial, serial);
}

const struct track *timeline_track_at(const struct timeline *t, size_t index)
{
	return index < t->nr_tracks ? t->tracks[index] : NULL;
}

const struct ktau_rec_owner *timeline_owner(const struct timeline *t, uint64_t serial)
{
	const struct track *track = timeline_track(t, serial);

	if (track && track->owner.rec.type)
		return &track->owner;
	return (const struct ktau_rec_owner *)hash_get(&t->named, serial);
}

/* Records */

/*
 * Add the regions of a new track. Slots before the time up to which everything has been passed on
 * are left out; the region that the task was in then begins at this time.
 */
static void attach_user(struct timeline *t, struct track *track)
{
	struct user_trace *trace = t->users ? user_traces_find(t->users, track->serial) : NULL;
	struct user_slot *slot;
	size_t last = 0, i;

	if (!trace)
		return;
	for (i = 0; i < trace->nr && trace->slots[i].ticks < t->passed_ticks; i++)
		if (trace->slots[i].type == USER_REGION)
			last = i + 1;
	if (last) {
		slot = &trace->slots[--i];
		*slot = trace->slots[last - 1];
		slot->ticks = t->passed_ticks;
	}
	track->user = cli_alloc(NULL, 1, sizeof(*track->user));
	*track->user = (struct user_walk){ .trace = trace, .at = i };
}

static struct track *find_track(struct timeline *t, uint64_t serial, bool *changed)
{
	struct track *track = timeline_track(t, serial);

	*changed = !track;
	if (track)
		return track;
	if (t->nr_tracks == t->room) {
		t->room = t->room ? 2 * t->room : 64;
		t->tracks = cli_alloc(t->tracks, t->room, sizeof(struct track *));
	}
	track = cli_alloc(NULL, 1, sizeof(*track));
	*track = (struct track){
		.serial = serial,
		.index = (uint32_t)t->nr_tracks,
		.owner.serial = serial,
	};
	t->tracks[t->nr_tracks++] = track;
	hash_put(&t->by_serial, serial, (uintptr_t)track);
	attach_user(t, track);
	return track;
}

static struct ktau_rec_owner without_path(const struct ktau_rec_owner *owner)
{
	struct ktau_rec_owner o = *owner;

	o.path_bytes = 0;
	return o;
}

static uint64_t ticks_at(const struct ktau_clock *clock, uint64_t boottime_ns)
{
	double ns = (double)(int64_t)(boottime_ns - clock->boottime_ns);
	double ticks = ns * (double)clock->hz / 1e9;

	if (ticks < -1e18 || ticks > 1e18)
		return clock->ticks;
	return clock->ticks + (uint64_t)(int64_t)ticks;
}

static void queue_end(struct timeline *t, struct track *track)
{
	if (track->ended || track->ending)
		return;
	track->ending = true;
	track->end_ticks = t->final_ticks;
	if (track->owner.kind == KTAU_OWNER_EXITED)
		track->end_ticks = ticks_at(&t->clock, track->owner.exit_ns);
	track_heap_put(&t->heap, track, timeline_due(track));
}

/* A stream of traces has all remaining slots of a task that has exited. */
static void note_exit(struct timeline *t, struct track *track)
{
	if (t->in_trace && track->owner.kind == KTAU_OWNER_EXITED)
		queue_end(t, track);
}

static int put_owner(struct timeline *t, const struct ktau_rec_owner *owner)
{
	struct ktau_rec_owner *named = (struct ktau_rec_owner *)hash_get(&t->named, owner->serial);
	struct track *track = timeline_track(t, owner->serial);
	bool changed;

	if (track) {
		changed = memcmp(track->owner.comm, owner->comm, sizeof(owner->comm)) ||
			  track->owner.tid != owner->tid || track->owner.tgid != owner->tgid;
		track->owner = without_path(owner);
		note_exit(t, track);
		if (changed && t->sink->track)
			return t->sink->track(t->sink->arg, track);
		return 0;
	}
	if (!named) {
		named = cli_alloc(NULL, 1, sizeof(*named));
		hash_put(&t->named, owner->serial, (uintptr_t)named);
	}
	*named = without_path(owner);
	return 0;
}

/*
 * The first slot of @trace that is new. A reader that does not consume sees the same slots of a
 * ring in each stream.
 */
static const struct ktau_slot *first_new(const struct track *track,
					 const struct ktau_rec_trace *trace)
{
	const struct ktau_slot *slot = ktau_trace_next(trace, NULL);

	if (trace->first >= track->next)
		return slot;
	while (slot && slot->ticks <= track->queued_ticks)
		slot = ktau_trace_next(trace, slot);
	return slot;
}

/*
 * Whether records between the last one and @trace are missing, as in a file with a damaged block:
 * their slots are neither there nor among those that @trace has lost.
 */
static bool misses_records(const struct track *track, const struct ktau_rec_trace *trace)
{
	return track->next && trace->first > track->next &&
	       trace->first - track->next > trace->lost;
}

/* If the records overlap, the loss before this one has already been passed on. */
static bool has_new_loss(const struct track *track, const struct ktau_rec_trace *trace)
{
	return (trace->lost && trace->first > track->next) || misses_records(track, trace);
}

/* The slots of missing records are lost: those since the last one that is there. */
static void add_missing(const struct timeline *t, const struct track *track,
			const struct ktau_slot *first, struct ktau_rec_trace *trace)
{
	if (!misses_records(track, trace))
		return;
	if (!trace->lost)
		trace->lost_to_ticks = first ? first->ticks : t->final_ticks;
	trace->lost = trace->first - track->next;
	trace->lost_from_ticks = track->queued_ticks;
	if (trace->lost_to_ticks < trace->lost_from_ticks)
		trace->lost_to_ticks = trace->lost_from_ticks;
}

static const struct ktau_slot *slot_in(const struct ktau_rec_trace *trace, ptrdiff_t offset)
{
	return (const struct ktau_slot *)((const char *)trace + offset);
}

/*
 * Without slots, the loss of a record lasts until the record was made. Slots that were written in
 * the meantime are in the next record, and end the loss.
 */
static void end_loss(struct run *run, uint64_t ticks)
{
	struct ktau_rec_trace *trace = run->trace;

	if (run->slot || ticks >= trace->lost_to_ticks)
		return;
	trace->lost_to_ticks = ticks > trace->lost_from_ticks ? ticks : trace->lost_from_ticks;
}

/* Add a run that begins with the slot @first, or with a loss and no slots if that is NULL. */
static int add_run(struct timeline *t, struct track *track, const struct ktau_rec_trace *trace,
		   const struct ktau_slot *first)
{
	struct run *run = cli_alloc(NULL, 1, sizeof(*run));
	const struct ktau_slot *slot;

	*run = (struct run){ .trace = ktau_record_dup(trace) };
	if (!run->trace) {
		free(run);
		return -ENOMEM;
	}
	add_missing(t, track, first, run->trace);
	if (first)
		run->slot = slot_in(run->trace, (const char *)first - (const char *)trace);
	run->opened = !has_new_loss(track, trace);
	run->scheduled = track->scheduled;
	for (slot = first; slot; slot = ktau_trace_next(trace, slot))
		track->queued_ticks = slot->ticks;
	if (track->last) {
		if (first)
			end_loss(track->last, first->ticks);
		track->last->next = run;
	} else {
		track->first = run;
	}
	track->last = run;
	track_heap_put(&t->heap, track, timeline_due(track));
	return 0;
}

/* Whether switches have slots. An exited task has lost its groups, so they are those it had. */
static bool knows_switches(const struct timeline *t, const struct track *track,
			   const struct ktau_rec_trace *trace)
{
	if (trace->groups)
		return trace->groups & KTAU_GROUP_SCHED;
	return track->scheduled || t->groups & KTAU_GROUP_SCHED;
}

static int put_trace(struct timeline *t, const struct ktau_rec_trace *trace)
{
	const struct ktau_rec_owner *owner;
	const struct ktau_slot *first;
	struct track *track;
	bool changed;
	int err;

	track = find_track(t, trace->serial, &changed);
	owner = ktau_reader_owner(t->owners, trace->serial);
	if (changed && owner)
		track->owner = without_path(owner);
	track->scheduled = knows_switches(t, track, trace);
	first = first_new(track, trace);
	if (!t->begun && first && first->ticks < t->begin_ticks)
		t->begin_ticks = first->ticks;
	if (first || has_new_loss(track, trace)) {
		err = add_run(t, track, trace, first);
		if (err)
			return err;
	}
	if (trace->next > track->next)
		track->next = trace->next;
	note_exit(t, track);
	return changed && t->sink->track ? t->sink->track(t->sink->arg, track) : 0;
}

int timeline_put(struct timeline *t, const struct ktau_reader *reader,
		 const union ktau_record *rec)
{
	t->owners = reader;
	switch (rec->rec->type) {
	case KTAU_REC_STREAM:
		t->in_trace = rec->stream->content == KTAU_REC_TRACE;
		if (rec->stream->ticks < t->begin_ticks)
			t->begin_ticks = rec->stream->ticks;
		if (!t->in_trace)
			return 0;
		if (!t->stream.rec.type) {
			t->stream = *rec->stream;
			ktau_clock_init(&t->clock, &t->stream);
			if (t->registry)
				t->users = user_traces_load(t->path, &t->stream, t->registry);
		} else if (!ktau_same_boot(&t->stream, rec->stream)) {
			return -EXDEV;
		}
		if (rec->stream->ticks < t->final_ticks)
			return -ESTALE;
		t->final_ticks = rec->stream->ticks;
		t->groups = rec->stream->groups;
		return 0;
	case KTAU_REC_EVENT:
		if (rec->event->group == KTAU_GROUP_SCHED)
			t->sched[rec->event->id / 8] |= (uint8_t)(1 << rec->event->id % 8);
		if (rec->event->kind == KTAU_KIND_FIELDS &&
		    program_has_number(ktau_event_name(rec->event)))
			t->numbers[rec->event->id / 8] |= (uint8_t)(1 << rec->event->id % 8);
		return ktau_events_put(t->events, rec->event);
	case KTAU_REC_OWNER:
		return put_owner(t, rec->owner);
	case KTAU_REC_TRACE:
		if (t->in_trace)
			return put_trace(t, rec->trace);
		t->counts.misplaced++;
		return 0;
	case KTAU_REC_END:
		t->begun |= t->in_trace;
		return timeline_pass(t, t->final_ticks);
	}
	return 0;
}

/* What has not ended ends at the time of the last stream, or when the task has exited. */
int timeline_finish(struct timeline *t)
{
	size_t i;

	t->user_end_ticks = t->final_ticks;
	for (i = 0; i < t->nr_tracks; i++)
		queue_end(t, t->tracks[i]);
	return timeline_pass(t, UINT64_MAX);
}

int timeline_read(struct timeline *t)
{
	struct progress progress = { 0 };
	union ktau_record rec;
	uint64_t records = 0;
	int err, read;

	while ((read = ktau_reader_next(t->reader, &rec)) > 0) {
		progress_step(&progress, "exporting", ++records);
		err = timeline_put(t, t->reader, &rec);
		if (err) {
			progress_end(&progress);
			return err;
		}
	}
	progress_end(&progress);
	err = timeline_finish(t);
	return err ? err : read;
}
