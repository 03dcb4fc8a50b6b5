// SPDX-License-Identifier: GPL-2.0-only
/* The traces of all tasks as one sequence; timeline.h describes the rules. */
#include <errno.h>
#include <stdlib.h>
#include <string.h>

#include "cli.h"
#include "hash.h"
#include "registry.h"
#include "timeline.h"
#include "user_trace.h"

/* A trace record whose loss or slots have not all been passed on. */
struct run {
	struct run *next;
	struct ktau_rec_trace *trace;
	const struct ktau_slot *slot;	/* the next slot; NULL: none is left */
	uint64_t call_exit_ticks;	/* exit time of @call */
	const struct ktau_slot *call;
	bool in_gap;			/* part of the gap before the run has been passed on */
	bool opened;			/* all of it has */
};

/*
 * The regions of a task. Their frames are the outermost ones of the track.
 *
 * @at: next slot
 * @path: numbers of the open regions, outermost first
 * @depth: length of @path
 * @replaced: the task has executed another program, so they end with execve()
 */
struct user_walk {
	struct user_trace *trace;
	size_t at;
	uint32_t path[USER_TRACE_DEPTH];
	size_t depth;
	bool replaced;
};

/*
 * A binary heap of the tracks with waiting slots, ordered by the time of their next event. Ties
 * are broken by the order of the tracks.
 */
struct heap {
	struct track **tracks;
	size_t nr, room;
};

struct timeline {
	struct ktau_reader *reader;
	const struct ktau_reader *owners;	/* reader with the owners of the current stream */
	const struct timeline_sink *sink;
	struct ktau_rec_stream stream;
	struct ktau_clock clock;
	struct hash by_serial;		/* struct track * */
	struct hash named;		/* struct ktau_rec_owner *, for serials without a track */
	struct track **tracks;
	size_t nr_tracks, room;
	struct heap heap;
	struct timeline_counts counts;
	uint64_t final_ticks;		/* time of the last trace stream */
	uint64_t passed_ticks;		/* everything before this has been passed on */
	uint64_t user_end_ticks;	/* later slots of programs are left out */
	const char *path;
	struct registry *registry;	/* NULL: without regions */
	struct user_traces *users;
	struct ktau_slot user_slot;
};

struct timeline *timeline_create(struct ktau_reader *reader,
				 const struct timeline_sink *sink)
{
	struct timeline *t = cli_alloc(NULL, 1, sizeof(*t));

	*t = (struct timeline){ .reader = reader, .sink = sink, .user_end_ticks = UINT64_MAX };
	return t;
}

void timeline_regions(struct timeline *t, const char *path, struct registry *registry)
{
	t->path = path ? path : ".";
	t->registry = registry;
}

static void free_run(struct run *run)
{
	ktau_record_free(run->trace);
	free(run);
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
			free_run(run);
		}
		free(t->tracks[i]->frames);
		free(t->tracks[i]->user);
		free(t->tracks[i]);
	}
	for (i = 0; i < t->named.room; i++)
		free((void *)t->named.entries[i].value);
	hash_deinit(&t->named);
	hash_deinit(&t->by_serial);
	user_traces_free(t->users);
	free(t->heap.tracks);
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

/* Heap of tracks. Every track in it has a next event. */

static uint64_t kernel_due(const struct track *track)
{
	const struct run *run = track->first;

	if (!run)
		return UINT64_MAX;
	if (run->call)
		return run->call_exit_ticks;
	return run->slot ? run->slot->ticks : run->trace->lost_to_ticks;
}

static uint64_t user_due(const struct track *track)
{
	const struct user_walk *user = track->user;

	return user && user->at < user->trace->nr ? user->trace->slots[user->at].ticks : UINT64_MAX;
}

/* At the same time, frames of the kernel end before regions change, and begin after it. */
static bool user_is_next(const struct track *track)
{
	const uint64_t kernel = kernel_due(track), user = user_due(track);

	return user < kernel ||
	       (user == kernel && user != UINT64_MAX && track->depth == track->user->depth);
}

static uint64_t due(const struct track *track)
{
	const uint64_t kernel = kernel_due(track), user = user_due(track);

	return user < kernel ? user : kernel;
}

static bool earlier(const struct track *a, const struct track *b)
{
	return a->order_ticks != b->order_ticks ? a->order_ticks < b->order_ticks :
						  a->index < b->index;
}

static void place(struct heap *h, size_t i, struct track *track)
{
	h->tracks[i] = track;
	track->place = i + 1;
}

static void sift_down(struct heap *h, size_t i)
{
	struct track *track = h->tracks[i];
	size_t child;

	while ((child = 2 * i + 1) < h->nr) {
		if (child + 1 < h->nr && earlier(h->tracks[child + 1], h->tracks[child]))
			child++;
		if (!earlier(h->tracks[child], track))
			break;
		place(h, i, h->tracks[child]);
		i = child;
	}
	place(h, i, track);
}

