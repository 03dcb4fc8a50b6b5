// SPDX-License-Identifier: LGPL-2.1-or-later
/*
 * Writing *.ktau files. Except during a write, the file consists of whole blocks: a partly
 * written block is cut off after a failed write.
 */
#include <fcntl.h>
#include <stdio.h>
#include <stdlib.h>
#include <sys/file.h>
#include <sys/stat.h>
#include <sys/utsname.h>
#include <time.h>
#include <unistd.h>
#include <zlib.h>

#include "blocks.h"
#include "decode.h"
#include "delta.h"
#include "events.h"
#include "fail.h"
#include "info.h"
#include "pack.h"
#include "registry.h"

/* Large enough to compress well, small enough that a crash loses little. */
#define BLOCK_BYTES	(256U << 10)

struct ktau_writer {
	int fd;
	uint8_t compression;
	uint8_t encoding;
	uint8_t boot_id[16];
	uint64_t end; /* size of the file in whole blocks */
	uint32_t sequence;
	uint32_t reserved; /* bytes to leave allocated after a block */
	bool allocated;	   /* more than @end */
	bool half;	   /* a part of a block follows @end */
	/* the block that is being collected */
	struct ktau__encoder *encoder;	/* of KTAU_ENCODE_DELTA */
	struct ktau__buffer records;	/* encoded */
	size_t plain_bytes;		/* of the records as they were put */
	uint64_t nr_records;
	bool key;			/* needs nothing before it */
	uint64_t from_ns;		/* first and last stream in it */
	uint64_t to_ns;
	/* what the file has since the last key block */
	struct ktau_events *events;
	struct ktau__registry cgroups;
	struct ktau_rec_info *info;
	/* on the way to the file */
	struct ktau__packer packer;
	struct ktau__buffer block;	/* header and payload as written */
	char *path;
	struct ktau__error error;
};

int ktau_writer_create(struct ktau_writer **writer)
{
	struct ktau_writer *w = calloc(1, sizeof(*w));

	*writer = NULL;
	if (!w)
		return -ENOMEM;
	w->fd = -1;
	w->encoder = ktau__encoder_create();
	if (!w->encoder || ktau_events_create(&w->events)) {
		ktau__encoder_destroy(w->encoder);
		free(w);
		return -ENOMEM;
	}
	*writer = w;
	return 0;
}

static void start_records(struct ktau_writer *w)
{
	w->records.size = 0;
	w->plain_bytes = 0;
	w->nr_records = 0;
	w->from_ns = w->to_ns = 0;
	ktau__encoder_start(w->encoder);
}

static void start_block(struct ktau_writer *w, bool key)
{
	start_records(w);
	w->key = key;
	ktau__events_clear(w->events);
	ktau__registry_clear(&w->cgroups);
}

/*
 * Cut off what follows the last whole block, allocated space too. A file that another program has
 * truncated is not made longer again.
 */
static int cut(struct ktau_writer *w)
{
	struct stat st;

	if (fstat(w->fd, &st))
		return -errno;
	if ((uint64_t)st.st_size >= w->end && ftruncate(w->fd, w->end))
		return -errno;
	w->half = false;
	return 0;
}

/* Release the space that is allocated after the end. What cannot be released is only unused. */
static void release(struct ktau_writer *w)
{
	if (w->allocated && !cut(w))
		w->allocated = false;
}

static void close_file(struct ktau_writer *w)
{
	if (w->fd >= 0) {
		release(w);
		close(w->fd);
	}
	w->fd = -1;
	w->reserved = 0;
	w->allocated = false;
	w->half = false;
	free(w->path);
	w->path = NULL;
	start_block(w, true);
	ktau__registry_free(&w->cgroups);
	ktau_record_free(w->info);
	w->info = NULL;
	ktau__buffer_free(&w->records);
	ktau__packer_free(&w->packer);
	ktau__buffer_free(&w->block);
	w->sequence = 0;
	w->end = 0;
}

void ktau_writer_destroy(struct ktau_writer *w)
{
	if (!w)
		return;
	close_file(w);
	ktau_events_destroy(w->events);
	ktau__encoder_destroy(w->encoder);
	free(w);
}

static uint64_t now_ns(void)
{
	struct timespec now;

	clock_gettime(CLOCK_REALTIME, &now);
	return now.tv_sec * 1000000000ULL + now.tv_nsec;
}

static int fail(struct ktau_writer *w, int err)
{
	return ktau__fail(&w->error, err, "%.300s: %s", w->path ? w->path : "no file open",
			  strerror(-err));
}

static int invalid(struct ktau_writer *w, const char *why)
{
	return ktau__fail(&w->error, -EINVAL, "%.300s: %s", w->path ? w->path : "no file open",
			  why);
}

