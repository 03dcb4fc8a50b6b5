// SPDX-License-Identifier: LGPL-2.1-or-later
/*
 * The nesting of slots and the loss counts of traces.
 *
 * Positions in a ring are numbered from its first write. A record has the slots from
 * position @first to @next, and the @lost positions before @first were overwritten. So
 * @first - @lost is the end of the previous record, if both are of one ring in one stream, or
 * of the last record of a stream that consumes, if this one consumes too. It is 0 for the new
 * ring that replaces a resized one. Reading an exited task consumes nothing, so every later
 * stream begins where the first stream with the exited task began. A stream that does not
 * consume begins at the start of the ring, or at @since_ticks.
 *
 * The frames that were open when the trace began, or when slots were lost, are unknown. An
 * EXIT with an empty stack belongs to one of them and is accepted. An EXIT with another
 * event on top of the stack is a contradiction, with one exception: a slot that found no
 * room in its ring, because an interrupt filled the ring while a write was unfinished, has
 * no number, so its position is unknown. The record counts such slots of its owner (no_room),
 * and each may explain one contradiction there.
 */
#include <stdlib.h>

#include "check_state.h"

static int push(struct check_owner *owner, uint16_t id)
{
	size_t room = owner->room ? owner->room * 2 : 32;
	uint16_t *stack;

	if (owner->depth == owner->room) {
		stack = reallocarray(owner->stack, room, sizeof(*stack));
		if (!stack)
			return -ENOMEM;
		owner->stack = stack;
		owner->room = room;
	}
	owner->stack[owner->depth++] = id;
	return 0;
}

static void pop(struct ktau_check *c, struct check_owner *owner, __u64 number, uint16_t id)
{
	size_t depth = owner->depth;
	uint16_t inside;

	if (!depth)
		return;
	inside = owner->stack[depth - 1];
	/* Continue as if the frames above the matching one had been exited. */
	while (depth && owner->stack[depth - 1] != id)
		depth--;
	owner->depth = depth ? depth - 1 : 0;
	if (inside == id)
		return;
	if (owner->explained < owner->no_room)
		owner->explained++;
	else
		ktau__check_report(c, KTAU_FINDING_NESTING, owner->serial, number,
				   "slot %llu: exit of event %u inside event %u", number, id,
				   inside);
}

/* The clock is read when a slot is reserved, so times do not go back. */
static void check_time(struct ktau_check *c, struct check_owner *owner,
		       const struct ktau_slot *slot, __u64 number)
{
	if ((c->stream.clock_flags & KTAU_CLOCK_STABLE) && slot->ticks < owner->slot_ticks)
		ktau__check_report(c, KTAU_FINDING_SLOT, owner->serial, number,
				   "slot %llu: %llu ns before the one before it", number,
				   ktau__check_ns(c, owner->slot_ticks - slot->ticks));
	owner->slot_ticks = slot->ticks;
}

static bool has_event(uint8_t type)
{
	return type == KTAU_TRACE_ENTER || type == KTAU_TRACE_EXIT || type == KTAU_TRACE_COUNT ||
	       type == KTAU_TRACE_FIELDS;
}

static void check_slot(struct ktau_check *c, uint64_t serial, const struct ktau_slot *slot,
		       __u64 number)
{
	const char *why = NULL;

	if (slot->type && !ktau_slot_type_name(slot->type)) {
		c->counts.unknown++;
		return;
	}
	if (!slot->type)
		why = "no type";
	else if (slot->ctx > KTAU_CTX_NMI)
		why = "impossible context";
	else if (slot->flags & ~KTAU_SLOT_OFF_CPU && slot->type == KTAU_TRACE_ENTER)
		why = "unknown flags";
	else if (has_event(slot->type) && slot->id == KTAU_ID_NONE)
		why = "no event";
	else if (!has_event(slot->type) && slot->id != KTAU_ID_NONE)
		why = "event in a slot that has none";
	if (why)
		ktau__check_report(c, KTAU_FINDING_SLOT, serial, number, "slot %llu: %s", number,
				   why);
	else if (has_event(slot->type))
		ktau__check_event(c, serial, slot->id);
}

/* The position at which a record has to begin, NULL if it may begin anywhere. */
static const __u64 *must_begin(const struct ktau_check *c, const struct check_owner *owner,
			       bool exited)
{
	/* Two records of one ring, unless the task has exited between them. */
	if (owner->has_trace && owner->trace_stream == c->counts.streams &&
	    exited == owner->has_exited)
		return &owner->next;
	if (c->stream.flags & KTAU_SELECT_CONSUME && owner->has_consumed)
		return &owner->consumed;
	return NULL;
}

