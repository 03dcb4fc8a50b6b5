// SPDX-License-Identifier: GPL-2.0-only
/*
 * A file has the lines "ktau-user 1", "boot ID", "serial NUMBER", "pid NUMBER" and "tid
 * NUMBER", and then "region NUMBER PARENT NAME" for each region and "event NUMBER NAME" for
 * each event of a trace. Programs write these files, so nothing in them is trusted; a line that
 * makes no sense is skipped.
 */
#include <dirent.h>
#include <errno.h>
#include <fcntl.h>
#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "../../../libktau/user/trace_format.h"
#include "lib/cli.h"
#include "region_names.h"

#define NR_REGIONS	KTAU_REGIONS_MAX
#define NR_EVENTS	KTAU__TRACE_EVENTS

/* The library writes less than 100 KiB; a larger file is not read. */
#define MAX_BYTES	(1 << 20)

struct named {
	uint64_t serial;	/* first, for by_serial() */
	uint32_t parent[NR_REGIONS];
	char *name[NR_REGIONS];
	char *event[NR_EVENTS];
};

struct region_names {
	struct named *thread;
	size_t nr;
	char boot[37];
};

void region_names_boot(char text[37], const uint8_t *id)
{
	static const char dash[] = { 4, 6, 8, 10 };
	int i, at = 0;

	for (i = 0; i < 16; i++) {
		if (memchr(dash, i, sizeof(dash)))
			text[at++] = '-';
		at += snprintf(text + at, 3, "%02x", id[i]);
	}
}

static void take_region(struct named *thread, const char *line)
{
	uint32_t region, parent;
	int at = 0;

	/* A region is entered after the region that it is in, so there is no circle. */
	if (sscanf(line, "region %" SCNu32 " %" SCNu32 " %n", &region, &parent, &at) != 2 || !at ||
	    region >= NR_REGIONS || parent >= region || thread->name[region])
		return;
	thread->parent[region] = parent;
	thread->name[region] = strndup(line + at, strcspn(line + at, "\n"));
}

static void take_event(struct named *thread, const char *line)
{
	uint32_t event;
	int at = 0;

	if (sscanf(line, "event %" SCNu32 " %n", &event, &at) == 1 && at && event < NR_EVENTS &&
	    !thread->event[event])
		thread->event[event] = strndup(line + at, strcspn(line + at, "\n"));
}

static void free_names(struct named *thread)
{
	int i;

	for (i = 0; i < NR_REGIONS; i++)
		free(thread->name[i]);
	for (i = 0; i < NR_EVENTS; i++)
		free(thread->event[i]);
}

static void take_file(struct region_names *names, FILE *file)
{
	struct named thread = { 0 };
	char line[512], boot[37];
	bool fits = false;

	if (!fgets(line, sizeof(line), file) || strcmp(line, "ktau-user 1\n"))
		return;
	while (fgets(line, sizeof(line), file)) {
		if (sscanf(line, "boot %36s", boot) == 1)
			fits = !strcmp(boot, names->boot);
		sscanf(line, "serial %" SCNu64, &thread.serial);
		take_region(&thread, line);
		take_event(&thread, line);
	}
	if (fits && thread.serial) {
		names->thread = cli_alloc(names->thread, names->nr + 1, sizeof(thread));
		names->thread[names->nr++] = thread;
		return;
	}
	free_names(&thread);
}

static FILE *open_file(DIR *dir, const char *name)
{
	int fd = openat(dirfd(dir), name, O_RDONLY | O_NOFOLLOW | O_NONBLOCK | O_CLOEXEC);
	FILE *file = NULL;
	struct stat st;

	if (fd < 0)
		return NULL;
	if (!fstat(fd, &st) && S_ISREG(st.st_mode) && st.st_size <= MAX_BYTES)
		file = fdopen(fd, "r");
	if (!file)
		close(fd);
	return file;
}

/* Compares the serials at two addresses. */
static int by_serial(const void *a, const void *b)
{
	const uint64_t x = *(const uint64_t *)a, y = *(const uint64_t *)b;

	return (x > y) - (x < y);
}

/* Whether no other file has the serial of thread @i. */
static bool is_unique(const struct region_names *names, size_t i)
{
	const struct named *t = &names->thread[i];

	return (!i || t[-1].serial != t->serial) &&
	       (i + 1 == names->nr || t[1].serial != t->serial);
}

/* Two files have the same serial if one is a copy, or of the program before an exec. */
static void report_doubles(const struct region_names *names, const char *path)
{
	size_t i, nr = 0;

	for (i = 0; i < names->nr; i++)
		nr += !is_unique(names, i);
	if (nr)
		complain("%s: %zu files of names are not used, because several have the same "
			 "serial", path, nr);
}

struct region_names *region_names_load(const char *path, const struct ktau_rec_stream *stream)
{
	struct region_names *names = cli_alloc(NULL, 1, sizeof(*names));
	DIR *dir = opendir(path);
	struct dirent *entry;
	FILE *file;

	*names = (struct region_names){ 0 };
	region_names_boot(names->boot, stream->boot_id);
	if (!dir) {
		complain("cannot open %s: %s", path, strerror(errno));
		return names;
	}
	while ((entry = readdir(dir))) {
		if (strncmp(entry->d_name, "ktau-user.", 10))
			continue;
		file = open_file(dir, entry->d_name);
		if (!file)
			continue;
		take_file(names, file);
		fclose(file);
	}
	closedir(dir);
	if (names->nr)
		qsort(names->thread, names->nr, sizeof(*names->thread), by_serial);
	report_doubles(names, path);
	return names;
}

void region_names_free(struct region_names *names)
{
	size_t i;

	for (i = 0; i < names->nr; i++)
		free_names(&names->thread[i]);
	free(names->thread);
	free(names);
}

static const struct named *find(const struct region_names *names, uint64_t serial)
{
	const struct named *thread = NULL;

	if (names->nr)
		thread = bsearch(&serial, names->thread, names->nr, sizeof(*thread), by_serial);
	return thread && is_unique(names, (size_t)(thread - names->thread)) ? thread : NULL;
}

/* Put the names from the outermost region to @region into @path. */
static void put_path(const struct named *thread, uint32_t region, char *path, size_t bytes)
{
	size_t used;

	*path = 0;
	if (thread->parent[region])
		put_path(thread, thread->parent[region], path, bytes);
	used = strlen(path);
	snprintf(path + used, bytes - used, "%s%s", used ? " => " : "",
		 thread->name[region] ? thread->name[region] : "?");
}

void region_names_path(const struct region_names *names, uint64_t serial, uint32_t region,
		       char *path, size_t bytes)
{
	const struct named *thread = find(names, serial);

	if (thread && region < NR_REGIONS && thread->name[region])
		put_path(thread, region, path, bytes);
	else
		snprintf(path, bytes, "region %" PRIu32, region);
}

const char *region_names_region(const struct region_names *names, uint64_t serial,
				uint32_t region, uint32_t *parent)
{
	const struct named *thread = find(names, serial);

	*parent = 0;
	if (!thread || region >= NR_REGIONS || !thread->name[region] || !*thread->name[region])
		return NULL;
	*parent = thread->parent[region];
	return thread->name[region];
}

const char *region_names_event(const struct region_names *names, uint64_t serial, uint32_t event)
{
	const struct named *thread = find(names, serial);

	if (!thread || event >= NR_EVENTS || !thread->event[event] || !*thread->event[event])
		return NULL;
	return thread->event[event];
}
