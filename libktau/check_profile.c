// SPDX-License-Identifier: LGPL-2.1-or-later
/*
 * Rules for the profile of one owner, and for the period since the one before. A rule is a
 * function over both; the table in check.c has them all.
 *
 * Tolerances. All figures of a copy are of one moment, so sums hold to the tick. A reader that
 * gets rounded times gets each of them up to @slack too small; a sum of times, each rounded
 * down, is never above the sum rounded down. If the counters of CPUs differ, or a duration
 * of the owner was clamped, times cannot be compared with each other.
 */
#include <stdio.h>

#include "check_state.h"

static bool is_several(const struct ktau_rec_owner *owner)
{
	return owner && (owner->kind == KTAU_OWNER_EVICTED || owner->flags & KTAU_OWNER_FOLDED);
}

static bool is_stable(const struct check_period *p)
{
	return p->c->stream.clock_flags & KTAU_CLOCK_STABLE && !p->now->clamped;
}

/* Whether the owner has a life: from start_ticks to ticks. */
static bool has_life(const struct check_period *p)
{
	return p->owner && p->owner->kind <= KTAU_OWNER_CPU && !is_several(p->owner) &&
	       is_stable(p) && (!p->before || !is_several(p->described_before));
}

/* @value - @before, or 0 if that is negative; without @before, @value. */
static uint64_t grown(uint64_t value, uint64_t before)
{
	return value > before ? value - before : 0;
}

/*
 * Identity
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

void ktau__check_identity(const struct check_period *p)
{
	uint64_t excl, outer;

	if (ktau_check_identity(p->record, &excl, &outer))
		ktau__check_report(p->c, KTAU_FINDING_IDENTITY, p->now->serial, 0,
				   "exclusive times sum up to %llu ns, outermost frames to "
				   "%llu ns: %lld ticks apart", ktau__check_ns(p->c, excl),
				   ktau__check_ns(p->c, outer), (long long)(excl - outer));
}

/*
 * Entries and frames in flight
 */

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
static const char *judge_entry(const struct ktau_entry *e, const struct ktau_entry *before)
{
	if (e->id == KTAU_ID_NONE)
		return "not an id";
	if (before && before->id == e->id)
		return "appears twice";
	if (before && before->id > e->id)
		return "ids do not ascend";
	if (e->kind == KTAU_KIND_COUNTER && e->count && e->min > e->max)
		return "minimum above maximum";
	return NULL;
}

/* The inner activations of a recursion are counted before the outermost one ends. */
static bool exceeds_itself(const struct ktau_rec_profile *p, const struct ktau_entry *e)
{
	return p->rec.type == KTAU_REC_PROFILE && !p->clamped && e->kind == KTAU_KIND_TIMER &&
	       e->excl > e->incl && !is_open(p, e->id);
}

void ktau__check_entries(const struct check_period *p)
{
	const struct ktau_rec_profile *record = p->record;
	const struct ktau_entry *entries = ktau_profile_entries(record);
	const char *why;
	uint32_t i;

	for (i = 0; i < record->nr_entries; i++) {
		why = judge_entry(&entries[i], i ? &entries[i - 1] : NULL);
		if (why)
			ktau__check_report(p->c, KTAU_FINDING_ENTRY, record->serial, entries[i].id,
					   "event %u: %s", entries[i].id, why);
		else
			ktau__check_event(p->c, record->serial, entries[i].id);
		p->c->counts.unknown += entries[i].kind > KTAU_KIND_COUNTER;
	}
	entries = ktau_profile_entries(p->now);
	for (i = 0; i < p->now->nr_entries; i++) {
		if (exceeds_itself(p->now, &entries[i]))
			ktau__check_report(p->c, KTAU_FINDING_ENTRY, record->serial, entries[i].id,
					   "event %u: exclusive time, %llu ns, above inclusive "
					   "time, %llu ns", entries[i].id,
					   ktau__check_ns(p->c, entries[i].excl),
					   ktau__check_ns(p->c, entries[i].incl));
	}
}

