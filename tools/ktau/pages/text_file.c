// SPDX-License-Identifier: GPL-2.0-only
/*
 * zlib reads gzip, and what is not compressed as it is. The latter may be zstd, which begins with
 * four bytes that no text has.
 */
#include <errno.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>
#include <zlib.h>
#ifdef KTAU_HAVE_ZSTD
#include <zstd.h>
#endif

#include "lib/cli.h"
#include "text_file.h"

/* Larger than any line or record. */
enum { BUFFER_BYTES = 1 << 16 };

static const unsigned char zstd_magic[] = { 0x28, 0xb5, 0x2f, 0xfd };

/* The bytes of @data from @at to @end have not been used. */
struct buffer {
	char data[BUFFER_BYTES];
	size_t at, end;
};

/**
 * struct text_file - an open file
 * @file: the file, as zlib reads it
 * @in: what was read from it
 * @out: the same without zstd, if @is_zstd
 * @is_zstd: the file is compressed with zstd
 * @zstd: state of that; NULL: none
 * @in_frame: a frame of zstd has begun, but not ended
 * @has_more: zstd had no room for all that it could write
 * @problem: an error other than those of zlib
 */
struct text_file {
	gzFile file;
	struct buffer in, out;
	bool is_zstd;
	void *zstd;
	bool in_frame, has_more;
	const char *problem;
};

/* Read more into @in. Return: false at the end. */
static bool read_more(struct text_file *f)
{
	struct buffer *in = &f->in;
	int bytes;

	memmove(in->data, in->data + in->at, in->end - in->at);
	in->end -= in->at;
	in->at = 0;
	bytes = gzread(f->file, in->data + in->end, (unsigned int)(BUFFER_BYTES - in->end));
	in->end += bytes > 0 ? (size_t)bytes : 0;
	return bytes > 0;
}

#ifdef KTAU_HAVE_ZSTD
static void start_zstd(struct text_file *f)
{
	f->zstd = ZSTD_createDCtx();
	if (!f->zstd)
		f->problem = strerror(ENOMEM);
}

static void stop_zstd(struct text_file *f)
{
	ZSTD_freeDCtx(f->zstd);
}

/* Decompress more into @out, whose bytes have all been used but a few. */
static bool unpack_more(struct text_file *f)
{
	struct buffer *in = &f->in, *out = &f->out;
	ZSTD_inBuffer from;
	ZSTD_outBuffer to;
	size_t left;

	memmove(out->data, out->data + out->at, out->end - out->at);
	to = (ZSTD_outBuffer){ out->data, BUFFER_BYTES, out->end - out->at };
	out->end = to.pos;
	out->at = 0;
	while (!f->problem && to.pos == out->end) {
		if (in->at == in->end && !f->has_more && !read_more(f)) {
			if (f->in_frame)
				f->problem = "truncated";
			return false;
		}
		from = (ZSTD_inBuffer){ in->data, in->end, in->at };
		left = ZSTD_decompressStream(f->zstd, &to, &from);
		in->at = from.pos;
		f->in_frame = left;
		f->has_more = to.pos == to.size;
		if (ZSTD_isError(left))
			f->problem = ZSTD_getErrorName(left);
	}
	out->end = to.pos;
	return !f->problem;
}
#else
static void start_zstd(struct text_file *f)
{
	f->problem = "compressed with zstd: install libzstd-dev and rebuild ktau";
}

static void stop_zstd(struct text_file *f)
{
	(void)f;
}

static bool unpack_more(struct text_file *f)
{
	(void)f;
	return false;
}
#endif

struct text_file *text_file_open(const char *path)
{
	gzFile file = strcmp(path, "-") ? gzopen(path, "rb") : gzdopen(STDIN_FILENO, "rb");
	struct text_file *f;

	if (!file)
		return NULL;
	f = cli_alloc(NULL, 1, sizeof(*f));
	memset(f, 0, sizeof(*f));
	f->file = file;
	while (f->in.end < sizeof(zstd_magic) && read_more(f))
		;
	f->is_zstd = f->in.end >= sizeof(zstd_magic) &&
		     !memcmp(f->in.data, zstd_magic, sizeof(zstd_magic));
	if (f->is_zstd)
		start_zstd(f);
	return f;
}

void text_file_close(struct text_file *f)
{
	stop_zstd(f);
	gzclose(f->file);
	free(f);
}

static struct buffer *text_of(struct text_file *f)
{
	return f->is_zstd ? &f->out : &f->in;
}

/* Read more text. Return: false at the end. */
static bool more(struct text_file *f)
{
	return f->is_zstd ? unpack_more(f) : read_more(f);
}

size_t text_file_peek(struct text_file *f, void *to, size_t size)
{
	const struct buffer *b = text_of(f);
	size_t bytes;

	while (b->end - b->at < size && more(f))
		;
	bytes = b->end - b->at < size ? b->end - b->at : size;
	memcpy(to, b->data + b->at, bytes);
	return bytes;
}

size_t text_file_read(struct text_file *f, void *to, size_t size)
{
	size_t bytes = text_file_peek(f, to, size);

	text_of(f)->at += bytes;
	return bytes;
}

bool text_file_line(struct text_file *f, char *line, size_t size)
{
	struct buffer *b = text_of(f);
	const char *end;
	size_t bytes;

	/* One from a pipe does not wait for the next one. */
	do {
		bytes = b->end - b->at < size - 1 ? b->end - b->at : size - 1;
		end = memchr(b->data + b->at, '\n', bytes);
	} while (!end && bytes < size - 1 && more(f));
	if (end)
		bytes = (size_t)(end + 1 - (b->data + b->at));
	memcpy(line, b->data + b->at, bytes);
	line[bytes] = '\0';
	b->at += bytes;
	return bytes;
}

const char *text_file_error(const struct text_file *f)
{
	const char *reason;
	int number;

	if (f->problem)
		return f->problem;
	reason = gzerror(f->file, &number);
	if (number == Z_OK || number == Z_STREAM_END)
		return NULL;
	return number == Z_ERRNO ? strerror(errno) : reason;
}

bool text_file_is_zstd(const struct text_file *f)
{
	return f->is_zstd;
}
