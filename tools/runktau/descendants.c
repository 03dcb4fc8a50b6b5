// SPDX-License-Identifier: GPL-2.0-only
/* Finds descendants by breadth-first search over the tasks, sorted by parent. */
#include <errno.h>
#include <stdbool.h>
#include <stdlib.h>
#include <string.h>

#include "descendants.h"

/**
 * struct member - a task that may be a descendant
 * @owned: its records
 * @parent: serial of its parent; 0 for children of the given process
 * @found: the task is a descendant
 */
struct member {
	const struct ktau_owned *owned;
	uint64_t parent;
	bool found;
};

static int by_parent(const void *a, const void *b)
{
	const struct member *x = a, *y = b;

	return x->parent < y->parent ? -1 : x->parent > y->parent;
}

static bool is_task(const struct ktau_rec_owner *owner)
{
	return owner->tid > 0 &&
	       (owner->kind == KTAU_OWNER_TASK || owner->kind == KTAU_OWNER_EXITED);
}

/* Tasks with an unknown parent cannot be descendants. */
static size_t list_tasks(const struct ktau_snapshot *all, int32_t pid, struct member *members)
{
	const struct ktau_owned *o = NULL;
	size_t nr = 0;

	while ((o = ktau_snapshot_next(all, o))) {
		bool is_child = o->owner->ppid == pid;

		if (!is_task(o->owner) || (!is_child && !o->owner->parent_serial))
			continue;
		members[nr++] = (struct member){
			.owned = o, .parent = is_child ? 0 : o->owner->parent_serial,
		};
	}
	qsort(members, nr, sizeof(*members), by_parent);
	return nr;
}

static size_t first_child(const struct member *members, size_t nr, uint64_t serial)
{
	size_t low = 0, high = nr, middle;

	while (low < high) {
		middle = low + (high - low) / 2;
		if (members[middle].parent < serial)
			low = middle + 1;
		else
			high = middle;
	}
	return low;
}

/* Mark the children of @parent and append their serials to the queue. */
static size_t find_children(struct member *members, size_t nr, uint64_t parent,
			    uint64_t *queue)
{
	size_t i, found = 0;

	for (i = first_child(members, nr, parent); i < nr && members[i].parent == parent; i++) {
		if (members[i].found)
			continue;
		members[i].found = true;
		queue[found++] = members[i].owned->owner->serial;
	}
	return found;
}

static int add_found(const struct member *members, size_t nr, struct ktau_snapshot *found)
{
	size_t i;
	int err = 0;

	for (i = 0; !err && i < nr; i++)
		if (members[i].found)
			err = ktau_snapshot_put(found, members[i].owned);
	return err;
}

int descendants_find(const struct ktau_snapshot *all, int32_t pid,
		     struct ktau_snapshot *found)
{
	size_t room = ktau_snapshot_count(all) + 1, nr, next, end = 1;
	struct member *members = calloc(room, sizeof(*members));
	uint64_t *queue = calloc(room, sizeof(*queue));
	int err = -ENOMEM;

	if (members && queue) {
		nr = list_tasks(all, pid, members);
		for (next = 0; next < end; next++)
			end += find_children(members, nr, queue[next], queue + end);
		err = add_found(members, nr, found);
	}
	free(members);
	free(queue);
	return err;
}

static uint64_t at_most(uint64_t a, uint64_t b)
{
	return a < b ? a : b;
}

/* In a recursion, only the outermost frame has inclusive time and times inside. */
static bool is_outermost(const struct ktau_rec_profile *p, uint32_t index)
{
	const struct ktau_open *open = ktau_profile_open(p);
	uint32_t i;

	for (i = index + 1; i < p->nr_open; i++)
		if (open[i].id == open[index].id)
			return false;
	return true;
}

/* Account a frame in flight as if it had ended. */
static void end_frame(struct ktau_rec_profile *p, uint32_t index, struct ktau_entry *entry)
{
	const struct ktau_open *open = ktau_profile_open(p) + index;
	uint64_t incl = 0, excl = 0;

	ktau_profile_inflight(p, index, &incl, &excl);
	entry->count++;
	entry->excl += excl;
	if (!is_outermost(p, index))
		return;
	entry->incl += incl;
	entry->asleep += open->asleep_ticks;
	entry->runq += open->runq_ticks;
	entry->irq += open->irq_ticks;
}

/* Leave no figure of @entry above that of @later. */
static void limit(struct ktau_entry *entry, const struct ktau_entry *later)
{
	entry->incl = at_most(entry->incl, later->incl);
	entry->excl = at_most(entry->excl, later->excl);
	entry->asleep = at_most(entry->asleep, later->asleep);
	entry->runq = at_most(entry->runq, later->runq);
	entry->irq = at_most(entry->irq, later->irq);
}

static struct ktau_entry *entry_of(struct ktau_rec_profile *p, uint32_t id)
{
	return (struct ktau_entry *)ktau_profile_find(p, id);
}

static int by_id(const void *a, const void *b)
{
	const struct ktau_entry *x = a, *y = b;

	return x->id < y->id ? -1 : x->id > y->id;
}

/*
 * Copy @p, and add a zero entry for every event that has only frames in flight in @p but is
 * accounted in @after. (While profiles are off, a frame ends without being accounted.)
 */
static struct ktau_rec_profile *copy_with_entries(const struct ktau_rec_profile *p,
						  const struct ktau_rec_profile *after)
{
	const struct ktau_open *open = ktau_profile_open(p);
	size_t head = p->rec.head + p->nr_entries * sizeof(struct ktau_entry);
	struct ktau_rec_profile *copy;
	const struct ktau_entry *later;
	struct ktau_entry *entries;
	uint32_t i, nr;

	copy = calloc(1, p->rec.size + p->nr_open * sizeof(*entries));
	if (!copy)
		return NULL;
	memcpy(copy, p, head);
	entries = (struct ktau_entry *)((char *)copy + p->rec.head);
	for (i = 0; i < p->nr_open; i++) {
		later = ktau_profile_find(after, open[i].id);
		if (entry_of(copy, open[i].id) || !later)
			continue;
		nr = copy->nr_entries++;
		entries[nr] = (struct ktau_entry){ .id = later->id, .flags = later->flags };
		qsort(entries, nr + 1, sizeof(*entries), by_id);
	}
	memcpy(&entries[copy->nr_entries], open, p->nr_open * sizeof(*open));
	copy->rec.size = p->rec.size +
			 (copy->nr_entries - p->nr_entries) * sizeof(*entries);
	return copy;
}

struct ktau_rec_profile *descendants_begin(const struct ktau_rec_profile *before,
					   const struct ktau_rec_profile *after)
{
	struct ktau_rec_profile *begin = copy_with_entries(before, after);
	const struct ktau_open *open;
	const struct ktau_entry *later;
	struct ktau_entry *entry;
	uint32_t i;

	if (!begin)
		return NULL;
	open = ktau_profile_open(begin);
	for (i = 0; i < begin->nr_open; i++) {
		entry = entry_of(begin, open[i].id);
		if (entry)
			end_frame(begin, i, entry);
	}
	for (i = 0; i < begin->nr_open; i++) {
		entry = entry_of(begin, open[i].id);
		later = ktau_profile_find(after, open[i].id);
		if (!later)
			continue;
		/* There was no other activation since, so the rest of this one is not counted. */
		if (later->count <= entry->count)
			*entry = *later;
		limit(entry, later);
	}
	begin->rec.size -= begin->nr_open * sizeof(*open);
	begin->nr_open = begin->depth = 0;
	return begin;
}
