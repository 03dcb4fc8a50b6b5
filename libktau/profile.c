// SPDX-License-Identifier: LGPL-2.1-or-later
/* Sums and differences of profiles. Entries are in ascending order, so both are merges. */
#include <stdlib.h>

#include "profile.h"

bool ktau__profile_ordered(const struct ktau_rec_profile *p)
{
	const struct ktau_entry *entries = ktau_profile_entries(p);
	uint32_t i;

	for (i = 1; i < p->nr_entries; i++) {
		if (entries[i - 1].id >= entries[i].id)
			return false;
	}
	return true;
}

/* Subtract: 1 if something is left, 0 if nothing is, -EINVAL if @after has less. */
static int entry_diff(struct ktau_entry *after, const struct ktau_entry *before)
{
	if (after->kind != before->kind)
		return -EINVAL;
	if (after->kind > KTAU_KIND_COUNTER)
		return memcmp(after, before, sizeof(*after)) != 0;
	if (after->count < before->count)
		return -EINVAL;
	after->count -= before->count;
	if (after->kind == KTAU_KIND_COUNTER) {
		after->sum -= before->sum;
		return after->count > 0;
	}
	if (after->incl < before->incl || after->excl < before->excl)
		return -EINVAL;
	after->flags &= before->flags;
	after->incl -= before->incl;
	after->excl -= before->excl;
	after->asleep -= ktau__min(after->asleep, before->asleep);
	after->runq -= ktau__min(after->runq, before->runq);
	after->irq -= ktau__min(after->irq, before->irq);
	return after->count || after->incl || after->excl;
}

static int subtract_entries(struct ktau_rec_profile *p, const struct ktau_rec_profile *before)
{
	struct ktau_entry *entries = (struct ktau_entry *)ktau_profile_entries(p);
	const struct ktau_entry *old = ktau_profile_entries(before);
	const struct ktau_entry *end = old + before->nr_entries;
	uint32_t i, kept = 0;
	int err;

	if (!ktau__profile_ordered(p) || !ktau__profile_ordered(before))
		return -EINVAL;
	for (i = 0; i < p->nr_entries; i++) {
		err = 1;
		if (old < end && old->id < entries[i].id)
			return -EINVAL;
		if (old < end && old->id == entries[i].id)
			err = entry_diff(&entries[i], old++);
		if (err < 0)
			return err;
		if (err)
			entries[kept++] = entries[i];
	}
	if (old < end)
		return -EINVAL;
	memmove(entries + kept, entries + p->nr_entries, p->nr_open * sizeof(struct ktau_open));
	p->rec.size -= (p->nr_entries - kept) * sizeof(*entries);
	p->nr_entries = kept;
	return 0;
}

/* Modulo 2^64, so that adding the difference to @before gives exactly @p again. */
static void subtract_account(struct ktau_rec_profile *p, const struct ktau_rec_profile *before)
{
	p->user_ticks -= before->user_ticks;
	p->kernel_ticks -= before->kernel_ticks;
	p->irq_ticks -= before->irq_ticks;
	p->runq_ticks -= before->runq_ticks;
	p->asleep_ticks -= before->asleep_ticks;
	p->guest_ticks -= before->guest_ticks;
}

/* The inverse of subtract_account(). */
static void restore_account(struct ktau_rec_profile *to, const struct ktau_rec_profile *from)
{
	to->user_ticks += from->user_ticks;
	to->kernel_ticks += from->kernel_ticks;
	to->irq_ticks += from->irq_ticks;
	to->runq_ticks += from->runq_ticks;
	to->asleep_ticks += from->asleep_ticks;
	to->guest_ticks += from->guest_ticks;
}

/* A sum that does not fit stays at the end of its range; it must not begin again at 0. */
static void add(__u64 *to, uint64_t from)
{
	if (__builtin_add_overflow(*to, from, to))
		*to = UINT64_MAX;
}

