// SPDX-License-Identifier: GPL-2.0-only
/* gzip by zlib, zstd if it is built in; both allow several frames in a file. */
#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>
#include <zlib.h>
#ifdef KTAU_HAVE_ZSTD
#include <zstd.h>
#endif

#include "lib/cli.h"
#include "sink.h"

enum { BUFFER_BYTES = 1 << 16 };

/**
 * struct sink - an open file
 * @output: what the file belongs to
 * @file: the file
 * @gz: compresses into the file with zlib; NULL: it does not
 * @zstd: compresses into @file with zstd; NULL: it does not
 * @err: an errno, after an error
 */
struct sink {
	struct output *output;
	FILE *file;
	gzFile gz;
	void *zstd;
	int err;
};

const char *sink_suffix(const char *path)
{
	static const char *const suffixes[] = { ".gz", ".zst" };
	size_t i, length = path ? strlen(path) : 0, suffix;

	for (i = 0; i < sizeof(suffixes) / sizeof(*suffixes); i++) {
		suffix = strlen(suffixes[i]);
		if (length > suffix && !strcmp(path + length - suffix, suffixes[i]))
			return suffixes[i];
	}
	return "";
}

static int fail(struct sink *s, int err)
{
	if (!s->err)
		s->err = err ? err : EIO;
	return -1;
}

#ifdef KTAU_HAVE_ZSTD
static bool start_zstd(struct sink *s)
{
	s->zstd = ZSTD_createCCtx();
	if (!s->zstd)
		fail(s, ENOMEM);
	return s->zstd;
}

static int write_zstd(struct sink *s, const void *data, size_t size, ZSTD_EndDirective how)
{
	static char buffer[BUFFER_BYTES];
	ZSTD_inBuffer in = { data, size, 0 };
	ZSTD_outBuffer out;
	size_t left;

	do {
		out = (ZSTD_outBuffer){ buffer, sizeof(buffer), 0 };
		left = ZSTD_compressStream2(s->zstd, &out, &in, how);
		if (ZSTD_isError(left))
			return fail(s, EIO);
		if (fwrite(buffer, 1, out.pos, s->file) != out.pos)
			return fail(s, errno);
	} while (how == ZSTD_e_end ? left : in.pos < in.size);
	return 0;
}

static int more_zstd(struct sink *s, const void *data, size_t size)
{
	return write_zstd(s, data, size, ZSTD_e_continue);
}

static void stop_zstd(struct sink *s)
{
	write_zstd(s, NULL, 0, ZSTD_e_end);
	ZSTD_freeCCtx(s->zstd);
}
#else
static bool start_zstd(struct sink *s)
{
	fail(s, EOPNOTSUPP);
	return false;
}

static int more_zstd(struct sink *s, const void *data, size_t size)
{
	(void)data;
	(void)size;
	return fail(s, EOPNOTSUPP);
}

static void stop_zstd(struct sink *s)
{
	(void)s;
}
#endif

static bool start_gz(struct sink *s, bool append)
{
	int fd = dup(fileno(s->file));

	s->gz = fd < 0 ? NULL : gzdopen(fd, append ? "ab" : "wb");
	if (s->gz)
		return true;
	fail(s, errno);
	if (fd >= 0)
		close(fd);
	return false;
}

struct sink *sink_open(struct output *output, const char *suffix, const char *name, bool append)
{
	struct sink *s = cli_alloc(NULL, 1, sizeof(*s));

	*s = (struct sink){ .output = output };
	if (name)
		s->file = append ? output_reopen(output, name) : output_add(output, name);
	else
		s->file = output_file(output);
	if (!s->file) {
		free(s);
		return NULL;
	}
	errno = 0;
	if (!strcmp(suffix, ".gz") ? start_gz(s, append) :
				     strcmp(suffix, ".zst") || start_zstd(s))
		return s;
	sink_close(s);
	return NULL;
}

int sink_write(struct sink *s, const void *data, size_t size)
{
	if (s->err)
		return -1;
	if (s->zstd)
		return more_zstd(s, data, size);
	if (s->gz)
		return gzwrite(s->gz, data, (unsigned int)size) == (int)size ? 0 : fail(s, errno);
	return fwrite(data, 1, size, s->file) == size ? 0 : fail(s, errno);
}

int sink_close(struct sink *s)
{
	struct output *output = s->output;
	int err;

	errno = 0;
	if (s->zstd)
		stop_zstd(s);
	if (s->gz && gzclose(s->gz) != Z_OK)
		fail(s, errno);
	err = s->err ? output_fail(output, s->err) : 0;
	/* The output itself is closed with it. */
	if (s->file != output_file(output) && output_close(output, s->file))
		err = -1;
	free(s);
	return err;
}