/* Add a track, or move one whose next event is now earlier. */
static void heap_put(struct heap *h, struct track *track)
{
	size_t i = track->place ? track->place - 1 : h->nr++;

	if (h->nr > h->room) {
		h->room = h->room ? 2 * h->room : 64;
		h->tracks = cli_alloc(h->tracks, h->room, sizeof(struct track *));
	}
	track->order_ticks = due(track);
	for (; i && earlier(track, h->tracks[(i - 1) / 2]); i = (i - 1) / 2)
		place(h, i, h->tracks[(i - 1) / 2]);
	place(h, i, track);
}

/* The first track has advanced, or has no more slots. */
static void heap_renew(struct heap *h)
{
	struct track *track = h->tracks[0];

	track->order_ticks = due(track);
	if (!track->first && track->order_ticks == UINT64_MAX) {
		track->place = 0;
		h->tracks[0] = h->tracks[--h->nr];
	}
	if (h->nr)
		sift_down(h, 0);
}

/* Events */

static void clamp(struct timeline *t, struct timeline_event *e)
{
	struct track *track = e->track;

	if (e->ns < track->ns) {
		t->counts.clamped++;
		e->ns = track->ns;
	}
	track->ns = e->ns;
}

static int emit(struct timeline *t, struct timeline_event *e)
{
	clamp(t, e);
	return t->sink->event(t->sink->arg, e);
}

static bool is_nested(const struct track *track, uint32_t id)
{
	size_t i = track->depth;

	while (i--)
		if (track->frames[i].id == id)
			return true;
	return false;
}

static int exit_frame(struct timeline *t, struct track *track, struct timeline_event *e)
{
	struct timeline_frame *frame = &track->frames[--track->depth];
	uint64_t duration;

	e->track = track;
	e->type = KTAU_TRACE_EXIT;
	e->id = frame->id;
	e->frame = frame;
	e->from_ns = frame->ns;
	clamp(t, e);
	duration = e->ns - frame->ns;
	e->excl_ns = duration - frame->child_ns;
	e->nested = is_nested(track, frame->id);
	if (track->depth)
		frame[-1].child_ns += duration;
	return t->sink->event(t->sink->arg, e);
}

/* End the frames above @depth. */
static int exit_all(struct timeline *t, struct track *track, size_t depth, uint64_t ns,
		    enum timeline_ended ended)
{
	uint64_t *count = ended == ENDED_BY_END ? &t->counts.unfinished :
						  &t->counts.half_enters;
	int err = 0;

	*count += track->depth - depth;
	while (!err && track->depth > depth)
		err = exit_frame(t, track, &(struct timeline_event){ .ns = ns, .ended = ended });
	return err;
}

/* The number of frames that are regions. */
static size_t user_depth(const struct track *track)
{
	return track->user ? track->user->depth : 0;
}

static int enter_frame(struct timeline *t, struct timeline_event *e)
{
	struct track *track = e->track;

	if (track->depth == track->room) {
		track->room = track->room ? 2 * track->room : 16;
		track->frames = cli_alloc(track->frames, track->room, sizeof(*track->frames));
	}
	t->counts.enters++;
	e->type = KTAU_TRACE_ENTER;
	clamp(t, e);
	e->frame = &track->frames[track->depth++];
	*e->frame = (struct timeline_frame){ .id = e->id, .ns = e->ns };
	ktau_slot_address(e->slot, &e->frame->address);
	return t->sink->event(t->sink->arg, e);
}

/* End the innermost frame of this event. The exits of frames inside it must have been lost. */
static int leave_frame(struct timeline *t, struct timeline_event *e)
{
	struct timeline_event lost = { .ns = e->ns, .ended = ENDED_BY_LOSS };
	struct track *track = e->track;
	size_t depth = track->depth, least = user_depth(track);
	int err = 0;

	while (depth > least && track->frames[depth - 1].id != e->id)
		depth--;
	if (depth == least) {
		t->counts.half_exits++;
		return 0;
	}
	t->counts.half_enters += track->depth - depth;
	while (!err && track->depth > depth)
		err = exit_frame(t, track, &lost);
	return err ? err : exit_frame(t, track, e);
}

/* A slot for an entry, an exit or an event of a program, without a payload. */
static const struct ktau_slot *user_slot(struct timeline *t, const struct track *track,
					 uint64_t ticks, uint32_t type)
{
	t->user_slot = (struct ktau_slot){
		.ticks = ticks, .id = KTAU_ID_NONE, .type = (uint8_t)type, .words = 2,
		.ctx = KTAU_CTX_TASK, .cpu = (uint16_t)track->cpu,
	};
	return &t->user_slot;
}

