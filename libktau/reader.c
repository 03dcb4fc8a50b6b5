// SPDX-License-Identifier: LGPL-2.1-or-later
/* Records from a running kernel, a saved stream or a *.ktau file. */
#include <fcntl.h>
#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <sys/ioctl.h>
#include <unistd.h>

#include "internal.h"

enum kind { KIND_NONE, KIND_LIVE, KIND_STREAM, KIND_FILE };

struct ktau_reader {
	enum kind kind;
	bool swap;
	bool in_stream;		/* between STREAM and END */
	bool ended;
	struct ktau__source source;
	struct ktau__blocks blocks;
	const uint8_t *payload;	/* KIND_FILE: what is left of the block */
	size_t payload_size;
	size_t payload_taken;	/* bytes of the source it stands in */
	struct ktau__buffer record;
	struct ktau_rec_stream stream;
	bool has_stream;
	uint32_t content;
	struct ktau_rec_info *info;
	struct ktau_events *events;
	char *name;
	struct ktau__error error;
};

int ktau_reader_create(struct ktau_reader **reader)
{
	struct ktau_reader *r = calloc(1, sizeof(*r));
	int err;

	*reader = NULL;
	if (!r)
		return -ENOMEM;
	r->source.fd = -1;
	err = ktau_events_create(&r->events);
	if (err) {
		free(r);
		return err;
	}
	*reader = r;
	return 0;
}

static void leave(struct ktau_reader *r)
{
	ktau__source_close(&r->source);
	ktau__buffer_free(&r->blocks.inflated);
	memset(&r->blocks, 0, sizeof(r->blocks));
	ktau__buffer_free(&r->record);
	ktau_record_free(r->info);
	free(r->name);
	r->kind = KIND_NONE;
	r->swap = r->in_stream = r->ended = r->has_stream = false;
	r->payload = NULL;
	r->payload_size = r->payload_taken = 0;
	r->info = NULL;
	r->name = NULL;
	r->error.text[0] = 0;
}

void ktau_reader_destroy(struct ktau_reader *r)
{
	if (!r)
		return;
	leave(r);
	ktau_events_destroy(r->events);
	free(r);
}

/* Begin with an empty reader, its events too. */
static int enter(struct ktau_reader *r, const char *name)
{
	struct ktau_events *events;
	int err;

	leave(r);
	err = ktau_events_create(&events);
	if (err)
		return err;
	ktau_events_destroy(r->events);
	r->events = events;
	r->name = strdup(name);
	return r->name ? 0 : -ENOMEM;
}

static int fail_open(struct ktau_reader *r, int err, const char *why)
{
	struct ktau__error error;

	ktau__fail(&error, err, "%.300s: %s", r->name ? r->name : "(no name)",
		   why ? why : strerror(-err));
	leave(r);
	r->error = error;
	return err;
}

static int refuse(struct ktau_reader *r, const char *why)
{
	return ktau__fail(&r->error, -EINVAL, "%.300s: %s", r->name ? r->name : "reader", why);
}

static int open_path(struct ktau_reader *r, const char *path)
{
	int err = enter(r, path), fd;

	if (err)
		return fail_open(r, err, NULL);
	fd = open(path, O_RDONLY | O_CLOEXEC);
	if (fd < 0)
		return fail_open(r, -errno, NULL);
	ktau__source_fd(&r->source, fd, true);
	return 0;
}

static int select_stream(struct ktau_reader *r, const struct ktau_query *query)
{
	struct ktau_select select = {
		.size = sizeof(select),
		.version = KTAU_ABI_VERSION,
		.target = query->target,
		.flags = query->flags,
		.pids = (uintptr_t)query->tids,
		.nr_pids = query->nr_tids,
		.dead_since = query->dead_since,
	};

	return ioctl(r->source.fd, KTAU_IOC_SELECT, &select) < 0 ? -errno : 0;
}