static void add_account(struct ktau_rec_profile *to, const struct ktau_rec_profile *from)
{
	add(&to->user_ticks, from->user_ticks);
	add(&to->kernel_ticks, from->kernel_ticks);
	add(&to->irq_ticks, from->irq_ticks);
	add(&to->runq_ticks, from->runq_ticks);
	add(&to->asleep_ticks, from->asleep_ticks);
	add(&to->guest_ticks, from->guest_ticks);
}

static int subtract(struct ktau_rec_profile *p, const struct ktau_rec_profile *before)
{
	if (p->serial != before->serial || p->outer_ticks < before->outer_ticks ||
	    p->refused < before->refused || p->refused_ticks < before->refused_ticks ||
	    p->clamped < before->clamped)
		return -EINVAL;
	p->outer_ticks -= before->outer_ticks;
	p->open_child_ticks -= before->open_child_ticks;
	p->refused -= before->refused;
	p->refused_ticks -= before->refused_ticks;
	p->clamped -= before->clamped;
	subtract_account(p, before);
	return subtract_entries(p, before);
}

int ktau_profile_diff(const struct ktau_rec_profile *after,
		      const struct ktau_rec_profile *before,
		      struct ktau_rec_profile **out)
{
	struct ktau_rec_profile *p = ktau_record_dup(after);
	int err = 0;

	*out = NULL;
	if (!p)
		return -ENOMEM;
	if (before)
		err = subtract(p, before);
	if (err) {
		ktau_record_free(p);
		return err;
	}
	*out = p;
	return 0;
}

int ktau__owner_diff(const struct ktau_rec_owner *after, const struct ktau_rec_owner *before,
		     struct ktau_rec_owner **out)
{
	struct ktau_rec_owner *owner;

	*out = NULL;
	if (before && before->serial != after->serial)
		return -EINVAL;
	owner = ktau_record_dup(after);
	if (!owner)
		return -ENOMEM;
	if (before) {
		owner->utime_ns -= ktau__min(owner->utime_ns, before->utime_ns);
		owner->stime_ns -= ktau__min(owner->stime_ns, before->stime_ns);
		owner->nvcsw -= ktau__min(owner->nvcsw, before->nvcsw);
		owner->nivcsw -= ktau__min(owner->nivcsw, before->nivcsw);
		owner->migrations -= ktau__min(owner->migrations, before->migrations);
	}
	*out = owner;
	return 0;
}

void ktau__head_add(struct ktau_rec_profile *to, const struct ktau_rec_profile *from)
{
	to->ticks = ktau__max(to->ticks, from->ticks);
	add(&to->outer_ticks, from->outer_ticks);
	add(&to->open_child_ticks, from->open_child_ticks);
	to->refused += from->refused;
	add(&to->refused_ticks, from->refused_ticks);
	to->clamped += from->clamped;
	add_account(to, from);
	to->groups |= from->groups;
	to->groups_throughout &= from->groups_throughout;
}

/* A counter without values has no minimum. */
static void counter_add(struct ktau_entry *to, const struct ktau_entry *from)
{
	if (!from->count)
		return;
	to->min = to->count ? ktau__min(to->min, from->min) : from->min;
	to->max = to->count ? ktau__max(to->max, from->max) : from->max;
	add(&to->sum, from->sum);
	to->count += from->count;
}

static void timer_add(struct ktau_entry *to, const struct ktau_entry *from)
{
	to->flags &= from->flags;
	to->count += from->count;
	add(&to->incl, from->incl);
	add(&to->excl, from->excl);
	to->longest = ktau__max(to->longest, from->longest);
	add(&to->asleep, from->asleep);
	add(&to->runq, from->runq);
	add(&to->irq, from->irq);
}

