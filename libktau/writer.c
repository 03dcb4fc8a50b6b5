// SPDX-License-Identifier: LGPL-2.1-or-later
/*
 * Writing *.ktau files. The file never holds more than whole blocks for longer
 * than a write takes: what a failed write left behind is cut off again.
 */
#include <fcntl.h>
#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <sys/file.h>
#include <sys/utsname.h>
#include <time.h>
#include <unistd.h>
#include <zlib.h>

#include "internal.h"

/* Large enough to compress well, small enough to lose in a crash. */
#define BLOCK_BYTES	(256U << 10)

struct ktau_writer {
	int fd;
	bool zlib;
	uint64_t end;			/* bytes of the file that are whole */
	uint32_t sequence;
	struct ktau__buffer records;	/* not written yet */
	uint64_t nr_records;
	struct ktau__buffer block;	/* header and payload as written */
	struct ktau__buffer checked;
	char *path;
	struct ktau__error error;
};

int ktau_writer_create(struct ktau_writer **writer)
{
	struct ktau_writer *w = calloc(1, sizeof(*w));

	*writer = w;
	if (!w)
		return -ENOMEM;
	w->fd = -1;
	return 0;
}

static void leave(struct ktau_writer *w)
{
	if (w->fd >= 0)
		close(w->fd);
	w->fd = -1;
	free(w->path);
	w->path = NULL;
	ktau__buffer_free(&w->records);
	ktau__buffer_free(&w->block);
	ktau__buffer_free(&w->checked);
	w->nr_records = 0;
	w->sequence = 0;
	w->end = 0;
}

