// SPDX-License-Identifier: LGPL-2.1-or-later
/*
 * Writing *.ktau files. Except during a write the file consists of whole blocks: what a
 * failed write leaves behind is cut off again.
 */
#include <fcntl.h>
#include <stdio.h>
#include <stdlib.h>
#include <sys/file.h>
#include <time.h>
#include <unistd.h>

#include "writer.h"

int ktau_writer_create(struct ktau_writer **writer)
{
	struct ktau_writer *w = calloc(1, sizeof(*w));

	*writer = NULL;
	if (!w)
		return -ENOMEM;
	w->fd = -1;
	if (ktau_events_create(&w->events)) {
		free(w);
		return -ENOMEM;
	}
	*writer = w;
	return 0;
}

void ktau__writer_start_block(struct ktau_writer *w, bool key)
{
	w->records.size = 0;
	w->nr_records = 0;
	w->from_ns = w->to_ns = 0;
	w->key = key;
	ktau__events_clear(w->events);
	ktau__registry_clear(&w->cgroups);
}

static void close_file(struct ktau_writer *w)
{
	if (w->fd >= 0)
		close(w->fd);
	w->fd = -1;
	free(w->path);
	w->path = NULL;
	ktau__writer_start_block(w, true);
	ktau__registry_free(&w->cgroups);
	ktau_record_free(w->info);
	w->info = NULL;
	ktau__buffer_free(&w->records);
	ktau__buffer_free(&w->checked);
	ktau__buffer_free(&w->encoded);
	ktau__buffer_free(&w->packed);
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
	free(w);
}

static uint64_t now_ns(void)
{
	struct timespec now;

	clock_gettime(CLOCK_REALTIME, &now);
	return now.tv_sec * 1000000000ULL + now.tv_nsec;
}

int ktau__writer_fail(struct ktau_writer *w, int err)
{
	return ktau__fail(&w->error, err, "%.300s: %s", w->path ? w->path : "no file open",
			  strerror(-err));
}

int ktau__writer_invalid(struct ktau_writer *w, const char *why)
{
	return ktau__fail(&w->error, -EINVAL, "%.300s: %s", w->path ? w->path : "no file open",
			  why);
}

int ktau__writer_append(struct ktau_writer *w, const void *data, size_t size)
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
	ktau__writer_fail(w, err);
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

	memcpy(header.boot_id, w->boot_id, sizeof(header.boot_id));
	return ktau__writer_append(w, &header, sizeof(header));
}

/* Why this writer cannot continue a file with these blocks: 0, -errno with *@why. */
static int check_file(const struct ktau_writer *w, const struct ktau__blocks *blocks,
		      const char **why)
{
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

/* Where the last whole block of a file ends, and its number. */
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

/* Was a writer killed while it wrote the header? Then nothing is lost by a new one. */
static bool is_half_header(struct ktau_writer *w, off_t bytes)
{
	const uint32_t magic = KTAU_FILE_MAGIC;
	char start[sizeof(magic)];

	if (bytes >= (off_t)sizeof(struct ktau_file_header))
		return false;
	bytes = ktau__min(bytes, sizeof(start));
	return pread(w->fd, start, bytes, 0) == bytes && !memcmp(start, &magic, bytes);
}

/* A file that exists: continue after its last whole block. */
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

/* @flags as the writer's settings: 0, -errno with the reason. */
static int set_flags(struct ktau_writer *w, unsigned int flags)
{
	const unsigned int known = KTAU_WRITER_APPEND | KTAU_WRITER_ZLIB | KTAU_WRITER_ZSTD |
				   KTAU_WRITER_DELTA;

	if (flags & ~known)
		return ktau__writer_invalid(w, "unknown flags");
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
		return ktau__writer_fail(w, -ENOMEM);
	err = set_flags(w, flags);
	if (err)
		return err;
	if (boot_id)
		memcpy(w->boot_id, boot_id, sizeof(w->boot_id));
	else
		ktau__boot_id(w->boot_id);
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
		ktau__writer_fail(w, err);
	if (w->fd >= 0 && !append)
		unlink(path);
	close_file(w);
	return err;
}

int ktau_writer_flush(struct ktau_writer *w, bool sync)
{
	int err;

	if (w->fd < 0)
		return ktau__writer_fail(w, -EBADF);
	err = ktau__writer_block(w);
	if (err || !sync)
		return err;
	/* A pipe or a file system without storage cannot be synced and need not. */
	if (fdatasync(w->fd) && errno != EINVAL && errno != EROFS)
		return ktau__writer_fail(w, -errno);
	return 0;
}

uint64_t ktau_writer_drop(struct ktau_writer *w)
{
	uint64_t nr = w->nr_records;

	/* What it described is described again. A file begins with a key block. */
	ktau__writer_start_block(w, !w->sequence);
	return nr;
}

int ktau_writer_close(struct ktau_writer *w)
{
	int err = ktau_writer_flush(w, true);

	if (w->fd >= 0 && close(w->fd) && !err)
		err = ktau__writer_fail(w, -errno);
	w->fd = -1;
	close_file(w);
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