int ktau_reader_open_live(struct ktau_reader *r, const struct ktau_query *query)
{
	const char *path;
	int err;

	if (query->content == KTAU_REC_PROFILE)
		path = KTAU_PROC "/profile";
	else if (query->content == KTAU_REC_TRACE)
		path = KTAU_PROC "/trace";
	else
		path = NULL;
	if (!path) {
		leave(r);
		return refuse(r, "content that is neither profile nor trace");
	}
	err = open_path(r, path);
	if (err)
		return err;
	r->kind = KIND_LIVE;
	r->content = query->content;
	err = select_stream(r, query);
	return err ? fail_open(r, err, NULL) : 0;
}

int ktau_reader_restart(struct ktau_reader *r, const struct ktau_query *query)
{
	int err;

	if (r->kind != KIND_LIVE || query->content != r->content)
		return refuse(r, "not open for such a stream");
	ktau__source_rewind(&r->source);
	memset(&r->blocks.damage, 0, sizeof(r->blocks.damage));
	r->blocks.first.text[0] = 0;
	r->error.text[0] = 0;
	r->in_stream = r->ended = false;
	err = select_stream(r, query);
	if (err) {
		r->ended = true;
		return ktau__fail(&r->error, err, "%s: %s", r->name, strerror(-err));
	}
	return 0;
}

/* The byte order of the stream that begins at @data: 0, -errno with *@why. */
static int stream_order(const uint8_t *data, bool *swap, const char **why)
{
	struct ktau_rec rec;
	uint32_t magic;
	uint16_t version;

	memcpy(&magic, data + offsetof(struct ktau_rec_stream, magic), sizeof(magic));
	memcpy(&version, data + offsetof(struct ktau_rec_stream, version), sizeof(version));
	*swap = magic == __builtin_bswap32(KTAU_MAGIC);
	rec = ktau__decode_rec(data, *swap);
	*why = "not KTAU data: no STREAM record where one should be";
	if (ktau__swap32(magic, *swap) != KTAU_MAGIC || rec.type != KTAU_REC_STREAM)
		return -EBADMSG;
	*why = "stream of a version that this library does not know";
	if (ktau__swap16(version, *swap) != KTAU_ABI_VERSION)
		return -EPROTONOSUPPORT;
	return 0;
}

static int recognise(struct ktau_reader *r)
{
	const char *why = NULL;
	uint32_t magic;
	int err;

	err = ktau__source_need(&r->source, 16);
	if (err)
		return fail_open(r, err, NULL);
	if (!r->source.size)
		return fail_open(r, -EBADMSG, "empty");
	if (r->source.size < 16)
		return fail_open(r, -EBADMSG, "not KTAU data: shorter than any header");
	memcpy(&magic, r->source.data, sizeof(magic));
	if (magic == KTAU_FILE_MAGIC || magic == __builtin_bswap32(KTAU_FILE_MAGIC)) {
		r->kind = KIND_FILE;
		err = ktau__blocks_start(&r->blocks, &r->source, &why);
		r->swap = r->blocks.swap;
	} else {
		r->kind = KIND_STREAM;
		err = stream_order(r->source.data, &r->swap, &why);
	}
	return err ? fail_open(r, err, why) : 0;
}

int ktau_reader_open_file(struct ktau_reader *r, const char *path)
{
	int err;

	if (!strcmp(path, "-"))
		return ktau_reader_open_fd(r, STDIN_FILENO, "standard input");
	err = open_path(r, path);
	if (err)
		return err;
	return recognise(r);
}

int ktau_reader_open_fd(struct ktau_reader *r, int fd, const char *name)
{
	int err = enter(r, name ? name : "descriptor");

	if (err)
		return fail_open(r, err, NULL);
	ktau__source_fd(&r->source, fd, false);
	return recognise(r);
}

int ktau_reader_open_memory(struct ktau_reader *r, const void *data, size_t size)
{
	int err = enter(r, "memory");

	if (err)
		return fail_open(r, err, NULL);
	ktau__source_memory(&r->source, data, size);
	return recognise(r);
}