void ktau_writer_destroy(struct ktau_writer *w)
{
	if (!w)
		return;
	leave(w);
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

static int refuse(struct ktau_writer *w, const char *why)
{
	return ktau__fail(&w->error, -EINVAL, "%.300s: %s", w->path ? w->path : "no file open",
			  why);
}

/* All of it behind the last whole block, or nothing. */
static int write_whole(struct ktau_writer *w, const void *data, size_t size)
{
	size_t done = 0;
	ssize_t wrote;
	int err = 0;

	while (done < size && !err) {
		wrote = pwrite(w->fd, (const char *)data + done, size - done, w->end + done);
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
	/* A reader would stop there too, but the place is needed for the next try. */
	if (done && ftruncate(w->fd, w->end))
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

	return write_whole(w, &header, sizeof(header));
}

/* Where the last whole block of a file ends, and its number. */
static int find_end(struct ktau_writer *w)
{
	struct ktau__blocks blocks = { 0 };
	struct ktau__source source = { .fd = -1 };
	const uint8_t *payload;
	size_t size, taken;
	const char *why = NULL;
	int err;

	ktau__source_fd(&source, w->fd, false);
	err = ktau__blocks_start(&blocks, &source, &why);
	if (!err && blocks.swap) {
		why = "written in the other byte order: cannot go on in it";
		err = -EINVAL;
	}
	if (err && why)
		ktau__fail(&w->error, err, "%.300s: %s", w->path, why);
	while (!err) {
		err = ktau__blocks_next(&blocks, &source, &payload, &size, &taken);
		if (err <= 0)
			break;
		ktau__source_take(&source, taken);
		err = 0;
	}
	w->end = blocks.end;
	w->sequence = blocks.end_sequence;
	ktau__buffer_free(&blocks.inflated);
	ktau__source_close(&source);
	return err;
}

/* Did a writer die while it wrote the header? Then nothing is lost by a new one. */
static bool is_half_header(struct ktau_writer *w, off_t bytes)
{
	const uint32_t magic = KTAU_FILE_MAGIC;
	char start[sizeof(magic)];

	if (bytes >= (off_t)sizeof(struct ktau_file_header))
		return false;
	bytes = ktau__min(bytes, sizeof(start));
	return pread(w->fd, start, bytes, 0) == bytes && !memcmp(start, &magic, bytes);
}

/* A file that exists: go on behind its last whole block. */
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

int ktau_writer_open(struct ktau_writer *w, const char *path, unsigned int flags)
{
	bool append = flags & KTAU_WRITER_APPEND;
	int err;

	leave(w);
	w->error.text[0] = 0;
	w->path = strdup(path);
	if (!w->path)
		return fail(w, -ENOMEM);
	if (flags & ~(KTAU_WRITER_APPEND | KTAU_WRITER_ZLIB))
		return refuse(w, "unknown flags");
	w->zlib = flags & KTAU_WRITER_ZLIB;
	w->fd = open(path, O_RDWR | O_CREAT | O_CLOEXEC | (append ? 0 : O_EXCL), 0640);
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
	leave(w);
	return err;
}

/*
 * The payload behind the header's place: compressed if that makes it smaller. At
 * the fastest level: zlib's usual one costs twice as much and gains an eighth.
 */
static int fill_payload(struct ktau_writer *w, struct ktau_block *block)
{
	uLongf bytes = compressBound(w->records.size);
	bool packed = false;
	uint8_t *to;
	int err;

	err = ktau__buffer_reserve(&w->block, sizeof(*block) + bytes + 8);
	if (err)
		return err;
	to = w->block.data + sizeof(*block);
	if (w->zlib)
		packed = compress2(to, &bytes, w->records.data, w->records.size,
				   Z_BEST_SPEED) == Z_OK;
	if (packed && bytes < w->records.size) {
		block->flags = KTAU_BLOCK_ZLIB;
		block->stored_bytes = bytes;
	} else {
		memcpy(to, w->records.data, w->records.size);
		block->stored_bytes = w->records.size;
	}
	block->payload_crc = crc32(0, to, block->stored_bytes);
	to += block->stored_bytes;
	memset(to, 0, ktau__pad8(block->stored_bytes) - block->stored_bytes);
	return 0;
}

static int write_block(struct ktau_writer *w)
{
	struct ktau_block block = {
		.magic = KTAU_BLOCK_MAGIC,
		.type = KTAU_BLOCK_RECORDS,
		.raw_bytes = w->records.size,
		.sequence = w->sequence,
	};
	int err;

	if (!w->records.size)
		return 0;
	err = fill_payload(w, &block);
	if (err)
		return fail(w, err);
	block.header_crc = ktau__block_crc(&block);
	memcpy(w->block.data, &block, sizeof(block));
	err = write_whole(w, w->block.data, sizeof(block) + ktau__pad8(block.stored_bytes));
	if (err)
		return err;
	w->sequence++;
	w->records.size = 0;
	w->nr_records = 0;
	return 0;
}

static int put(struct ktau_writer *w, const void *record, uint16_t type)
{
	const struct ktau_rec *rec = record;
	const char *why;
	int err = 0;

	if (w->fd < 0)
		return fail(w, -EBADF);
	why = ktau__bad_rec(rec);
	if (!why) {
		why = "record of a type that files have not";
		err = ktau__decode(record, false, &w->checked, &why);
	}
	if (err == -ENOMEM)
		return fail(w, err);
	if (err > 0 && w->checked.size > KTAU_BLOCK_MAX) {
		why = "record too large";
		err = 0;
	}
	if (err <= 0)
		return refuse(w, why);
	((struct ktau_rec *)w->checked.data)->type = type;
	if (w->records.size && w->records.size + w->checked.size > BLOCK_BYTES) {
		err = write_block(w);
		if (err)
			return err;
	}
	err = ktau__buffer_append(&w->records, w->checked.data, w->checked.size);
	if (err)
		return fail(w, err);
	w->nr_records++;
	return 0;
}

int ktau_writer_put(struct ktau_writer *w, const void *record)
{
	return put(w, record, ((const struct ktau_rec *)record)->type);
}

int ktau_writer_put_diff(struct ktau_writer *w, const struct ktau_rec_profile *diff)
{
	if (diff->rec.type != KTAU_REC_PROFILE && diff->rec.type != KTAU_REC_DIFF)
		return refuse(w, "difference that is no profile");
	return put(w, diff, KTAU_REC_DIFF);
}

int ktau_writer_put_event(struct ktau_writer *w, const struct ktau_event *event)
{
	uint8_t record[KTAU__EVENT_BYTES];

	if (!ktau__event_record(event, record))
		return refuse(w, "event with an impossible name");
	return put(w, record, KTAU_REC_EVENT);
}

int ktau_writer_put_info(struct ktau_writer *w, const struct ktau_info *info)
{
	const char *command = info->command ? info->command : "";
	const char *symbols = info->symbols ? info->symbols : "";
	struct ktau_rec_info *rec;
	struct utsname host;
	size_t size;
	int err;

	size = sizeof(*rec) + ktau__pad8(strlen(command) + strlen(symbols) + 2);
	if (size > KTAU_BLOCK_MAX)
		return refuse(w, "texts too long");
	rec = calloc(1, size);
	if (!rec)
		return fail(w, -ENOMEM);
	rec->rec = (struct ktau_rec){
		.size = size, .type = KTAU_REC_INFO, .head = sizeof(*rec),
	};
	rec->created_ns = now_ns();
	rec->period_ns = info->period_ns;
	rec->stext = info->stext;
	rec->command_bytes = strlen(command) + 1;
	rec->symbols_bytes = strlen(symbols) + 1;
	err = ktau_build_id(rec->build_id, sizeof(rec->build_id));
	rec->build_id_bytes = err > 0 ? err : 0;
	if (!uname(&host)) {
		snprintf(rec->hostname, sizeof(rec->hostname), "%s", host.nodename);
		snprintf(rec->release, sizeof(rec->release), "%s", host.release);
		snprintf(rec->machine, sizeof(rec->machine), "%s", host.machine);
	}
	memcpy(rec + 1, command, rec->command_bytes);
	memcpy((char *)(rec + 1) + rec->command_bytes, symbols, rec->symbols_bytes);
	err = put(w, rec, KTAU_REC_INFO);
	free(rec);
	return err;
}

int ktau_writer_flush(struct ktau_writer *w, bool sync)
{
	int err;

	if (w->fd < 0)
		return fail(w, -EBADF);
	err = write_block(w);
	if (err || !sync)
		return err;
	/* A pipe or a file system without storage cannot be synced and need not. */
	if (fdatasync(w->fd) && errno != EINVAL && errno != EROFS)
		return fail(w, -errno);
	return 0;
}

uint64_t ktau_writer_drop(struct ktau_writer *w)
{
	uint64_t nr = w->nr_records;

	w->records.size = 0;
	w->nr_records = 0;
	return nr;
}

int ktau_writer_close(struct ktau_writer *w)
{
	int err = ktau_writer_flush(w, true);

	if (w->fd >= 0 && close(w->fd) && !err)
		err = fail(w, -errno);
	w->fd = -1;
	leave(w);
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
