// SPDX-License-Identifier: LGPL-2.1-or-later
/* Arithmetic on snapshots: difference, sum, adding differences up again. */
#include <stdlib.h>

#include "snapshot.h"

/* A table by id and what does not fit in it, on the way to a record. */
struct table {
	struct ktau_entry entries[KTAU_NR_IDS];
	bool present[KTAU_NR_IDS];
	uint32_t nr;
};

/*
 * An id out of the table can only come from a damaged or foreign record. Its
 * time is booked as refused, so that the sums still agree.
 */
static void table_add(struct table *table, struct ktau_rec_profile *head,
		      const struct ktau_rec_profile *from)
{
	const struct ktau_entry *entry = ktau_profile_entries(from);
	uint32_t i;

	for (i = 0; i < from->nr_entries; i++, entry++) {
		if (entry->id >= KTAU_NR_IDS) {
			head->refused += entry->count;
			if (entry->kind == KTAU_KIND_TIMER)
				head->refused_ticks += entry->excl;
			continue;
		}
		table->nr += !table->present[entry->id];
		table->present[entry->id] = true;
		ktau__entry_add(&table->entries[entry->id], entry);
	}
}

static void head_add(struct ktau_rec_profile *to, const struct ktau_rec_profile *from)
{
	to->ticks = ktau__max(to->ticks, from->ticks);
	to->outer_ticks += from->outer_ticks;
	to->open_child_ticks += from->open_child_ticks;
	to->refused += from->refused;
	to->refused_ticks += from->refused_ticks;
	to->clamped += from->clamped;
	to->groups |= from->groups;
	to->owner.utime_ns += from->owner.utime_ns;
	to->owner.stime_ns += from->owner.stime_ns;
}

/* @head, the table's entries in the order of ids, then @nr_open frames. */
static struct ktau_rec_profile *table_record(const struct table *table,
					     const struct ktau_rec_profile *head,
					     const struct ktau_open *open, uint32_t nr_open)
{
	size_t size = sizeof(*head) + table->nr * sizeof(struct ktau_entry) +
		      nr_open * sizeof(*open);
	struct ktau_rec_profile *p = calloc(1, size);
	struct ktau_entry *entry;
	uint32_t id;

	if (!p)
		return NULL;
	*p = *head;
	p->rec.size = size;
	p->rec.type = KTAU_REC_PROFILE;
	p->rec.head = sizeof(*p);
	p->nr_entries = table->nr;
	p->entry_size = sizeof(*entry);
	p->nr_open = nr_open;
	p->open_size = sizeof(*open);
	entry = (struct ktau_entry *)ktau_profile_entries(p);
	for (id = 0; id < KTAU_NR_IDS; id++) {
		if (table->present[id])
			*entry++ = table->entries[id];
	}
	if (nr_open)
		memcpy(entry, open, nr_open * sizeof(*open));
	return p;
}

int ktau__profile_add(const struct ktau_rec_profile *base,
		      const struct ktau_rec_profile *diff,
		      struct ktau_rec_profile **sum)
{
	struct table *table = calloc(1, sizeof(*table));
	struct ktau_rec_profile head = *diff;

	if (!table)
		return -ENOMEM;
	if (base) {
		head_add(&head, base);
		head.ticks = diff->ticks;
		head.groups = diff->groups;
		table_add(table, &head, base);
	}
	table_add(table, &head, diff);
	*sum = table_record(table, &head, ktau_profile_open(diff), diff->nr_open);
	free(table);
	return *sum ? 0 : -ENOMEM;
}

/* Is this dead task in the reaped total already? */
static bool is_reaped(const struct ktau_rec_profile *p, const struct ktau_rec_profile *reaped)
{
	return reaped && p->owner.kind == KTAU_OWNER_DEAD &&
	       p->owner.dead_seq < reaped->owner.dead_seq;
}

int ktau_snapshot_sum(const struct ktau_snapshot *s, struct ktau_rec_profile **sum)
{
	const struct ktau_rec_profile *reaped = ktau_snapshot_reaped(s), *p;
	struct ktau_rec_profile head = { .owner.kind = KTAU_OWNER_REAPED };
	struct table *table = calloc(1, sizeof(*table));

	*sum = NULL;
	if (!table)
		return -ENOMEM;
	for (p = ktau_snapshot_next(s, NULL); p; p = ktau_snapshot_next(s, p)) {
		if (p->owner.kind > KTAU_OWNER_REAPED || p->owner.kind == KTAU_OWNER_CPU ||
		    is_reaped(p, reaped))
			continue;
		head_add(&head, p);
		table_add(table, &head, p);
	}
	if (reaped)
		head.owner.dead_seq = reaped->owner.dead_seq;
	*sum = table_record(table, &head, NULL, 0);
	free(table);
	return *sum ? 0 : -ENOMEM;
}

static const struct ktau_rec_profile *same_owner(const struct ktau_snapshot *s,
						 const struct ktau_owner *owner)
{
	size_t at = ktau__map_get(&s->by_serial, ktau__owner_class(owner),
				  ktau__owner_value(owner));

	return at == KTAU__MAP_NONE ? NULL : s->owners[at].profile;
}

static int diff_owner(struct ktau_snapshot *diff, const struct ktau_rec_profile *after,
		      const struct ktau_rec_profile *before)
{
	struct ktau_rec_profile *p;
	int err;

	if (before && before->owner.kind == KTAU_OWNER_DEAD)
		return 0;
	err = ktau_profile_diff(after, before, &p);
	if (err)
		return err;
	err = ktau__snapshot_take(diff, p);
	if (err)
		ktau_record_free(p);
	return err;
}

int ktau_snapshot_diff(const struct ktau_snapshot *after,
		       const struct ktau_snapshot *before,
		       struct ktau_snapshot **diff)
{
	const struct ktau_rec_profile *p;
	struct ktau_snapshot *d;
	int err;

	*diff = NULL;
	if (after->has_stream && before->has_stream &&
	    (after->stream.boot_ticks != before->stream.boot_ticks ||
	     after->stream.boot_monotonic_ns != before->stream.boot_monotonic_ns ||
	     after->stream.monotonic_ns < before->stream.monotonic_ns))
		return -EINVAL;
	err = ktau_snapshot_create(&d);
	if (err)
		return err;
	d->stream = after->stream;
	d->has_stream = after->has_stream;
	d->end = after->end;
	d->has_end = after->has_end;
	for (p = ktau_snapshot_next(after, NULL); p && !err; p = ktau_snapshot_next(after, p))
		err = diff_owner(d, p, same_owner(before, &p->owner));
	if (err) {
		ktau_snapshot_destroy(d);
		return err;
	}
	*diff = d;
	return 0;
}
