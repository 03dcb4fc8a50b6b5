// SPDX-License-Identifier: LGPL-2.1-or-later
/* Records on their way to the file: checked, collected, encoded, compressed. */
#include <stdio.h>
#include <stdlib.h>
#include <sys/utsname.h>
#include <time.h>
#include <zlib.h>

#include "writer.h"

/* Large enough to compress well, small enough to lose in a crash. */
#define BLOCK_BYTES	(256U << 10)

static uint64_t now_ns(void)
{
	struct timespec now;

	clock_gettime(CLOCK_REALTIME, &now);
	return now.tv_sec * 1000000000ULL + now.tv_nsec;
}

/* @data compressed in w->packed, if that makes it smaller. */
static bool pack(struct ktau_writer *w, const struct ktau__buffer *data)
{
	return w->compression != KTAU_COMPRESS_NONE &&
	       !ktau__pack(w->compression, data->data, data->size, &w->packed) &&
	       w->packed.size < data->size;
}

/* The header's place, then the payload as it goes to the file. */
static int fill_payload(struct ktau_writer *w, struct ktau_block *block)
{
	static const uint8_t zeros[8];
	const struct ktau__buffer *payload = &w->records;
	int err = 0;

	if (w->encoding == KTAU_ENCODE_DELTA) {
		err = ktau__delta_encode(w->records.data, w->records.size, &w->encoded);
		/* A record that gets larger by it could make the block too large. */
		if (!err && w->encoded.size < w->records.size) {
			block->encoding = KTAU_ENCODE_DELTA;
			payload = &w->encoded;
		}
	}
	block->raw_bytes = payload->size;
	if (!err && pack(w, payload)) {
		block->compression = w->compression;
		payload = &w->packed;
	}
	block->stored_bytes = payload->size;
	block->payload_crc = crc32(0, payload->data, payload->size);
	w->block.size = 0;
	if (!err)
		err = ktau__buffer_append(&w->block, block, sizeof(*block));
	if (!err)
		err = ktau__buffer_append(&w->block, payload->data, payload->size);
	if (!err)
		err = ktau__buffer_append(&w->block, zeros,
					  ktau__pad8(payload->size) - payload->size);
	return err;
}

int ktau__writer_block(struct ktau_writer *w)
{
	struct ktau_block block = {
		.magic = KTAU_BLOCK_MAGIC,
		.size = sizeof(block),
		.type = KTAU_BLOCK_RECORDS,
		.flags = w->key ? KTAU_BLOCK_KEY : 0,
		.sequence = w->sequence,
		.from_ns = w->from_ns,
		.to_ns = w->to_ns,
	};
	int err;

	if (!w->records.size)
		return 0;
	err = fill_payload(w, &block);
	if (err)
		return ktau__writer_fail(w, err);
	block.header_crc = ktau__block_crc(&block, sizeof(block));
	memcpy(w->block.data, &block, sizeof(block));
	err = ktau__writer_append(w, w->block.data, w->block.size);
	if (err)
		return err;
	w->sequence++;
	w->records.size = 0;
	w->nr_records = 0;
	w->from_ns = w->to_ns = 0;
	w->key = false;
	return 0;
}

/* w->checked is @record in normal form, of type @type: 0, -errno with the reason. */
static int check_record(struct ktau_writer *w, const void *record, uint16_t type)
{
	const struct ktau_rec *rec = record;
	const char *why = ktau__bad_rec(rec);
	union ktau_record checked;
	int err = 0;

	if (!why) {
		why = "record of a type that files do not have";
		err = ktau__decode(record, false, &w->checked, &why);
	}
	if (err == -ENOMEM)
		return ktau__writer_fail(w, err);
	if (err > 0 && w->checked.size > KTAU_BLOCK_MAX) {
		why = "record too large";
		err = 0;
	}
	if (err <= 0)
		return ktau__writer_invalid(w, why);
	((struct ktau_rec *)w->checked.data)->type = type;
	checked.rec = (const void *)w->checked.data;
	if (type == KTAU_REC_STREAM &&
	    memcmp(checked.stream->boot_id, w->boot_id, sizeof(w->boot_id)))
		return ktau__fail(&w->error, -ESTALE, "%.300s: stream of another boot", w->path);
	return 0;
}

/* Does the file, since its last key block, have this very record? */
static bool is_repeated(const struct ktau_writer *w, const union ktau_record *record)
{
	const struct ktau_rec_event *event;

	switch (record->rec->type) {
	case KTAU_REC_EVENT:
		event = ktau_events_find(w->events, record->event->id);
		return event && event->rec.size == record->rec->size &&
		       !memcmp(event, record->rec, event->rec.size);
	case KTAU_REC_CGROUP:
		return ktau__registry_has(&w->cgroups, record->cgroup->id, record->rec);
	default:
		return false;
	}
}