/*
 * Allocate what a block and the room after it need. If there is not so much space, the file keeps
 * the room that it has.
 */
static int allocate(struct ktau_writer *w, size_t size)
{
	if (!w->reserved)
		return 0;
	if (!fallocate(w->fd, FALLOC_FL_KEEP_SIZE, w->end, size + w->reserved))
		w->allocated = true;
	else if (errno == ENOSPC || errno == EDQUOT || errno == EFBIG)
		return -errno;
	return 0;
}

/*
 * Write at the end that the file has, not at @end: after another program has truncated it, the file
 * stays shorter than @end, by which its owner sees what has happened.
 */
static int append(struct ktau_writer *w, const void *data, size_t size)
{
	int err = w->half ? cut(w) : 0;
	size_t done = 0;
	ssize_t wrote;

	if (!err)
		err = allocate(w, size);
	while (done < size && !err) {
		wrote = write(w->fd, (const char *)data + done, size - done);
		if (wrote > 0)
			done += wrote;
		else if (!wrote)
			err = -EIO;
		else if (errno != EINTR)
			err = -errno;
	}
	if (!err) {
		w->end += size;
		return 0;
	}
	fail(w, err);
	/* A reader would stop there. If it cannot be cut off now, the next attempt does so. */
	w->half = done;
	if (done && cut(w))
		ktau__fail(&w->error, err, "%.300s: %s, and the half-written block could not "
			   "be cut off: %s", w->path, strerror(-err), strerror(errno));
	return err;
}

static int write_header(struct ktau_writer *w)
{
	struct ktau_file_header header = {
		.magic = KTAU_FILE_MAGIC,
		.version = KTAU_FILE_VERSION,
		.size = sizeof(header),
		.created_ns = now_ns(),
	};

	memcpy(header.boot_id, w->boot_id, sizeof(header.boot_id));
	header.header_crc = ktau__header_crc(&header, sizeof(header),
					     offsetof(struct ktau_file_header, header_crc));
	return append(w, &header, sizeof(header));
}

/* 0 if this writer can continue a file with these blocks, else -errno with *@why. */
static int check_file(const struct ktau_writer *w, const struct ktau__blocks *blocks,
		      const char **why)
{
	if (blocks->bad_header) {
		*why = "bad checksum of the file's header: cannot continue it";
		return -EBADMSG;
	}
	if (blocks->swap) {
		*why = "written in the other byte order: cannot continue it";
		return -EINVAL;
	}
	if (memcmp(blocks->boot_id, w->boot_id, sizeof(w->boot_id))) {
		*why = "of another boot: cannot continue it";
		return -ESTALE;
	}
	return 0;
}

/* Find the end of the last whole block of a file, and its number. */
static int find_end(struct ktau_writer *w)
{
	struct ktau__blocks blocks = { 0 };
	struct ktau__source source = { .fd = -1 };
	struct ktau__payload payload;
	const char *why = NULL;
	int err;

	ktau__source_fd(&source, w->fd, false);
	err = ktau__blocks_start(&blocks, &source, &why);
	if (!err)
		err = check_file(w, &blocks, &why);
	if (err && why)
		ktau__fail(&w->error, err, "%.300s: %s", w->path, why);
	while (!err) {
		err = ktau__blocks_next(&blocks, &source, &payload);
		if (err <= 0)
			break;
		ktau__source_take(&source, payload.taken);
		err = 0;
	}
	w->end = blocks.end;
	w->sequence = blocks.end_sequence;
	ktau__blocks_free(&blocks);
	ktau__source_close(&source);
	return err;
}

/* True if a writer was killed while it wrote the header: the file contains nothing else. */
static bool is_half_header(struct ktau_writer *w, off_t bytes)
{
	const uint32_t magic = KTAU_FILE_MAGIC;
	char start[sizeof(magic)];

	if (bytes >= (off_t)sizeof(struct ktau_file_header))
		return false;
	bytes = ktau__min(bytes, sizeof(start));
	return pread(w->fd, start, bytes, 0) == bytes && !memcmp(start, &magic, bytes);
}

/* Continue an existing file after its last whole block. */
static int resume(struct ktau_writer *w)
{
	off_t bytes = lseek(w->fd, 0, SEEK_END);
	int err;

	if (bytes < 0 || lseek(w->fd, 0, SEEK_SET) < 0)
		return -errno;
	if (is_half_header(w, bytes))
		return bytes && ftruncate(w->fd, 0) ? -errno : write_header(w);
	err = find_end(w);
	if (!err && (uint64_t)bytes > w->end && ftruncate(w->fd, w->end))
		err = -errno;
	return err;
}

