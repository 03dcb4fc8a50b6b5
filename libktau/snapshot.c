// SPDX-License-Identifier: LGPL-2.1-or-later
/*
 * A profile stream in memory: one profile for each owner, found by a hash of its
 * serial. Which record replaces which is described at ktau_snapshot_read().
 */
#include <stdlib.h>

#include "dropped.h"
#include "map.h"
#include "profile.h"

struct snapshot_owner {
	struct ktau_owned owned;	/* first: callers have pointers to it */
	uint64_t stream; /* the last stream that had its profile */
	uint64_t held_ticks; /* sleep added to its account while streams left it out */
	bool stale; /* its next profile in the stream is older than this one */
	bool folded; /* included in another task's record */
	bool evicted; /* included in the evicted sum */
};

#define SNAPSHOT_NONE	SIZE_MAX

struct ktau_snapshot {
	struct snapshot_owner *owners;
	size_t nr;
	size_t room;
	size_t nr_bare;			/* how many have no profile (yet) */
	size_t last;			/* index of the owner found last: records come in pairs */
	size_t evicted;			/* index of the evicted sum, or SNAPSHOT_NONE */
	struct ktau__map by_serial;	/* serial -> index */
	struct ktau__map by_cpu;	/* number of the CPU -> index */
	struct ktau__map by_tid;	/* tid -> index of the one to show */
	struct ktau__dropped dropped;
	struct ktau_rec_stream stream;
	struct ktau_rec_end end;
	uint64_t stream_nr;
	/* The last stream of changed tasks that has ended; live tasks before it have slept. */
	uint64_t held_nr;
	uint64_t held_until;
	bool has_stream;
	bool has_end;
	bool has_diff;
	bool has_gone;	/* an owner may be exited or evicted */
};

int ktau_snapshot_create(struct ktau_snapshot **snapshot)
{
	*snapshot = calloc(1, sizeof(**snapshot));
	if (!*snapshot)
		return -ENOMEM;
	(*snapshot)->evicted = SNAPSHOT_NONE;
	return 0;
}

static void free_owner(struct snapshot_owner *owner)
{
	ktau_record_free((void *)owner->owned.owner);
	ktau_record_free((void *)owner->owned.profile);
}

static void clear_indexes(struct ktau_snapshot *s)
{
	s->evicted = SNAPSHOT_NONE;
	ktau__map_clear(&s->by_serial);
	ktau__map_clear(&s->by_cpu);
	ktau__map_clear(&s->by_tid);
}

void ktau_snapshot_clear(struct ktau_snapshot *s)
{
	size_t i;

	for (i = 0; i < s->nr; i++)
		free_owner(&s->owners[i]);
	s->nr = s->nr_bare = 0;
	s->held_nr = 0;
	s->has_stream = s->has_end = s->has_diff = s->has_gone = false;
	clear_indexes(s);
	ktau__dropped_clear(&s->dropped);
}

void ktau_snapshot_destroy(struct ktau_snapshot *s)
{
	if (!s)
		return;
	ktau_snapshot_clear(s);
	ktau__map_free(&s->by_serial);
	ktau__map_free(&s->by_cpu);
	ktau__map_free(&s->by_tid);
	ktau__dropped_free(&s->dropped);
	free(s->owners);
	free(s);
}

static struct snapshot_owner *find(const struct ktau_snapshot *s, const struct ktau__map *map,
				   uint64_t value)
{
	size_t at = ktau__map_get(map, value);

	return at == KTAU__MAP_NONE ? NULL : &s->owners[at];
}

static struct snapshot_owner *find_serial(struct ktau_snapshot *s, uint64_t serial)
{
	struct snapshot_owner *owner;

	if (s->last < s->nr && s->owners[s->last].owned.owner->serial == serial)
		return &s->owners[s->last];
	owner = find(s, &s->by_serial, serial);
	if (owner)
		s->last = (size_t)(owner - s->owners);
	return owner;
}

