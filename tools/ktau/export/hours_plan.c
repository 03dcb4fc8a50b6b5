// SPDX-License-Identifier: GPL-2.0-only
/*
 * Files are read from the last key block before the end of what has been read. A new file also
 * needs the last streams of the file before it, because a period may begin in one file and end in
 * the next.
 */
#include <stdlib.h>
#include <string.h>

#include <ktau.h>

#include "lib/cli.h"
#include "hours_plan.h"

static bool same_boot(const struct host_file *a, const struct host_file *b)
{
	return !memcmp(a->boot_id, b->boot_id, sizeof(a->boot_id));
}

static bool has_grown(const struct host_file *file)
{
	return file->size > file->read_bytes;
}

/*
 * Later periods of the boot have been written, and with them the one that begins before this file
 * and ends after it. This is also true of a file that had another path.
 */
static bool is_late(const struct hours_files *known, const struct host_file *file)
{
	uint64_t until = known ? hours_files_until(known, file->boot_id) : 0;

	if (!has_grown(file))
		return false;
	return file->read_bytes ? file->read_ticks < until : until && file->ticks <= until;
}

/* Whether the key block that the time leads to is not later than what has been read. */
static bool leads_back(struct ktau_reader *reader, const struct host_file *file)
{
	union ktau_record record;

	if (ktau_reader_open_file(reader, file->path) ||
	    ktau_reader_seek_time(reader, file->read_ns, UINT64_MAX))
		return false;
	while (ktau_reader_next(reader, &record) > 0)
		if (record.rec->type == KTAU_REC_STREAM)
			return record.stream->ticks <= file->read_ticks;
	return false;
}

/* If the clock was set back, the file is read from its beginning. */
static uint64_t start_of(const struct host_file *file)
{
	struct ktau_reader *reader;
	uint64_t from_ns = 0;

	if (!file->read_bytes || ktau_reader_create(&reader))
		return 0;
	if (leads_back(reader, file))
		from_ns = file->read_ns;
	ktau_reader_destroy(reader);
	return from_ns;
}

static void add(struct hours_plan *plan, struct host_file *file)
{
	plan->files[plan->nr] = file;
	plan->paths[plan->nr] = file->path;
	plan->from_ns[plan->nr] = start_of(file);
	plan->statuses[plan->nr++] = CLI_DONE;
}

int hours_plan_init(struct hours_plan *plan, const struct hours_files *known,
		    struct host_file *files, size_t nr)
{
	struct host_file *file, *next;
	int status = CLI_DONE;

	*plan = (struct hours_plan){
		.files = cli_alloc(NULL, nr, sizeof(*plan->files)),
		.paths = cli_alloc(NULL, nr, sizeof(*plan->paths)),
		.from_ns = cli_alloc(NULL, nr, sizeof(*plan->from_ns)),
		.statuses = cli_alloc(NULL, nr, sizeof(*plan->statuses)),
	};
	for (file = files; file < files + nr; file++) {
		next = file + 1 < files + nr && same_boot(file, file + 1) ? file + 1 : NULL;
		if (is_late(known, file)) {
			complain("%s: later periods of its boot have been exported, from other "
				 "files; export all files without --after", file->path);
			status = CLI_FAILED;
		} else if (has_grown(file) ||
			   (next && !next->read_bytes && !is_late(known, next))) {
			add(plan, file);
		}
	}
	return status;
}

static bool is_of(const struct host_file *file, const struct ktau_rec_stream *stream)
{
	return !memcmp(file->boot_id, stream->boot_id, sizeof(file->boot_id));
}

/* The stream is in a file after the current one. */
static bool is_later(const struct hours_plan *plan, const struct ktau_rec_stream *stream)
{
	struct host_file *const *file = &plan->files[plan->at];

	if (!is_of(file[0], stream))
		return true;
	return is_of(file[1], stream) && file[1]->ticks <= stream->ticks;
}

void hours_plan_note(struct hours_plan *plan, const struct ktau_rec_stream *stream)
{
	struct host_file *file;

	while (plan->at + 1 < plan->nr && is_later(plan, stream))
		plan->at++;
	file = plan->files[plan->at];
	if (!is_of(file, stream))
		return;
	file->read_ticks = stream->ticks;
	file->read_ns = stream->realtime_ns;
}

void hours_plan_end(struct hours_plan *plan)
{
	int i;

	/* The next run tries a file again that could not be read to its end. */
	for (i = 0; i < plan->nr; i++)
		plan->files[i]->read_bytes = plan->statuses[i] ? 1 : plan->files[i]->size;
}

void hours_plan_deinit(struct hours_plan *plan)
{
	free(plan->files);
	free(plan->paths);
	free(plan->from_ns);
	free(plan->statuses);
}