/* Apply @flags: 0, -errno with the reason. */
static int set_flags(struct ktau_writer *w, unsigned int flags)
{
	const unsigned int known = KTAU_WRITER_APPEND | KTAU_WRITER_ZLIB | KTAU_WRITER_ZSTD |
				   KTAU_WRITER_DELTA | KTAU_WRITER_COMPACT;
	bool zstd;

	if (flags & ~known)
		return invalid(w, "unknown flags");
	if (flags & KTAU_WRITER_COMPACT) {
		zstd = ktau_has_compression(KTAU_COMPRESS_ZSTD);
		flags |= KTAU_WRITER_DELTA | (zstd ? KTAU_WRITER_ZSTD : KTAU_WRITER_ZLIB);
	}
	w->compression = KTAU_COMPRESS_NONE;
	if (flags & KTAU_WRITER_ZLIB)
		w->compression = KTAU_COMPRESS_ZLIB;
	if (flags & KTAU_WRITER_ZSTD)
		w->compression = KTAU_COMPRESS_ZSTD;
	w->encoding = flags & KTAU_WRITER_DELTA ? KTAU_ENCODE_DELTA : KTAU_ENCODE_PLAIN;
	if (ktau_has_compression(w->compression))
		return 0;
	return ktau__fail(&w->error, -EOPNOTSUPP, "%.300s: libktau was built without zstd",
			  w->path);
}

int ktau_writer_open(struct ktau_writer *w, const char *path, unsigned int flags,
		     const uint8_t *boot_id)
{
	bool append = flags & KTAU_WRITER_APPEND;
	int err;

	close_file(w);
	w->error.text[0] = 0;
	w->path = strdup(path);
	if (!w->path)
		return fail(w, -ENOMEM);
	err = set_flags(w, flags);
	if (err)
		return err;
	if (boot_id)
		memcpy(w->boot_id, boot_id, sizeof(w->boot_id));
	else
		ktau_boot_id(w->boot_id);
	w->fd = open(path, O_RDWR | O_APPEND | O_CREAT | O_CLOEXEC | (append ? 0 : O_EXCL), 0640);
	if (w->fd < 0)
		err = -errno;
	else if (flock(w->fd, LOCK_EX | LOCK_NB))
		err = -errno;
	else
		err = append ? resume(w) : write_header(w);
	if (!err)
		return 0;
	if (!w->error.text[0])
		fail(w, err);
	if (w->fd >= 0 && !append)
		unlink(path);
	close_file(w);
	return err;
}

/*
 * Blocks
 */

/* @data compressed in w->packer, if that makes it smaller. */
static bool pack(struct ktau_writer *w, const struct ktau__buffer *data)
{
	return w->compression != KTAU_COMPRESS_NONE &&
	       !ktau__pack(&w->packer, w->compression, data->data, data->size) &&
	       w->packer.out.size < data->size;
}

/* Fill w->block with room for the header and with the payload as it is written. */
static int fill_payload(struct ktau_writer *w, struct ktau_block *block)
{
	static const uint8_t zeros[8];
	const struct ktau__buffer *payload = &w->records;
	int err;

	block->raw_bytes = payload->size;
	if (pack(w, payload)) {
		block->compression = w->compression;
		payload = &w->packer.out;
	}
	block->stored_bytes = payload->size;
	block->payload_crc = crc32(0, payload->data, payload->size);
	w->block.size = 0;
	err = ktau__buffer_append(&w->block, block, sizeof(*block));
	if (!err)
		err = ktau__buffer_append(&w->block, payload->data, payload->size);
	if (!err)
		err = ktau__buffer_append(&w->block, zeros,
					  ktau__pad8(payload->size) - payload->size);
	return err;
}