static bool is_task(const struct ktau_rec_owner *owner)
{
	return owner->kind == KTAU_OWNER_TASK || owner->kind == KTAU_OWNER_EXITED;
}

/* True if @a is shown for a tid that @b has too: live tasks first, then later ones. */
static bool shown_before(const struct ktau_rec_owner *a, const struct ktau_rec_owner *b)
{
	if (a->kind != b->kind)
		return a->kind == KTAU_OWNER_TASK;
	return a->start_ns >= b->start_ns;
}

/* The map besides by_serial that has an owner of this kind, or NULL. */
static struct ktau__map *second_map(struct ktau_snapshot *s, const struct ktau_rec_owner *owner)
{
	if (is_task(owner))
		return &s->by_tid;
	return owner->kind == KTAU_OWNER_CPU ? &s->by_cpu : NULL;
}

static int index_tid(struct ktau_snapshot *s, size_t at)
{
	const struct ktau_rec_owner *owner = s->owners[at].owned.owner;
	struct snapshot_owner *other = find(s, &s->by_tid, (uint32_t)owner->tid);

	if (!owner->tid)
		return 0;
	if (other && other != &s->owners[at] && !shown_before(owner, other->owned.owner))
		return 0;
	return ktau__map_put(&s->by_tid, (uint32_t)owner->tid, at);
}

static int index_owner(struct ktau_snapshot *s, size_t at)
{
	const struct ktau_rec_owner *owner = s->owners[at].owned.owner;
	int err = ktau__map_put(&s->by_serial, owner->serial, at);

	if (err)
		return err;
	if (is_task(owner))
		return index_tid(s, at);
	if (owner->kind == KTAU_OWNER_CPU)
		return ktau__map_put(&s->by_cpu, owner->cpu, at);
	if (owner->kind == KTAU_OWNER_EVICTED)
		s->evicted = at;
	return 0;
}

/* Reserve everything that adding @owner needs: an error leaves the snapshot unchanged. */
static int make_room(struct ktau_snapshot *s, const struct ktau_rec_owner *owner)
{
	struct ktau__map *second = second_map(s, owner);
	size_t room = s->room ? s->room * 2 : 64;
	struct snapshot_owner *owners;
	int err = ktau__map_reserve(&s->by_serial);

	if (!err && second)
		err = ktau__map_reserve(second);
	if (err)
		return err;
	if (s->nr < s->room)
		return 0;
	owners = reallocarray(s->owners, room, sizeof(*owners));
	if (!owners)
		return -ENOMEM;
	s->owners = owners;
	s->room = room;
	return 0;
}

/*
 * Sleep of live tasks that streams of changed tasks leave out
 *
 * It is added when a profile is next used, so that a stream costs only what has changed.
 */

static bool has_account(const struct ktau_rec_profile *p)
{
	return p->user_ticks | p->kernel_ticks | p->irq_ticks | p->runq_ticks |
	       p->asleep_ticks | p->guest_ticks;
}

/*
 * Let the frames in flight last for @ticks more, and sleep in them if @asleep. Those that are not
 * measured have an exclusive time of 0, and last as long as what is inside them.
 */
static void add_open(struct ktau_rec_profile *p, uint64_t ticks, bool asleep)
{
	struct ktau_open *open = (struct ktau_open *)ktau_profile_open(p);
	bool measured = false;
	uint64_t excl;
	uint32_t i;

	for (i = 0; i < p->nr_open; i++) {
		measured |= !ktau_profile_inflight(p, i, NULL, &excl) && excl;
		if (!measured)
			open[i].start_ticks += ticks;
		else if (asleep)
			open[i].asleep_ticks += ticks;
	}
}

