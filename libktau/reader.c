// SPDX-License-Identifier: LGPL-2.1-or-later
/* Readers: records from a running kernel, a saved stream or a *.ktau file. */
#include <fcntl.h>
#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <sys/ioctl.h>
#include <unistd.h>

#include "blocks.h"
#include "bpf/include/ktau_bpf.h"
#include "bpf/source.h"
#include "decode.h"
#include "events.h"
#include "fail.h"
#include "registry.h"
#include "source.h"
#include "swap.h"

#define PARANOID	"/proc/sys/kernel/ktau_paranoid"

enum kind { KIND_NONE, KIND_LIVE, KIND_BPF, KIND_STREAM, KIND_FILE };

struct ktau_reader {
	enum kind kind;
	bool swap;
	bool in_stream;		/* between STREAM and END */
	bool ended;
	struct ktau__source source;
	struct ktau__bpf *bpf;		/* KIND_BPF, with its functions */
	const struct ktau__bpf_source *bpf_source;
	struct ktau__buffer composed;	/* KIND_BPF: the stream */
	struct ktau__blocks blocks;
	struct ktau__payload payload;	/* KIND_FILE: what is left of the block */
	struct ktau__buffer record;
	uint64_t until_ns; /* stop before a stream that is later */
	/* returned by the accessors */
	struct ktau_rec_stream stream;
	bool has_stream;
	uint32_t content;
	struct ktau_rec_info *info;
	struct ktau_events *events;
	struct ktau__registry owners;
	struct ktau__registry cgroups;
	char *name;
	struct ktau__error error;
};

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
	if (r->bpf)
		r->bpf_source->destroy(r->bpf);
	ktau__buffer_free(&r->composed);
	ktau__blocks_free(&r->blocks);
	ktau__buffer_free(&r->record);
	ktau__registry_free(&r->owners);
	ktau__registry_free(&r->cgroups);
	ktau_record_free(r->info);
	free(r->name);
	r->bpf = NULL;
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

/* Make the reader empty, its table of events included. */
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

static int invalid(struct ktau_reader *r, const char *why)
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

/* How the level in force forbids @query, in @text; NULL if it does not. */
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

/* The same if open(2) failed: the level is read from its own file. */
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
		return invalid(r, "content that is neither profile nor trace");
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
	if (err == -EBUSY)
		why = "another reader is consuming the traces, and only one can";
	else if (is_forbidden(err))
		why = explain(r->source.fd, query, text, sizeof(text));
	return err ? fail_open(r, err, why) : 0;
}

/* The whole stream is in memory before the first record is returned. */
static int compose(struct ktau_reader *r, const struct ktau_query *query)
{
	struct ktau__error error;
	int err;

	r->composed.size = 0;
	err = r->bpf_source->compose(r->bpf, query, &r->composed, &error);
	if (err)
		return ktau__fail(&r->error, err, "%s", error.text);
	ktau__source_memory(&r->source, r->composed.data, r->composed.size);
	return 0;
}

int ktau__reader_open_bpf(struct ktau_reader *r, const struct ktau__bpf_source *source,
			  const struct ktau_bpf_options *options, const struct ktau_query *query)
{
	static const struct ktau_bpf_options all;
	struct ktau__error error;
	int err = begin(r, "BPF");

	if (err)
		return fail_open(r, err, NULL);
	r->bpf_source = source;
	if (!options)
		options = &all;
	if (options->with && options->with != r && options->with->bpf) {
		r->bpf = options->with->bpf;
		source->share(r->bpf);
	} else {
		err = source->create(&r->bpf, options, &error);
	}
	if (!err) {
		r->content = query->content;
		err = compose(r, query);
		error = r->error;
	}
	if (err) {
		close_source(r);
		return ktau__fail(&r->error, err, "%s", error.text);
	}
	r->kind = KIND_BPF;
	return 0;
}

int ktau_reader_restart(struct ktau_reader *r, const struct ktau_query *query)
{
	const char *why = NULL;
	char text[200];
	int err;

	if ((r->kind != KIND_LIVE && r->kind != KIND_BPF) || query->content != r->content)
		return invalid(r, "not open for such a stream");
	ktau__source_rewind(&r->source);
	ktau__blocks_clear_damage(&r->blocks);
	r->error.text[0] = 0;
	r->in_stream = r->ended = false;
	err = r->kind == KIND_BPF ? compose(r, query) : select_stream(r, query);
	if (!err)
		return 0;
	r->ended = true;
	if (r->kind == KIND_BPF)
		return err;
	if (err == -EBUSY)
		why = "another reader is consuming the traces, and only one can";
	else if (is_forbidden(err))
		why = explain(r->source.fd, query, text, sizeof(text));
	return ktau__fail(&r->error, err, "%s: %s", r->name, why ? why : strerror(-err));
}

