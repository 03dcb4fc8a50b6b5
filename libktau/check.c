// SPDX-License-Identifier: LGPL-2.1-or-later
/*
 * Checks that records are consistent with themselves and with each other: profiles, traces,
 * and the streams that contain them.
 */
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>

#include "map.h"
#include "registry.h"

/* The state of one owner after the records so far. */
struct check_owner {
	/* last cumulative profile */
	bool has_profile;
	__u64 count;
	__u64 outer_ticks;
	__u64 refused;
	__u64 clamped;
	/* trace */
	bool has_trace;
	__u64 next;		/* position that must come next */
	__u64 stream;		/* number of the stream it is from */
	__u64 slot_ticks;	/* time of the slot before it, 0 where unknown */
	bool has_exited;
	__u64 exited_start;	/* where its trace began when it was first seen exited */
	uint16_t *stack;	/* ids of the frames entered and not exited */
	size_t depth;
	size_t room;
	__u64 no_room;		/* slots that found no room, as of the last record */
	__u64 explained;	/* exits that these explain */
};

struct ktau_check {
	ktau_finding_fn found;
	void *arg;
	struct ktau_check_counts counts;
	struct check_owner *owners;
	size_t nr_owners;
	size_t room;
	struct ktau__map by_serial;		/* -> index in @owners */
	struct ktau__registry described;	/* OWNER records of this stream */
	struct ktau__map cgroups;		/* ids that CGROUP records describe */
	uint8_t events[65536 / 8];		/* bit set of ids that EVENT records describe */
	struct ktau_rec_stream stream;
	bool in_stream;
	bool gap;		/* records of this stream are missing, or left out */
	bool blind;		/* EVENT and CGROUP records may be missing */
	__u64 nr_records;	/* PROFILE and TRACE, in this stream */
	__u64 lost_to_ticks;	/* the last loss in this stream */
	bool has_end;
	struct ktau_rec_end end;	/* the last one */
	__u64 denied[2];	/* of the last stream of profiles, of traces */
};

int ktau_check_create(struct ktau_check **check, ktau_finding_fn found, void *arg)
{
	*check = calloc(1, sizeof(**check));
	if (!*check)
		return -ENOMEM;
	(*check)->found = found;
	(*check)->arg = arg;
	return 0;
}

static void clear_owners(struct ktau_check *c)
{
	while (c->nr_owners)
		free(c->owners[--c->nr_owners].stack);
	ktau__map_clear(&c->by_serial);
}

void ktau_check_destroy(struct ktau_check *c)
{
	if (!c)
		return;
	clear_owners(c);
	free(c->owners);
	ktau__map_free(&c->by_serial);
	ktau__map_free(&c->cgroups);
	ktau__registry_free(&c->described);
	free(c);
}

/* The newest OWNER record of the stream, or NULL. */
static const struct ktau_rec_owner *described_owner(const struct ktau_check *c, uint64_t serial)
{
	return ktau__registry_find(&c->described, serial);
}

/* @serial is 0 for a finding about the stream. */
__attribute__((format(printf, 5, 6)))
static void report(struct ktau_check *c, enum ktau_finding_code code, uint64_t serial,
		   uint64_t number, const char *format, ...)
{
	struct ktau_finding finding = {
		.code = code, .serial = serial, .number = number,
		.owner = serial ? described_owner(c, serial) : NULL,
	};
	char text[256];
	va_list args;

	c->counts.findings[code]++;
	if (!c->found)
		return;
	va_start(args, format);
	vsnprintf(text, sizeof(text), format, args);
	va_end(args);
	finding.text = text;
	c->found(c->arg, &finding);
}

static bool is_task(const struct ktau_rec_owner *owner)
{
	return owner && (owner->kind == KTAU_OWNER_TASK || owner->kind == KTAU_OWNER_EXITED);
}

static int get_owner(struct ktau_check *c, uint64_t serial, struct check_owner **state)
{
	size_t at = ktau__map_get(&c->by_serial, serial);
	size_t room = c->room ? c->room * 2 : 64;
	struct check_owner *owners;
	int err;

	if (at != KTAU__MAP_NONE) {
		*state = &c->owners[at];
		return 0;
	}
	if (c->nr_owners == c->room) {
		owners = reallocarray(c->owners, room, sizeof(*owners));
		if (!owners)
			return -ENOMEM;
		c->owners = owners;
		c->room = room;
	}
	err = ktau__map_put(&c->by_serial, serial, c->nr_owners);
	if (err)
		return err;
	*state = &c->owners[c->nr_owners++];
	memset(*state, 0, sizeof(**state));
	c->counts.tasks += is_task(described_owner(c, serial));
	return 0;
}

