// SPDX-License-Identifier: LGPL-2.1-or-later
/*
 * Profiles: the identity of <linux/ktau.h>, what follows from the model for single
 * entries and frames in flight, and that cumulative figures only grow.
 */
#include "check.h"

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

/* NULL, or what contradicts itself in an entry; @before is the one before it, or NULL. */
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
	/* Before an outermost activation ends, inner ones of a recursion are counted. */
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
			ktau__finding(c, KTAU_FINDING_ENTRY, p->serial, entries[i].id,
				      "event %u: %s", entries[i].id, why);
		else
			ktau__check_event(c, p->serial, entries[i].id);
		c->counts.unknown += entries[i].kind > KTAU_KIND_COUNTER;
	}
}

static void check_open(struct ktau_check *c, const struct ktau_rec_profile *p)
{
	const struct ktau_open *open = ktau_profile_open(p);
	/* Rounded figures do not add up one by one; a difference has only the sum. */
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
		else
			ktau__check_event(c, p->serial, open[i].id);
	}
	if (p->nr_open > p->depth)
		why = "more frames in flight than the depth says";
	else if (exact && p->nr_open == p->depth && child_ticks != p->open_child_ticks)
		why = "times inside the frames in flight are not the sum recorded";
	if (why)
		ktau__finding(c, KTAU_FINDING_OPEN, p->serial, p->depth, "%s", why);
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
	/* Where times are rounded the sum that is recorded may be less than before. */
	now.outer_ticks = c->stream.round_ns ? owner->outer_ticks : p->outer_ticks;
	now.refused = p->refused;
	now.clamped = p->clamped;
	if (owner->has_profile &&
	    (now.count < owner->count || now.outer_ticks < owner->outer_ticks ||
	     now.refused < owner->refused || now.clamped < owner->clamped))
		ktau__finding(c, KTAU_FINDING_BACKWARD, p->serial, 0,
			      "less than in the profile before: count %llu after "
			      "%llu, outermost ticks %llu after %llu",
			      now.count, owner->count, now.outer_ticks, owner->outer_ticks);
	c->counts.refused += now.refused - owner->refused;
	c->counts.clamped += now.clamped - owner->clamped;
	*owner = now;
}

void ktau__check_profile(struct ktau_check *c, struct check_owner *owner,
			 const struct ktau_rec_profile *p)
{
	const struct ktau_rec_owner *described = ktau__check_owner(c, p->serial);
	uint64_t excl, outer;

	c->counts.profiles++;
	if (ktau_check_identity(p, &excl, &outer))
		ktau__finding(c, KTAU_FINDING_IDENTITY, p->serial, 0,
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
