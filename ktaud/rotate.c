// SPDX-License-Identifier: GPL-2.0-only
#include <ctype.h>
#include <dirent.h>
#include <errno.h>
#include <fcntl.h>
#include <inttypes.h>
#include <limits.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <time.h>
#include <unistd.h>

#include <ktau.h>
#include <ktau_file.h>

#include "config.h"
#include "rotate.h"

/* The part after "HOST-"; 'd' stands for a digit. */
#define PATTERN		"ddddddddTdddddd.dddZ.ktau"

void rotate_init(struct rotate *rotate, const char *hostname)
{
	memset(rotate, 0, sizeof(*rotate));
	ktau_boot_id(rotate->boot_id);	/* zeros if it is unknown */
	rotate_set_host(rotate, hostname);
}

void rotate_set_host(struct rotate *rotate, const char *hostname)
{
	char *c;

	snprintf(rotate->host, sizeof(rotate->host), "%s", *hostname ? hostname : "unknown");
	for (c = rotate->host; *c; c++)
		if (!isalnum((unsigned char)*c) && !strchr("._-", *c))
			*c = '_';
	if (rotate->host[0] == '.')
		rotate->host[0] = '_';
}

void rotate_deinit(struct rotate *rotate)
{
	while (rotate->nr)
		free(rotate->files[--rotate->nr].name);
	free(rotate->files);
	rotate->files = NULL;
}

/* True for the part of a name after "HOST-". */
static bool is_stamp(const char *name)
{
	const char *p = PATTERN;

	for (; *p && *name; p++, name++)
		if (*p == 'd' ? !isdigit((unsigned char)*name) : *p != *name)
			return false;
	return !*p && !*name;
}

/* True if @name is one that ktaud creates, for any host. */
static bool is_ktaud(const char *name)
{
	size_t length = strlen(name), stamp = sizeof(PATTERN) - 1;

	return length > stamp + 1 && name[length - stamp - 1] == '-' &&
	       is_stamp(name + length - stamp);
}

bool rotate_is_ours(const struct rotate *rotate, const char *name)
{
	size_t host = strlen(rotate->host);

	return !strncmp(name, rotate->host, host) && name[host] == '-' &&
	       is_stamp(name + host + 1);
}

void rotate_name(const struct rotate *rotate, uint64_t realtime_ns, char *name)
{
	time_t seconds = realtime_ns / NSEC_PER_SEC;
	unsigned int ms = realtime_ns % NSEC_PER_SEC / 1000000;
	char stamp[32];
	struct tm tm;

	gmtime_r(&seconds, &tm);
	strftime(stamp, sizeof(stamp), "%Y%m%dT%H%M%S", &tm);
	snprintf(name, ROTATE_NAME, "%s-%s.%03uZ.ktau", rotate->host, stamp, ms);
}

/* Take the times of the first stream. */
static void read_stream(struct rotate_file *file, const char *path)
{
	const struct ktau_rec_stream *stream = NULL;
	struct ktau_reader *reader;
	union ktau_record record;

	if (ktau_reader_create(&reader))
		return;
	if (!ktau_reader_open_file(reader, path))
		while (!stream && ktau_reader_next(reader, &record) > 0)
			stream = ktau_reader_stream(reader);
	if (stream) {
		file->ticks = stream->ticks;
		file->boot_ns = stream->boot_realtime_ns ? stream->boot_realtime_ns :
				stream->realtime_ns - stream->monotonic_ns;
	}
	ktau_reader_destroy(reader);
}

