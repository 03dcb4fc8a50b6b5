// SPDX-License-Identifier: LGPL-2.1-or-later
/* Arithmetic on snapshots: difference and sum. */
#include "snapshot.h"

/* Does the evicted sum include it? */
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

int ktau_snapshot_sum(const struct ktau_snapshot *s, struct ktau_rec_profile **out,
		      struct ktau_rec_owner *owner)
{
	const struct ktau_owned *evicted = ktau_snapshot_evicted(s), *o = NULL;
	struct ktau_rec_owner total = {
		.rec = { .size = sizeof(total), .type = KTAU_REC_OWNER, .head = sizeof(total) },
		.kind = KTAU_OWNER_EVICTED,
	};
	struct ktau__sum sum = { .head.groups_throughout = UINT32_MAX };
	int err = 0;

	while (!err && (o = ktau_snapshot_next(s, o))) {
		if (o->owner->kind > KTAU_OWNER_EVICTED || o->owner->kind == KTAU_OWNER_CPU ||
		    is_evicted(o))
			continue;
		owner_add(&total, o->owner);
		ktau__head_add(&sum.head, o->profile);
		err = ktau__sum_entries(&sum, o->profile, KTAU__FOREIGN_DROP);
	}
	if (!err)
		err = ktau__dropped_add(&s->dropped, &sum, &total);
	if (!ktau_snapshot_count(s) && !s->dropped.nr)
		sum.head.groups_throughout = 0;
	if (evicted)
		total.exited_seq = evicted->owner->exited_seq;
	*out = err ? NULL : ktau__sum_record(&sum, NULL);
	ktau__sum_free(&sum);
	if (owner)
		*owner = total;
	return *out ? 0 : -ENOMEM;
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
	err = ktau_owner_diff(after->owner, before ? before->owner : NULL, &owner);
	if (!err)
		return ktau__snapshot_take(diff, owner, profile);
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