/* The task is now in @region. In user mode, no frame of the kernel is open. */
static int change_region(struct timeline *t, struct track *track, uint32_t region,
			 const struct timeline_event *at)
{
	struct user_walk *user = track->user;
	struct timeline_event e;
	uint32_t path[USER_TRACE_DEPTH];
	size_t nr = user_trace_path(user->trace, region, path), same = 0;
	int err = exit_all(t, track, user->depth, at->ns, ENDED_BY_LOSS);

	while (same < nr && same < user->depth && path[same] == user->path[same])
		same++;
	for (; !err && user->depth > same; user->depth--) {
		e = *at;
		e.slot = user_slot(t, track, at->slot->ticks, KTAU_TRACE_EXIT);
		err = exit_frame(t, track, &e);
	}
	for (; !err && user->depth < nr; user->depth++) {
		e = *at;
		e.id = user_trace_region_id(user->trace, path[user->depth]);
		e.slot = user_slot(t, track, at->slot->ticks, KTAU_TRACE_ENTER);
		user->path[user->depth] = path[user->depth];
		err = enter_frame(t, &e);
	}
	return err;
}

/* The regions of a program end when the system call that has replaced it returns. */
static int end_replaced(struct timeline *t, struct track *track, const struct timeline_event *at)
{
	if (!track->user || !track->user->replaced || track->depth > track->user->depth)
		return 0;
	track->user->replaced = false;
	return change_region(t, track, 0, at);
}

/*
 * The slots before @run were lost, so it is not known which frames of the kernel are open. Events
 * of the program split the gap: this passes on the part up to @until_ns.
 */
static int hand_on_gap(struct timeline *t, struct track *track, struct run *run,
		       uint64_t until_ns)
{
	const struct ktau_rec_trace *trace = run->trace;
	struct timeline_event gap = {
		.track = track,
		.type = TIMELINE_LOST,
		.ns = ktau_clock_boottime_ns(&t->clock, trace->lost_from_ticks),
		.to_ns = ktau_clock_boottime_ns(&t->clock, trace->lost_to_ticks),
		.lost = trace->lost,
	};
	bool is_first = !run->in_gap;
	int err = 0;

	run->opened = until_ns == UINT64_MAX;
	if (!trace->lost)
		return 0;
	if (is_first) {
		t->counts.lost += trace->lost;
		t->counts.gaps++;
		err = exit_all(t, track, user_depth(track), gap.ns, ENDED_BY_LOSS);
	} else {
		gap.ns = track->ns;
		gap.lost = 0;
	}
	run->in_gap = true;
	if (until_ns < gap.to_ns)
		gap.to_ns = until_ns;
	if (gap.to_ns < gap.ns)
		gap.to_ns = gap.ns;
	if (!err && (is_first || gap.to_ns > gap.ns))
		err = emit(t, &gap);
	if (track->depth && gap.to_ns > gap.ns)
		track->frames[track->depth - 1].child_ns += gap.to_ns - gap.ns;
	if (gap.to_ns > track->ns)
		track->ns = gap.to_ns;
	return err;
}

/* Pass on the next slot of the program. */
static int hand_on_user(struct timeline *t, struct track *track)
{
	struct user_walk *user = track->user;
	const struct user_slot *slot = &user->trace->slots[user->at++];
	struct run *run = track->first;
	struct timeline_event e = {
		.track = track,
		.type = TIMELINE_MARK,
		.ns = ktau_clock_boottime_ns(&t->clock, slot->ticks),
		.mark = slot,
	};
	int err = 0;

	if (slot->ticks > t->user_end_ticks) {
		user->at = user->trace->nr;
		return 0;
	}
	t->counts.slots++;
	if (run && !run->opened && slot->ticks >= run->trace->lost_from_ticks)
		err = hand_on_gap(t, track, run, e.ns);
	e.slot = user_slot(t, track, slot->ticks, 0);
	if (err || slot->type == USER_REGION)
		return err ? err : change_region(t, track, slot->number, &e);
	e.id = user_trace_event_id(user->trace, slot->number);
	return emit(t, &e);
}

static int hand_on_slot(struct timeline *t, struct track *track, struct run *run)
{
	const struct ktau_slot *slot = run->slot;
	struct timeline_event e = {
		.track = track,
		.slot = slot,
		.type = slot->type,
		.id = slot->id,
		.ns = ktau_clock_boottime_ns(&t->clock, slot->ticks),
	};
	uint64_t ticks;
	int err;

	t->counts.slots++;
	track->cpu = slot->cpu;
	switch (slot->type) {
	case KTAU_TRACE_CALL:
		ktau_slot_duration(slot, &ticks);
		run->call = slot;
		run->call_exit_ticks = slot->ticks + ticks;
		return enter_frame(t, &e);
	case KTAU_TRACE_ENTER:
		return enter_frame(t, &e);
	case KTAU_TRACE_EXIT:
		err = leave_frame(t, &e);
		return err ? err : end_replaced(t, track, &e);
	}
	err = emit(t, &e);
	if (!err && slot->type == KTAU_TRACE_EXEC && track->user) {
		track->user->replaced = true;
		err = end_replaced(t, track, &e);
	}
	return err;
}