/* Whether the times inside @open are no more than its duration so far. */
static bool fits_inside(const struct ktau_rec_profile *p, const struct ktau_open *open)
{
	uint64_t left = p->ticks > open->start_ticks ? p->ticks - open->start_ticks : 0;

	return open->asleep_ticks <= left && open->runq_ticks <= left - open->asleep_ticks &&
	       open->irq_ticks <= left - open->asleep_ticks - open->runq_ticks;
}

void ktau__check_open(const struct check_period *p)
{
	const struct ktau_rec_profile *record = p->record;
	const struct ktau_open *open = ktau_profile_open(record);
	/* Rounded figures do not add up to the sum; a difference has only the sum. */
	bool exact = record->rec.type == KTAU_REC_PROFILE && !p->c->stream.round_ns;
	__u64 child_ticks = 0;
	const char *why = NULL;
	uint32_t i;

	if (!p->owner ||
	    (p->owner->kind != KTAU_OWNER_TASK && p->owner->kind != KTAU_OWNER_EXITED))
		return;
	for (i = 0; i < record->nr_open; i++) {
		child_ticks += open[i].child_ticks;
		if (open[i].id >= KTAU_ID_NONE)
			why = "frame in flight whose event is not an id";
		else if (i && open[i].start_ticks > open[i - 1].start_ticks)
			why = "frame in flight entered after the one inside it";
		else if (!fits_inside(record, &open[i]))
			why = "times inside a frame in flight above its duration";
		else
			ktau__check_event(p->c, record->serial, open[i].id);
	}
	if (record->nr_open > record->depth)
		why = "more frames in flight than the depth says";
	else if (exact && record->nr_open == record->depth &&
		 child_ticks != record->open_child_ticks)
		why = "times inside the frames in flight are not the sum recorded";
	if (why)
		ktau__check_report(p->c, KTAU_FINDING_OPEN, record->serial, record->depth, "%s",
				   why);
}

/*
 * The account
 */

#define NR_PARTS	6

static void get_parts(const struct ktau_rec_profile *p, uint64_t parts[NR_PARTS])
{
	parts[0] = p->user_ticks;
	parts[1] = p->kernel_ticks;
	parts[2] = p->irq_ticks;
	parts[3] = p->runq_ticks;
	parts[4] = p->asleep_ticks;
	parts[5] = p->guest_ticks;
}

static const char *const part_names[NR_PARTS] = {
	"user", "kernel", "irq", "runq", "asleep", "guest"
};

/* The groups that all parts need; a kernel without KVM has no guests. */
static __u32 account_groups(const struct check_period *p)
{
	const __u32 guest = p->c->stream.groups_built & KTAU_GROUP_KVM;

	return KTAU_GROUP_ACCOUNT | KTAU_GROUP_SCHED | KTAU_GROUP_IRQ | KTAU_GROUP_BH | guest;
}

/* Whether all parts have been measured from @ticks on. */
static bool is_whole_since(const struct check_period *p, uint64_t ticks)
{
	const __u32 groups = account_groups(p);

	return !(groups & ~p->now->groups_throughout) && p->now->start_ticks <= ticks &&
	       p->c->stream.since_ticks <= ticks;
}

static double percent(uint64_t part, uint64_t whole)
{
	return whole ? 100.0 * (double)part / (double)whole : 0.0;
}

/**
 * struct life - a time and its parts
 * @what: "life", "period"
 * @ticks: the time
 * @slack: how much the time and each of its parts may be too small or too large
 * @whole: whether all parts were measured
 * @parts: the parts
 */
struct life {
	const char *what;
	uint64_t ticks, slack;
	bool whole;
	uint64_t parts[NR_PARTS];
};