static int keep_info(struct ktau_writer *w, const struct ktau_rec_info *info)
{
	struct ktau_rec_info *copy = ktau_record_dup(info);

	if (!copy)
		return -ENOMEM;
	ktau_record_free(w->info);
	w->info = copy;
	return 0;
}

/* What later records depend on. */
static int remember(struct ktau_writer *w, const union ktau_record *record)
{
	switch (record->rec->type) {
	case KTAU_REC_EVENT:
		return ktau_events_put(w->events, record->event);
	case KTAU_REC_CGROUP:
		return ktau__registry_put(&w->cgroups, record->cgroup->id, record->rec);
	case KTAU_REC_INFO:
		return keep_info(w, record->info);
	case KTAU_REC_STREAM:
		if (!w->from_ns)
			w->from_ns = record->stream->realtime_ns;
		w->to_ns = record->stream->realtime_ns;
		return 0;
	default:
		return 0;
	}
}

/* The first record of a key block, unless @record is that itself. */
static int repeat_info(struct ktau_writer *w, const union ktau_record *record)
{
	if (w->records.size || !w->key || !w->info || record->rec->type == KTAU_REC_INFO)
		return 0;
	return ktau__buffer_append(&w->records, w->info, w->info->rec.size);
}

static int put(struct ktau_writer *w, const void *data, uint16_t type)
{
	union ktau_record record;
	size_t size;
	int err;

	if (w->fd < 0)
		return ktau__writer_fail(w, -EBADF);
	err = check_record(w, data, type);
	if (err)
		return err;
	record.rec = (const void *)w->checked.data;
	if (is_repeated(w, &record))
		return 0;
	if (w->records.size && w->records.size + w->checked.size > BLOCK_BYTES) {
		err = ktau__writer_block(w);
		if (err)
			return err;
	}
	size = w->records.size;
	err = repeat_info(w, &record);
	if (!err)
		err = ktau__buffer_append(&w->records, w->checked.data, w->checked.size);
	if (!err)
		err = remember(w, &record);
	if (err) {
		w->records.size = size;
		return ktau__writer_fail(w, err);
	}
	w->nr_records++;
	return 0;
}

int ktau_writer_key(struct ktau_writer *w)
{
	int err;

	if (w->fd < 0)
		return ktau__writer_fail(w, -EBADF);
	err = ktau__writer_block(w);
	if (!err)
		ktau__writer_start_block(w, true);
	return err;
}

int ktau_writer_put(struct ktau_writer *w, const void *record)
{
	return put(w, record, ((const struct ktau_rec *)record)->type);
}

int ktau_writer_put_diff(struct ktau_writer *w, const struct ktau_rec_profile *diff)
{
	if (diff->rec.type != KTAU_REC_PROFILE && diff->rec.type != KTAU_REC_DIFF)
		return ktau__writer_invalid(w, "difference that is not a profile");
	return put(w, diff, KTAU_REC_DIFF);
}

/* @info and this machine as a record; NULL without memory. */
static struct ktau_rec_info *make_info(const struct ktau_writer_info *info)
{
	const char *texts[] = {
		info->command ? info->command : "", info->symbols ? info->symbols : "",
		info->job ? info->job : "",
	};
	size_t bytes[] = { strlen(texts[0]) + 1, strlen(texts[1]) + 1, strlen(texts[2]) + 1 };
	size_t size = sizeof(struct ktau_rec_info) +
		      ktau__pad8(bytes[0] + bytes[1] + bytes[2]);
	struct ktau_rec_info *rec = calloc(1, size);
	char *to;
	size_t i;

	if (!rec)
		return NULL;
	rec->rec = (struct ktau_rec){
		.size = size, .type = KTAU_REC_INFO, .head = sizeof(*rec),
	};
	rec->created_ns = now_ns();
	rec->period_ns = info->period_ns;
	rec->stext = info->stext;
	rec->command_bytes = bytes[0];
	rec->symbols_bytes = bytes[1];
	rec->job_bytes = bytes[2];
	to = (char *)(rec + 1);
	for (i = 0; i < 3; to += bytes[i++])
		memcpy(to, texts[i], bytes[i]);
	return rec;
}

int ktau_writer_put_info(struct ktau_writer *w, const struct ktau_writer_info *info)
{
	struct ktau_rec_info *rec = make_info(info);
	struct utsname host;
	int err;

	if (!rec)
		return ktau__writer_fail(w, -ENOMEM);
	err = ktau_build_id(rec->build_id, sizeof(rec->build_id));
	rec->build_id_bytes = err > 0 ? err : 0;
	if (!uname(&host)) {
		snprintf(rec->hostname, sizeof(rec->hostname), "%s", host.nodename);
		snprintf(rec->release, sizeof(rec->release), "%s", host.release);
		snprintf(rec->machine, sizeof(rec->machine), "%s", host.machine);
	}
	err = put(w, rec, KTAU_REC_INFO);
	free(rec);
	return err;
}
