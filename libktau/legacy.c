// SPDX-License-Identifier: LGPL-2.1-or-later
/*
 * The original's calls over this library. What read_data() gives is a stream
 * as the kernel writes it, made smaller by the baseline, with the event table
 * inside: unpack_bindata() is a reader in memory.
 */
#include <stdlib.h>

#include <ktau_legacy.h>

#include "internal.h"
#include "legacy.h"

struct ktau_legacy {
	struct ktau_snapshot *baseline;
	struct ktau__buffer trace;	/* consumed, but too much for the caller's buffer */
};

void ktau_legacy_release(struct ktau_legacy **state)
{
	if (!*state)
		return;
	ktau_snapshot_destroy((*state)->baseline);
	ktau__buffer_free(&(*state)->trace);
	free(*state);
	*state = NULL;
}

static int get_state(struct ktau_legacy **state)
{
	int err;

	if (*state)
		return 0;
	*state = calloc(1, sizeof(**state));
	if (!*state)
		return -ENOMEM;
	err = ktau_snapshot_create(&(*state)->baseline);
	if (err)
		ktau_legacy_release(state);
	return err;
}

static int open_live(struct ktau_reader **reader, const struct ktau_legacy_query *which,
		     uint32_t flags)
{
	struct ktau_query query = {
		.content = KTAU_REC_PROFILE,
		.target = KTAU_TARGET_ALL,
		.flags = flags,
	};
	int err;

	if (which->type != KTAU_PROFILE && which->type != KTAU_TRACE)
		return -EINVAL;
	if (which->type == KTAU_TRACE)
		query.content = KTAU_REC_TRACE;
	if (which->self) {
		query.target = KTAU_TARGET_SELF;
	} else if (which->nr) {
		query.target = KTAU_TARGET_LIST;
		query.tids = which->pids;
		query.nr_tids = which->nr;
	}
	err = ktau_reader_create(reader);
	if (err)
		return err;
	err = ktau_reader_open_live(*reader, &query);
	if (err)
		ktau_reader_destroy(*reader);
	return err;
}

static int pack_events(struct ktau__buffer *out)
{
	uint8_t record[KTAU__EVENT_BYTES];
	const struct ktau_event *event = NULL;
	struct ktau_events *events;
	int err = ktau_events_create(&events);

	if (err)
		return err;
	/* Without the table the data is as good, only without addresses. */
	ktau_events_load(events, NULL);
	while (!err && (event = ktau_events_next(events, event)))
		err = ktau__buffer_append(out, record, ktau__event_record(event, record));
	ktau_events_destroy(events);
	return err;
}

/* The profile without what was there at the baseline. */
static int pack_profile(const struct ktau_rec_profile *p, const struct ktau_snapshot *baseline,
			struct ktau__buffer *out)
{
	struct ktau_rec_profile *diff;
	int err;

	err = ktau_profile_diff(p, ktau_snapshot_find(baseline, p->owner.serial), &diff);
	if (err)
		return err;
	err = ktau__buffer_append(out, diff, diff->rec.size);
	ktau_record_free(diff);
	return err;
}

int ktau__legacy_pack(struct ktau_reader *reader, const struct ktau_snapshot *baseline,
		      struct ktau__buffer *out)
{
	union ktau_record record;
	int err;

	while ((err = ktau_reader_next(reader, &record)) > 0) {
		if (record.rec->type == KTAU_REC_PROFILE)
			err = pack_profile(record.profile, baseline, out);
		else
			err = ktau__buffer_append(out, record.rec, record.rec->size);
		if (!err && record.rec->type == KTAU_REC_STREAM)
			err = pack_events(out);
		if (err)
			return err;
	}
	return err;
}

static int read_packed(struct ktau_legacy **state, const struct ktau_legacy_query *which,
		       uint32_t flags, struct ktau__buffer *out)
{
	struct ktau_reader *reader;
	int err = get_state(state);

	if (!err)
		err = open_live(&reader, which, flags);
	if (err)
		return err;
	err = ktau__legacy_pack(reader, (*state)->baseline, out);
	ktau_reader_destroy(reader);
	return err;
}

long ktau_legacy_size(struct ktau_legacy **state, const struct ktau_legacy_query *which,
		      float ratio)
{
	struct ktau__buffer out = { 0 };
	double bytes;
	int err;

	/* To ask for the size of a trace must not consume it. */
	err = read_packed(state, which, which->type == KTAU_TRACE ? KTAU_SELECT_PEEK : 0, &out);
	bytes = out.size;
	ktau__buffer_free(&out);
	if (err)
		return err;
	if (which->type == KTAU_TRACE)
		bytes += (*state)->trace.size;
	return bytes * (1.0 + (ratio < 0 ? 0.5 : ratio));
}

long ktau_legacy_read(struct ktau_legacy **state, const struct ktau_legacy_query *which,
		      char *buffer, unsigned long size)
{
	struct ktau__buffer profile = { 0 }, *out = &profile;
	long ret = get_state(state);

	if (ret)
		return ret;
	if (which->type == KTAU_TRACE)
		out = &(*state)->trace;
	ret = read_packed(state, which, 0, out);
	if (!ret && out->size > size)
		ret = -ENOSPC;
	if (!ret) {
		if (out->size)
			memcpy(buffer, out->data, out->size);
		ret = out->size;
		out->size = 0;
	}
	ktau__buffer_free(&profile);
	return ret;
}

int ktau_legacy_purge(struct ktau_legacy **state, const struct ktau_legacy_query *which)
{
	struct ktau_reader *reader;
	union ktau_record record;
	int err = get_state(state);

	if (!err)
		err = open_live(&reader, which, 0);
	if (err)
		return err;
	if (which->type == KTAU_TRACE)
		(*state)->trace.size = 0;
	else if (!which->self && !which->nr)
		ktau_snapshot_clear((*state)->baseline);
	while ((err = ktau_reader_next(reader, &record)) > 0) {
		if (record.rec->type != KTAU_REC_PROFILE)
			continue;
		err = ktau_snapshot_add((*state)->baseline, &record);
		if (err)
			break;
	}
	ktau_reader_destroy(reader);
	return err;
}
