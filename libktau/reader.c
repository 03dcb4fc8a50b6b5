// SPDX-License-Identifier: LGPL-2.1-or-later
/* Readers: opening a running kernel, a saved stream, a *.ktau file; what was seen. */
#include <fcntl.h>
#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <sys/ioctl.h>
#include <unistd.h>

#include "reader.h"

#define PARANOID	"/proc/sys/kernel/ktau_paranoid"

int ktau_reader_create(struct ktau_reader **reader)
{
	struct ktau_reader *r = calloc(1, sizeof(*r));
	int err;

	*reader = NULL;
	if (!r)
		return -ENOMEM;
	r->source.fd = -1;
	err = ktau_events_create(&r->events);
	if (err) {
		free(r);
		return err;
	}
	*reader = r;
	return 0;
}

static void close_source(struct ktau_reader *r)
{
	ktau__source_close(&r->source);
	ktau__blocks_free(&r->blocks);
	ktau__buffer_free(&r->record);
	ktau__registry_free(&r->owners);
	ktau__registry_free(&r->cgroups);
	ktau_record_free(r->info);
	free(r->name);
	r->kind = KIND_NONE;
	r->swap = r->in_stream = r->ended = r->has_stream = false;
	r->payload = (struct ktau__payload){ 0 };
	r->until_ns = UINT64_MAX;
	r->info = NULL;
	r->name = NULL;
	r->error.text[0] = 0;
}

void ktau_reader_destroy(struct ktau_reader *r)
{
	if (!r)
		return;
	close_source(r);
	ktau_events_destroy(r->events);
	free(r);
}

/* Begin with an empty reader, its events too. */
static int begin(struct ktau_reader *r, const char *name)
{
	struct ktau_events *events;
	int err;

	close_source(r);
	err = ktau_events_create(&events);
	if (err)
		return err;
	ktau_events_destroy(r->events);
	r->events = events;
	r->name = strdup(name);
	return r->name ? 0 : -ENOMEM;
}

static int fail_open(struct ktau_reader *r, int err, const char *why)
{
	struct ktau__error error;

	ktau__fail(&error, err, "%.300s: %s", r->name ? r->name : "(no name)",
		   why ? why : strerror(-err));
	close_source(r);
	r->error = error;
	return err;
}

int ktau__reader_invalid(struct ktau_reader *r, const char *why)
{
	return ktau__fail(&r->error, -EINVAL, "%.300s: %s", r->name ? r->name : "reader", why);
}

static int open_path(struct ktau_reader *r, const char *path)
{
	int err = begin(r, path), fd;

	if (err)
		return fail_open(r, err, NULL);
	fd = open(path, O_RDONLY | O_CLOEXEC);
	if (fd < 0)
		return fail_open(r, -errno, NULL);
	ktau__source_fd(&r->source, fd, true);
	return 0;
}

static int select_stream(struct ktau_reader *r, const struct ktau_query *query)
{
	struct ktau_select select = {
		.size = sizeof(select),
		.target = query->target,
		.flags = query->flags,
		.nr_pids = query->nr_tids,
		.pids = (uintptr_t)query->tids,
		.exited_since = query->exited_since,
		.since_ticks = query->since_ticks,
		.cgroup = query->cgroup,
		.uid = query->uid,
		.tag = query->tag,
	};

	return ioctl(r->source.fd, KTAU_IOC_SELECT, &select) < 0 ? -errno : 0;
}

static uint32_t needed_access(const struct ktau_query *query)
{
	return query->content == KTAU_REC_TRACE ? KTAU_ACCESS_TRACE : KTAU_ACCESS_PROFILE;
}

/* Why the level in force does not allow @query, in @text; NULL if that is not it. */
static const char *explain(int fd, const struct ktau_query *query, char *text, size_t size)
{
	uint32_t access = needed_access(query);
	struct ktau_info info;
	int32_t level;

	if (fd < 0 || ktau_info_read(fd, &info) || info.access & KTAU_ACCESS_ALL)
		return NULL;
	if (query->flags & KTAU_SELECT_CONSUME && !(info.access & KTAU_ACCESS_CONSUME))
		snprintf(text, size, "consuming a trace requires CAP_PERFMON");
	else if (!(info.access & access) && ktau_paranoid_needed(access, &level))
		snprintf(text, size, "%s: kernel.ktau_paranoid is %d; this requires %d or less, "
			 "or CAP_PERFMON", strerror(EACCES), info.paranoid, level);
	else
		return NULL;
	return text;
}