static void report_life(const struct check_period *p, const struct life *life, uint64_t sum)
{
	char text[160] = "";
	size_t at = 0;
	int i;

	for (i = 0; i < NR_PARTS; i++)
		if (life->parts[i] && at < sizeof(text))
			at += snprintf(text + at, sizeof(text) - at, "%s%s %.1f %%",
				       at ? ", " : "", part_names[i],
				       percent(life->parts[i], life->ticks));
	ktau__check_report(p->c, KTAU_FINDING_ACCOUNT, p->now->serial, 0,
			   "parts %s the %s by %llu ns: %llu of %llu ns, %.1f %% (%s)",
			   sum > life->ticks ? "exceed" : "fall short of", life->what,
			   ktau__check_ns(p->c, sum > life->ticks ? sum - life->ticks :
								    life->ticks - sum),
			   ktau__check_ns(p->c, sum), ktau__check_ns(p->c, life->ticks),
			   percent(sum, life->ticks), text);
}

/* The sum of parts may wrap only if one of them is impossible. */
static void judge_life(const struct check_period *p, const struct life *life)
{
	uint64_t sum = 0, most = 0;
	int i;

	for (i = 0; i < NR_PARTS; i++) {
		sum += life->parts[i];
		most = ktau__max(most, life->parts[i]);
	}
	sum = ktau__max(sum, most);
	if (sum > life->ticks + life->slack)
		report_life(p, life, sum);
	else if (life->whole && life->ticks > sum && life->ticks - sum > NR_PARTS * life->slack)
		report_life(p, life, sum);
}

/* Whether the account of a task has not begun: it has not run since it could be measured. */
static bool is_unmeasured(const struct life *life, const struct ktau_rec_profile *p)
{
	int i;

	for (i = 0; i < NR_PARTS; i++)
		if (life->parts[i])
			return false;
	return life->ticks && !p->nr_entries && !p->nr_open;
}

/*
 * Rounded, the life can be too small by one @slack, and so can each of the parts. In the
 * difference of two, each can also be too large.
 */
void ktau__check_account(const struct check_period *p)
{
	struct life life = {
		.what = "life",
		.ticks = grown(p->now->ticks, p->now->start_ticks),
		.slack = p->slack,
		.whole = is_whole_since(p, p->now->start_ticks),
	};
	uint64_t before[NR_PARTS];
	int i;

	if (!has_life(p))
		return;
	get_parts(p->now, life.parts);
	if (is_unmeasured(&life, p->now)) {
		p->c->counts.unmeasured += life.whole;
		return;
	}
	judge_life(p, &life);
	if (!p->before)
		return;
	life.what = "period";
	life.ticks = grown(p->now->ticks, p->before->ticks);
	life.slack = (NR_PARTS + 1) * p->slack;
	life.whole = is_whole_since(p, p->before->ticks);
	get_parts(p->before, before);
	for (i = 0; i < NR_PARTS; i++)
		life.parts[i] = grown(life.parts[i], before[i]);
	judge_life(p, &life);
}

/*
 * Timers: walk over the entries of both profiles
 */

static bool is_timer(const struct ktau_entry *e, const struct ktau_entry *old)
{
	return e->kind == KTAU_KIND_TIMER && (!old || old->kind == KTAU_KIND_TIMER);
}

/* The entry of @id among the ascending ones from *@at on, or NULL; *@at advances. */
static const struct ktau_entry *entry_at(const struct ktau_rec_profile *p, uint32_t *at,
					 uint32_t id)
{
	const struct ktau_entry *entries = p ? ktau_profile_entries(p) : NULL;

	while (p && *at < p->nr_entries && entries[*at].id < id)
		++*at;
	return p && *at < p->nr_entries && entries[*at].id == id ? &entries[*at] : NULL;
}

typedef void (*judge_timer_fn)(const struct check_period *p, const struct ktau_entry *e,
			       const struct ktau_entry *old);

