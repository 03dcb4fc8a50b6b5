// SPDX-License-Identifier: LGPL-2.1-or-later
/* Arithmetic on profiles: entries are in ascending order, so it is merging. */
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

/* 1 if @after has something that @before does not have, 0 if not, -EINVAL for less. */
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

/* Modulo 2^64, so that adding the difference gives back exactly what it was taken from. */
static void subtract_account(struct ktau_rec_profile *p, const struct ktau_rec_profile *before)
{
	p->user_ticks -= before->user_ticks;
	p->kernel_ticks -= before->kernel_ticks;
	p->irq_ticks -= before->irq_ticks;
	p->runq_ticks -= before->runq_ticks;
	p->asleep_ticks -= before->asleep_ticks;
	p->guest_ticks -= before->guest_ticks;
}

static void add_account(struct ktau_rec_profile *to, const struct ktau_rec_profile *from)
{
	to->user_ticks += from->user_ticks;
	to->kernel_ticks += from->kernel_ticks;
	to->irq_ticks += from->irq_ticks;
	to->runq_ticks += from->runq_ticks;
	to->asleep_ticks += from->asleep_ticks;
	to->guest_ticks += from->guest_ticks;
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

int ktau_owner_diff(const struct ktau_rec_owner *after,
		    const struct ktau_rec_owner *before,
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
	to->outer_ticks += from->outer_ticks;
	to->open_child_ticks += from->open_child_ticks;
	to->refused += from->refused;
	to->refused_ticks += from->refused_ticks;
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
	to->sum += from->sum;
	to->count += from->count;
}

static void timer_add(struct ktau_entry *to, const struct ktau_entry *from)
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

/* Where @id is or belongs. */
static uint32_t find_place(const struct ktau__sum *sum, uint32_t id)
{
	uint32_t low = 0, high = sum->nr, middle;

	while (low < high) {
		middle = low + (high - low) / 2;
		if (sum->entries[middle].id < id)
			low = middle + 1;
		else
			high = middle;
	}
	return low;
}

static int insert(struct ktau__sum *sum, uint32_t at, const struct ktau_entry *entry)
{
	uint32_t room = sum->room ? sum->room * 2 : 64;
	struct ktau_entry *entries;

	if (sum->nr == sum->room) {
		entries = reallocarray(sum->entries, room, sizeof(*entries));
		if (!entries)
			return -ENOMEM;
		sum->entries = entries;
		sum->room = room;
	}
	memmove(&sum->entries[at + 1], &sum->entries[at],
		(sum->nr - at) * sizeof(*entries));
	sum->entries[at] = *entry;
	sum->nr++;
	return 0;
}

static int add_entry(struct ktau__sum *sum, const struct ktau_entry *from,
		     enum ktau__foreign foreign)
{
	uint32_t at = find_place(sum, from->id);
	bool known = from->kind <= KTAU_KIND_COUNTER;
	struct ktau_entry *to;

	if (!known && foreign == KTAU__FOREIGN_DROP)
		return 0;
	if (at == sum->nr || sum->entries[at].id != from->id)
		return insert(sum, at, from);
	to = &sum->entries[at];
	if (!known || to->kind != from->kind)
		*to = *from;
	else if (from->kind == KTAU_KIND_COUNTER)
		counter_add(to, from);
	else
		timer_add(to, from);
	return 0;
}

int ktau__sum_entries(struct ktau__sum *sum, const struct ktau_rec_profile *from,
		      enum ktau__foreign foreign)
{
	const struct ktau_entry *entry = ktau_profile_entries(from);
	uint32_t i;
	int err = 0;

	for (i = 0; !err && i < from->nr_entries; i++)
		err = add_entry(sum, entry + i, foreign);
	return err;
}

void ktau__sum_free(struct ktau__sum *sum)
{
	free(sum->entries);
}

struct ktau_rec_profile *ktau__sum_record(const struct ktau__sum *sum,
					  const struct ktau_rec_profile *frames)
{
	uint32_t nr_open = frames ? frames->nr_open : 0;
	size_t bytes = sum->nr * sizeof(*sum->entries);
	size_t size = sizeof(sum->head) + bytes + nr_open * sizeof(struct ktau_open);
	struct ktau_rec_profile *p = calloc(1, size);

	if (!p)
		return NULL;
	*p = sum->head;
	p->rec.size = size;
	p->rec.type = KTAU_REC_PROFILE;
	p->rec.head = sizeof(*p);
	p->nr_entries = sum->nr;
	p->entry_size = sizeof(*sum->entries);
	p->nr_open = nr_open;
	p->open_size = sizeof(struct ktau_open);
	if (bytes)
		memcpy(p + 1, sum->entries, bytes);
	if (nr_open)
		memcpy((char *)(p + 1) + bytes, ktau_profile_open(frames),
		       nr_open * sizeof(struct ktau_open));
	return p;
}

int ktau__profile_add(const struct ktau_rec_profile *base,
		      const struct ktau_rec_profile *diff,
		      struct ktau_rec_profile **out)
{
	struct ktau__sum sum = { .head = *diff };
	int err;

	ktau__head_add(&sum.head, base);
	sum.head.ticks = diff->ticks;
	sum.head.groups = diff->groups;
	sum.head.groups_throughout = diff->groups_throughout;
	err = ktau__sum_entries(&sum, base, KTAU__FOREIGN_REPLACE);
	if (!err)
		err = ktau__sum_entries(&sum, diff, KTAU__FOREIGN_REPLACE);
	*out = err ? NULL : ktau__sum_record(&sum, diff);
	ktau__sum_free(&sum);
	return *out ? 0 : -ENOMEM;
}