static bool is_forbidden(int err)
{
	return err == -EACCES || err == -EPERM;
}

/* The same where even open(2) is forbidden: the level is in a file of its own. */
static const char *explain_open(int err, const struct ktau_query *query, char *text,
				size_t size)
{
	int fd = is_forbidden(err) ? open(PARANOID, O_RDONLY | O_CLOEXEC) : -1;
	char level[16] = "";
	int32_t needed = 0;
	ssize_t got = fd < 0 ? -1 : read(fd, level, sizeof(level) - 1);

	if (fd >= 0)
		close(fd);
	if (got <= 0)
		return NULL;
	level[strcspn(level, "\n")] = 0;
	ktau_paranoid_needed(needed_access(query), &needed);
	snprintf(text, size, "%s: kernel.ktau_paranoid is %s; this requires %d or less, or "
		 "CAP_PERFMON", strerror(-err), level, needed);
	return text;
}

int ktau_reader_open_live(struct ktau_reader *r, const struct ktau_query *query)
{
	bool is_trace = query->content == KTAU_REC_TRACE;
	const char *why = NULL;
	char text[200];
	int err;

	if (!is_trace && query->content != KTAU_REC_PROFILE) {
		close_source(r);
		return ktau__reader_invalid(r, "content that is neither profile nor trace");
	}
	err = open_path(r, is_trace ? KTAU_PROC "/trace" : KTAU_PROC "/profile");
	if (err) {
		why = explain_open(err, query, text, sizeof(text));
		return why ? ktau__fail(&r->error, err, KTAU_PROC "/%s: %s",
					is_trace ? "trace" : "profile", why) : err;
	}
	r->kind = KIND_LIVE;
	r->content = query->content;
	err = select_stream(r, query);
	if (is_forbidden(err))
		why = explain(r->source.fd, query, text, sizeof(text));
	return err ? fail_open(r, err, why) : 0;
}

int ktau_reader_restart(struct ktau_reader *r, const struct ktau_query *query)
{
	const char *why = NULL;
	char text[200];
	int err;

	if (r->kind != KIND_LIVE || query->content != r->content)
		return ktau__reader_invalid(r, "not open for such a stream");
	ktau__source_rewind(&r->source);
	memset(&r->blocks.damage, 0, sizeof(r->blocks.damage));
	r->blocks.first.text[0] = 0;
	r->error.text[0] = 0;
	r->in_stream = r->ended = false;
	err = select_stream(r, query);
	if (!err)
		return 0;
	r->ended = true;
	if (is_forbidden(err))
		why = explain(r->source.fd, query, text, sizeof(text));
	return ktau__fail(&r->error, err, "%s: %s", r->name, why ? why : strerror(-err));
}

int ktau__stream_order(const uint8_t *data, bool *swap, const char **why)
{
	struct ktau_rec rec;
	uint32_t magic;
	uint16_t version;

	memcpy(&magic, data + offsetof(struct ktau_rec_stream, magic), sizeof(magic));
	memcpy(&version, data + offsetof(struct ktau_rec_stream, version), sizeof(version));
	*swap = magic == __builtin_bswap32(KTAU_MAGIC);
	rec = ktau__decode_rec(data, *swap);
	*why = "not KTAU data: no STREAM record where one should be";
	if (ktau__swap32(magic, *swap) != KTAU_MAGIC || rec.type != KTAU_REC_STREAM)
		return -EBADMSG;
	*why = "stream of a version that this library does not know";
	if (ktau__swap16(version, *swap) != KTAU_ABI_VERSION)
		return -EPROTONOSUPPORT;
	return 0;
}

