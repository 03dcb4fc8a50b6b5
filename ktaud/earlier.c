// SPDX-License-Identifier: GPL-2.0-only
#include <errno.h>
#include <limits.h>
#include <stdio.h>
#include <sys/stat.h>

#include <ktau.h>

#include "config.h"
#include "earlier.h"

/* Note the traces of a file, and the time of its last complete stream of traces. */
static int note_traces(struct ktau_reader *reader, struct positions *positions)
{
	uint64_t began_ticks = 0;
	union ktau_record record;
	int err = 0;

	/* A block that was being written is damaged: the file ends there. */
	while (!err && ktau_reader_next(reader, &record) > 0) {
		switch (record.rec->type) {
		case KTAU_REC_STREAM:
			began_ticks = 0;
			if (record.stream->content == KTAU_REC_TRACE)
				began_ticks = record.stream->ticks;
			break;
		case KTAU_REC_TRACE:
			err = positions_note(positions, record.trace);
			break;
		case KTAU_REC_END:
			if (began_ticks)
				positions->since_ticks = began_ticks;
			break;
		}
	}
	return err;
}

/*
 * The last complete stream is near the end of the file. The time at which the file was last
 * written leads to the key block before it, unless the clock has been set.
 */
static int note_file(const char *path, bool whole, struct positions *positions)
{
	struct ktau_reader *reader;
	uint64_t changed_ns;
	struct stat st;
	int err;

	if (stat(path, &st))
		return 0;
	changed_ns = st.st_mtim.tv_sec * NSEC_PER_SEC + st.st_mtim.tv_nsec;
	err = ktau_reader_create(&reader);
	if (err)
		return err;
	if (!ktau_reader_open_file(reader, path) &&
	    (whole || !ktau_reader_seek_time(reader, changed_ns, UINT64_MAX)))
		err = note_traces(reader, positions);
	ktau_reader_destroy(reader);
	return err;
}

/* Note the files from number @first on. */
static int note_from(const struct rotate *rotate, size_t first, const char *dir,
		     struct positions *positions)
{
	char path[PATH_MAX];
	int err = 0;
	size_t i;

	positions_clear(positions);
	for (i = first; !err && i < rotate->nr; i++) {
		if (!rotate->files[i].here)
			continue;
		snprintf(path, sizeof(path), "%s/%s", dir, rotate->files[i].name);
		err = note_file(path, i > first, positions);
		if (!err && !positions->since_ticks)
			err = note_file(path, true, positions);
	}
	return err;
}

int earlier_load(const struct rotate *rotate, const char *dir, struct positions *positions)
{
	size_t i = rotate->nr;
	int err = 0, found = 0;

	positions_clear(positions);
	while (!err && !positions->since_ticks && i--) {
		if (!rotate->files[i].here)
			continue;
		err = note_from(rotate, i, dir, positions);
		found = 1;
	}
	return err ? err : found;
}
