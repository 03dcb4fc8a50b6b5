// SPDX-License-Identifier: LGPL-2.1-or-later
/*
 * A profile stream in memory: one profile an owner, found by a hash of its
 * serial. The rules of what takes whose place stand at ktau_snapshot_read().
 */
#include <stdlib.h>

#include "internal.h"
#include "snapshot.h"

int ktau_snapshot_create(struct ktau_snapshot **snapshot)
{
	*snapshot = calloc(1, sizeof(**snapshot));
	return *snapshot ? 0 : -ENOMEM;
}

void ktau_snapshot_clear(struct ktau_snapshot *s)
{
	size_t i;

	for (i = 0; i < s->nr; i++)
		ktau_record_free(s->owners[i].profile);
	s->nr = 0;
	s->has_stream = s->has_end = s->has_diff = false;
	ktau__map_clear(&s->by_serial);
	ktau__map_clear(&s->by_tid);
}

void ktau_snapshot_destroy(struct ktau_snapshot *s)
{
	if (!s)
		return;
	ktau_snapshot_clear(s);
	ktau__map_free(&s->by_serial);
	ktau__map_free(&s->by_tid);
	free(s->owners);
	free(s);
}

static struct snapshot_owner *find(const struct ktau_snapshot *s, uint32_t family,
				   uint64_t value)
{
	size_t at = ktau__map_get(&s->by_serial, family, value);

	return at == KTAU__MAP_NONE ? NULL : &s->owners[at];
}

static struct snapshot_owner *find_owner(const struct ktau_snapshot *s,
					 const struct ktau_owner *owner)
{
	return find(s, ktau__owner_class(owner), ktau__owner_value(owner));
}

/* Of two tasks with one tid, is @a the one to show? Live ones, then later ones. */
static bool shown_before(const struct ktau_owner *a, const struct ktau_owner *b)
{
	if (a->kind != b->kind)
		return a->kind == KTAU_OWNER_TASK;
	return a->start_ns >= b->start_ns;
}

static int index_owner(struct ktau_snapshot *s, const struct ktau_owner *owner, size_t at)
{
	uint32_t family = ktau__owner_class(owner);
	size_t other;
	int err;

	err = ktau__map_put(&s->by_serial, family, ktau__owner_value(owner), at);
	if (err || family != KTAU_OWNER_TASK || !owner->tid)
		return err;
	other = ktau__map_get(&s->by_tid, 0, (uint32_t)owner->tid);
	if (other != KTAU__MAP_NONE && other != at &&
	    !shown_before(owner, &s->owners[other].profile->owner))
		return 0;
	return ktau__map_put(&s->by_tid, 0, (uint32_t)owner->tid, at);
}

static int make_room(struct ktau_snapshot *s)
{
	size_t room = s->room ? s->room * 2 : 64;
	struct snapshot_owner *owners;

	if (s->nr < s->room)
		return 0;
	owners = reallocarray(s->owners, room, sizeof(*owners));
	if (!owners)
		return -ENOMEM;
	s->owners = owners;
	s->room = room;
	return 0;
}

int ktau__snapshot_take(struct ktau_snapshot *s, struct ktau_rec_profile *profile)
{
	struct snapshot_owner *owner = find_owner(s, &profile->owner);
	int err;

	if (!owner) {
		err = make_room(s);
		if (err)
			return err;
		owner = &s->owners[s->nr];
		owner->profile = NULL;
	}
	err = index_owner(s, &profile->owner, owner - s->owners);
	if (err)
		return err;
	s->nr += !owner->profile;
	ktau_record_free(owner->profile);
	owner->profile = profile;
	owner->stream = s->stream_nr;
	return 0;
}

static int put_profile(struct ktau_snapshot *s, const struct ktau_rec_profile *profile)
{
	struct snapshot_owner *owner = find_owner(s, &profile->owner);
	struct ktau_rec_profile *copy;
	int err;

	if (owner && profile->owner.kind == KTAU_OWNER_TASK &&
	    owner->profile->owner.kind == KTAU_OWNER_DEAD)
		return 0;
	copy = ktau_record_dup(profile);
	if (!copy)
		return -ENOMEM;
	err = ktau__snapshot_take(s, copy);
	if (err)
		ktau_record_free(copy);
	return err;
}

