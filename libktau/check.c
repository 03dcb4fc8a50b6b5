// SPDX-License-Identifier: LGPL-2.1-or-later
/*
 * Do the records agree with themselves and with each other? The identity of
 * <linux/ktau.h>, what follows from the model for single entries and frames in
 * flight, and that cumulative figures only grow.
 */
#include <stdio.h>
#include <stdlib.h>

#include "check.h"

int ktau_check_create(struct ktau_check **check, ktau_finding_fn found, void *arg)
{
	*check = calloc(1, sizeof(**check));
	if (!*check)
		return -ENOMEM;
	(*check)->found = found;
	(*check)->arg = arg;
	return 0;
}

void ktau_check_destroy(struct ktau_check *c)
{
	size_t i;

	if (!c)
		return;
	for (i = 0; i < c->nr_owners; i++)
		free(c->owners[i].stack);
	free(c->owners);
	ktau__map_free(&c->map);
	free(c);
}

void ktau__finding(struct ktau_check *c, enum ktau_finding_code code,
		   const struct ktau_owner *owner, uint64_t number,
		   const char *format, ...)
{
	struct ktau_finding finding = { .code = code, .owner = owner, .number = number };
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

static int get_owner(struct ktau_check *c, const struct ktau_owner *owner,
		     struct check_owner **state)
{
	uint32_t family = ktau__owner_class(owner);
	uint64_t value = ktau__owner_value(owner);
	size_t at = ktau__map_get(&c->map, family, value);
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
	err = ktau__map_put(&c->map, family, value, c->nr_owners);
	if (err)
		return err;
	*state = &c->owners[c->nr_owners++];
	memset(*state, 0, sizeof(**state));
	c->counts.tasks += family == KTAU_OWNER_TASK;
	return 0;
}

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

/* NULL, or what contradicts itself in one entry. */
static const char *judge_entry(const struct ktau_rec_profile *p, const struct ktau_entry *e,
			       uint8_t *seen)
{
	if (e->id >= KTAU_NR_IDS)
		return "id out of the table";
	if (seen[e->id]++)
		return "id is there twice";
	if (e->kind > KTAU_KIND_COUNTER)
		return "kind is neither timer nor counter";
	if (e->kind == KTAU_KIND_COUNTER)
		return e->count && e->min > e->max ? "minimum above maximum" : NULL;
	/* What recursion adds before the outermost activation ends comes first. */
	if (p->rec.type == KTAU_REC_PROFILE && e->excl > e->incl && !p->clamped &&
	    !is_open(p, e->id))
		return "exclusive time above inclusive time";
	return NULL;
}

static void check_entries(struct ktau_check *c, const struct ktau_rec_profile *p)
{
	const struct ktau_entry *entries = ktau_profile_entries(p);
	uint8_t seen[KTAU_NR_IDS] = { 0 };
	const char *why;
	uint32_t i;

	for (i = 0; i < p->nr_entries; i++) {
		why = judge_entry(p, &entries[i], seen);
		if (why)
			ktau__finding(c, KTAU_FINDING_ENTRY, &p->owner, entries[i].id,
				      "event %u: %s", entries[i].id, why);
	}
}

static void check_open(struct ktau_check *c, const struct ktau_rec_profile *p)
{
	const struct ktau_open *open = ktau_profile_open(p);
	__u64 child_ticks = 0;
	const char *why = NULL;
	uint32_t i;

	for (i = 0; i < p->nr_open; i++) {
		child_ticks += open[i].child_ticks;
		if (open[i].id >= KTAU_NR_IDS)
			why = "frame in flight with an id out of the table";
		else if (i && open[i].start_ticks > open[i - 1].start_ticks)
			why = "frame in flight entered after the one inside of it";
	}
	if (p->nr_open > p->depth)
		why = "more frames in flight than the depth says";
	else if (p->nr_open == p->depth && p->rec.type == KTAU_REC_PROFILE &&
		 child_ticks != p->open_child_ticks)
		why = "times inside of the frames in flight are not the sum recorded";
	if (why)
		ktau__finding(c, KTAU_FINDING_OPEN, &p->owner, p->depth, "%s", why);
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
	now.outer_ticks = p->outer_ticks;
	now.refused = p->refused;
	now.clamped = p->clamped;
	if (owner->has_profile &&
	    (now.count < owner->count || now.outer_ticks < owner->outer_ticks ||
	     now.refused < owner->refused || now.clamped < owner->clamped))
		ktau__finding(c, KTAU_FINDING_BACKWARD, &p->owner, 0,
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
	uint64_t excl, outer;

	c->counts.profiles++;
	if (ktau_check_identity(p, &excl, &outer))
		ktau__finding(c, KTAU_FINDING_IDENTITY, &p->owner, 0,
			      "exclusive times sum up to %llu, outermost frames to %llu",
			      (unsigned long long)excl, (unsigned long long)outer);
	check_entries(c, p);
	if (p->owner.kind == KTAU_OWNER_TASK || p->owner.kind == KTAU_OWNER_DEAD)
		check_open(c, p);
	if (p->rec.type == KTAU_REC_PROFILE) {
		check_growth(c, owner, p);
	} else {
		c->gap = true;	/* who did nothing may be left out of such a stream */
		c->counts.refused += p->refused;
		c->counts.clamped += p->clamped;
	}
}

static int check_owned(struct ktau_check *c, const union ktau_record *record)
{
	bool is_trace = record->rec->type == KTAU_REC_TRACE;
	const struct ktau_owner *owner = &record->profile->owner;
	struct check_owner *state;
	int err;

	if (is_trace)
		owner = &record->trace->owner;
	c->nr_records++;
	if (!c->gap && (!c->in_stream || is_trace != (c->stream.content == KTAU_REC_TRACE)))
		ktau__finding(c, KTAU_FINDING_STREAM, owner, 0,
			      "%s record in no stream of its kind",
			      is_trace ? "trace" : "profile");
	err = get_owner(c, owner, &state);
	if (err)
		return err;
	if (is_trace)
		return ktau__check_trace(c, state, record->trace);
	check_profile(c, state, record->profile);
	return 0;
}

static void begin_stream(struct ktau_check *c, const struct ktau_rec_stream *stream)
{
	if (c->in_stream && !c->gap)
		ktau__finding(c, KTAU_FINDING_STREAM, NULL, 0, "stream without END");
	c->counts.streams++;
	c->stream = *stream;
	c->in_stream = true;
	c->gap = false;
	c->nr_records = 0;
	c->lost_to_ticks = 0;
}

static void end_stream(struct ktau_check *c, const struct ktau_rec_end *end)
{
	if (!c->gap && !c->in_stream)
		ktau__finding(c, KTAU_FINDING_STREAM, NULL, 0, "END without stream");
	else if (!c->gap && end->nr_records != c->nr_records)
		ktau__finding(c, KTAU_FINDING_STREAM, NULL, end->nr_records,
			      "stream of %llu records, its END says %llu",
			      c->nr_records, end->nr_records);
	if (!c->gap && c->in_stream && end->cut_ticks < c->lost_to_ticks)
		ktau__finding(c, KTAU_FINDING_LOSS, NULL, end->cut_ticks,
			      "all rings complete from %llu, but slots lost up to %llu",
			      end->cut_ticks, c->lost_to_ticks);
	/* What was lost before the first stream is not this file's. */
	if (c->has_end && end->lost_reaped > c->lost_reaped)
		c->counts.lost += end->lost_reaped - c->lost_reaped;
	c->lost_reaped = end->lost_reaped;
	c->has_end = true;
	c->in_stream = false;
	c->gap = false;
}

int ktau_check_record(struct ktau_check *c, const union ktau_record *record)
{
	uint64_t before = 0, after = 0;
	int i, err = 0;

	for (i = 0; i < KTAU_NR_FINDINGS; i++)
		before += c->counts.findings[i];
	switch (record->rec->type) {
	case KTAU_REC_STREAM:
		begin_stream(c, record->stream);
		break;
	case KTAU_REC_END:
		end_stream(c, record->end);
		break;
	case KTAU_REC_PROFILE:
	case KTAU_REC_DIFF:
	case KTAU_REC_TRACE:
		err = check_owned(c, record);
		break;
	}
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
	for (i = 0; i < c->nr_owners; i++) {
		c->owners[i].has_trace = false;
		c->owners[i].is_dead = false;
		c->owners[i].depth = 0;
	}
}

const struct ktau_check_counts *ktau_check_counts(const struct ktau_check *c)
{
	return &c->counts;
}
