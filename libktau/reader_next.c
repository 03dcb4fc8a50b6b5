// SPDX-License-Identifier: LGPL-2.1-or-later
/* Records from a running kernel, a saved stream or a *.ktau file. */
#include <inttypes.h>
#include <stdio.h>

#include "reader.h"

/*
 * Where the next record is: 1 with its bytes at *@data and @rec checked,
 * 0 at the end, -errno.
 */
static int next_in_stream(struct ktau_reader *r, const uint8_t **data, struct ktau_rec *rec)
{
	struct ktau__source *s = &r->source;
	const char *why = NULL;
	int err;

	err = ktau__source_need(s, r->in_stream ? sizeof(*rec) : 16);
	if (err)
		return err;
	if (!s->size)
		return 0;
	if (s->size < (r->in_stream ? sizeof(*rec) : 16)) {
		why = "truncated";
		r->blocks.damage.truncated = true;
		err = -EBADMSG;
	} else if (!r->in_stream) {
		err = ktau__stream_order(s->data, &r->swap, &why);
	}
	if (!err) {
		*rec = ktau__decode_rec(s->data, r->swap);
		why = ktau__bad_rec(rec);
		if (!why) {
			err = ktau__source_need(s, rec->size);
			if (err)
				return err;
			*data = s->data;
			if (s->size >= rec->size)
				return 1;
			why = "truncated";
			r->blocks.damage.truncated = true;
		}
	}
	ktau__damage(&r->blocks, s->offset, s->size, "%s at byte %" PRIu64, why, s->offset);
	return 0;
}

static int next_in_file(struct ktau_reader *r, const uint8_t **data, struct ktau_rec *rec)
{
	const char *why;
	int err;

	for (;;) {
		while (!r->payload.size) {
			ktau__source_take(&r->source, r->payload.taken);
			r->payload.taken = 0;
			err = ktau__blocks_next(&r->blocks, &r->source, &r->payload);
			/* The END may be in the block that was stepped over. */
			r->in_stream &= !r->blocks.skipped;
			r->blocks.skipped = false;
			if (err <= 0)
				return err;
		}
		why = "record that the block cuts";
		if (r->payload.size >= sizeof(*rec)) {
			*rec = ktau__decode_rec(r->payload.data, r->swap);
			why = ktau__bad_rec(rec);
			if (!why && rec->size > r->payload.size)
				why = "record that the block cuts";
		}
		if (!why) {
			*data = r->payload.data;
			return 1;
		}
		r->blocks.damage.bad_blocks++;
		ktau__damage(&r->blocks, r->source.offset, r->payload.size,
			     "%s in block %" PRIu32, why, r->blocks.next_sequence - 1);
		r->payload.size = 0;
	}
}

static void step(struct ktau_reader *r, uint32_t size)
{
	if (r->kind == KIND_FILE) {
		r->payload.data += size;
		r->payload.size -= size;
	} else {
		ktau__source_take(&r->source, size);
	}
}

/* A stream that began before this place and has no END. */
static void check_end(struct ktau_reader *r)
{
	if (!r->in_stream)
		return;
	r->in_stream = false;
	r->blocks.damage.truncated = true;
	ktau__damage(&r->blocks, r->source.offset, 0,
		     "stream without its END record before byte %" PRIu64, r->source.offset);
}

static void begin_stream(struct ktau_reader *r, const struct ktau_rec_stream *stream)
{
	check_end(r);
	/* Ids are of one boot. */
	if (r->has_stream && !ktau_same_boot(&r->stream, stream)) {
		ktau__events_clear(r->events);
		ktau__registry_clear(&r->cgroups);
	}
	r->stream = *stream;
	r->has_stream = true;
	r->in_stream = true;
	ktau__registry_clear(&r->owners);
}

static int keep_info(struct ktau_reader *r, const struct ktau_rec_info *info)
{
	struct ktau_rec_info *copy = ktau_record_dup(info);

	if (!copy)
		return -ENOMEM;
	ktau_record_free(r->info);
	r->info = copy;
	return 0;
}