/* A live task that the last stream of changed tasks left out has slept until then. */
static void hold_over(const struct ktau_snapshot *s, struct snapshot_owner *entry)
{
	struct ktau_rec_profile *profile = (struct ktau_rec_profile *)entry->owned.profile;
	uint64_t ticks;
	bool asleep;

	if (entry->stream >= s->held_nr || entry->evicted || !profile ||
	    entry->owned.owner->kind != KTAU_OWNER_TASK || profile->ticks >= s->held_until)
		return;
	ticks = s->held_until - profile->ticks;
	asleep = profile->groups & KTAU_GROUP_SCHED && has_account(profile);
	add_open(profile, ticks, asleep);
	profile->ticks = s->held_until;
	if (!asleep)
		return;
	profile->asleep_ticks += ticks;
	entry->held_ticks += ticks;
}

static const struct ktau_owned *owned_by(const struct ktau_snapshot *s,
					 struct snapshot_owner *entry)
{
	if (!entry || !entry->owned.profile)
		return NULL;
	hold_over(s, entry);
	return &entry->owned;
}

/* True if the indexes have the same for both, so that the one can replace the other. */
static bool indexed_alike(const struct ktau_rec_owner *a, const struct ktau_rec_owner *b)
{
	return a->kind == b->kind && a->tid == b->tid && a->start_ns == b->start_ns &&
	       (a->kind != KTAU_OWNER_CPU || a->cpu == b->cpu);
}

/* Copy a record over one that is at least as long: most records of a task have the same length. */
static bool copy_over(const struct ktau_rec *old, const struct ktau_rec *record)
{
	if (!old || record->size > old->size)
		return false;
	memcpy((void *)old, record, record->size);
	return true;
}

/* Replace the owner of the same serial, or add one. Takes ownership, also on error. */
static int take_owner(struct ktau_snapshot *s, struct ktau_rec_owner *owner)
{
	struct snapshot_owner *entry = find_serial(s, owner->serial);
	int err = 0;

	if (entry)
		hold_over(s, entry);
	if (entry && indexed_alike(entry->owned.owner, owner)) {
		ktau_record_free((void *)entry->owned.owner);
		entry->owned.owner = owner;
		return 0;
	}
	err = make_room(s, owner);
	if (err) {
		ktau_record_free(owner);
		return err;
	}
	entry = find_serial(s, owner->serial);
	if (!entry) {
		entry = &s->owners[s->nr++];
		*entry = (struct snapshot_owner){ 0 };
		s->nr_bare++;
	}
	s->has_gone |= owner->kind == KTAU_OWNER_EXITED;
	ktau_record_free((void *)entry->owned.owner);
	entry->owned.owner = owner;
	return index_owner(s, entry - s->owners);
}

/* Note that @entry has a profile of the current stream. */
static void profile_taken(struct ktau_snapshot *s, struct snapshot_owner *entry)
{
	entry->stream = s->stream_nr;
	entry->held_ticks = 0;
	ktau__dropped_remove(&s->dropped, entry->owned.profile->serial);
}

static void take_profile(struct ktau_snapshot *s, struct snapshot_owner *entry,
			 struct ktau_rec_profile *profile)
{
	s->nr_bare -= !entry->owned.profile;
	ktau_record_free((void *)entry->owned.profile);
	entry->owned.profile = profile;
	profile_taken(s, entry);
}

/* Replace or add an owner and its profile. Takes ownership of both, also on error. */
static int take(struct ktau_snapshot *s, struct ktau_rec_owner *owner,
		struct ktau_rec_profile *profile)
{
	uint64_t serial = owner->serial;
	int err = take_owner(s, owner);

	if (err)
		ktau_record_free(profile);
	else
		take_profile(s, find_serial(s, serial), profile);
	return err;
}

