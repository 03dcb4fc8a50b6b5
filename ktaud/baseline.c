// SPDX-License-Identifier: GPL-2.0-only
#include <stdlib.h>

#include "baseline.h"

/* Start a stream: at its end, live tasks without a profile in it are removed. */
static int begin(struct ktau_snapshot *last)
{
	const struct ktau_rec_stream stream = {
		.rec = { .size = sizeof(stream), .type = KTAU_REC_STREAM, .head = sizeof(stream) },
		.content = KTAU_REC_PROFILE,
		.target = KTAU_TARGET_ALL,
	};

	return ktau_snapshot_add(last, &(union ktau_record){ .stream = &stream });
}

static int end(struct ktau_snapshot *last)
{
	const struct ktau_rec_end end = {
		.rec = { .size = sizeof(end), .type = KTAU_REC_END, .head = sizeof(end) },
	};

	return ktau_snapshot_add(last, &(union ktau_record){ .end = &end });
}

static int create(struct baseline *base)
{
	int err = ktau_snapshot_create(&base->last);

	return err ? err : begin(base->last);
}

struct ktau_rec_profile *baseline_update(struct baseline *base, const struct ktau_owned *owned)
{
	const struct ktau_owned *before;
	struct ktau_rec_profile *diff = NULL;

	if (!base->last && create(base)) {
		baseline_clear(base);
		return NULL;
	}
	before = ktau_snapshot_find(base->last, owned->profile->serial);
	if (before && ktau_profile_diff(owned->profile, before->profile, &diff))
		diff = NULL;
	/* The baseline must be the profile that was written last. */
	if (ktau_snapshot_put(base->last, owned)) {
		baseline_clear(base);
		ktau_record_free(diff);
		return NULL;
	}
	if (diff)
		diff->rec.type = KTAU_REC_DIFF;
	return diff;
}

/*
 * @gone lists the exited tasks of the stream as folded ones, because ktau_snapshot_add() removes
 * those.
 */
static struct ktau_rec_gone *make_room(struct ktau_rec_gone *gone)
{
	uint32_t nr = gone ? gone->nr_serials : 0;

	/* Double the room at powers of two, from 64 on. */
	if (nr & (nr - 1) || (nr && nr < 64))
		return gone;
	return realloc(gone, sizeof(*gone) + (nr ? 2 * nr : 64) * sizeof(uint64_t));
}

void baseline_forget(struct baseline *base, uint64_t serial)
{
	struct ktau_rec_gone *gone;

	if (!base->last || !ktau_snapshot_find(base->last, serial))
		return;
	gone = make_room(base->gone);
	if (!gone) {
		baseline_clear(base);
		return;
	}
	if (!base->gone)
		*gone = (struct ktau_rec_gone){
			.rec = { .type = KTAU_REC_GONE, .head = sizeof(*gone) },
			.serial_bytes = sizeof(serial),
		};
	base->gone = gone;
	((uint64_t *)(gone + 1))[gone->nr_serials++] = serial;
	gone->nr_folded = gone->nr_serials;
	gone->rec.size = sizeof(*gone) + gone->nr_serials * sizeof(serial);
}

void baseline_end(struct baseline *base, bool complete)
{
	int err = 0;

	if (!base->last)
		return;
	if (base->gone)
		err = ktau_snapshot_add(base->last, &(union ktau_record){ .gone = base->gone });
	free(base->gone);
	base->gone = NULL;
	if (!err && complete)
		err = end(base->last);
	if (!err && complete)
		err = begin(base->last);
	if (err)
		baseline_clear(base);
}

void baseline_clear(struct baseline *base)
{
	ktau_snapshot_destroy(base->last);
	free(base->gone);
	*base = (struct baseline){ 0 };
}