static int stream_order(const uint8_t *data, bool *swap, const char **why)
{
	struct ktau_rec rec;
	uint32_t magic;
	uint16_t version;

	memcpy(&magic, data + offsetof(struct ktau_rec_stream, magic), sizeof(magic));
	memcpy(&version, data + offsetof(struct ktau_rec_stream, version), sizeof(version));
	*swap = magic == __builtin_bswap32(KTAU_MAGIC);
	rec = ktau__decode_rec(data, *swap);
	*why = "not KTAU data: no STREAM record where one is expected";
	if (ktau__swap32(magic, *swap) != KTAU_MAGIC || rec.type != KTAU_REC_STREAM)
		return -EBADMSG;
	*why = "stream of a version that this library does not know";
	if (ktau__swap16(version, *swap) != KTAU_ABI_VERSION)
		return -EPROTONOSUPPORT;
	return 0;
}

/* Whatever a file begins with, it can be read from its first whole block on. */
static int find_blocks(struct ktau_reader *r)
{
	int found = ktau__blocks_find(&r->blocks, &r->source);

	if (found <= 0)
		return found ? found : -EBADMSG;
	r->kind = KIND_FILE;
	r->swap = r->blocks.swap;
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
		err = stream_order(r->source.data, &r->swap, &why);
	}
	if (r->kind == KIND_STREAM && err == -EBADMSG)
		err = find_blocks(r);
	return err ? fail_open(r, err, why) : 0;
}