/* The last profile of an exited task is not replaced by one from when it was alive. */
static int put_owner(struct ktau_snapshot *s, const struct ktau_rec_owner *owner)
{
	struct snapshot_owner *entry = find_serial(s, owner->serial);
	struct ktau_rec_owner *copy;

	if (owner->flags & KTAU_OWNER_NAMED)
		return 0;
	if (entry) {
		entry->stale = entry->owned.profile && owner->kind == KTAU_OWNER_TASK &&
			       entry->owned.owner->kind == KTAU_OWNER_EXITED;
		if (entry->stale)
			return 0;
	} else if (owner->kind == KTAU_OWNER_TASK &&
		   ktau__dropped_has(&s->dropped, owner->serial)) {
		return 0;
	}
	if (entry && indexed_alike(entry->owned.owner, owner)) {
		hold_over(s, entry);
		if (copy_over(&entry->owned.owner->rec, &owner->rec))
			return 0;
	}
	copy = ktau_record_dup(owner);
	return copy ? take_owner(s, copy) : -ENOMEM;
}

static int put_profile(struct ktau_snapshot *s, const struct ktau_rec_profile *profile)
{
	struct snapshot_owner *entry = find_serial(s, profile->serial);
	struct ktau_rec_profile *copy;
	int err;

	if (!entry || entry->stale)
		return 0;
	if (ktau__profile_ordered(profile) && entry->owned.profile &&
	    copy_over(&entry->owned.profile->rec, &profile->rec)) {
		((struct ktau_rec_profile *)entry->owned.profile)->rec.type = KTAU_REC_PROFILE;
		profile_taken(s, entry);
		return 0;
	}
	err = ktau__profile_copy(profile, &copy);
	if (!err)
		take_profile(s, entry, copy);
	return err;
}

static int put_diff(struct ktau_snapshot *s, const struct ktau_rec_profile *diff)
{
	struct snapshot_owner *entry = find_serial(s, diff->serial);
	struct ktau_rec_profile *profile, *ordered = NULL;
	int err = 0;

	s->has_diff = true;
	if (!entry || !entry->owned.profile)
		return entry ? put_profile(s, diff) : 0;
	if (!ktau__profile_ordered(diff))
		err = ktau__profile_copy(diff, &ordered);
	if (err)
		return err;
	profile = (struct ktau_rec_profile *)entry->owned.profile;
	/* The difference is from the profile as read, without the sleep that was added. */
	profile->asleep_ticks -= entry->held_ticks;
	entry->held_ticks = 0;
	err = ktau__profile_apply(&profile, ordered ? ordered : diff);
	ktau_record_free(ordered);
	entry->owned.profile = profile;
	if (!err)
		profile_taken(s, entry);
	return err;
}

int ktau_snapshot_put(struct ktau_snapshot *s, const struct ktau_owned *owned)
{
	struct ktau_rec_owner *owner = ktau_record_dup(owned->owner);
	struct ktau_rec_profile *profile = NULL;
	int err = owner ? ktau__profile_copy(owned->profile, &profile) : -ENOMEM;

	if (!err)
		return take(s, owner, profile);
	ktau_record_free(owner);
	return err;
}

typedef bool (*kept_fn)(const struct snapshot_owner *owner, uint64_t value);

/* Drop owners without a profile, and those for which @kept(owner, @value) is false. */
static int drop(struct ktau_snapshot *s, kept_fn kept, uint64_t value)
{
	size_t from, to = 0;
	int err = 0;

	for (from = 0; from < s->nr; from++) {
		if (s->owners[from].owned.profile && kept(&s->owners[from], value))
			s->owners[to++] = s->owners[from];
		else
			free_owner(&s->owners[from]);
	}
	s->nr_bare = 0;
	if (to == s->nr)
		return 0;
	s->nr = to;
	clear_indexes(s);
	for (to = 0; !err && to < s->nr; to++)
		err = index_owner(s, to);
	return err;
}

static bool is_any(const struct snapshot_owner *owner, uint64_t value)
{
	(void)owner, (void)value;
	return true;
}

/* A live task that is missing from a complete list of them has exited. */
static bool is_listed(const struct snapshot_owner *owner, uint64_t stream_nr)
{
	return owner->owned.owner->kind != KTAU_OWNER_TASK || owner->stream == stream_nr;
}