static int write_block(struct ktau_writer *w)
{
	struct ktau_block block = {
		.magic = KTAU_BLOCK_MAGIC,
		.size = sizeof(block),
		.type = KTAU_BLOCK_RECORDS,
		.encoding = w->encoding,
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
		return fail(w, err);
	block.header_crc = ktau__header_crc(&block, sizeof(block),
					    offsetof(struct ktau_block, header_crc));
	memcpy(w->block.data, &block, sizeof(block));
	err = append(w, w->block.data, w->block.size);
	if (err)
		return err;
	w->sequence++;
	start_records(w);
	w->key = false;
	return 0;
}

int ktau_writer_flush(struct ktau_writer *w, bool sync)
{
	int err;

	if (w->fd < 0)
		return fail(w, -EBADF);
	err = write_block(w);
	if (err || !sync)
		return err;
	/* A device such as /dev/null, or a file system without storage, cannot be synced. */
	if (fdatasync(w->fd) && errno != EINVAL && errno != EROFS)
		return fail(w, -errno);
	return 0;
}

uint64_t ktau_writer_drop(struct ktau_writer *w)
{
	uint64_t nr = w->nr_records;

	/* Dropped EVENT and CGROUP records are written again. A file begins with a key block. */
	start_block(w, !w->sequence);
	return nr;
}

void ktau_writer_reserve(struct ktau_writer *w, uint32_t bytes)
{
	w->reserved = bytes;
}

int ktau_writer_close(struct ktau_writer *w)
{
	int err = ktau_writer_flush(w, true);

	release(w);
	if (w->fd >= 0 && close(w->fd) && !err)
		err = fail(w, -errno);
	w->fd = -1;
	close_file(w);
	return err;
}

/*
 * Records
 */

static int check_record(struct ktau_writer *w, const union ktau_record *record)
{
	const char *why = ktau__bad_record(record);

	if (why)
		return invalid(w, why);
	if (record->rec->type == KTAU_REC_STREAM &&
	    memcmp(record->stream->boot_id, w->boot_id, sizeof(w->boot_id)))
		return ktau__fail(&w->error, -ESTALE, "%.300s: stream of another boot", w->path);
	return 0;
}

/* True if the file has an equal record since its last key block. */
static bool is_repeated(const struct ktau_writer *w, const union ktau_record *record)
{
	switch (record->rec->type) {
	case KTAU_REC_EVENT:
		return ktau__events_has(w->events, record->event);
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

/* Keep what later records depend on. */
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

/* Append @rec to the block that is being collected, as one of type @type. */
static int append_record(struct ktau_writer *w, const struct ktau_rec *rec, uint16_t type)
{
	size_t at = w->records.size;
	int err;

	if (w->encoding == KTAU_ENCODE_DELTA) {
		err = ktau__encoder_put(w->encoder, rec, type, &w->records);
	} else {
		err = ktau__buffer_append(&w->records, rec, rec->size);
		if (!err)
			((struct ktau_rec *)(w->records.data + at))->type = type;
	}
	if (!err)
		w->plain_bytes += rec->size;
	return err;
}

/* Begin a key block with INFO, unless @record is an INFO record itself. */
static int repeat_info(struct ktau_writer *w, const union ktau_record *record)
{
	if (w->records.size || !w->key || !w->info || record->rec->type == KTAU_REC_INFO)
		return 0;
	return append_record(w, &w->info->rec, KTAU_REC_INFO);
}

/* What cannot be remembered is in the file nevertheless: it may be written again. */
static int collect(struct ktau_writer *w, const union ktau_record *record, uint16_t type)
{
	int err = repeat_info(w, record);

	if (!err)
		err = append_record(w, record->rec, type);
	if (!err) {
		w->nr_records++;
		err = remember(w, record);
	}
	return err ? fail(w, err) : 0;
}

static int put(struct ktau_writer *w, const void *data, uint16_t type)
{
	const union ktau_record record = { .rec = data };
	int err;

	if (w->fd < 0)
		return fail(w, -EBADF);
	err = check_record(w, &record);
	if (err || is_repeated(w, &record))
		return err;
	if (w->records.size && w->plain_bytes + record.rec->size > BLOCK_BYTES) {
		err = write_block(w);
		if (err)
			return err;
	}
	return collect(w, &record, type);
}

int ktau_writer_key(struct ktau_writer *w)
{
	int err;

	if (w->fd < 0)
		return fail(w, -EBADF);
	err = write_block(w);
	if (!err)
		start_block(w, true);
	return err;
}

int ktau_writer_put(struct ktau_writer *w, const void *record)
{
	return put(w, record, ((const struct ktau_rec *)record)->type);
}

int ktau_writer_put_diff(struct ktau_writer *w, const struct ktau_rec_profile *diff)
{
	if (diff->rec.type != KTAU_REC_PROFILE && diff->rec.type != KTAU_REC_DIFF)
		return invalid(w, "difference that is not a profile");
	return put(w, diff, KTAU_REC_DIFF);
}

/* An INFO record of @info, without the machine's part; NULL without memory. */
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
	rec->command_serial = info->command_serial;
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
	struct ktau_rec_info *rec;
	struct utsname host;
	int err;

	if (info->flags)
		return invalid(w, "unknown flags");
	rec = make_info(info);
	if (!rec)
		return fail(w, -ENOMEM);
	err = ktau__build_id(rec->build_id, sizeof(rec->build_id));
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

uint64_t ktau_writer_bytes(const struct ktau_writer *w)
{
	return w->end;
}

const char *ktau_writer_error(const struct ktau_writer *w)
{
	return w->error.text;
}