static void for_each_timer(const struct check_period *p, judge_timer_fn judge)
{
	const struct ktau_entry *entries = ktau_profile_entries(p->now), *old;
	uint32_t i, at = 0;

	for (i = 0; i < p->now->nr_entries; i++) {
		old = entry_at(p->before, &at, entries[i].id);
		if (is_timer(&entries[i], old))
			judge(p, &entries[i], old);
	}
}

static void judge_longest(const struct check_period *p, const struct ktau_entry *e,
			  const struct ktau_entry *old)
{
	uint64_t incl = e->incl - (old ? old->incl : 0);
	uint64_t count = e->count - (old ? old->count : 0);
	bool grew = !old || e->longest > old->longest;
	const char *why = NULL;

	if (!(e->flags & KTAU_ENTRY_LONGEST))
		return;
	if (old && (e->incl < old->incl || e->count < old->count))
		return;
	if (grew && e->longest > incl && e->longest - incl > (old ? p->slack : 0))
		why = "above";
	else if (count && incl / count > e->longest + (old ? 2 : 1) * p->slack)
		why = "below the mean of";
	if (why)
		ktau__check_report(p->c, KTAU_FINDING_LONGEST, p->now->serial, e->id,
				   "event %u: longest activation, %llu ns, %s inclusive time: "
				   "%llu ns in %llu", e->id, ktau__check_ns(p->c, e->longest), why,
				   ktau__check_ns(p->c, incl), (unsigned long long)count);
}

void ktau__check_longest(const struct check_period *p)
{
	if (!p->now->clamped)
		for_each_timer(p, judge_longest);
}

/* The times of an event's outermost activations. */
struct inside {
	uint64_t incl, asleep, runq, irq;
	__u8 flags;
};

static struct inside ended(const struct ktau_entry *e)
{
	if (!e)
		return (struct inside){ .flags = 0xff };
	return (struct inside){ e->incl, e->asleep, e->runq, e->irq, e->flags };
}

/* Add the outermost frame in flight of the event; false if it may not be listed. */
static bool add_open(struct inside *to, const struct ktau_rec_profile *p, uint32_t id)
{
	const struct ktau_open *open = p ? ktau_profile_open(p) : NULL;
	uint32_t i = p ? p->nr_open : 0;

	if (p && p->nr_open < p->depth)
		return false;
	while (i && open[i - 1].id != id)
		i--;
	if (!i)
		return true;
	to->incl += grown(p->ticks, ktau__max(open[i - 1].start_ticks, p->start_ticks));
	to->asleep += open[i - 1].asleep_ticks;
	to->runq += open[i - 1].runq_ticks;
	to->irq += open[i - 1].irq_ticks;
	return true;
}

static struct inside minus(const struct inside *now, const struct inside *before)
{
	return (struct inside){
		grown(now->incl, before->incl), grown(now->asleep, before->asleep),
		grown(now->runq, before->runq), grown(now->irq, before->irq),
		now->flags & before->flags,
	};
}

static uint64_t sum_inside(const struct inside *t)
{
	return (t->flags & KTAU_ENTRY_ASLEEP ? t->asleep : 0) +
	       (t->flags & KTAU_ENTRY_RUNQ ? t->runq : 0) +
	       (t->flags & KTAU_ENTRY_IRQ ? t->irq : 0);
}

static void report_inside(const struct check_period *p, uint32_t id, const struct inside *t,
			  const char *when)
{
	ktau__check_report(p->c, KTAU_FINDING_INSIDE, p->now->serial, id,
			   "event %u: times inside above inclusive time%s: asleep %llu, runq %llu, "
			   "irq %llu of %llu ns, %.1f %%", id, when,
			   ktau__check_ns(p->c, t->asleep), ktau__check_ns(p->c, t->runq),
			   ktau__check_ns(p->c, t->irq), ktau__check_ns(p->c, t->incl),
			   percent(sum_inside(t), t->incl));
}