static bool is_not_folded(const struct snapshot_owner *owner, uint64_t unused)
{
	(void)unused;
	return !owner->folded;
}

static bool is_not_evicted(const struct snapshot_owner *owner, uint64_t unused)
{
	(void)unused;
	return !owner->evicted;
}

/* Folded tasks are removed. Evicted ones stay, because only the snapshot has their names. */
static int put_gone(struct ktau_snapshot *s, const struct ktau_rec_gone *gone)
{
	const uint64_t *serials = ktau_gone_serials(gone);
	struct snapshot_owner *owner;
	bool found = false;
	uint32_t i;

	for (i = 0; i < gone->nr_serials; i++) {
		ktau__dropped_remove(&s->dropped, serials[i]);
		owner = find(s, &s->by_serial, serials[i]);
		if (!owner)
			continue;
		hold_over(s, owner);
		if (i < gone->nr_folded)
			owner->folded = found = true;
		else
			owner->evicted = s->has_gone = true;
	}
	return found ? drop(s, is_not_folded, 0) : 0;
}

int ktau_snapshot_drop_evicted(struct ktau_snapshot *s)
{
	return drop(s, is_not_evicted, 0);
}

static bool is_not_dropped(const struct snapshot_owner *owner, uint64_t unused)
{
	(void)unused;
	return !owner->evicted && owner->owned.owner->kind != KTAU_OWNER_EXITED;
}

int ktau_snapshot_drop_exited(struct ktau_snapshot *s)
{
	const struct ktau_owned *owned;
	size_t i;
	int err = 0;

	if (!s->has_gone && !s->nr_bare)
		return 0;
	for (i = 0; !err && i < s->nr; i++) {
		owned = &s->owners[i].owned;
		if (owned->profile && !s->owners[i].evicted &&
		    owned->owner->kind == KTAU_OWNER_EXITED)
			err = ktau__dropped_put(&s->dropped, owned);
	}
	if (!err) {
		s->has_gone = false;
		return drop(s, is_not_dropped, 0);
	}
	/* No task is dropped, so none may be counted as dropped either. */
	for (i = 0; i < s->nr; i++)
		if (s->owners[i].owned.profile)
			ktau__dropped_remove(&s->dropped, s->owners[i].owned.owner->serial);
	return err;
}

/* An exited task that is missing from a complete list of them is in the evicted sum. */
static void mark_evicted(struct ktau_snapshot *s)
{
	size_t i;

	for (i = 0; i < s->nr; i++)
		if (s->owners[i].owned.owner->kind == KTAU_OWNER_EXITED &&
		    s->owners[i].stream != s->stream_nr)
			s->owners[i].evicted = s->has_gone = true;
	ktau__dropped_clear(&s->dropped);	/* none of them was in this stream */
}

static bool lists_all_exited(const struct ktau_snapshot *s, const struct ktau_rec_end *end)
{
	const uint32_t all = KTAU_TARGET_EXITED | KTAU_TARGET_EVICTED;
	const uint32_t filters = KTAU_SELECT_CGROUP | KTAU_SELECT_UID | KTAU_SELECT_TAG;

	return (s->stream.target & all) == all && !s->stream.exited_since &&
	       s->stream.access & KTAU_ACCESS_ALL && !(s->stream.flags & filters) && !end->torn;
}

static int end_stream(struct ktau_snapshot *s, const struct ktau_rec_end *end)
{
	bool all = s->stream.target & KTAU_TARGET_ALL && !s->has_diff &&
		   !(end->denied | end->busy | end->torn);

	s->end = *end;
	s->has_end = true;
	if (!s->has_stream)
		return 0;
	if (s->stream.target & KTAU_TARGET_CHANGED) {
		s->held_nr = s->stream_nr;
		s->held_until = s->stream.ticks;
	}
	if (lists_all_exited(s, end))
		mark_evicted(s);
	if (all)
		return drop(s, is_listed, s->stream_nr);
	return s->nr_bare ? drop(s, is_any, 0) : 0;
}

