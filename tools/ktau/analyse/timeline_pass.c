// SPDX-License-Identifier: GPL-2.0-only
/* Passes on the events of a timeline in the order of their times; timeline.h has the rules. */
#include <stdlib.h>
#include <string.h>

#include "lib/cli.h"
#include "timeline_pass.h"

void timeline_free_run(struct run *run)
{
	ktau_record_free(run->trace);
	free(run);
}

/* What is due of the tracks */

static uint64_t kernel_due(const struct track *track)
{
	const struct run *run = track->first;

	if (!run)
		return track->ending ? track->end_ticks : UINT64_MAX;
	return run->slot ? run->slot->ticks : run->trace->lost_to_ticks;
}

static uint64_t user_due(const struct track *track)
{
	const struct user_walk *user = track->user;

	return user && user->at < user->trace->nr ? user->trace->slots[user->at].ticks : UINT64_MAX;
}

/*
 * At the same time, frames of the kernel end before regions change, and begin after it. Nothing
 * follows the end of the track.
 */
static bool user_is_next(const struct track *track)
{
	const uint64_t kernel = kernel_due(track), user = user_due(track);

	if (user != kernel || user == UINT64_MAX)
		return user < kernel;
	return !track->first || track->depth == track->user->depth;
}

uint64_t timeline_due(const struct track *track)
{
	const uint64_t kernel = kernel_due(track), user = user_due(track);

	return user < kernel ? user : kernel;
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

/* CPUs */

/*
 * The slots of a wait are written when it has ended, with the times at which it began; those of a
 * wait that began before the recording have a flag.
 */
static bool shows_running(const struct timeline *t, const struct ktau_slot *slot)
{
	if (slot->type != KTAU_TRACE_ENTER)
		return true;
	return !(slot->flags & KTAU_SLOT_OFF_CPU) && !(t->sched[slot->id / 8] & 1 << slot->id % 8);
}

static int leave_cpu(struct timeline *t, struct track *track, const struct ktau_slot *slot,
		     uint64_t ns, enum timeline_off off)
{
	struct timeline_event e = {
		.track = track, .slot = slot, .type = TIMELINE_OFF, .ns = ns,
		.from_ns = track->on_ns, .off = off,
	};

	if (!track->on)
		return 0;
	track->on = false;
	return emit(t, &e);
}

/* The task has written @slot. */
static int follow_cpu(struct timeline *t, struct track *track, const struct ktau_slot *slot,
		      uint64_t ns)
{
	struct timeline_event e = { .track = track, .slot = slot, .type = TIMELINE_ON, .ns = ns };
	bool scheduled = track->first->scheduled;
	int err = 0;

	if (scheduled && (!shows_running(t, slot) || (track->on && track->cpu == slot->cpu)))
		return 0;
	err = leave_cpu(t, track, NULL, ns, OFF_BY_LOSS);
	if (err || !scheduled)
		return err;
	track->cpu = slot->cpu;
	track->on = true;
	track->on_ns = ns < track->ns ? track->ns : ns;
	return emit(t, &e);
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
 * When the gap before @trace begins. What was lost before a task was first read has no known
 * begin, but it is not older than the task and the recording.
 */
static uint64_t gap_from_ns(const struct timeline *t, const struct track *track,
			    const struct ktau_rec_trace *trace)
{
	const uint64_t to_ns = ktau_clock_boottime_ns(&t->clock, trace->lost_to_ticks);
	uint64_t ticks = trace->lost_from_ticks, ns;

	if (ticks < t->begin_ticks)
		ticks = t->begin_ticks;
	ns = ktau_clock_boottime_ns(&t->clock, ticks);
	if (!trace->lost_from_ticks && ns < track->owner.start_ns)
		ns = track->owner.start_ns;
	return ns < to_ns ? ns : to_ns;
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
		.ns = gap_from_ns(t, track, trace),
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
		if (!err)
			err = leave_cpu(t, track, NULL, gap.ns, OFF_BY_LOSS);
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

/* Pass on an event of a program that is in the trace of its thread, with its fields. */
static int hand_on_fields(struct timeline *t, struct timeline_event *e)
{
	const struct ktau_slot *slot = e->slot;
	const __u64 *payload = ktau_slot_payload(slot);
	const unsigned int words = ktau_slot_payload_words(slot);

	if (slot->type == KTAU_TRACE_FIELDS_LOST) {
		e->type = TIMELINE_MARKS_LOST;
		e->lost = words ? payload[0] : 0;
		e->to_ns = words > 1 ? ktau_clock_boottime_ns(&t->clock, payload[1]) : e->ns;
		return emit(t, e);
	}
	e->type = TIMELINE_MARK;
	e->mark = &t->mark;
	t->mark = (struct user_slot){ .ticks = slot->ticks, .type = USER_MARK };
	if (words && t->numbers[slot->id / 8] & 1 << slot->id % 8) {
		t->mark.type = USER_VALUE;
		t->mark.value = payload[0];
	}
	return emit(t, e);
}

/* The outermost frame of the kernel whose group is not among @groups. */
static size_t depth_of(const struct timeline *t, const struct track *track, uint32_t groups)
{
	const struct ktau_rec_event *event;
	size_t depth = user_depth(track);

	for (; depth < track->depth; depth++) {
		event = ktau_events_find(t->events, track->frames[depth].id);
		if (!event || !(event->group & groups))
			break;
	}
	return depth;
}

/* Frames of groups that are disabled end, and without switches the task is not on a CPU. */
static int hand_on_groups(struct timeline *t, struct track *track, struct run *run,
			  struct timeline_event *e)
{
	uint32_t groups;
	int err;

	ktau_slot_groups(e->slot, &groups);
	run->scheduled = groups & KTAU_GROUP_SCHED;
	err = emit(t, e);
	if (!err)
		err = exit_all(t, track, depth_of(t, track, groups), e->ns, ENDED_BY_END);
	if (err || run->scheduled)
		return err;
	return leave_cpu(t, track, NULL, e->ns, OFF_BY_LOSS);
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
	int err;

	t->counts.slots++;
	if (slot->type == KTAU_TRACE_GROUPS)
		return hand_on_groups(t, track, run, &e);
	err = follow_cpu(t, track, slot, e.ns);
	if (err)
		return err;
	track->cpu = slot->cpu;
	switch (slot->type) {
	case KTAU_TRACE_ENTER:
		return enter_frame(t, &e);
	case KTAU_TRACE_EXIT:
		err = leave_frame(t, &e);
		return err ? err : end_replaced(t, track, &e);
	case KTAU_TRACE_FIELDS:
	case KTAU_TRACE_FIELDS_LOST:
		return hand_on_fields(t, &e);
	}
	err = emit(t, &e);
	if (!err && slot->type == KTAU_TRACE_SWITCH)
		err = leave_cpu(t, track, slot, e.ns, OFF_BY_SWITCH);
	if (!err && slot->type == KTAU_TRACE_EXEC && track->user) {
		track->user->replaced = true;
		err = end_replaced(t, track, &e);
	}
	return err;
}

/* Pass on the end of a track, because the task has exited or the trace has ended. */
static int hand_on_end(struct timeline *t, struct track *track)
{
	bool exited = track->owner.kind == KTAU_OWNER_EXITED;
	uint64_t ns = ktau_clock_boottime_ns(&t->clock, track->end_ticks);
	int err;

	track->ending = false;
	track->ended = true;
	if (track->user)
		track->user->at = track->user->trace->nr;
	if (exited)
		ns = track->owner.exit_ns;
	if (ns < track->ns)
		ns = track->ns;
	err = exit_all(t, track, 0, ns, ENDED_BY_END);
	if (!err)
		err = leave_cpu(t, track, NULL, ns, exited ? OFF_BY_EXIT : OFF_BY_END);
	if (err || !exited)
		return err;
	return emit(t, &(struct timeline_event){ .track = track, .type = TIMELINE_GONE, .ns = ns });
}

/* Pass on the next event of @track, which has the oldest one. */
static int hand_on(struct timeline *t, struct track *track)
{
	struct run *run = track->first;
	int err = 0;

	if (user_is_next(track))
		return hand_on_user(t, track);
	if (!run)
		return hand_on_end(t, track);
	if (!run->opened)
		err = hand_on_gap(t, track, run, UINT64_MAX);
	if (err)
		return err;
	if (run->slot) {
		err = hand_on_slot(t, track, run);
		run->slot = ktau_trace_next(run->trace, run->slot);
	}
	if (!run->slot) {
		track->first = run->next;
		if (!track->first)
			track->last = NULL;
		timeline_free_run(run);
	}
	return err;
}

int timeline_pass(struct timeline *t, uint64_t ticks)
{
	struct track *track;
	int err = 0;

	while (!err && t->heap.nr && t->heap.tracks[0]->order_ticks < ticks) {
		track = t->heap.tracks[0];
		err = hand_on(t, track);
		track_heap_renew(&t->heap, timeline_due(track), !track->first);
	}
	t->passed_ticks = ticks;
	return err;
}