/* Each id is reported once. */
static void check_event(struct ktau_check *c, uint64_t serial, uint32_t id)
{
	uint8_t bit = 1 << id % 8;

	if (c->blind || c->events[id / 8] & bit)
		return;
	c->events[id / 8] |= bit;
	report(c, KTAU_FINDING_REFERENCE, serial, id,
	       "event %u: no EVENT record before its use", id);
}

static int check_described(struct ktau_check *c, const struct ktau_rec_owner *owner)
{
	int err = ktau__registry_put(&c->described, owner->serial, owner);

	c->counts.unknown += owner->kind > KTAU_OWNER_EVICTED;
	if (err || c->blind || !owner->cgroup ||
	    ktau__map_get(&c->cgroups, owner->cgroup) != KTAU__MAP_NONE)
		return err;
	report(c, KTAU_FINDING_REFERENCE, owner->serial, 0,
	       "control group %llu: no CGROUP record before its use", owner->cgroup);
	return ktau__map_put(&c->cgroups, owner->cgroup, 0);
}

/*
 * Profiles: the identity of <linux/ktau.h>, the limits of single entries and frames in flight,
 * and that cumulative figures only grow.
 */

int ktau_check_identity(const struct ktau_rec_profile *p,
			uint64_t *excl_side, uint64_t *outer_side)
{
	const struct ktau_entry *entries = ktau_profile_entries(p);
	uint64_t excl = p->refused_ticks;
	uint64_t outer = p->outer_ticks + p->open_child_ticks;
	uint32_t i;

	for (i = 0; i < p->nr_entries; i++) {
		if (entries[i].kind == KTAU_KIND_TIMER)
			excl += entries[i].excl;
	}
	if (excl_side)
		*excl_side = excl;
	if (outer_side)
		*outer_side = outer;
	return excl == outer ? 0 : -EBADMSG;
}

static bool is_open(const struct ktau_rec_profile *p, uint32_t id)
{
	const struct ktau_open *open = ktau_profile_open(p);
	uint32_t i;

	for (i = 0; i < p->nr_open; i++) {
		if (open[i].id == id)
			return true;
	}
	return p->nr_open < p->depth;
}

/* NULL, or the contradiction in an entry; @before is the previous entry, or NULL. */
static const char *judge_entry(const struct ktau_rec_profile *p, const struct ktau_entry *e,
			       const struct ktau_entry *before)
{
	if (e->id == KTAU_ID_NONE)
		return "not an id";
	if (before && before->id == e->id)
		return "appears twice";
	if (before && before->id > e->id)
		return "ids do not ascend";
	if (e->kind == KTAU_KIND_COUNTER && e->count && e->min > e->max)
		return "minimum above maximum";
	/* The inner activations of a recursion are counted before the outermost one ends. */
	if (e->kind != KTAU_KIND_TIMER || p->rec.type != KTAU_REC_PROFILE || p->clamped ||
	    is_open(p, e->id))
		return NULL;
	if (e->excl > e->incl)
		return "exclusive time above inclusive time";
	if (e->flags & KTAU_ENTRY_LONGEST && e->longest > e->incl)
		return "longest activation above inclusive time";
	if (e->asleep > e->incl || e->runq > e->incl - e->asleep ||
	    e->irq > e->incl - e->asleep - e->runq)
		return "times inside above inclusive time";
	return NULL;
}

static void check_entries(struct ktau_check *c, const struct ktau_rec_profile *p)
{
	const struct ktau_entry *entries = ktau_profile_entries(p);
	const char *why;
	uint32_t i;

	for (i = 0; i < p->nr_entries; i++) {
		why = judge_entry(p, &entries[i], i ? &entries[i - 1] : NULL);
		if (why)
			report(c, KTAU_FINDING_ENTRY, p->serial, entries[i].id,
			       "event %u: %s", entries[i].id, why);
		else
			check_event(c, p->serial, entries[i].id);
		c->counts.unknown += entries[i].kind > KTAU_KIND_COUNTER;
	}
}