int ktau_snapshot_add(struct ktau_snapshot *s, const union ktau_record *record)
{
	switch (record->rec->type) {
	case KTAU_REC_STREAM:
		if (record->stream->content != KTAU_REC_PROFILE)
			return 0;
		s->stream = *record->stream;
		s->has_stream = true;
		s->has_diff = s->has_end = false;
		s->stream_nr++;
		return 0;
	case KTAU_REC_OWNER:
		return put_owner(s, record->owner);
	case KTAU_REC_PROFILE:
		return put_profile(s, record->profile);
	case KTAU_REC_DIFF:
		return put_diff(s, record->profile);
	case KTAU_REC_GONE:
		return put_gone(s, record->gone);
	case KTAU_REC_END:
		return end_stream(s, record->end);
	default:
		return 0;
	}
}

int ktau_snapshot_read(struct ktau_snapshot *s, struct ktau_reader *reader)
{
	union ktau_record record;
	bool inside = false;
	int err;

	while ((err = ktau_reader_next(reader, &record)) > 0) {
		if (record.rec->type == KTAU_REC_STREAM)
			inside = record.stream->content == KTAU_REC_PROFILE;
		if (!inside)
			continue;
		err = ktau_snapshot_add(s, &record);
		if (err)
			return err;
		if (record.rec->type == KTAU_REC_END)
			return 1;
	}
	return err;
}

const struct ktau_rec_stream *ktau_snapshot_stream(const struct ktau_snapshot *s)
{
	return s->has_stream ? &s->stream : NULL;
}

const struct ktau_rec_end *ktau_snapshot_end(const struct ktau_snapshot *s)
{
	return s->has_end ? &s->end : NULL;
}

const struct ktau_owned *ktau_snapshot_next(const struct ktau_snapshot *s,
					    const struct ktau_owned *owned)
{
	const struct snapshot_owner *entry = (const struct snapshot_owner *)owned;
	size_t at = entry ? entry - s->owners + 1 : 0;

	while (at < s->nr && !s->owners[at].owned.profile)
		at++;
	return at < s->nr ? owned_by(s, &s->owners[at]) : NULL;
}

size_t ktau_snapshot_count(const struct ktau_snapshot *s)
{
	return s->nr - s->nr_bare;
}

const struct ktau_owned *ktau_snapshot_find(const struct ktau_snapshot *s, uint64_t serial)
{
	return owned_by(s, find(s, &s->by_serial, serial));
}

const struct ktau_owned *ktau_snapshot_cpu(const struct ktau_snapshot *s, uint32_t cpu)
{
	return owned_by(s, find(s, &s->by_cpu, cpu));
}

const struct ktau_owned *ktau_snapshot_evicted(const struct ktau_snapshot *s)
{
	return s->evicted == SNAPSHOT_NONE ? NULL : owned_by(s, &s->owners[s->evicted]);
}

const struct ktau_owned *ktau_snapshot_find_tid(const struct ktau_snapshot *s, int32_t tid)
{
	return owned_by(s, find(s, &s->by_tid, (uint32_t)tid));
}

/*
 * Sums and differences
 */

/* True if the evicted sum includes it. */
static bool is_evicted(const struct ktau_owned *owned)
{
	return ((const struct snapshot_owner *)owned)->evicted;
}

static void owner_add(struct ktau_rec_owner *to, const struct ktau_rec_owner *from)
{
	to->nr_tasks += from->nr_tasks;
	to->utime_ns += from->utime_ns;
	to->stime_ns += from->stime_ns;
	to->nvcsw += from->nvcsw;
	to->nivcsw += from->nivcsw;
	to->migrations += from->migrations;
}

