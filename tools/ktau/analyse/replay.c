// SPDX-License-Identifier: GPL-2.0-only
/*
 * An index of the streams in files, which grows as later streams are asked for. A period needs two
 * streams, and the streams that the earlier one is relative to. Reading starts at the last key
 * block before it, which is found from the headers of blocks, and ends with the period.
 */
#include <errno.h>
#include <stdlib.h>
#include <string.h>

#include "lib/cli.h"
#include "replay.h"
#include "source.h"

/* Records to index at a time: the whole of a small file, and a moment's work in a large one. */
enum { AT_ONCE = 100000 };

/**
 * struct replay_stream - a profile stream
 * @realtime_ns: its time
 * @ticks: its time in ticks, which identifies it within a file
 * @file: index of its file
 */
struct replay_stream {
	uint64_t realtime_ns, ticks;
	int file;
};

static bool is_mine(struct host_filter *host, const union ktau_record *record)
{
	return record->rec->type == KTAU_REC_STREAM &&
	       record->stream->content == KTAU_REC_PROFILE &&
	       host_is_selected(host, record->stream);
}

static void put_stream(struct replay *r, const struct ktau_rec_stream *stream, int file)
{
	if (r->nr == r->room) {
		r->room = r->room ? 2 * r->room : 64;
		r->streams = cli_alloc(r->streams, r->room, sizeof(*r->streams));
	}
	r->streams[r->nr++] =
		(struct replay_stream){ stream->realtime_ns, stream->ticks, file };
}

/* Open the next file: 0, or -1 if there is none. A file that cannot be opened is skipped. */
static int next_file(struct replay *r)
{
	for (; r->file < r->nr_files; r->file++) {
		if (ktau_reader_create(&r->reader)) {
			complain("out of memory");
			return -1;
		}
		if (!ktau_reader_open_file(r->reader, r->files[r->file]))
			return 0;
		complain("%s", ktau_reader_error(r->reader));
		ktau_reader_destroy(r->reader);
	}
	r->reader = NULL;
	return -1;
}

static void end_file(struct replay *r, int err)
{
	if (err)
		source_failed(r->reader, r->files[r->file], err);
	ktau_reader_destroy(r->reader);
	r->reader = NULL;
	r->file++;
}

/* Read the next record of the files. Return: whether there may be more. */
static bool index_record(struct replay *r)
{
	union ktau_record record;
	int err;

	if (!r->reader && next_file(r))
		return false;
	err = ktau_reader_next(r->reader, &record);
	if (err <= 0) {
		end_file(r, err);
		return true;
	}
	r->traces += record.rec->type == KTAU_REC_TRACE;
	if (is_mine(&r->host, &record))
		put_stream(r, record.stream, r->file);
	return true;
}

bool replay_find(struct replay *r, uint64_t number)
{
	struct progress progress = { 0 };
	uint64_t records = 0;

	while (!r->complete && (r->nr < number || records < AT_ONCE)) {
		r->complete = !index_record(r);
		progress_step(&progress, r->files[0], ++records);
	}
	progress_end(&progress);
	return r->nr >= number;
}

void replay_init(struct replay *r, char *const *files, int nr_files, const char *host)
{
	*r = (struct replay){ .files = files, .nr_files = nr_files, .host.host = host };
}

void replay_deinit(struct replay *r)
{
	ktau_reader_destroy(r->reader);
	free(r->streams);
}

/* The number of a stream of @file after @last; 0 if it was added after the index was built. */
static uint64_t number_of(const struct replay *r, int file, uint64_t ticks, uint64_t last)
{
	uint64_t i;

	for (i = last; i < r->nr; i++)
		if (r->streams[i].file == file && r->streams[i].ticks == ticks)
			return i + 1;
	return 0;
}

/* Read the part of @file that the period needs. The streams before it count as read. */
static int read_part(const struct replay *r, int file, struct period *period,
		     struct ktau_reader *reader)
{
	uint64_t end = period->reading.select->number, number;
	struct host_filter host = r->host;
	union ktau_record record;
	int err;

	while ((err = ktau_reader_next(reader, &record)) > 0) {
		if (is_mine(&host, &record)) {
			number = number_of(r, file, record.stream->ticks, period->streams);
			if (!number || number > end)
				return 0;
			period->streams = number - 1;
		}
		err = period_put(period, reader, &record);
		if (err)
			return err;
	}
	/* Damage has already been reported. */
	return err == -EBADMSG ? 0 : err;
}

static int read_one(const struct replay *r, int file, struct period *period,
		    struct ktau_reader *reader)
{
	uint64_t end = period->reading.select->number;
	const struct replay_stream *to = &r->streams[end - 1], *from = to - (end > 1);
	int err = ktau_reader_open_file(reader, r->files[file]);

	if (err)
		return err;
	if (file == from->file)
		period_skip_to(period, reader, from->realtime_ns);
	return read_part(r, file, period, reader);
}

/* Read the files from @file to the one in which the period ends. */
static int read_files(const struct replay *r, int file, struct period *period,
		      struct ktau_reader **reader)
{
	int last = r->streams[period->reading.select->number - 1].file, err = 0;

	for (; !err && file <= last; file++) {
		ktau_reader_destroy(*reader);
		*reader = NULL;
		err = ktau_reader_create(reader);
		if (!err)
			err = read_one(r, file, period, *reader);
	}
	return err;
}

int replay_read(const struct replay *r, uint64_t number, struct period *period,
		struct ktau_reader **reader)
{
	const struct period_select select = {
		.choice = PERIOD_NUMBER, .number = number, .host = r->host.host,
	};
	int first = r->streams[number > 1 ? number - 2 : 0].file, err;

	period_start(period, &select, 0);
	err = read_files(r, first, period, reader);
	if (!err && period_needs_all(period)) {
		period_restart(period);
		err = read_files(r, 0, period, reader);
	}
	period_stop(period);
	period->reading.select = NULL;
	return err ? err : period->last == number ? 0 : -ENODATA;
}
