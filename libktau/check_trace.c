// SPDX-License-Identifier: LGPL-2.1-or-later
/*
 * The nesting of slots and the loss accounts of traces.
 *
 * The places of a ring are numbered from its first write. A record has slots from
 * position @first to @next and says that the @lost places before @first are gone:
 * so @first - @lost is where the record before it ended, if both are of streams that
 * consume, or if a ring comes in several records of one stream. It is 0 for a new
 * ring, which replaces one that was resized. Reading an exited task consumes
 * nothing: a later stream begins where the first one that had it exited began. A
 * stream that does not consume begins where the ring, or @since_ticks, does.
 *
 * Which frames were open when the trace began, or when slots were lost, is not
 * known: an EXIT that finds the stack empty is of one of those and no
 * contradiction. An EXIT that finds another event on top is one.
 */
#include <stdlib.h>

#include "check.h"

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

static void pop(struct ktau_check *c, struct check_owner *owner, uint64_t serial,
		__u64 number, uint16_t id)
{
	size_t depth = owner->depth;

	if (!depth)
		return;
	if (owner->stack[depth - 1] == id) {
		owner->depth--;
		return;
	}
	ktau__finding(c, KTAU_FINDING_NESTING, serial, number,
		      "slot %llu: exit of event %u inside event %u", number, id,
		      owner->stack[depth - 1]);
	/* Continue with what agrees: the frame that was meant, or none. */
	while (depth && owner->stack[depth - 1] != id)
		depth--;
	owner->depth = depth ? depth - 1 : 0;
}

/* A slot's time is taken when its place is reserved: a later one is not older. */
static void check_time(struct ktau_check *c, struct check_owner *owner, uint64_t serial,
		       const struct ktau_slot *slot, __u64 number)
{
	if ((c->stream.clock_flags & KTAU_CLOCK_STABLE) && slot->ticks < owner->slot_ticks)
		ktau__finding(c, KTAU_FINDING_SLOT, serial, number,
			      "slot %llu: %llu ticks before the one before it",
			      number, owner->slot_ticks - slot->ticks);
	owner->slot_ticks = slot->ticks;
}

static bool has_event(uint8_t type)
{
	return type == KTAU_TRACE_ENTER || type == KTAU_TRACE_EXIT ||
	       type == KTAU_TRACE_COUNT || type == KTAU_TRACE_CALL;
}

static void check_slot(struct ktau_check *c, uint64_t serial, const struct ktau_slot *slot,
		       __u64 number)
{
	const char *why = NULL;

	if (slot->type > KTAU_TRACE_CALL) {
		c->counts.unknown++;
		return;
	}
	if (!slot->type)
		why = "no type";
	else if (slot->ctx > KTAU_CTX_NMI)
		why = "impossible context";
	else if (has_event(slot->type) && slot->id == KTAU_ID_NONE)
		why = "no event";
	else if (!has_event(slot->type) && slot->id != KTAU_ID_NONE)
		why = "event in a slot that has none";
	else if (slot->type == KTAU_TRACE_CALL && ktau_slot_payload_words(slot) < 1)
		why = "call without a duration";
	if (why)
		ktau__finding(c, KTAU_FINDING_SLOT, serial, number, "slot %llu: %s", number,
			      why);
	else if (has_event(slot->type))
		ktau__check_event(c, serial, slot->id);
}

/* Must a record continue where the one before it ended? */
static bool must_follow(const struct ktau_check *c, const struct check_owner *owner,
			bool exited)
{
	if (!owner->has_trace)
		return false;
	if (c->stream.flags & KTAU_SELECT_CONSUME)
		return true;
	/* Two records of one ring: the task may have exited between them. */
	return owner->stream == c->counts.streams && exited == owner->has_exited;
}

/* Is a record that begins at position @start what comes next? */
static bool follows(const struct ktau_check *c, struct check_owner *owner,
		    const struct ktau_rec_trace *t, __u64 start)
{
	const struct ktau_rec_owner *described = ktau__check_owner(c, t->serial);
	bool exited = described && described->kind == KTAU_OWNER_EXITED;
	bool in_order = !must_follow(c, owner, exited) || !start || start == owner->next ||
			(owner->has_exited && start == owner->exited_start);

	/* After a gap it may be the rest of a long ring. */
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
		return "more slots than places";
	if (t->next > t->written)
		return "ends after the newest slot";
	if (t->next - t->first > t->ring_slots)
		return "more places than the ring has";
	if (t->lost && t->lost_from_ticks > t->lost_to_ticks)
		return "the time of what was lost ends before it begins";
	return NULL;
}

static void check_loss(struct ktau_check *c, struct check_owner *owner,
		       const struct ktau_rec_trace *t)
{
	__u64 start = t->first - t->lost;
	const char *why = judge_positions(t);
	bool in_order = follows(c, owner, t, start);

	if (why)
		ktau__finding(c, KTAU_FINDING_LOSS, t->serial, t->first,
			      "positions %llu to %llu of %llu, %llu lost: %s", t->first,
			      t->next, t->written, t->lost, why);
	else if (!in_order)
		ktau__finding(c, KTAU_FINDING_LOSS, t->serial, t->first,
			      "begins at position %llu with %llu lost, but position "
			      "%llu must come next", t->first, t->lost, owner->next);
	if (t->lost && t->lost_to_ticks > c->lost_to_ticks)
		c->lost_to_ticks = t->lost_to_ticks;
	if (t->lost || start != owner->next) {
		owner->depth = 0;
		owner->slot_ticks = 0;
	}
	owner->next = t->next;
	owner->stream = c->counts.streams;
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
	check_loss(c, owner, t);
	for (; !err && (slot = ktau_trace_next(t, slot)); number++) {
		check_slot(c, t->serial, slot, number);
		check_time(c, owner, t->serial, slot, number);
		if (slot->type == KTAU_TRACE_ENTER)
			err = push(owner, slot->id);
		else if (slot->type == KTAU_TRACE_EXIT)
			pop(c, owner, t->serial, number, slot->id);
	}
	return err;
}