static int put_diff(struct ktau_snapshot *s, const struct ktau_rec_profile *diff)
{
	struct snapshot_owner *owner = find_owner(s, &diff->owner);
	struct ktau_rec_profile *sum;
	int err;

	s->has_diff = true;
	err = ktau__profile_add(owner ? owner->profile : NULL, diff, &sum);
	if (err)
		return err;
	sum->rec.type = KTAU_REC_PROFILE;
	err = ktau__snapshot_take(s, sum);
	if (err)
		ktau_record_free(sum);
	return err;
}

typedef bool (*kept_fn)(const struct snapshot_owner *owner, uint64_t value);

/* Drops the owners of which @kept says no, @value being handed to it. */
static int drop(struct ktau_snapshot *s, kept_fn kept, uint64_t value)
{
	size_t from, to = 0;
	int err = 0;

	for (from = 0; from < s->nr; from++) {
		if (kept(&s->owners[from], value))
			s->owners[to++] = s->owners[from];
		else
			ktau_record_free(s->owners[from].profile);
	}
	if (to == s->nr)
		return 0;
	s->nr = to;
	ktau__map_clear(&s->by_serial);
	ktau__map_clear(&s->by_tid);
	for (to = 0; !err && to < s->nr; to++)
		err = index_owner(s, &s->owners[to].profile->owner, to);
	return err;
}

/* After a complete list of the living, who is not in it lives no more. */
static bool is_listed(const struct snapshot_owner *owner, uint64_t stream_nr)
{
	return owner->profile->owner.kind != KTAU_OWNER_TASK || owner->stream == stream_nr;
}

/* Who lives and is left out of a stream of what has changed is as he was. */
static void hold_over(struct ktau_snapshot *s)
{
	struct ktau_rec_profile *profile;
	size_t i;

	for (i = 0; i < s->nr; i++) {
		profile = s->owners[i].profile;
		if (!is_listed(&s->owners[i], s->stream_nr))
			profile->ticks = ktau__max(profile->ticks, s->stream.ticks);
	}
}

static bool is_not_reaped(const struct snapshot_owner *owner, uint64_t dead_seq)
{
	return owner->profile->owner.kind != KTAU_OWNER_DEAD ||
	       owner->profile->owner.dead_seq >= dead_seq;
}

int ktau_snapshot_drop_reaped(struct ktau_snapshot *s)
{
	const struct ktau_rec_profile *reaped = ktau_snapshot_reaped(s);

	return reaped ? drop(s, is_not_reaped, reaped->owner.dead_seq) : 0;
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
	case KTAU_REC_PROFILE:
		return put_profile(s, record->profile);
	case KTAU_REC_DIFF:
		return put_diff(s, record->profile);
	case KTAU_REC_END:
		s->end = *record->end;
		s->has_end = true;
		if (s->has_stream && s->stream.target & KTAU_TARGET_CHANGED)
			hold_over(s);
		if (s->has_stream && s->stream.target & KTAU_TARGET_ALL && !s->has_diff &&
		    !(s->end.refused | s->end.busy | s->end.torn))
			return drop(s, is_listed, s->stream_nr);
		return 0;
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

const struct ktau_rec_profile *
ktau_snapshot_next(const struct ktau_snapshot *s, const struct ktau_rec_profile *profile)
{
	const struct snapshot_owner *owner;

	if (!profile)
		return s->nr ? s->owners[0].profile : NULL;
	owner = find_owner(s, &profile->owner);
	if (!owner || owner + 1 >= s->owners + s->nr)
		return NULL;
	return owner[1].profile;
}

size_t ktau_snapshot_count(const struct ktau_snapshot *s)
{
	return s->nr;
}

static const struct ktau_rec_profile *profile_of(const struct snapshot_owner *owner)
{
	return owner ? owner->profile : NULL;
}

const struct ktau_rec_profile *
ktau_snapshot_find(const struct ktau_snapshot *s, uint64_t serial)
{
	return profile_of(find(s, KTAU_OWNER_TASK, serial));
}

const struct ktau_rec_profile *
ktau_snapshot_cpu(const struct ktau_snapshot *s, uint32_t cpu)
{
	return profile_of(find(s, KTAU_OWNER_CPU, cpu));
}

const struct ktau_rec_profile *ktau_snapshot_reaped(const struct ktau_snapshot *s)
{
	return profile_of(find(s, KTAU_OWNER_REAPED, 0));
}

const struct ktau_rec_profile *
ktau_snapshot_find_tid(const struct ktau_snapshot *s, int32_t tid)
{
	size_t at = ktau__map_get(&s->by_tid, 0, (uint32_t)tid);

	return at == KTAU__MAP_NONE ? NULL : s->owners[at].profile;
}