/* Whether the times inside @open are no more than its duration so far. */
static bool fits_inside(const struct ktau_rec_profile *p, const struct ktau_open *open)
{
	uint64_t left = p->ticks > open->start_ticks ? p->ticks - open->start_ticks : 0;

	return open->asleep_ticks <= left && open->runq_ticks <= left - open->asleep_ticks &&
	       open->irq_ticks <= left - open->asleep_ticks - open->runq_ticks;
}

static void check_open(struct ktau_check *c, const struct ktau_rec_profile *p)
{
	const struct ktau_open *open = ktau_profile_open(p);
	/* Rounded figures do not add up to the sum; a difference has only the sum. */
	bool exact = p->rec.type == KTAU_REC_PROFILE && !c->stream.round_ns;
	__u64 child_ticks = 0;
	const char *why = NULL;
	uint32_t i;

	for (i = 0; i < p->nr_open; i++) {
		child_ticks += open[i].child_ticks;
		if (open[i].id >= KTAU_ID_NONE)
			why = "frame in flight whose event is not an id";
		else if (i && open[i].start_ticks > open[i - 1].start_ticks)
			why = "frame in flight entered after the one inside it";
		else if (!fits_inside(p, &open[i]))
			why = "times inside a frame in flight above its duration";
		else
			check_event(c, p->serial, open[i].id);
	}
	if (p->nr_open > p->depth)
		why = "more frames in flight than the depth says";
	else if (exact && p->nr_open == p->depth && child_ticks != p->open_child_ticks)
		why = "times inside the frames in flight are not the sum recorded";
	if (why)
		report(c, KTAU_FINDING_OPEN, p->serial, p->depth, "%s", why);
}

static void check_growth(struct ktau_check *c, struct check_owner *owner,
			 const struct ktau_rec_profile *p)
{
	const struct ktau_entry *entries = ktau_profile_entries(p);
	struct check_owner now = *owner;
	uint32_t i;

	now.has_profile = true;
	now.count = 0;
	for (i = 0; i < p->nr_entries; i++)
		now.count += entries[i].count;
	/* Rounding can make the recorded sum smaller than before. */
	now.outer_ticks = c->stream.round_ns ? owner->outer_ticks : p->outer_ticks;
	now.refused = p->refused;
	now.clamped = p->clamped;
	if (owner->has_profile &&
	    (now.count < owner->count || now.outer_ticks < owner->outer_ticks ||
	     now.refused < owner->refused || now.clamped < owner->clamped))
		report(c, KTAU_FINDING_BACKWARD, p->serial, 0,
		       "less than in the profile before: count %llu after "
		       "%llu, outermost ticks %llu after %llu",
		       now.count, owner->count, now.outer_ticks, owner->outer_ticks);
	c->counts.refused += now.refused - owner->refused;
	c->counts.clamped += now.clamped - owner->clamped;
	*owner = now;
}

static void check_profile(struct ktau_check *c, struct check_owner *owner,
			  const struct ktau_rec_profile *p)
{
	const struct ktau_rec_owner *described = described_owner(c, p->serial);
	uint64_t excl, outer;

	c->counts.profiles++;
	if (ktau_check_identity(p, &excl, &outer))
		report(c, KTAU_FINDING_IDENTITY, p->serial, 0,
		       "exclusive times sum up to %llu, outermost frames to %llu",
		       (unsigned long long)excl, (unsigned long long)outer);
	check_entries(c, p);
	if (described && (described->kind == KTAU_OWNER_TASK ||
			  described->kind == KTAU_OWNER_EXITED))
		check_open(c, p);
	if (p->rec.type == KTAU_REC_PROFILE) {
		check_growth(c, owner, p);
	} else {
		c->gap = true;	/* an unchanged task may be left out of such a stream */
		c->counts.refused += p->refused;
		c->counts.clamped += p->clamped;
	}
}

