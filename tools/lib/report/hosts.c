// SPDX-License-Identifier: GPL-2.0-only
/* The files of many hosts: only the beginning of each is read to find out whose it is. */
#include <errno.h>
#include <fts.h>
#include <stdlib.h>
#include <string.h>

#include <ktau.h>

#include "lib/cli.h"
#include "hosts.h"

static char *copy(const char *text)
{
	size_t bytes = strlen(text) + 1;

	return memcpy(cli_alloc(NULL, bytes, 1), text, bytes);
}

static void add(struct hosts *hosts, const char *path, const struct ktau_rec_stream *stream)
{
	if (hosts->nr == hosts->room) {
		hosts->room = hosts->room ? hosts->room * 2 : 64;
		hosts->files = cli_alloc(hosts->files, hosts->room, sizeof(*hosts->files));
	}
	hosts->files[hosts->nr++] = (struct host_file){
		.host = copy(stream->nodename),
		.path = copy(path),
		.boot_ns = stream->boot_realtime_ns ? stream->boot_realtime_ns :
			   stream->realtime_ns - stream->monotonic_ns,
		.ticks = stream->ticks,
	};
	memcpy(hosts->files[hosts->nr - 1].boot_id, stream->boot_id, sizeof(stream->boot_id));
}

bool host_is_selected(struct host_filter *filter, const struct ktau_rec_stream *stream)
{
	const struct hosts *files = filter->files;
	size_t i;

	if (!filter->host)
		return true;
	if (!strcmp(filter->host, stream->nodename)) {
		memcpy(filter->boot_id, stream->boot_id, sizeof(filter->boot_id));
		filter->has_boot = true;
		return true;
	}
	if (filter->has_boot &&
	    !memcmp(filter->boot_id, stream->boot_id, sizeof(filter->boot_id)))
		return true;
	for (i = 0; files && i < files->nr; i++)
		if (!memcmp(files->files[i].boot_id, stream->boot_id, sizeof(stream->boot_id)))
			return true;
	return false;
}

static int read_beginning(struct hosts *hosts, struct ktau_reader *reader, const char *path)
{
	union ktau_record record;
	int err;

	if (ktau_reader_open_file(reader, path)) {
		complain("%s", ktau_reader_error(reader));
		return CLI_FAILED;
	}
	while ((err = ktau_reader_next(reader, &record)) > 0) {
		if (record.rec->type != KTAU_REC_STREAM)
			continue;
		add(hosts, path, record.stream);
		return CLI_DONE;
	}
	if (err)
		cli_reader_failed(reader, err);
	return err ? CLI_FAILED : CLI_DONE;
}

static int add_file(struct hosts *hosts, const char *path)
{
	struct ktau_reader *reader;
	int status;

	if (ktau_reader_create(&reader)) {
		complain("out of memory");
		return CLI_FAILED;
	}
	status = read_beginning(hosts, reader, path);
	ktau_reader_destroy(reader);
	return status;
}

static bool is_recording(const FTSENT *entry)
{
	size_t n = strlen(entry->fts_name);

	return entry->fts_level == 0 ||
	       (n > 5 && !strcmp(entry->fts_name + n - 5, ".ktau"));
}

static int visit(struct hosts *hosts, const FTSENT *entry)
{
	switch (entry->fts_info) {
	case FTS_DNR:
	case FTS_ERR:
	case FTS_NS:
		complain("cannot read %s: %s", entry->fts_path, strerror(entry->fts_errno));
		return CLI_FAILED;
	case FTS_F:
		return is_recording(entry) ? add_file(hosts, entry->fts_path) : CLI_DONE;
	case FTS_DEFAULT:
	case FTS_SLNONE:
		/* Each file is read twice, which a pipe does not permit. */
		if (entry->fts_level)
			return CLI_DONE;
		complain("cannot read %s: %s", entry->fts_path,
			 entry->fts_info == FTS_DEFAULT ? "neither a file nor a directory" :
							  strerror(ENOENT));
		return CLI_FAILED;
	default:
		return CLI_DONE;
	}
}

static int find_one(struct hosts *hosts, char *path)
{
	char *const argv[] = { path, NULL };
	FTS *fts = fts_open(argv, FTS_PHYSICAL | FTS_NOCHDIR | FTS_COMFOLLOW, NULL);
	int status = CLI_DONE;
	FTSENT *entry;

	if (!fts) {
		complain("cannot read %s: %s", path, strerror(errno));
		return CLI_FAILED;
	}
	while ((entry = fts_read(fts)))
		status |= visit(hosts, entry);
	fts_close(fts);
	return status;
}

static int by_boot_and_time(const void *a, const void *b)
{
	const struct host_file *x = a, *y = b;
	int order = memcmp(x->boot_id, y->boot_id, sizeof(x->boot_id));

	if (order)
		return order;
	return x->ticks < y->ticks ? -1 : x->ticks > y->ticks;
}

static int by_host_and_time(const void *a, const void *b)
{
	const struct host_file *x = a, *y = b;
	int order = strcmp(x->host, y->host);

	if (order)
		return order;
	if (memcmp(x->boot_id, y->boot_id, sizeof(x->boot_id)) && x->boot_ns != y->boot_ns)
		return x->boot_ns < y->boot_ns ? -1 : 1;
	order = by_boot_and_time(a, b);
	return order ? order : strcmp(x->path, y->path);
}

/* All files of a boot are of one host, whatever it was called at first. */
static void name_boots(struct hosts *hosts)
{
	struct host_file *file, *next;
	size_t i;

	qsort(hosts->files, hosts->nr, sizeof(*hosts->files), by_boot_and_time);
	for (i = hosts->nr - 1; i--;) {
		file = &hosts->files[i];
		next = file + 1;
		if (memcmp(file->boot_id, next->boot_id, sizeof(file->boot_id)) ||
		    !strcmp(file->host, next->host))
			continue;
		free(file->host);
		file->host = copy(next->host);
	}
}

int hosts_find(struct hosts *hosts, char *const *paths, int nr_paths)
{
	int status = CLI_DONE, i;

	*hosts = (struct hosts){ .files = NULL };
	for (i = 0; i < nr_paths; i++)
		status |= find_one(hosts, paths[i]);
	if (hosts->nr) {
		name_boots(hosts);
		qsort(hosts->files, hosts->nr, sizeof(*hosts->files), by_host_and_time);
	}
	return status;
}

void hosts_deinit(struct hosts *hosts)
{
	while (hosts->nr) {
		free(hosts->files[--hosts->nr].host);
		free(hosts->files[hosts->nr].path);
	}
	free(hosts->files);
}

size_t hosts_run(const struct hosts *hosts, size_t first)
{
	size_t end = first;

	while (end < hosts->nr && !strcmp(hosts->files[end].host, hosts->files[first].host))
		end++;
	return end - first;
}

char **hosts_paths(const struct hosts *hosts, size_t first, size_t nr)
{
	char **paths = cli_alloc(NULL, nr, sizeof(*paths));
	size_t i;

	for (i = 0; i < nr; i++)
		paths[i] = hosts->files[first + i].path;
	return paths;
}