/* The inverse of entry_diff(), also for a figure that has decreased. */
static void timer_restore(struct ktau_entry *to, const struct ktau_entry *from)
{
	to->flags &= from->flags;
	to->count += from->count;
	to->incl += from->incl;
	to->excl += from->excl;
	to->longest = ktau__max(to->longest, from->longest);
	to->asleep += from->asleep;
	to->runq += from->runq;
	to->irq += from->irq;
}

static bool is_known(const struct ktau_entry *entry)
{
	return entry->kind <= KTAU_KIND_COUNTER;
}

typedef void (*timer_fn)(struct ktau_entry *to, const struct ktau_entry *from);

static void entry_add(struct ktau_entry *to, const struct ktau_entry *from, timer_fn add_timer)
{
	if (!is_known(from) || to->kind != from->kind)
		*to = *from;
	else if (from->kind == KTAU_KIND_COUNTER)
		counter_add(to, from);
	else
		add_timer(to, from);
}

/* How many of @nr ascending entries have an id that @p does not have. */
static uint32_t count_new(const struct ktau_rec_profile *p, const struct ktau_entry *from,
			  uint32_t nr)
{
	const struct ktau_entry *to = ktau_profile_entries(p);
	const struct ktau_entry *end = to + p->nr_entries;
	uint32_t i, new = 0;

	for (i = 0; i < nr; i++) {
		while (to < end && to->id < from[i].id)
			to++;
		new += to == end || to->id != from[i].id;
	}
	return new;
}

/* Make room for @bytes more at the end of a record. */
static int reserve(struct ktau_rec_profile **p, size_t bytes)
{
	struct ktau_rec_profile *grown;

	if (!bytes)
		return 0;
	if (bytes > UINT32_MAX - (*p)->rec.size)
		return -ENOMEM;
	grown = realloc(*p, (*p)->rec.size + bytes);
	if (!grown)
		return -ENOMEM;
	*p = grown;
	return 0;
}

/*
 * Merge @nr ascending entries, @new of them with new ids, into a profile without frames and
 * with room for them; @add_timer adds those of timers. It is done from the back, so each entry
 * moves once, to its place.
 */
static void merge(struct ktau_rec_profile *p, const struct ktau_entry *from, uint32_t nr,
		  uint32_t new, timer_fn add_timer)
{
	struct ktau_entry *first = (struct ktau_entry *)ktau_profile_entries(p);
	struct ktau_entry *old = first + p->nr_entries;	/* after the next one to move */
	struct ktau_entry *to = old + new;		/* after its place */

	while (nr) {
		if (old == first || old[-1].id < from[nr - 1].id) {
			*--to = from[--nr];
			continue;
		}
		*--to = *--old;
		if (to->id == from[nr - 1].id)
			entry_add(to, &from[--nr], add_timer);
	}
	p->nr_entries += new;
	p->rec.size += new * sizeof(*first);
}

struct ktau_rec_profile *ktau__profile_create(const struct ktau_rec_profile *head)
{
	struct ktau_rec_profile *p = malloc(sizeof(*p));

	if (!p)
		return NULL;
	*p = *head;
	p->rec = (struct ktau_rec){
		.size = sizeof(*p),
		.type = KTAU_REC_PROFILE,
		.head = sizeof(*p),
	};
	p->nr_entries = p->nr_open = 0;
	p->entry_size = sizeof(struct ktau_entry);
	p->open_size = sizeof(struct ktau_open);
	return p;
}

/* The number of entries, up to @nr, that can be merged at once. */
static uint32_t run_length(const struct ktau_entry *entries, uint32_t nr)
{
	uint32_t i = 0;

	while (i < nr && is_known(&entries[i]))
		i++;
	return i;
}

int ktau__profile_add(struct ktau_rec_profile **p, const struct ktau_rec_profile *from)
{
	const struct ktau_entry *entries = ktau_profile_entries(from);
	uint32_t i, nr, new;
	int err;

	for (i = 0; i < from->nr_entries; i += nr ? nr : 1) {
		nr = run_length(entries + i, from->nr_entries - i);
		new = count_new(*p, entries + i, nr);
		err = reserve(p, new * sizeof(*entries));
		if (err)
			return err;
		merge(*p, entries + i, nr, new, timer_add);
	}
	return 0;
}