static void report_outside(const struct check_period *p, uint32_t id, uint64_t incl,
			   uint64_t ticks)
{
	ktau__check_report(p->c, KTAU_FINDING_INSIDE, p->now->serial, id,
			   "event %u: inclusive time above the %s: %llu of %llu ns, %.1f %%", id,
			   p->before ? "period" : "life", ktau__check_ns(p->c, incl),
			   ktau__check_ns(p->c, ticks), percent(incl, ticks));
}

/*
 * Whether the activations of events that were in flight at @ticks were part of the record then. If
 * a group has been disabled, frames have ended that are open still. A task that has exited has no
 * groups any more: those of the machine are taken.
 */
static bool is_divided_at(const struct check_period *p, uint64_t ticks)
{
	bool exited = p->owner && p->owner->kind == KTAU_OWNER_EXITED;
	uint32_t groups = exited ? p->c->stream.groups : p->now->groups;

	return !(groups & ~p->now->groups_throughout) && p->now->start_ticks <= ticks &&
	       p->c->stream.since_ticks <= ticks;
}

/*
 * How much time of "kernel" has moved to other events: a copy may find a root frame in flight that
 * has not got its name yet.
 */
static uint64_t renamed(const struct check_period *p)
{
	const uint32_t id = p->c->kernel_id;
	struct inside now = {}, before = {};
	const struct ktau_entry *e;
	uint32_t at = 0;

	e = id ? entry_at(p->before, &at, id) : NULL;
	before.incl = e ? e->incl : 0;
	if (!id || !add_open(&before, p->before, id) || !before.incl)
		return 0;
	at = 0;
	e = entry_at(p->now, &at, id);
	now.incl = e ? e->incl : 0;
	return add_open(&now, p->now, id) ? grown(before.incl, now.incl) : 0;
}

/* Interrupts in progress on a CPU are not listed: those of a period may have begun before it. */
static bool lists_frames(const struct check_period *p)
{
	return p->owner->kind != KTAU_OWNER_CPU;
}

/*
 * An event's activations that are no others' inside do not overlap, so they are no longer than
 * the time in which they happened. Those in flight have lasted since then, too.
 */
static void judge_inside(const struct check_period *p, const struct ktau_entry *e,
			 const struct ktau_entry *old)
{
	const uint64_t slack = p->before ? 4 * p->slack : 0;
	const uint64_t since = p->before ? p->before->ticks : p->now->start_ticks;
	struct inside now = ended(e), before = ended(old), diff = minus(&now, &before);
	uint64_t ticks = grown(p->now->ticks, since);

	if (sum_inside(&diff) > diff.incl + slack) {
		report_inside(p, e->id, &diff, p->before ? " in the period" : "");
		return;
	}
	if (!is_divided_at(p, since) || !add_open(&now, p->now, e->id) ||
	    !add_open(&before, p->before, e->id))
		return;
	diff = minus(&now, &before);
	if (sum_inside(&diff) > diff.incl + slack)
		report_inside(p, e->id, &diff, " with the frame in flight");
	else if (has_life(p) && lists_frames(p) && diff.incl > ticks + renamed(p) + 2 * p->slack)
		report_outside(p, e->id, diff.incl, ticks);
}

void ktau__check_inside(const struct check_period *p)
{
	if (!p->now->clamped)
		for_each_timer(p, judge_inside);
}

/*
 * What only grows
 */

struct backward {
	const char *what;
	uint64_t now, before;
};

static void judge_backward(const struct check_period *p, const struct backward *all, size_t nr)
{
	size_t i;

	for (i = 0; i < nr; i++)
		if (all[i].now < all[i].before)
			ktau__check_report(p->c, KTAU_FINDING_BACKWARD, p->now->serial, 0,
					   "%s: %llu after %llu", all[i].what,
					   (unsigned long long)all[i].now,
					   (unsigned long long)all[i].before);
}

#define JUDGE(p, array)	judge_backward(p, array, sizeof(array) / sizeof(*(array)))