int ktau_reader_seek_time(struct ktau_reader *r, uint64_t from_ns, uint64_t to_ns)
{
	int err;

	if (r->kind != KIND_FILE)
		return invalid(r, "not a KTAU file, so no period can be selected");
	err = ktau__blocks_seek_time(&r->blocks, &r->source, from_ns);
	if (err)
		return ktau__fail(&r->error, err, "%.300s: %s", r->name, strerror(-err));
	ktau__blocks_clear_damage(&r->blocks);
	memset(&r->blocks.unknown, 0, sizeof(r->blocks.unknown));
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

/*
 * Records
 */

/*
 * Find the next record: 1 with its bytes at *@data and @rec checked, 0 at the end, -errno.
 */
static int next_in_stream(struct ktau_reader *r, const uint8_t **data, struct ktau_rec *rec)
{
	struct ktau__source *s = &r->source;
	const char *why = NULL;
	int err;

	err = ktau__source_need(s, r->in_stream ? sizeof(*rec) : 16);
	if (err)
		return err;
	if (!s->size)
		return 0;
	if (s->size < (r->in_stream ? sizeof(*rec) : 16)) {
		why = "truncated";
		r->blocks.damage.truncated = true;
		err = -EBADMSG;
	} else if (!r->in_stream) {
		err = stream_order(s->data, &r->swap, &why);
	}
	if (!err) {
		*rec = ktau__decode_rec(s->data, r->swap);
		why = ktau__bad_rec(rec);
		if (!why) {
			err = ktau__source_need(s, rec->size);
			if (err)
				return err;
			*data = s->data;
			if (s->size >= rec->size)
				return 1;
			why = "truncated";
			r->blocks.damage.truncated = true;
		}
	}
	ktau__damage(&r->blocks, s->offset, s->size, "%s at byte %" PRIu64, why, s->offset);
	return 0;
}

static int next_in_file(struct ktau_reader *r, const uint8_t **data, struct ktau_rec *rec)
{
	const char *why;
	int err;

	for (;;) {
		while (!r->payload.size) {
			ktau__source_take(&r->source, r->payload.taken);
			r->payload.taken = 0;
			err = ktau__blocks_next(&r->blocks, &r->source, &r->payload);
			/* END may have been in the block that was stepped over. */
			r->in_stream &= !r->blocks.skipped;
			r->blocks.skipped = false;
			if (err <= 0)
				return err;
		}
		why = "record cut off by the end of its block";
		if (r->payload.size >= sizeof(*rec)) {
			*rec = ktau__decode_rec(r->payload.data, r->swap);
			why = ktau__bad_rec(rec);
			if (!why && rec->size > r->payload.size)
				why = "record cut off by the end of its block";
		}
		if (!why) {
			*data = r->payload.data;
			return 1;
		}
		r->blocks.damage.bad_blocks++;
		ktau__damage(&r->blocks, r->source.offset, r->payload.size,
			     "%s in block %" PRIu32, why, r->blocks.next_sequence - 1);
		r->payload.size = 0;
	}
}

static void step(struct ktau_reader *r, uint32_t size)
{
	if (r->kind == KIND_FILE) {
		r->payload.data += size;
		r->payload.size -= size;
	} else {
		ktau__source_take(&r->source, size);
	}
}

/* Report a stream that has no END before this point. */
static void check_end(struct ktau_reader *r)
{
	if (!r->in_stream)
		return;
	r->in_stream = false;
	r->blocks.damage.truncated = true;
	ktau__damage(&r->blocks, r->source.offset, 0,
		     "stream without its END record before byte %" PRIu64, r->source.offset);
}

static void begin_stream(struct ktau_reader *r, const struct ktau_rec_stream *stream)
{
	check_end(r);
	/* Ids are valid within one boot. */
	if (r->has_stream && !ktau_same_boot(&r->stream, stream)) {
		ktau__events_clear(r->events);
		ktau__registry_clear(&r->cgroups);
	}
	/*
	 * Outside of files, a stream has all control groups that it refers to. A reader that runs
	 * for long would otherwise keep all that ever existed.
	 */
	if (r->kind != KIND_FILE)
		ktau__registry_clear(&r->cgroups);
	r->stream = *stream;
	r->has_stream = true;
	r->in_stream = true;
	ktau__registry_clear(&r->owners);
}

static int keep_info(struct ktau_reader *r, const struct ktau_rec_info *info)
{
	struct ktau_rec_info *copy = ktau_record_dup(info);

	if (!copy)
		return -ENOMEM;
	ktau_record_free(r->info);
	r->info = copy;
	return 0;
}

/* Keep a record for the accessors. 0, -ENOMEM. */
static int remember(struct ktau_reader *r, const union ktau_record *record)
{
	switch (record->rec->type) {
	case KTAU_REC_STREAM:
		begin_stream(r, record->stream);
		return 0;
	case KTAU_REC_END:
		r->in_stream = false;
		return 0;
	case KTAU_REC_INFO:
		return keep_info(r, record->info);
	case KTAU_REC_EVENT:
		return ktau_events_put(r->events, record->event);
	case KTAU_REC_OWNER:
		return ktau__registry_put(&r->owners, record->owner->serial, record->rec);
	case KTAU_REC_CGROUP:
		return ktau__registry_put(&r->cgroups, record->cgroup->id, record->rec);
	default:
		return 0;
	}
}

static int end(struct ktau_reader *r)
{
	const struct ktau_damage *d = &r->blocks.damage;

	check_end(r);
	r->ended = true;
	if (!r->blocks.first.text[0])
		return 0;
	if (r->kind != KIND_FILE)
		return ktau__fail(&r->error, -EBADMSG, "%.200s: %.200s", r->name,
				  r->blocks.first.text);
	return ktau__fail(&r->error, -EBADMSG, "%.200s: %.200s (in all %" PRIu64
			  " bad and %" PRIu64 " missing blocks, %" PRIu64 " bytes unusable)",
			  r->name, r->blocks.first.text, d->bad_blocks, d->missing_blocks,
			  d->lost_bytes);
}

static int read_error(struct ktau_reader *r, int err)
{
	r->ended = true;
	return ktau__fail(&r->error, err, "%s: byte %" PRIu64 ": %s", r->name,
			  r->source.offset + r->source.size, strerror(-err));
}

/* True if this record is after the requested period. */
static bool is_too_late(const struct ktau_reader *r, const union ktau_record *record)
{
	return record->rec->type == KTAU_REC_STREAM &&
	       record->stream->realtime_ns > r->until_ns;
}

static void count_unknown(struct ktau_reader *r, uint16_t type)
{
	struct ktau_unknown *unknown = &r->blocks.unknown;

	if (!unknown->records++)
		unknown->record_type = type;
}

/* Decode the record at @data: 1 if the caller gets it, 0 if not, -errno. */
static int take(struct ktau_reader *r, const uint8_t *data, const struct ktau_rec *rec,
		union ktau_record *record)
{
	const char *why = NULL;
	int err = ktau__decode(data, r->swap, &r->record, &why);

	if (err == -EBADMSG) {
		ktau__damage(&r->blocks, r->source.offset, rec->size,
			     "%s at byte %" PRIu64, why, r->source.offset);
		return 0;
	}
	if (!err)
		count_unknown(r, rec->type);
	if (err <= 0)
		return err;
	record->rec = (const void *)r->record.data;
	if (is_too_late(r, record)) {
		r->ended = true;
		return 0;
	}
	err = remember(r, record);
	return err ? err : 1;
}

int ktau_reader_next(struct ktau_reader *r, union ktau_record *record)
{
	const uint8_t *data = NULL;
	struct ktau_rec rec;
	int err;

	record->rec = NULL;
	if (r->kind == KIND_NONE)	/* and no reason yet why not */
		return r->error.text[0] ? -EINVAL : invalid(r, "no source");
	while (!r->ended) {
		if (r->kind == KIND_FILE)
			err = next_in_file(r, &data, &rec);
		else
			err = next_in_stream(r, &data, &rec);
		if (err < 0)
			return read_error(r, err);
		if (!err)
			return end(r);
		err = take(r, data, &rec, record);
		if (err < 0)
			return read_error(r, err);
		if (r->ended)
			return end(r);
		step(r, rec.size);
		if (err)
			return 1;
	}
	record->rec = NULL;
	return r->error.text[0] ? -EBADMSG : 0;
}

/*
 * Accessors
 */

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
