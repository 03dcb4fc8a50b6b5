// SPDX-License-Identifier: GPL-2.0-only
/*
 * Descendants: breadth first from parent to children, over the tasks sorted by
 * their parent.
 */
#include <errno.h>
#include <stdbool.h>
#include <stdlib.h>
#include <string.h>

#include "family.h"

/*
 * A child may be seen with a parent that has just exited: it gets its new one a
 * little later. No process id comes again so soon.
 */
#define ADOPTION_NS	100000000ULL

struct member {
	const struct ktau_rec_profile *profile;
	uint64_t seen_ns;	/* when its parent was the one it says */
	bool found;
};

struct parent {
	int32_t pid;
	uint64_t from_ns, to_ns;
};

static int by_parent(const void *a, const void *b)
{
	const struct member *x = a, *y = b;
	int32_t p = x->profile->owner.ppid, q = y->profile->owner.ppid;

	return p < q ? -1 : p > q;
}

static bool is_task(const struct ktau_owner *owner)
{
	return owner->tid > 0 &&
	       (owner->kind == KTAU_OWNER_TASK || owner->kind == KTAU_OWNER_DEAD);
}

static size_t list_tasks(const struct ktau_snapshot *all, uint64_t asked_ns,
			 struct member *members)
{
	const struct ktau_rec_profile *p = NULL;
	size_t nr = 0;

	while ((p = ktau_snapshot_next(all, p))) {
		if (!is_task(&p->owner))
			continue;
		members[nr].profile = p;
		if (p->owner.kind == KTAU_OWNER_DEAD)
			members[nr].seen_ns = p->owner.exit_ns;
		else
			members[nr].seen_ns = p->owner.start_ns > asked_ns ? p->owner.start_ns :
									     asked_ns;
		nr++;
	}
	qsort(members, nr, sizeof(*members), by_parent);
	return nr;
}

static struct parent as_parent(const struct ktau_owner *owner)
{
	return (struct parent){
		.pid = owner->tgid,
		.from_ns = owner->start_ns,
		.to_ns = owner->kind == KTAU_OWNER_DEAD ? owner->exit_ns + ADOPTION_NS :
							  UINT64_MAX,
	};
}

static size_t first_child(const struct member *members, size_t nr, int32_t pid)
{
	size_t low = 0, high = nr, middle;

	while (low < high) {
		middle = low + (high - low) / 2;
		if (members[middle].profile->owner.ppid < pid)
			low = middle + 1;
		else
			high = middle;
	}
	return low;
}

/* Marks the children of @parent, and puts them at the end of the queue. */
static size_t find_children(struct member *members, size_t nr, struct parent parent,
			    struct parent *queue)
{
	size_t i, found = 0;

	for (i = first_child(members, nr, parent.pid); i < nr; i++) {
		const struct ktau_owner *owner = &members[i].profile->owner;

		if (owner->ppid != parent.pid)
			break;
		if (members[i].found || members[i].seen_ns < parent.from_ns ||
		    members[i].seen_ns > parent.to_ns)
			continue;
		members[i].found = true;
		queue[found++] = as_parent(owner);
	}
	return found;
}

static int add_found(const struct member *members, size_t nr, struct ktau_snapshot *family)
{
	union ktau_record record;
	size_t i;
	int err;

	for (i = 0; i < nr; i++) {
		if (!members[i].found)
			continue;
		record.profile = members[i].profile;
		err = ktau_snapshot_add(family, &record);
		if (err)
			return err;
	}
	return 0;
}

int family_find(const struct ktau_snapshot *all, int32_t pid, uint64_t asked_ns,
		struct ktau_snapshot *family)
{
	size_t room = ktau_snapshot_count(all) + 1, nr, next, end = 1;
	struct member *members = calloc(room, sizeof(*members));
	struct parent *queue = calloc(room, sizeof(*queue));
	int err = -ENOMEM;

	if (members && queue) {
		nr = list_tasks(all, asked_ns, members);
		queue[0] = (struct parent){ .pid = pid, .to_ns = UINT64_MAX };
		for (next = 0; next < end; next++)
			end += find_children(members, nr, queue[next], queue + end);
		err = add_found(members, nr, family);
	}
	free(members);
	free(queue);
	return err;
}

static uint64_t at_most(uint64_t a, uint64_t b)
{
	return a < b ? a : b;
}

/* Book the frame in flight as if it had ended. */
static void end_frame(struct ktau_rec_profile *p, uint32_t index, struct ktau_entry *entry)
{
	uint64_t incl = 0, excl = 0;

	ktau_profile_inflight(p, index, &incl, &excl);
	entry->count++;
	entry->incl += incl;
	entry->excl += excl;
}

static struct ktau_entry *entry_of(struct ktau_rec_profile *p, uint32_t id)
{
	return (struct ktau_entry *)ktau_profile_find(p, id);
}

/*
 * A copy of @p with a zero entry for every event that had only frames in flight
 * and that was booked by @after: while profiles are off, a frame ends unbooked.
 */
static struct ktau_rec_profile *copy_with_entries(const struct ktau_rec_profile *p,
						  const struct ktau_rec_profile *after)
{
	const struct ktau_open *open = ktau_profile_open(p);
	size_t head = p->rec.head + p->nr_entries * sizeof(struct ktau_entry);
	struct ktau_rec_profile *copy;
	struct ktau_entry *entries;
	uint32_t i;

	copy = calloc(1, p->rec.size + p->nr_open * sizeof(*entries));
	if (!copy)
		return NULL;
	memcpy(copy, p, head);
	entries = (struct ktau_entry *)((char *)copy + p->rec.head);
	for (i = 0; i < p->nr_open; i++)
		if (!entry_of(copy, open[i].id) && ktau_profile_find(after, open[i].id))
			entries[copy->nr_entries++].id = open[i].id;
	memcpy(&entries[copy->nr_entries], open, p->nr_open * sizeof(*open));
	copy->rec.size = p->rec.size +
			 (copy->nr_entries - p->nr_entries) * sizeof(*entries);
	return copy;
}

struct ktau_rec_profile *family_begin(const struct ktau_rec_profile *before,
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
		/* No other activation since: what is left of this one is not asked for. */
		if (later->count <= entry->count)
			*entry = *later;
		entry->incl = at_most(entry->incl, later->incl);
		entry->excl = at_most(entry->excl, later->excl);
	}
	return begin;
}