static void judge_head(const struct check_period *p)
{
	const struct ktau_rec_profile *now = p->now, *old = p->before;
	const struct backward all[] = {
		{ "refused activations", now->refused, old->refused },
		{ "ticks of refused activations", now->refused_ticks, old->refused_ticks },
		{ "clamped durations", now->clamped, old->clamped },
		{ "user ticks", now->user_ticks, old->user_ticks },
		{ "kernel ticks", now->kernel_ticks, old->kernel_ticks },
		{ "irq ticks", now->irq_ticks, old->irq_ticks },
		{ "runq ticks", now->runq_ticks, old->runq_ticks },
		{ "asleep ticks", now->asleep_ticks, old->asleep_ticks },
		{ "guest ticks", now->guest_ticks, old->guest_ticks },
		/* It is what is left of a sum if times are rounded. */
		{ "outermost ticks", p->slack ? old->outer_ticks : now->outer_ticks,
		  old->outer_ticks },
	};

	JUDGE(p, all);
}

static void judge_times(const struct check_period *p)
{
	const struct backward all[] = {
		{ "ticks", p->now->ticks, p->before->ticks },
		{ "ticks since the start", p->now->ticks - p->now->start_ticks,
		  p->before->ticks - p->before->start_ticks },
	};

	if (p->c->stream.clock_flags & KTAU_CLOCK_STABLE && !is_several(p->owner))
		JUDGE(p, all);
}

static void judge_owner(const struct check_period *p)
{
	const struct ktau_rec_owner *now = p->owner, *old = p->described_before;
	const struct backward all[] = {
		{ "utime", now->utime_ns, old->utime_ns },
		{ "stime", now->stime_ns, old->stime_ns },
		{ "voluntary switches", now->nvcsw, old->nvcsw },
		{ "involuntary switches", now->nivcsw, old->nivcsw },
		{ "migrations", now->migrations, old->migrations },
		{ "tasks", now->nr_tasks, old->nr_tasks },
	};

	JUDGE(p, all);
}

/* NULL, or what is less in an entry than in the one before. */
static const char *lost_in(const struct ktau_entry *now, const struct ktau_entry *old)
{
	const __u8 flags = now->flags & old->flags;

	if (now->kind != old->kind || now->kind > KTAU_KIND_COUNTER)
		return now->kind != old->kind ? "kind" : NULL;
	if (now->count < old->count)
		return "count";
	if (now->kind == KTAU_KIND_COUNTER)
		return now->sum < old->sum ? "sum" : now->max < old->max ? "maximum" :
		       now->min > old->min && old->count ? "minimum" : NULL;
	if (now->incl < old->incl)
		return "inclusive time";
	if (now->excl < old->excl)
		return "exclusive time";
	if (flags & KTAU_ENTRY_LONGEST && now->longest < old->longest)
		return "longest activation";
	if (flags & KTAU_ENTRY_ASLEEP && now->asleep < old->asleep)
		return "time asleep";
	if (flags & KTAU_ENTRY_RUNQ && now->runq < old->runq)
		return "time in the run queue";
	return flags & KTAU_ENTRY_IRQ && now->irq < old->irq ? "time in interrupts" : NULL;
}

static void judge_counts(const struct check_period *p)
{
	const struct ktau_entry *old = ktau_profile_entries(p->before), *now;
	const char *why;
	uint32_t i, at = 0;

	for (i = 0; i < p->before->nr_entries; i++) {
		now = entry_at(p->now, &at, old[i].id);
		why = now ? lost_in(now, &old[i]) : "entry";
		if (why)
			ktau__check_report(p->c, KTAU_FINDING_BACKWARD, p->now->serial, old[i].id,
					   "event %u: %s less than in the profile before, count "
					   "%llu after %llu", old[i].id, why,
					   now ? now->count : 0, old[i].count);
	}
}

void ktau__check_backward(const struct check_period *p)
{
	if (!p->before)
		return;
	judge_head(p);
	judge_times(p);
	judge_counts(p);
	if (p->owner)
		judge_owner(p);
}