/* Copy the frames of @from to a profile without frames that has room for them. */
static void put_frames(struct ktau_rec_profile *p, const struct ktau_rec_profile *from)
{
	size_t bytes = from->nr_open * sizeof(struct ktau_open);

	memcpy((char *)p + p->rec.size, ktau_profile_open(from), bytes);
	p->rec.size += bytes;
	p->nr_open = from->nr_open;
}

static int by_id(const void *left, const void *right)
{
	const struct ktau_entry *a = left, *b = right;

	return (a->id > b->id) - (a->id < b->id);
}

/* Copy entries in any order to a profile without entries and frames that has room for them. */
static int put_sorted(struct ktau_rec_profile *p, const struct ktau_rec_profile *from)
{
	struct ktau_entry *to = (struct ktau_entry *)ktau_profile_entries(p);
	const struct ktau_entry *entry = ktau_profile_entries(from);
	/* By id, the place in @to, plus 1. */
	uint32_t *place = calloc(UINT16_MAX + 1, sizeof(*place));
	uint32_t i, nr = 0;

	if (!place)
		return -ENOMEM;
	for (i = 0; i < from->nr_entries; i++, entry++) {
		if (place[entry->id]) {
			entry_add(&to[place[entry->id] - 1], entry, timer_add);
			continue;
		}
		to[nr++] = *entry;
		place[entry->id] = nr;
	}
	free(place);
	qsort(to, nr, sizeof(*to), by_id);
	p->nr_entries = nr;
	p->rec.size += nr * sizeof(*to);
	return 0;
}

int ktau__profile_copy(const struct ktau_rec_profile *profile, struct ktau_rec_profile **copy)
{
	const bool ordered = ktau__profile_ordered(profile);
	int err;

	*copy = ordered ? ktau_record_dup(profile) : ktau__profile_create(profile);
	if (!*copy)
		return -ENOMEM;
	(*copy)->rec.type = KTAU_REC_PROFILE;
	if (ordered)
		return 0;
	err = reserve(copy, profile->nr_entries * sizeof(struct ktau_entry) +
				    profile->nr_open * sizeof(struct ktau_open));
	if (!err)
		err = put_sorted(*copy, profile);
	if (err) {
		ktau_record_free(*copy);
		*copy = NULL;
		return err;
	}
	put_frames(*copy, profile);
	return 0;
}

static void apply_head(struct ktau_rec_profile *p, const struct ktau_rec_profile *diff)
{
	p->outer_ticks += diff->outer_ticks;
	p->open_child_ticks += diff->open_child_ticks;
	p->refused += diff->refused;
	p->refused_ticks += diff->refused_ticks;
	p->clamped += diff->clamped;
	restore_account(p, diff);
	p->ticks = diff->ticks;
	p->groups = diff->groups;
	p->groups_throughout = diff->groups_throughout;
	p->depth = diff->depth;
}

int ktau__profile_apply(struct ktau_rec_profile **p, const struct ktau_rec_profile *diff)
{
	const struct ktau_entry *entries = ktau_profile_entries(diff);
	uint32_t new = count_new(*p, entries, diff->nr_entries);
	const size_t more = new * sizeof(*entries) + diff->nr_open * sizeof(struct ktau_open);
	const size_t frames = (*p)->nr_open * sizeof(struct ktau_open);
	int err = reserve(p, more > frames ? more - frames : 0);

	if (err)
		return err;
	(*p)->rec.size -= (*p)->nr_open * sizeof(struct ktau_open);
	(*p)->nr_open = 0;
	merge(*p, entries, diff->nr_entries, new, timer_restore);
	put_frames(*p, diff);
	apply_head(*p, diff);
	return 0;
}