/* Keep what the accessors return. 0, -ENOMEM. */
static int remember(struct ktau_reader *r, const union ktau_record *record)
{
	switch (record->rec->type) {
	case KTAU_REC_STREAM:
		begin_stream(r, record->stream);
		return 0;
	case KTAU_REC_END:
		r->in_stream = false;
		return 0;
	case KTAU_REC_INFO:
		return keep_info(r, record->info);
	case KTAU_REC_EVENT:
		return ktau_events_put(r->events, record->event);
	case KTAU_REC_OWNER:
		return ktau__registry_put(&r->owners, record->owner->serial, record->rec);
	case KTAU_REC_CGROUP:
		return ktau__registry_put(&r->cgroups, record->cgroup->id, record->rec);
	default:
		return 0;
	}
}

static int end(struct ktau_reader *r)
{
	const struct ktau_damage *d = &r->blocks.damage;

	check_end(r);
	r->ended = true;
	if (!r->blocks.first.text[0])
		return 0;
	if (r->kind != KIND_FILE)
		return ktau__fail(&r->error, -EBADMSG, "%.200s: %.200s", r->name,
				  r->blocks.first.text);
	return ktau__fail(&r->error, -EBADMSG, "%.200s: %.200s (in all %" PRIu64
			  " bad and %" PRIu64 " missing blocks, %" PRIu64 " bytes unusable)",
			  r->name, r->blocks.first.text, d->bad_blocks, d->missing_blocks,
			  d->lost_bytes);
}

static int read_error(struct ktau_reader *r, int err)
{
	r->ended = true;
	return ktau__fail(&r->error, err, "%s: byte %" PRIu64 ": %s", r->name,
			  r->source.offset + r->source.size, strerror(-err));
}

/* Does the period that was asked for end before this record? */
static bool is_too_late(const struct ktau_reader *r, const union ktau_record *record)
{
	return record->rec->type == KTAU_REC_STREAM &&
	       record->stream->realtime_ns > r->until_ns;
}

static void count_unknown(struct ktau_reader *r, uint16_t type)
{
	struct ktau_unknown *unknown = &r->blocks.unknown;

	if (!unknown->records++)
		unknown->record_type = type;
}

/* The record at @data: 1 if it is for the caller, 0 if not, -errno. */
static int take(struct ktau_reader *r, const uint8_t *data, const struct ktau_rec *rec,
		union ktau_record *record)
{
	const char *why = NULL;
	int err = ktau__decode(data, r->swap, &r->record, &why);

	if (err == -EBADMSG) {
		ktau__damage(&r->blocks, r->source.offset, rec->size,
			     "%s at byte %" PRIu64, why, r->source.offset);
		return 0;
	}
	if (!err)
		count_unknown(r, rec->type);
	if (err <= 0)
		return err;
	record->rec = (const void *)r->record.data;
	if (is_too_late(r, record)) {
		r->ended = true;
		return 0;
	}
	err = remember(r, record);
	return err ? err : 1;
}

int ktau_reader_next(struct ktau_reader *r, union ktau_record *record)
{
	const uint8_t *data = NULL;
	struct ktau_rec rec;
	int err;

	record->rec = NULL;
	if (r->kind == KIND_NONE)	/* and no reason yet why not */
		return r->error.text[0] ? -EINVAL : ktau__reader_invalid(r, "no source");
	while (!r->ended) {
		if (r->kind == KIND_FILE)
			err = next_in_file(r, &data, &rec);
		else
			err = next_in_stream(r, &data, &rec);
		if (err < 0)
			return read_error(r, err);
		if (!err)
			return end(r);
		err = take(r, data, &rec, record);
		if (err < 0)
			return read_error(r, err);
		if (r->ended)
			return end(r);
		step(r, rec.size);
		if (err)
			return 1;
	}
	record->rec = NULL;
	return r->error.text[0] ? -EBADMSG : 0;
}
