// SPDX-License-Identifier: GPL-2.0-only
#include <errno.h>
#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <sys/utsname.h>
#include <time.h>
#include <unistd.h>

#include "log.h"
#include "output.h"

#define DIR_MODE 0750
#define NAME_TRIES 1000
/* More than the record of a gap needs, in a block that begins with a copy of INFO */
#define RESERVED_BYTES 4096

/* A record waiting for disk space. */
struct waiting {
	struct waiting *next;
	void *record;
};

uint64_t now_ns(int clock)
{
	struct timespec ts;

	clock_gettime(clock, &ts);
	return ts.tv_sec * NSEC_PER_SEC + ts.tv_nsec;
}

static int check_dir(const char *dir)
{
	struct stat st;

	if (mkdir(dir, DIR_MODE) && errno != EEXIST) {
		log_error("cannot create directory %s: %s", dir, strerror(errno));
		return -errno;
	}
	if (stat(dir, &st)) {
		log_error("cannot use %s: %s", dir, strerror(errno));
		return -errno;
	}
	if (!S_ISDIR(st.st_mode)) {
		log_error("cannot use %s: %s", dir, strerror(ENOTDIR));
		return -ENOTDIR;
	}
	return 0;
}

/* The host name may be set after ktaud was started. */
static void set_host(struct output *out)
{
	struct utsname uts;

	if (!uname(&uts))
		rotate_set_host(&out->rotate, uts.nodename);
}

int output_init(struct output *out, const char *dir, const char *command)
{
	int err;

	*out = (struct output){
		.dir = dir,
		.command = command,
		.last = &out->first,
	};
	rotate_init(&out->rotate, "");
	set_host(out);

	err = check_dir(dir);
	if (err)
		return err;
	err = rotate_scan(&out->rotate, dir);
	if (err)
		log_error("cannot use %s: %s", dir, strerror(-err));
	return err;
}

/* Log a message each time the output becomes blocked. */
static void block(struct output *out, int err)
{
	if (!out->blocked)
		log_error("cannot write %s: %s; waiting for space", out->path, strerror(-err));
	out->blocked = -err;
}

static void enqueue(struct output *out, const struct ktau_rec *record)
{
	struct waiting *waiting = malloc(sizeof(*waiting));
	void *copy = ktau_record_dup(record);

	if (!waiting || !copy) {
		log_error("a record was dropped: %s", strerror(ENOMEM));
		ktau_record_free(copy);
		free(waiting);
		return;
	}
	*waiting = (struct waiting){ .record = copy };
	*out->last = waiting;
	out->last = &waiting->next;
}

static void put(struct output *out, const struct ktau_rec *record)
{
	int err;

	if (!out->blocked) {
		err = ktau_writer_put(out->writer, record);
		if (!err)
			return;
		if (err == -EINVAL) {
			log_error("a record was dropped: %s", ktau_writer_error(out->writer));
			return;
		}
		block(out, err);
	}
	enqueue(out, record);
}

static bool put_waiting(struct output *out)
{
	struct waiting *waiting;
	int err;

	while ((waiting = out->first)) {
		err = ktau_writer_put(out->writer, waiting->record);
		if (err && err != -EINVAL) {
			block(out, err);
			return false;
		}
		out->first = waiting->next;
		if (!out->first)
			out->last = &out->first;
		ktau_record_free(waiting->record);
		free(waiting);
	}
	return true;
}

bool output_flush(struct output *out)
{
	bool was_blocked = out->blocked;
	int err;

	if (!put_waiting(out))
		return false;
	err = ktau_writer_flush(out->writer, false);
	if (err) {
		block(out, err);
		return false;
	}
	out->blocked = 0;
	if (was_blocked)
		log_info("writing %s again", out->path);
	return true;
}

/* Return: the number of dropped records. */
static uint64_t drop_waiting(struct output *out)
{
	struct waiting *waiting;
	uint64_t nr = 0;

	while ((waiting = out->first)) {
		out->first = waiting->next;
		ktau_record_free(waiting->record);
		free(waiting);
		nr++;
	}
	out->last = &out->first;
	return nr;
}

void output_drop(struct output *out)
{
	uint64_t dropped = ktau_writer_drop(out->writer) + drop_waiting(out);

	log_error("%s is incomplete: %" PRIu64 " records did not fit", out->path, dropped);
	ktau_writer_reserve(out->writer, 0);
	out->blocked = 0;
}

/* Return: what has happened to the file, or NULL. */
static const char *what_happened(const struct output *out)
{
	struct stat st;

	if (stat(out->path, &st))
		return errno == ENOENT ? "has been removed or renamed" : NULL;
	if (st.st_dev != out->dev || st.st_ino != out->ino)
		return "has been replaced by another file";
	if ((uint64_t)st.st_size < ktau_writer_bytes(out->writer))
		return "has been truncated";
	return NULL;
}

