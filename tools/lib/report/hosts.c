// SPDX-License-Identifier: GPL-2.0-only
/* The files of many hosts: only the beginning of each is read to find out whose it is. */
#include <errno.h>
#include <fts.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>

#include <ktau.h>

#include "lib/cli.h"
#include "hosts.h"

static char *copy(const char *text)
{
	size_t bytes = strlen(text) + 1;

	return memcpy(cli_alloc(NULL, bytes, 1), text, bytes);
}

void hosts_add(struct hosts *hosts, const struct host_file *file)
{
	struct host_file *added;

	if (hosts->nr == hosts->room) {
		hosts->room = hosts->room ? hosts->room * 2 : 64;
		hosts->files = cli_alloc(hosts->files, hosts->room, sizeof(*hosts->files));
	}
	added = &hosts->files[hosts->nr++];
	*added = *file;
	added->host = copy(file->host);
	added->path = copy(file->path);
}

static void add(struct hosts *hosts, const FTSENT *entry, struct ktau_rec_stream *stream)
{
	struct host_file file = {
		.host = stream->nodename,
		.path = entry->fts_path,
		.boot_ns = stream->boot_realtime_ns ? stream->boot_realtime_ns :
			   stream->realtime_ns - stream->monotonic_ns,
		.ticks = stream->ticks,
		.size = (uint64_t)entry->fts_statp->st_size,
		.read_ticks = stream->ticks,
		.read_ns = stream->realtime_ns,
	};

	memcpy(file.boot_id, stream->boot_id, sizeof(file.boot_id));
	hosts_add(hosts, &file);
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

static int read_beginning(struct hosts *hosts, struct ktau_reader *reader, const FTSENT *entry)
{
	struct ktau_rec_stream stream;
	union ktau_record record;
	int err;

	if (ktau_reader_open_file(reader, entry->fts_path)) {
		complain("%s", ktau_reader_error(reader));
		return CLI_FAILED;
	}
	while ((err = ktau_reader_next(reader, &record)) > 0) {
		if (record.rec->type != KTAU_REC_STREAM)
			continue;
		stream = *record.stream;
		add(hosts, entry, &stream);
		return CLI_DONE;
	}
	if (err)
		cli_reader_failed(reader, err);
	return err ? CLI_FAILED : CLI_DONE;
}

static int by_path(const void *a, const void *b)
{
	const struct host_file *x = a, *y = b;

	return strcmp(x->path, y->path);
}

void hosts_sort_by_path(struct hosts *hosts)
{
	if (hosts->nr)
		qsort(hosts->files, hosts->nr, sizeof(*hosts->files), by_path);
}

static bool add_known(struct hosts *hosts, const FTSENT *entry)
{
	const struct host_file key = { .path = entry->fts_path };
	const struct hosts *known = hosts->known;
	const struct host_file *file = NULL;

	if (known && known->nr)
		file = bsearch(&key, known->files, known->nr, sizeof(key), by_path);
	if (!file)
		return false;
	hosts_add(hosts, file);
	hosts->files[hosts->nr - 1].size = (uint64_t)entry->fts_statp->st_size;
	return true;
}

static int add_file(struct hosts *hosts, const FTSENT *entry)
{
	struct ktau_reader *reader;
	int status;

	if (add_known(hosts, entry))
		return CLI_DONE;
	if (ktau_reader_create(&reader)) {
		complain("out of memory");
		return CLI_FAILED;
	}
	status = read_beginning(hosts, reader, entry);
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
		return is_recording(entry) ? add_file(hosts, entry) : CLI_DONE;
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
	return hosts_find_more(hosts, NULL, paths, nr_paths);
}

int hosts_find_more(struct hosts *hosts, const struct hosts *known, char *const *paths,
		    int nr_paths)
{
	int status = CLI_DONE, i;

	*hosts = (struct hosts){ .known = known };
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