/*
 * Where the next record stands: 1 with its bytes at *@data and @rec checked,
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
		err = stream_order(s->data, &r->swap, &why);
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
		while (!r->payload_size) {
			ktau__source_take(&r->source, r->payload_taken);
			r->payload_taken = 0;
			err = ktau__blocks_next(&r->blocks, &r->source, &r->payload,
						&r->payload_size, &r->payload_taken);
			if (err <= 0)
				return err;
		}
		why = "record that the block cuts";
		if (r->payload_size >= sizeof(*rec)) {
			*rec = ktau__decode_rec(r->payload, r->swap);
			why = ktau__bad_rec(rec);
			if (!why && rec->size > r->payload_size)
				why = "record that the block cuts";
		}
		if (!why) {
			*data = r->payload;
			return 1;
		}
		r->blocks.damage.bad_blocks++;
		ktau__damage(&r->blocks, r->source.offset, r->payload_size,
			     "%s in block %" PRIu32, why, r->blocks.next_sequence - 1);
		r->payload_size = 0;
	}
}

static void step(struct ktau_reader *r, uint32_t size)
{
	if (r->kind == KIND_FILE) {
		r->payload += size;
		r->payload_size -= size;
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

/* Keep what the accessors give. 0, -EBADMSG with *@why, -ENOMEM. */
static int remember(struct ktau_reader *r, const union ktau_record *record)
{
	struct ktau_rec_info *info;

	switch (record->rec->type) {
	case KTAU_REC_STREAM:
		check_end(r);
		r->stream = *record->stream;
		r->has_stream = true;
		r->in_stream = true;
		return 0;
	case KTAU_REC_END:
		r->in_stream = false;
		return 0;
	case KTAU_REC_INFO:
		info = ktau_record_dup(record->rec);
		if (!info)
			return -ENOMEM;
		ktau_record_free(r->info);
		r->info = info;
		return 0;
	case KTAU_REC_EVENT:
		return ktau__events_record(r->events, record->event);
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

int ktau_reader_next(struct ktau_reader *r, union ktau_record *record)
{
	const uint8_t *data = NULL;
	const char *why = NULL;
	struct ktau_rec rec;
	int err;

	record->rec = NULL;
	if (r->kind == KIND_NONE)	/* and no reason yet why not */
		return r->error.text[0] ? -EINVAL : refuse(r, "no source");
	while (!r->ended) {
		if (r->kind == KIND_FILE)
			err = next_in_file(r, &data, &rec);
		else
			err = next_in_stream(r, &data, &rec);
		if (err < 0)
			return read_error(r, err);
		if (!err)
			return end(r);
		err = ktau__decode(data, r->swap, &r->record, &why);
		record->rec = (const void *)r->record.data;
		if (err > 0)
			err = remember(r, record) ?: 1;
		if (err == -EBADMSG)
			ktau__damage(&r->blocks, r->source.offset, rec.size,
				     "%s at byte %" PRIu64, why, r->source.offset);
		else if (err < 0)
			return read_error(r, err);
		step(r, rec.size);
		if (err > 0)
			return 1;
	}
	record->rec = NULL;
	return r->error.text[0] ? -EBADMSG : 0;
}

const char *ktau_reader_error(const struct ktau_reader *r)
{
	return r->error.text;
}

const struct ktau_damage *ktau_reader_damage(const struct ktau_reader *r)
{
	return &r->blocks.damage;
}

int ktau_reader_fd(const struct ktau_reader *r)
{
	return r->source.fd;
}

bool ktau_reader_swapped(const struct ktau_reader *r)
{
	return r->swap;
}

const struct ktau_rec_stream *ktau_reader_stream(const struct ktau_reader *r)
{
	return r->has_stream ? &r->stream : NULL;
}

const struct ktau_rec_info *ktau_reader_info(const struct ktau_reader *r)
{
	return r->info;
}

const struct ktau_events *ktau_reader_events(const struct ktau_reader *r)
{
	return r->events;
}
