// SPDX-License-Identifier: LGPL-2.1-or-later
/*
 * The stack discipline and the loss accounts of traces.
 *
 * Slots of a ring are numbered from its first write. A record says that it
 * begins with slot @first and that the @lost ones before it are gone: so
 * @first - @lost is where the record before ended. It is 0 for a new ring (the
 * old one was resized away) and for a stream that was asked not to consume.
 * Reading the dead consumes nothing: a later stream begins where the first one
 * that had them dead began.
 *
 * What frames were open when the trace began, or when slots were lost, is not
 * known: an EXIT that finds the stack empty is one of those and no
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

static void pop(struct ktau_check *c, struct check_owner *owner,
		const struct ktau_rec_trace *t, __u64 number, uint16_t id)
{
	size_t depth = owner->depth;

	if (!depth)
		return;
	if (owner->stack[depth - 1] == id) {
		owner->depth--;
		return;
	}
	ktau__finding(c, KTAU_FINDING_NESTING, &t->owner, number,
		      "slot %llu: exit of event %u inside of event %u", number, id,
		      owner->stack[depth - 1]);
	/* Go on with what agrees: the frame that was meant, or none. */
	while (depth && owner->stack[depth - 1] != id)
		depth--;
	owner->depth = depth ? depth - 1 : 0;
}

static void check_more(struct ktau_check *c, const struct ktau_rec_trace *t,
		       const struct ktau_slot *slot, __u64 number)
{
	static const uint8_t needed[] = {
		[KTAU_TRACE_EXEC] = 1, [KTAU_TRACE_NET_SEND] = 2, [KTAU_TRACE_NET_RECV] = 2,
	};
	uint32_t left = ktau_trace_slots(t) + t->nr_slots - slot - 1;
	const struct ktau_slot_more *more;
	uint32_t i;

	if (slot->type < sizeof(needed) && slot->more < needed[slot->type])
		ktau__finding(c, KTAU_FINDING_SLOT, &t->owner, number,
			      "slot %llu: %u continuations where %u are needed",
			      number, slot->more, needed[slot->type]);
	for (i = 1; i <= slot->more; i++) {
		more = i <= left ? (const struct ktau_slot_more *)(slot + i) : NULL;
		if (more && more->type == KTAU_TRACE_MORE && more->index == (i & 0xff))
			continue;
		ktau__finding(c, KTAU_FINDING_SLOT, &t->owner, number,
			      "slot %llu: continuation %u of %u is not there",
			      number, i, slot->more);
		return;
	}
}

/* Slots are taken with their time: a later one is not older. */
static void check_time(struct ktau_check *c, struct check_owner *owner,
		       const struct ktau_rec_trace *t, const struct ktau_slot *slot,
		       __u64 number)
{
	if ((c->stream.clock_flags & KTAU_CLOCK_STABLE) && slot->ticks < owner->slot_ticks)
		ktau__finding(c, KTAU_FINDING_SLOT, &t->owner, number,
			      "slot %llu: %llu ticks before the one in front of it",
			      number, owner->slot_ticks - slot->ticks);
	owner->slot_ticks = slot->ticks;
}

static void check_slot(struct ktau_check *c, const struct ktau_rec_trace *t,
		       const struct ktau_slot *slot, __u64 number)
{
	const char *why = NULL;

	if (!slot->type)
		why = "no type";
	else if (slot->ctx > KTAU_CTX_NMI)
		why = "impossible context";
	else if (slot->type <= KTAU_TRACE_COUNT && slot->id >= KTAU_NR_IDS)
		why = "event id out of the table";
	if (why)
		ktau__finding(c, KTAU_FINDING_SLOT, &t->owner, number,
			      "slot %llu: %s", number, why);
	check_more(c, t, slot, number);
}

/* Whether a record that begins at slot @start is what comes next. */
static bool follows(const struct ktau_check *c, struct check_owner *owner,
		    const struct ktau_rec_trace *t, __u64 start)
{
	bool in_order = !owner->has_trace || !start || start == owner->next_slot ||
			(owner->is_dead && start == owner->dead_slot);

	/* Behind a gap it may be the rest of a long ring. */
	if (t->owner.kind == KTAU_OWNER_DEAD && !owner->is_dead && !c->gap) {
		owner->is_dead = true;
		owner->dead_slot = start;
	}
	return in_order;
}

static void check_loss(struct ktau_check *c, struct check_owner *owner,
		       const struct ktau_rec_trace *t)
{
	__u64 start = t->first - t->lost, end = t->first + t->nr_slots;
	bool in_order = follows(c, owner, t, start);

	if (t->lost > t->first)
		ktau__finding(c, KTAU_FINDING_LOSS, &t->owner, t->first,
			      "%llu slots lost before slot %llu", t->lost, t->first);
	else if (!in_order)
		ktau__finding(c, KTAU_FINDING_LOSS, &t->owner, t->first,
			      "begins at slot %llu with %llu lost, but slot "
			      "%llu must come next", t->first, t->lost, owner->next_slot);
	if (end > t->written)
		ktau__finding(c, KTAU_FINDING_LOSS, &t->owner, end,
			      "slots up to %llu of only %llu written", end,
			      t->written);
	if (t->lost && t->lost_from_ticks > t->lost_to_ticks)
		ktau__finding(c, KTAU_FINDING_LOSS, &t->owner, t->first,
			      "the time of what was lost ends before it begins");
	if (t->lost && t->lost_to_ticks > c->lost_to_ticks)
		c->lost_to_ticks = t->lost_to_ticks;
	if (t->nr_slots > t->ring_slots)
		ktau__finding(c, KTAU_FINDING_LOSS, &t->owner, t->first,
			      "%u slots from a ring of %u", t->nr_slots,
			      t->ring_slots);
	if (t->lost || !owner->has_trace || start != owner->next_slot) {
		owner->depth = 0;
		owner->slot_ticks = 0;
	}
	owner->has_trace = owner->is_dead || t->owner.kind != KTAU_OWNER_DEAD;
	owner->next_slot = end;
}

int ktau__check_trace(struct ktau_check *c, struct check_owner *owner,
		      const struct ktau_rec_trace *t)
{
	const struct ktau_slot *slots = ktau_trace_slots(t), *slot = NULL;
	int err = 0;

	c->counts.traces++;
	c->counts.slots += t->nr_slots;
	c->counts.lost += t->lost;
	check_loss(c, owner, t);
	while (!err && (slot = ktau_trace_next(t, slot))) {
		__u64 number = t->first + (slot - slots);

		check_slot(c, t, slot, number);
		check_time(c, owner, t, slot, number);
		if (slot->type == KTAU_TRACE_ENTER)
			err = push(owner, slot->id);
		else if (slot->type == KTAU_TRACE_EXIT)
			pop(c, owner, t, number, slot->id);
	}
	return err;
}