/* Whether a record may begin at position @start. If not, *@wanted is where it has to begin. */
static bool follows(const struct ktau_check *c, struct check_owner *owner, __u64 start,
		    __u64 *wanted)
{
	const struct ktau_rec_owner *described = ktau__check_described(c, owner->serial);
	bool exited = described && described->kind == KTAU_OWNER_EXITED;
	const __u64 *begin = must_begin(c, owner, exited);
	bool in_order = !begin || !start || start == *begin ||
			(owner->has_exited && start == owner->exited_start);

	*wanted = begin ? *begin : start;
	if (exited)
		owner->exited_seq = described->exited_seq;
	/* After a gap this record may be the rest of a long ring. */
	if (exited && !owner->has_exited && !c->gap) {
		owner->has_exited = true;
		owner->exited_start = start;
	}
	owner->has_trace = owner->has_exited || !exited;
	return in_order;
}

/* NULL, or how the positions of one record contradict each other. */
static const char *judge_positions(const struct ktau_rec_trace *t)
{
	if (t->lost > t->first)
		return "more lost than was written before it";
	if (t->next < t->first || t->next - t->first < t->nr_slots)
		return "more slots than positions";
	if (t->next > t->written)
		return "ends after the newest slot";
	if (t->next - t->first > t->ring_slots)
		return "more positions than the ring has slots";
	if (t->lost && t->lost_from_ticks > t->lost_to_ticks)
		return "the time of what was lost ends before it begins";
	return NULL;
}

static void report_order(struct ktau_check *c, const struct ktau_rec_trace *t, __u64 wanted)
{
	__u64 start = t->first - t->lost;

	if (start > wanted)
		ktau__check_report(c, KTAU_FINDING_LOSS, t->serial, t->first,
				   "hole of %llu positions: begins at position %llu with %llu "
				   "lost, but position %llu must come next", start - wanted,
				   t->first, t->lost, wanted);
	else
		ktau__check_report(c, KTAU_FINDING_LOSS, t->serial, t->first,
				   "begins at position %llu with %llu lost, but position %llu "
				   "must come next", t->first, t->lost, wanted);
}

static void check_loss(struct ktau_check *c, struct check_owner *owner,
		       const struct ktau_rec_trace *t)
{
	__u64 start = t->first - t->lost, wanted;
	const char *why = judge_positions(t);
	bool in_order = follows(c, owner, start, &wanted);

	if (why)
		ktau__check_report(c, KTAU_FINDING_LOSS, t->serial, t->first,
				   "positions %llu to %llu of %llu, %llu lost: %s", t->first,
				   t->next, t->written, t->lost, why);
	else if (!in_order)
		report_order(c, t, wanted);
	if (t->lost && t->lost_to_ticks > c->lost_to_ticks)
		c->lost_to_ticks = t->lost_to_ticks;
	if (t->lost || start != owner->next) {
		owner->depth = 0;
		owner->slot_ticks = 0;
	}
	owner->next = t->next;
	owner->trace_stream = c->counts.streams;
	if (c->stream.flags & KTAU_SELECT_CONSUME) {
		owner->consumed = t->next;
		owner->has_consumed = owner->has_trace;
	}
}

int ktau__check_trace(struct ktau_check *c, struct check_owner *owner,
		      const struct ktau_rec_trace *t)
{
	const struct ktau_slot *slot = NULL;
	__u64 number = 0;
	int err = 0;

	c->counts.traces++;
	c->counts.slots += t->nr_slots;
	c->counts.lost += t->lost;
	/* A stream that does not consume has the same slots again. */
	if (!(c->stream.flags & KTAU_SELECT_CONSUME) && owner->trace_stream != c->counts.streams)
		owner->explained = 0;
	owner->no_room = t->no_room;
	check_loss(c, owner, t);
	for (; !err && (slot = ktau_trace_next(t, slot)); number++) {
		check_slot(c, t->serial, slot, number);
		check_time(c, owner, slot, number);
		if (slot->type == KTAU_TRACE_ENTER)
			err = push(owner, slot->id);
		else if (slot->type == KTAU_TRACE_EXIT)
			pop(c, owner, number, slot->id);
	}
	return err;
}
