// SPDX-License-Identifier: LGPL-2.1-or-later
/* What can be asked of one record in normal form. */
#include <stdlib.h>

#include "internal.h"

const char *ktau_info_command(const struct ktau_rec_info *info)
{
	return info->command_bytes ? (const char *)info + info->rec.head : "";
}

const char *ktau_info_symbols(const struct ktau_rec_info *info)
{
	return info->symbols_bytes ?
	       (const char *)info + info->rec.head + info->command_bytes : "";
}

const char *ktau_event_name(const struct ktau_rec_event *event)
{
	return (const char *)event + event->rec.head;
}

void ktau_record_free(void *record)
{
	free(record);
}

void *ktau_record_dup(const void *record)
{
	const struct ktau_rec *rec = record;
	void *copy = malloc(rec->size);

	return copy ? memcpy(copy, record, rec->size) : NULL;
}

const struct ktau_entry *ktau_profile_find(const struct ktau_rec_profile *p, uint32_t id)
{
	const struct ktau_entry *entries = ktau_profile_entries(p);
	uint32_t i;

	for (i = 0; i < p->nr_entries; i++) {
		if (entries[i].id == id)
			return &entries[i];
	}
	return NULL;
}

static uint64_t open_ticks(const struct ktau_rec_profile *p, const struct ktau_open *open)
{
	return p->ticks > open->start_ticks ? p->ticks - open->start_ticks : 0;
}

int ktau_profile_inflight(const struct ktau_rec_profile *p, uint32_t index,
			  uint64_t *incl_ticks, uint64_t *excl_ticks)
{
	const struct ktau_open *open = ktau_profile_open(p) + index;
	uint64_t incl, inside;

	if (index >= p->nr_open)
		return -ERANGE;
	incl = open_ticks(p, open);
	inside = open->child_ticks;
	if (index)
		inside += open_ticks(p, open - 1);
	if (incl_ticks)
		*incl_ticks = incl;
	if (excl_ticks)
		*excl_ticks = incl > inside ? incl - inside : 0;
	return 0;
}

void ktau__entry_add(struct ktau_entry *to, const struct ktau_entry *from)
{
	if (from->kind == KTAU_KIND_COUNTER && from->count) {
		to->min = to->count ? ktau__min(to->min, from->min) : from->min;
		to->max = to->count ? ktau__max(to->max, from->max) : from->max;
		to->sum += from->sum;
	} else if (from->kind != KTAU_KIND_COUNTER) {
		to->incl += from->incl;
		to->excl += from->excl;
	}
	to->id = from->id;
	to->kind = from->kind;
	to->count += from->count;
}

/* Where each id stands in a profile, + 1; -EINVAL for an id out of the table. */
static int index_entries(const struct ktau_rec_profile *p, uint32_t *where)
{
	const struct ktau_entry *entries = ktau_profile_entries(p);
	uint32_t i;

	for (i = 0; i < p->nr_entries; i++) {
		if (entries[i].id >= KTAU_NR_IDS)
			return -EINVAL;
		where[entries[i].id] = i + 1;
	}
	return 0;
}

/* 1 if @after has something that @before has not, 0 if not, -EINVAL for less. */
static int entry_diff(struct ktau_entry *after, const struct ktau_entry *before)
{
	if (after->kind != before->kind || after->count < before->count)
		return -EINVAL;
	after->count -= before->count;
	if (after->kind == KTAU_KIND_COUNTER) {
		after->sum -= before->sum;
		return after->count > 0;
	}
	if (after->incl < before->incl || after->excl < before->excl)
		return -EINVAL;
	after->incl -= before->incl;
	after->excl -= before->excl;
	return after->count || after->incl || after->excl;
}

static int subtract_entries(struct ktau_rec_profile *p, const struct ktau_rec_profile *before)
{
	struct ktau_entry *entries = (struct ktau_entry *)ktau_profile_entries(p);
	const struct ktau_entry *old = ktau_profile_entries(before);
	uint32_t where[KTAU_NR_IDS] = { 0 };
	uint32_t i, seen = 0, kept = 0;
	int err = index_entries(before, where);

	for (i = 0; !err && i < p->nr_entries; i++) {
		uint32_t id = entries[i].id, at = id < KTAU_NR_IDS ? where[id] : 0;

		if (id >= KTAU_NR_IDS)
			return -EINVAL;
		if (at) {
			where[id] = 0;
			seen++;
			err = entry_diff(&entries[i], &old[at - 1]);
			if (err < 0)
				return err;
			if (!err)
				continue;
			err = 0;
		}
		entries[kept++] = entries[i];
	}
	if (err || seen < before->nr_entries)
		return err ? err : -EINVAL;
	memmove(entries + kept, entries + p->nr_entries, p->nr_open * sizeof(struct ktau_open));
	p->rec.size -= (p->nr_entries - kept) * sizeof(*entries);
	p->nr_entries = kept;
	return 0;
}

static int subtract(struct ktau_rec_profile *p, const struct ktau_rec_profile *before)
{
	if (ktau__owner_class(&p->owner) != ktau__owner_class(&before->owner) ||
	    ktau__owner_value(&p->owner) != ktau__owner_value(&before->owner) ||
	    p->outer_ticks < before->outer_ticks || p->refused < before->refused ||
	    p->refused_ticks < before->refused_ticks || p->clamped < before->clamped)
		return -EINVAL;
	p->outer_ticks -= before->outer_ticks;
	p->open_child_ticks -= before->open_child_ticks;
	p->refused -= before->refused;
	p->refused_ticks -= before->refused_ticks;
	p->clamped -= before->clamped;
	p->owner.utime_ns -= ktau__min(before->owner.utime_ns, p->owner.utime_ns);
	p->owner.stime_ns -= ktau__min(before->owner.stime_ns, p->owner.stime_ns);
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

const struct ktau_slot *ktau_trace_next(const struct ktau_rec_trace *t,
					const struct ktau_slot *slot)
{
	const struct ktau_slot *end = ktau_trace_slots(t) + t->nr_slots;

	for (slot = slot ? slot + 1 : ktau_trace_slots(t); slot < end; slot++) {
		if (slot->type != KTAU_TRACE_MORE)
			return slot;
	}
	return NULL;
}

const struct ktau_slot_more *ktau_trace_more(const struct ktau_rec_trace *t,
					     const struct ktau_slot *slot,
					     unsigned int index)
{
	const struct ktau_slot *end = ktau_trace_slots(t) + t->nr_slots;
	const struct ktau_slot *at;

	if (!index || index > slot->more || index >= (size_t)(end - slot))
		return NULL;
	for (at = slot + 1; at <= slot + index; at++) {
		if (at->type != KTAU_TRACE_MORE)
			return NULL;
	}
	return (const struct ktau_slot_more *)(slot + index);
}