/* The next owner in the sum after @o, without the tasks that were dropped. */
static const struct ktau_owned *next_in_sum(const struct ktau_snapshot *s,
					    const struct ktau_owned *o)
{
	do
		o = ktau_snapshot_next(s, o);
	while (o && (o->owner->kind > KTAU_OWNER_EVICTED || o->owner->kind == KTAU_OWNER_CPU ||
		     is_evicted(o)));
	return o;
}

int ktau_snapshot_each(const struct ktau_snapshot *s, ktau_profile_fn fn, void *arg)
{
	const struct ktau_owned *o = NULL;
	int err = 0;

	while (!err && (o = next_in_sum(s, o)))
		err = fn(arg, o->profile);
	return err ? err : ktau__dropped_each(&s->dropped, fn, arg);
}

static int add_profile(void *arg, const struct ktau_rec_profile *profile)
{
	struct ktau_rec_profile **sum = arg;

	ktau__head_add(*sum, profile);
	return ktau__profile_add(sum, profile);
}

int ktau_snapshot_sum(const struct ktau_snapshot *s, struct ktau_rec_profile **sum,
		      struct ktau_rec_owner *owner)
{
	const struct ktau_owned *evicted = ktau_snapshot_evicted(s), *o = NULL;
	struct ktau_rec_owner total = {
		.rec = { .size = sizeof(total), .type = KTAU_REC_OWNER, .head = sizeof(total) },
		.kind = KTAU_OWNER_EVICTED,
	};
	const struct ktau_rec_profile empty = { .groups_throughout = UINT32_MAX };
	struct ktau_rec_profile *added = ktau__profile_create(&empty);
	int err = added ? ktau_snapshot_each(s, add_profile, &added) : -ENOMEM;

	*sum = NULL;
	if (err) {
		ktau_record_free(added);
		return err;
	}
	while ((o = next_in_sum(s, o)))
		owner_add(&total, o->owner);
	ktau__dropped_count(&s->dropped, &total);
	if (!ktau_snapshot_count(s) && !s->dropped.nr)
		added->groups_throughout = 0;
	if (evicted)
		total.exited_seq = evicted->owner->exited_seq;
	if (owner)
		*owner = total;
	*sum = added;
	return 0;
}

static int diff_owner(struct ktau_snapshot *diff, const struct ktau_owned *after,
		      const struct ktau_owned *before)
{
	struct ktau_rec_profile *profile;
	struct ktau_rec_owner *owner;
	int err;

	if (before && before->owner->kind == KTAU_OWNER_EXITED)
		return 0;
	err = ktau_profile_diff(after->profile, before ? before->profile : NULL, &profile);
	if (err)
		return err;
	err = ktau__owner_diff(after->owner, before ? before->owner : NULL, &owner);
	if (!err)
		return take(diff, owner, profile);
	ktau_record_free(profile);
	return err;
}

int ktau_snapshot_diff(const struct ktau_snapshot *after,
		       const struct ktau_snapshot *before,
		       struct ktau_snapshot **diff)
{
	const struct ktau_owned *o = NULL;
	struct ktau_snapshot *d;
	int err;

	*diff = NULL;
	if (after->has_stream && before->has_stream &&
	    (!ktau_same_boot(&after->stream, &before->stream) ||
	     after->stream.monotonic_ns < before->stream.monotonic_ns))
		return -EINVAL;
	err = ktau_snapshot_create(&d);
	if (err)
		return err;
	d->stream = after->stream;
	d->has_stream = after->has_stream;
	d->end = after->end;
	d->has_end = after->has_end;
	while (!err && (o = ktau_snapshot_next(after, o)))
		if (!ktau__dropped_has(&before->dropped, o->owner->serial))
			err = diff_owner(d, o, ktau_snapshot_find(before, o->owner->serial));
	if (err) {
		ktau_snapshot_destroy(d);
		return err;
	}
	*diff = d;
	return 0;
}