/* A file that cannot be read counts as a boot of its own, at the time of its last change. */
static void describe(const struct rotate *rotate, struct rotate_file *file, const char *path)
{
	int fd = open(path, O_RDONLY | O_CLOEXEC | O_NOFOLLOW | O_NONBLOCK);
	struct ktau_file_header header;
	struct stat st;

	if (fd < 0)
		return;
	if (!fstat(fd, &st))
		file->boot_ns = st.st_mtim.tv_sec * NSEC_PER_SEC + st.st_mtim.tv_nsec;
	if (pread(fd, &header, sizeof(header), 0) == sizeof(header) &&
	    header.magic == KTAU_FILE_MAGIC) {
		memcpy(file->boot_id, header.boot_id, sizeof(file->boot_id));
		file->here = !memcmp(header.boot_id, rotate->boot_id, sizeof(file->boot_id));
		file->boot_ns = header.created_ns;
		file->ticks = UINT64_MAX;
		read_stream(file, path);
	}
	close(fd);
}

static int compare_files(const void *a, const void *b)
{
	const struct rotate_file *x = a, *y = b;
	int other;

	if (x->here != y->here)
		return x->here - y->here;
	other = memcmp(x->boot_id, y->boot_id, sizeof(x->boot_id));
	if (!other && x->ticks != y->ticks)
		return x->ticks < y->ticks ? -1 : 1;
	if (x->boot_ns != y->boot_ns)
		return x->boot_ns < y->boot_ns ? -1 : 1;
	return other ? other : strcmp(x->name, y->name);
}

static struct rotate_file *add(struct rotate *rotate, const char *name)
{
	struct rotate_file *files;
	char *copy;

	files = reallocarray(rotate->files, rotate->nr + 1, sizeof(*files));
	if (!files)
		return NULL;
	rotate->files = files;
	copy = strdup(name);
	if (!copy)
		return NULL;
	files[rotate->nr] = (struct rotate_file){ .name = copy };
	return &files[rotate->nr++];
}

static int add_found(struct rotate *rotate, const char *dir, const char *name)
{
	struct rotate_file *file;
	char path[PATH_MAX];

	if (!is_ktaud(name))
		return 0;
	file = add(rotate, name);
	if (!file)
		return -ENOMEM;
	snprintf(path, sizeof(path), "%s/%s", dir, name);
	describe(rotate, file, path);
	if (!file->here && !rotate_is_ours(rotate, name)) {
		free(file->name);
		rotate->nr--;
	}
	return 0;
}

int rotate_scan(struct rotate *rotate, const char *dir)
{
	struct dirent *entry;
	int err = 0;
	DIR *d;

	d = opendir(dir);
	if (!d)
		return -errno;
	while (!err && (entry = readdir(d)))
		err = add_found(rotate, dir, entry->d_name);
	closedir(d);
	if (rotate->nr)
		qsort(rotate->files, rotate->nr, sizeof(*rotate->files), compare_files);
	return err;
}

int rotate_add(struct rotate *rotate, const char *name)
{
	return add(rotate, name) ? 0 : -ENOMEM;
}

static bool is_missing(const char *dir, const char *name)
{
	char path[PATH_MAX];

	snprintf(path, sizeof(path), "%s/%s", dir, name);
	return access(path, F_OK) && errno == ENOENT;
}

void rotate_forget_missing(struct rotate *rotate, const char *dir)
{
	size_t i, nr = 0;

	for (i = 0; i < rotate->nr; i++) {
		if (is_missing(dir, rotate->files[i].name))
			free(rotate->files[i].name);
		else
			rotate->files[nr++] = rotate->files[i];
	}
	rotate->nr = nr;
}

char *rotate_expire(struct rotate *rotate, uint64_t keep)
{
	char *oldest;

	if (!keep || rotate->nr <= keep)
		return NULL;
	oldest = rotate->files[0].name;
	rotate->nr--;
	memmove(rotate->files, rotate->files + 1, rotate->nr * sizeof(*rotate->files));
	return oldest;
}

bool rotate_is_due(const struct config *config, uint64_t bytes, uint64_t age_ns)
{
	return (config->rotate_bytes && bytes >= config->rotate_bytes) ||
	       (config->rotate_ns && age_ns >= config->rotate_ns);
}
