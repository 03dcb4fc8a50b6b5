// SPDX-License-Identifier: GPL-2.0-only
/*
 * Records as decoded by libktau, for test_abi_decoder.sh: records FILE writes them in normal
 * form to standard output, records FLAGS IN OUT copies them to a file of blocks, a block
 * for each stream. FLAGS is any of d (delta), z (zlib) and s (zstd), or - for none.
 */
#include <errno.h>
#include <stdio.h>
#include <string.h>

#include <ktau.h>

static int fail(const char *what, const char *error)
{
	fprintf(stderr, "records: %s: %s\n", what, error);
	return 1;
}

static int for_each(const char *path, int (*take)(void *arg, const union ktau_record *rec),
		    void *arg)
{
	struct ktau_reader *reader;
	union ktau_record rec;
	int err;

	if (ktau_reader_create(&reader))
		return fail(path, strerror(ENOMEM));
	err = ktau_reader_open_file(reader, path);
	while (!err && (err = ktau_reader_next(reader, &rec)) > 0)
		err = take(arg, &rec);
	if (!err && ktau_reader_damage(reader)->lost_bytes)
		err = -EBADMSG;
	if (err < 0)
		fail(path, ktau_reader_error(reader));
	ktau_reader_destroy(reader);
	return err;
}

static int print(void *arg, const union ktau_record *rec)
{
	return fwrite(rec->rec, rec->rec->size, 1, arg) == 1 ? 0 : 1;
}

static int find_boot_id(void *arg, const union ktau_record *rec)
{
	if (rec->rec->type != KTAU_REC_STREAM)
		return 0;
	memcpy(arg, rec->stream->boot_id, sizeof(rec->stream->boot_id));
	return 1;
}

static int put(void *arg, const union ktau_record *rec)
{
	int err = ktau_writer_put(arg, rec->rec);

	if (!err && rec->rec->type == KTAU_REC_END)
		err = ktau_writer_flush(arg, false);
	return err;
}

static int copy(const char *letters, const char *from, const char *to)
{
	unsigned int flags = (strchr(letters, 'd') ? KTAU_WRITER_DELTA : 0) |
			     (strchr(letters, 'z') ? KTAU_WRITER_ZLIB : 0) |
			     (strchr(letters, 's') ? KTAU_WRITER_ZSTD : 0);
	struct ktau_writer *writer;
	uint8_t boot_id[16];
	int err;

	if (strchr(letters, 's') && !ktau_has_compression(KTAU_COMPRESS_ZSTD))
		return 77;
	if (for_each(from, find_boot_id, boot_id) != 1 || ktau_writer_create(&writer))
		return 1;
	err = ktau_writer_open(writer, to, flags, boot_id);
	if (!err)
		err = for_each(from, put, writer);
	if (!err)
		err = ktau_writer_close(writer);
	if (err)
		fail(to, ktau_writer_error(writer));
	ktau_writer_destroy(writer);
	return err ? 1 : 0;
}

int main(int argc, char **argv)
{
	if (argc == 4)
		return copy(argv[1], argv[2], argv[3]);
	if (argc != 2)
		return 2;
	return for_each(argv[1], print, stdout) || fflush(stdout) ? 1 : 0;
}