/* Pass on the next event of @track, which has the oldest one. */
static int hand_on(struct timeline *t, struct track *track)
{
	struct run *run = track->first;
	struct timeline_event e;
	int err = 0;

	if (user_is_next(track))
		return hand_on_user(t, track);
	if (!run->opened)
		err = hand_on_gap(t, track, run, UINT64_MAX);
	if (err)
		return err;
	if (run->call) {
		e = (struct timeline_event){
			.track = track, .slot = run->call, .id = run->call->id,
			.ns = ktau_clock_boottime_ns(&t->clock, run->call_exit_ticks),
		};
		run->call = NULL;
		err = leave_frame(t, &e);
	} else if (run->slot) {
		err = hand_on_slot(t, track, run);
		run->slot = ktau_trace_next(run->trace, run->slot);
	}
	if (!run->slot && !run->call) {
		track->first = run->next;
		if (!track->first)
			track->last = NULL;
		free_run(run);
	}
	return err;
}

/* Pass on all events before @ticks. */
static int hand_on_until(struct timeline *t, uint64_t ticks)
{
	int err = 0;

	while (!err && t->heap.nr && t->heap.tracks[0]->order_ticks < ticks) {
		err = hand_on(t, t->heap.tracks[0]);
		heap_renew(&t->heap);
	}
	t->passed_ticks = ticks;
	return err;
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

static int put_owner(struct timeline *t, const struct ktau_rec_owner *owner)
{
	struct ktau_rec_owner *named = (struct ktau_rec_owner *)hash_get(&t->named, owner->serial);
	struct track *track = timeline_track(t, owner->serial);
	bool changed;

	if (track) {
		changed = memcmp(track->owner.comm, owner->comm, sizeof(owner->comm)) ||
			  track->owner.tid != owner->tid || track->owner.tgid != owner->tgid;
		track->owner = without_path(owner);
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

/* If the records overlap, the loss before this one has already been passed on. */
static bool has_new_loss(const struct track *track, const struct ktau_rec_trace *trace)
{
	return trace->lost && trace->first > track->next;
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
	if (first)
		run->slot = slot_in(run->trace, (const char *)first - (const char *)trace);
	run->opened = !has_new_loss(track, trace);
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
	heap_put(&t->heap, track);
	return 0;
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
	first = first_new(track, trace);
	if (first || has_new_loss(track, trace)) {
		err = add_run(t, track, trace, first);
		if (err)
			return err;
	}
	if (trace->next > track->next)
		track->next = trace->next;
	return changed && t->sink->track ? t->sink->track(t->sink->arg, track) : 0;
}

int timeline_put(struct timeline *t, const struct ktau_reader *reader,
		 const union ktau_record *rec)
{
	t->owners = reader;
	switch (rec->rec->type) {
	case KTAU_REC_STREAM:
		if (rec->stream->content != KTAU_REC_TRACE)
			return 0;
		if (!t->stream.rec.type) {
			t->stream = *rec->stream;
			ktau_clock_init(&t->clock, &t->stream);
			if (t->registry)
				t->users = user_traces_load(t->path, &t->stream, t->registry);
		} else if (!ktau_same_boot(&t->stream, rec->stream)) {
			return -ESTALE;
		}
		t->final_ticks = rec->stream->ticks;
		return 0;
	case KTAU_REC_OWNER:
		return put_owner(t, rec->owner);
	case KTAU_REC_TRACE:
		return put_trace(t, rec->trace);
	case KTAU_REC_END:
		return hand_on_until(t, t->final_ticks);
	}
	return 0;
}

/*
 * End all open frames: at the time of the last stream, or at the last event of a task that has
 * exited.
 */
int timeline_finish(struct timeline *t)
{
	uint64_t end_ns = ktau_clock_boottime_ns(&t->clock, t->final_ticks);
	struct track *track;
	size_t i;
	int err;

	t->user_end_ticks = t->final_ticks;
	err = hand_on_until(t, UINT64_MAX);
	for (i = 0; !err && i < t->nr_tracks; i++) {
		track = t->tracks[i];
		if (track->ns < end_ns && track->owner.kind != KTAU_OWNER_EXITED)
			err = exit_all(t, track, 0, end_ns, ENDED_BY_END);
		else
			err = exit_all(t, track, 0, track->ns, ENDED_BY_END);
	}
	return err;
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