static int close_file(struct output *out)
{
	int err = 0;

	if (!out->writer)
		return 0;
	if (!output_flush(out)) {
		err = -out->blocked;
		output_drop(out);
	}
	/* Nothing was written to the file, so remove it. */
	if (!output_has_content(out) && !what_happened(out))
		unlink(out->path);
	else if (output_has_content(out))
		out->closed_bytes += ktau_writer_bytes(out->writer);
	if (ktau_writer_close(out->writer) && !err) {
		err = -EIO;
		log_error("cannot write %s: %s", out->path, ktau_writer_error(out->writer));
	}
	ktau_writer_destroy(out->writer);
	out->writer = NULL;
	free(out->path);
	out->path = NULL;
	return err;
}

int output_deinit(struct output *out)
{
	int err = close_file(out);

	drop_waiting(out);
	rotate_deinit(&out->rotate);
	return err;
}

/* The name is the time. If a file with that name exists, try the next millisecond. */
static int open_new(struct output *out, struct ktau_writer *writer, unsigned int flags,
		    char **path)
{
	uint64_t realtime_ns = now_ns(CLOCK_REALTIME);
	char name[ROTATE_NAME];
	int i, err = -EEXIST;

	set_host(out);
	for (i = 0; i < NAME_TRIES && err == -EEXIST; i++) {
		rotate_name(&out->rotate, realtime_ns + i * 1000000ULL, name);
		if (asprintf(path, "%s/%s", out->dir, name) < 0) {
			*path = NULL;
			return -ENOMEM;
		}
		err = ktau_writer_open(writer, *path, flags, NULL);
		if (!err)
			return rotate_add(&out->rotate, name);
		if (err == -EEXIST)
			free(*path);
	}
	if (err == -EEXIST)
		*path = NULL;
	return err;
}

bool output_is_gone(const struct output *out)
{
	const char *what = what_happened(out);

	if (what && !out->open_error)
		log_error("%s %s by another program; continuing in a new file", out->path, what);
	return what;
}

int output_open(struct output *out, const struct config *config)
{
	struct ktau_writer *writer;
	struct stat st = { 0 };
	char *path = NULL;
	int err;

	/* Waiting records belong to the old file, and a new file would take their space. */
	if (out->writer && !output_flush(out))
		return -out->blocked;
	err = ktau_writer_create(&writer);
	if (!err)
		err = open_new(out, writer, config->compress, &path);
	if (err) {
		if (err != out->open_error)
			log_error("cannot create %s: %s", path ? path : out->dir, strerror(-err));
		out->open_error = err;
		free(path);
		ktau_writer_destroy(writer);
		return err;
	}
	close_file(out);
	out->writer = writer;
	ktau_writer_reserve(writer, RESERVED_BYTES);
	out->path = path;
	stat(path, &st);
	out->dev = st.st_dev;
	out->ino = st.st_ino;
	out->open_error = 0;
	out->opened_ns = now_ns(CLOCK_MONOTONIC);
	out->head_done = false;
	return 0;
}

static void remove_expired(struct output *out, uint64_t keep)
{
	char *name, *path;

	rotate_forget_missing(&out->rotate, out->dir);
	while ((name = rotate_expire(&out->rotate, keep))) {
		if (asprintf(&path, "%s/%s", out->dir, name) >= 0) {
			if (unlink(path) && errno != ENOENT)
				log_error("cannot remove %s: %s", path, strerror(errno));
			free(path);
		}
		free(name);
	}
}

static void put_head(struct output *out, const struct config *config)
{
	const struct ktau_writer_info info = {
		.period_ns = config->period_ns,
		.stext = out->stext,
		.command = out->command,
		.job = config->job,
	};

	if (out->head_done || out->blocked)
		return;
	if (ktau_writer_put_info(out->writer, &info))
		return;
	out->head_done = true;
	/*
	 * Not before the first write: a file that stays empty is removed and must not expire
	 * an older one.
	 */
	remove_expired(out, config->keep);
}

void output_stream(struct output *out, const struct config *config,
		   const struct ktau_rec_stream *stream, bool key)
{
	int err = 0;

	out->stext = stream->stext;
	put_head(out, config);
	if (key && !out->blocked)
		err = ktau_writer_key(out->writer);
	if (err)
		block(out, err);
	put(out, &stream->rec);
}

void output_record(struct output *out, const struct ktau_rec *record)
{
	put(out, record);
}

bool output_is_due(const struct output *out, const struct config *config)
{
	return rotate_is_due(config, ktau_writer_bytes(out->writer),
			     now_ns(CLOCK_MONOTONIC) - out->opened_ns);
}

uint64_t output_bytes(const struct output *out)
{
	return out->closed_bytes + (output_has_content(out) ? ktau_writer_bytes(out->writer) : 0);
}