/*
 * The nesting of slots and the loss counts of traces.
 *
 * Positions in a ring are numbered from its first write. A record has the slots from
 * position @first to @next, and the @lost positions before @first were overwritten. So
 * @first - @lost is the end of the previous record, if both streams consume or if both
 * records are of one ring in one stream. It is 0 for the new ring that replaces a resized
 * one. Reading an exited task consumes nothing, so every later stream begins where the
 * first stream with the exited task began. A stream that does not consume begins at the
 * start of the ring, or at @since_ticks.
 *
 * The frames that were open when the trace began, or when slots were lost, are unknown. An
 * EXIT with an empty stack belongs to one of them and is accepted. An EXIT with another
 * event on top of the stack is a contradiction, with one exception: a slot that found no
 * room in its ring, because an interrupt filled the ring while a write was unfinished, has
 * no number, so its position is unknown. The record counts such slots of its owner (no_room),
 * and each may explain one contradiction there.
 */

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

static void pop(struct ktau_check *c, struct check_owner *owner, uint64_t serial, __u64 number,
		uint16_t id)
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
		report(c, KTAU_FINDING_NESTING, serial, number,
		       "slot %llu: exit of event %u inside event %u", number, id, inside);
}

/* The clock is read when a slot is reserved, so times do not go back. */
static void check_time(struct ktau_check *c, struct check_owner *owner, uint64_t serial,
		       const struct ktau_slot *slot, __u64 number)
{
	if ((c->stream.clock_flags & KTAU_CLOCK_STABLE) && slot->ticks < owner->slot_ticks)
		report(c, KTAU_FINDING_SLOT, serial, number,
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
		report(c, KTAU_FINDING_SLOT, serial, number, "slot %llu: %s", number,
		       why);
	else if (has_event(slot->type))
		check_event(c, serial, slot->id);
}

/* True if a record has to begin where the previous one ended. */
static bool must_follow(const struct ktau_check *c, const struct check_owner *owner,
			bool exited)
{
	if (!owner->has_trace)
		return false;
	if (c->stream.flags & KTAU_SELECT_CONSUME)
		return true;
	/* Two records of one ring, unless the task has exited between them. */
	return owner->stream == c->counts.streams && exited == owner->has_exited;
}

/* True if a record that begins at position @start is the expected one. */
static bool follows(const struct ktau_check *c, struct check_owner *owner,
		    const struct ktau_rec_trace *t, __u64 start)
{
	const struct ktau_rec_owner *described = described_owner(c, t->serial);
	bool exited = described && described->kind == KTAU_OWNER_EXITED;
	bool in_order = !must_follow(c, owner, exited) || !start || start == owner->next ||
			(owner->has_exited && start == owner->exited_start);

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

static void check_loss(struct ktau_check *c, struct check_owner *owner,
		       const struct ktau_rec_trace *t)
{
	__u64 start = t->first - t->lost;
	const char *why = judge_positions(t);
	bool in_order = follows(c, owner, t, start);

	if (why)
		report(c, KTAU_FINDING_LOSS, t->serial, t->first,
		       "positions %llu to %llu of %llu, %llu lost: %s", t->first,
		       t->next, t->written, t->lost, why);
	else if (!in_order)
		report(c, KTAU_FINDING_LOSS, t->serial, t->first,
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

static int check_trace(struct ktau_check *c, struct check_owner *owner,
		       const struct ktau_rec_trace *t)
{
	const struct ktau_slot *slot = NULL;
	__u64 number = 0;
	int err = 0;

	c->counts.traces++;
	c->counts.slots += t->nr_slots;
	c->counts.lost += t->lost;
	/* A stream that does not consume has the same slots again. */
	if (!(c->stream.flags & KTAU_SELECT_CONSUME) && owner->stream != c->counts.streams)
		owner->explained = 0;
	owner->no_room = t->no_room;
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

/*
 * Streams
 */

static int check_owned(struct ktau_check *c, const union ktau_record *record)
{
	bool is_trace = record->rec->type == KTAU_REC_TRACE;
	uint64_t serial = is_trace ? record->trace->serial : record->profile->serial;
	struct check_owner *state;
	int err;

	c->nr_records++;
	if (!c->gap && (!c->in_stream || is_trace != (c->stream.content == KTAU_REC_TRACE)))
		report(c, KTAU_FINDING_STREAM, serial, 0,
		       "%s record in no stream of its kind",
		       is_trace ? "trace" : "profile");
	if (!c->gap && !described_owner(c, serial))
		report(c, KTAU_FINDING_REFERENCE, serial, 0,
		       "%s of serial %llu: no OWNER record before it in the stream",
		       is_trace ? "trace" : "profile", (unsigned long long)serial);
	err = get_owner(c, serial, &state);
	if (err)
		return err;
	if (is_trace)
		return check_trace(c, state, record->trace);
	check_profile(c, state, record->profile);
	return 0;
}

/* Serials, ids and counters start anew with each boot. */
static void begin_boot(struct ktau_check *c)
{
	clear_owners(c);
	memset(c->events, 0, sizeof(c->events));
	ktau__map_clear(&c->cgroups);
	c->has_end = false;
}

static void begin_stream(struct ktau_check *c, const struct ktau_rec_stream *stream)
{
	if (c->in_stream && !c->gap)
		report(c, KTAU_FINDING_STREAM, 0, 0, "stream without END");
	if (c->counts.streams && !ktau_same_boot(&c->stream, stream))
		begin_boot(c);
	ktau__registry_clear(&c->described);
	c->counts.streams++;
	c->stream = *stream;
	c->in_stream = true;
	c->gap = false;
	c->nr_records = 0;
	c->lost_to_ticks = 0;
}

/* Count from the first END on: losses before it are not losses of this file. */
static void count_losses(struct ktau_check *c, const struct ktau_rec_end *end)
{
	uint64_t before, now;
	unsigned int i;

	for (i = 0; c->has_end && i < KTAU_NR_LOSSES; i++) {
		before = ktau_loss_value(&c->end, i);
		now = ktau_loss_value(end, i);
		c->counts.losses[i] += now > before ? now - before : 0;
	}
	c->end = *end;
	c->has_end = true;
	c->denied[c->stream.content == KTAU_REC_TRACE] = end->denied;
	c->counts.denied = c->denied[0] + c->denied[1];
}

static void end_stream(struct ktau_check *c, const struct ktau_rec_end *end)
{
	if (!c->gap && !c->in_stream)
		report(c, KTAU_FINDING_STREAM, 0, 0, "END without stream");
	else if (!c->gap && end->nr_records != c->nr_records)
		report(c, KTAU_FINDING_STREAM, 0, end->nr_records,
		       "stream of %llu records, its END says %llu",
		       c->nr_records, end->nr_records);
	if (!c->gap && c->in_stream && end->cut_ticks < c->lost_to_ticks)
		report(c, KTAU_FINDING_LOSS, 0, end->cut_ticks,
		       "all rings complete from %llu, but slots lost up to %llu",
		       end->cut_ticks, c->lost_to_ticks);
	count_losses(c, end);
	c->in_stream = false;
	c->gap = false;
}

static int check_one(struct ktau_check *c, const union ktau_record *record)
{
	switch (record->rec->type) {
	case KTAU_REC_STREAM:
		begin_stream(c, record->stream);
		return 0;
	case KTAU_REC_END:
		end_stream(c, record->end);
		return 0;
	case KTAU_REC_EVENT:
		c->events[record->event->id / 8] |= 1 << record->event->id % 8;
		return 0;
	case KTAU_REC_CGROUP:
		return ktau__map_put(&c->cgroups, record->cgroup->id, 0);
	case KTAU_REC_OWNER:
		return check_described(c, record->owner);
	case KTAU_REC_PROFILE:
	case KTAU_REC_DIFF:
	case KTAU_REC_TRACE:
		return check_owned(c, record);
	default:
		return 0;
	}
}

int ktau_check_record(struct ktau_check *c, const union ktau_record *record)
{
	uint64_t before = 0, after = 0;
	int i, err;

	for (i = 0; i < KTAU_NR_FINDINGS; i++)
		before += c->counts.findings[i];
	err = check_one(c, record);
	if (err)
		return err;
	for (i = 0; i < KTAU_NR_FINDINGS; i++)
		after += c->counts.findings[i];
	return ktau__min(after - before, INT32_MAX);
}

void ktau_check_gap(struct ktau_check *c)
{
	size_t i;

	c->gap = true;
	c->blind = true;
	for (i = 0; i < c->nr_owners; i++) {
		c->owners[i].has_trace = false;
		c->owners[i].has_exited = false;
		c->owners[i].depth = 0;
	}
}

const struct ktau_check_counts *ktau_check_counts(const struct ktau_check *c)
{
	return &c->counts;
}