static int recognise(struct ktau_reader *r)
{
	const char *why = NULL;
	uint32_t magic;
	int err;

	err = ktau__source_need(&r->source, 16);
	if (err)
		return fail_open(r, err, NULL);
	if (!r->source.size)
		return fail_open(r, -EBADMSG, "empty");
	if (r->source.size < 16)
		return fail_open(r, -EBADMSG, "not KTAU data: shorter than any header");
	memcpy(&magic, r->source.data, sizeof(magic));
	if (magic == KTAU_FILE_MAGIC || magic == __builtin_bswap32(KTAU_FILE_MAGIC)) {
		r->kind = KIND_FILE;
		err = ktau__blocks_start(&r->blocks, &r->source, &why);
		r->swap = r->blocks.swap;
	} else {
		r->kind = KIND_STREAM;
		err = ktau__stream_order(r->source.data, &r->swap, &why);
	}
	return err ? fail_open(r, err, why) : 0;
}

int ktau_reader_seek_time(struct ktau_reader *r, uint64_t from_ns, uint64_t to_ns)
{
	int err;

	if (r->kind != KIND_FILE)
		return ktau__reader_invalid(r, "not a KTAU file: no periods to choose from");
	err = ktau__blocks_seek_time(&r->blocks, &r->source, from_ns);
	if (err)
		return ktau__fail(&r->error, err, "%.300s: %s", r->name, strerror(-err));
	memset(&r->blocks.damage, 0, sizeof(r->blocks.damage));
	memset(&r->blocks.unknown, 0, sizeof(r->blocks.unknown));
	r->blocks.first.text[0] = 0;
	r->blocks.skipped = false;
	r->error.text[0] = 0;
	r->payload = (struct ktau__payload){ 0 };
	r->in_stream = r->ended = false;
	r->until_ns = to_ns;
	return 0;
}

int ktau_reader_open_file(struct ktau_reader *r, const char *path)
{
	int err;

	if (!strcmp(path, "-"))
		return ktau_reader_open_fd(r, STDIN_FILENO, "standard input");
	err = open_path(r, path);
	if (err)
		return err;
	return recognise(r);
}

int ktau_reader_open_fd(struct ktau_reader *r, int fd, const char *name)
{
	int err = begin(r, name ? name : "descriptor");

	if (err)
		return fail_open(r, err, NULL);
	ktau__source_fd(&r->source, fd, false);
	return recognise(r);
}

int ktau_reader_open_memory(struct ktau_reader *r, const void *data, size_t size)
{
	int err = begin(r, "memory");

	if (err)
		return fail_open(r, err, NULL);
	ktau__source_memory(&r->source, data, size);
	return recognise(r);
}

const char *ktau_reader_error(const struct ktau_reader *r)
{
	return r->error.text;
}

const struct ktau_damage *ktau_reader_damage(const struct ktau_reader *r)
{
	return &r->blocks.damage;
}

const struct ktau_unknown *ktau_reader_unknown(const struct ktau_reader *r)
{
	return &r->blocks.unknown;
}

int ktau_reader_fd(const struct ktau_reader *r)
{
	return r->source.fd;
}

bool ktau_reader_swapped(const struct ktau_reader *r)
{
	return r->swap;
}

const struct ktau_rec_stream *ktau_reader_stream(const struct ktau_reader *r)
{
	return r->has_stream ? &r->stream : NULL;
}

const struct ktau_rec_info *ktau_reader_info(const struct ktau_reader *r)
{
	return r->info;
}

const struct ktau_events *ktau_reader_events(const struct ktau_reader *r)
{
	return r->events;
}

const struct ktau_rec_event *ktau_reader_event(const struct ktau_reader *r, uint32_t id)
{
	return ktau_events_find(r->events, id);
}

const struct ktau_rec_owner *ktau_reader_owner(const struct ktau_reader *r, uint64_t serial)
{
	return ktau__registry_find(&r->owners, serial);
}

const struct ktau_rec_cgroup *ktau_reader_cgroup(const struct ktau_reader *r, uint64_t id)
{
	return ktau__registry_find(&r->cgroups, id);
}

const struct ktau_rec_owner *
ktau_reader_next_owner(const struct ktau_reader *r, const struct ktau_rec_owner *owner)
{
	return owner ? ktau__registry_next(&r->owners, owner->serial) :
		       ktau__registry_first(&r->owners);
}

const struct ktau_rec_cgroup *
ktau_reader_next_cgroup(const struct ktau_reader *r, const struct ktau_rec_cgroup *cgroup)
{
	return cgroup ? ktau__registry_next(&r->cgroups, cgroup->id) :
			ktau__registry_first(&r->cgroups);
}
