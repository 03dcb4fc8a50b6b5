// SPDX-License-Identifier: GPL-2.0-only
/*
 * KTAU: the record of one owner: a copy of its profile or trace, with what the reader may
 * not see taken out.
 */
#include <linux/sizes.h>
#include <linux/slab.h>
#include <linux/xarray.h>

#include "base/arch.h"
#include "measure/clock.h"
#include "measure/state.h"
#include "tasks/region_copy.h"
#include "tasks/snapshot.h"
#include "tasks/snapshot_trace.h"
#include "describe.h"
#include "look.h"
#include "record.h"
#include "redact.h"
#include "stream.h"

#define TRACE_BYTES_MIN	SZ_16K
#define TRACE_BYTES_MAX	SZ_64K

/* Where ktau_redact_profile() keeps the open frames out of the way of the entries. */
#define REDACT_BYTES	(2 * sizeof(struct ktau_entry))

/**
 * ktau_record_put_body() - put the record that is in a stream's body
 * @stream: the stream, locked
 * @owner: whose record it is
 * @path: path of its program, NULL if unknown; the stream frees it
 *
 * Context: Task.
 */
void ktau_record_put_body(struct ktau_stream *stream,
			  const struct ktau_owner *owner, char *path)
{
	const struct ktau_rec *rec = stream->body.p;

	stream->body_len = rec->size + stream->body_more;
	stream->body_more = 0;
	stream->front = (struct ktau_front) { .owner = *owner, .path = path };
	stream->end.nr_records++;
}

/**
 * ktau_record_drop() - take back the record that ktau_record_put() has put
 * @stream: the stream, locked, of which nothing more has been handed out
 *
 * Context: Task.
 */
void ktau_record_drop(struct ktau_stream *stream)
{
	kfree(stream->front.path);
	stream->front.path = NULL;
	stream->body_len = 0;
	stream->end.nr_records--;
}

/* Redact the regions, and append them to the profile. */
static void append_regions(struct ktau_stream *stream,
			   const struct ktau_region_copy *regions)
{
	const struct ktau_rec_profile *profile = stream->body.p;
	void *end = stream->body.p + profile->rec.size;
	struct ktau_rec_region *rec;
	size_t from;
	u32 size;

	for (from = 0; from < regions->len; from += size) {
		rec = regions->p + from;
		size = rec->rec.size;
		rec = memcpy(end, rec, size);
		rec->serial = profile->serial;
		if (!(stream->access & KTAU_ACCESS_EXACT))
			ktau_redact_region(rec, ktau_clock_hz());
		end += rec->rec.size;
	}
	stream->body_more = end - stream->body.p - profile->rec.size;
}

/* Make room for a profile of @bytes, and twice for regions of @more bytes. */
static int make_room(struct ktau_stream *stream, size_t bytes, size_t more)
{
	int err = ktau_buffer_need(&stream->body, bytes + REDACT_BYTES + more);

	return err ?: ktau_buffer_need(&stream->regions, more);
}

/* Copy a profile to @stream->body, which grows until the profile fits. */
static int copy_profile(struct ktau_stream *stream, struct ktau_state *state,
			struct task_struct *task)
{
	size_t bytes = ktau_snapshot_bytes(state), more = ktau_regions_bytes(state);
	struct ktau_region_copy regions = { };
	struct ktau_rec_profile *rec;
	int err;

	do {
		err = make_room(stream, bytes, more);
		if (err)
			return err;
		regions.p = stream->regions.p;
		regions.bytes = more;
		err = ktau_snapshot_regions(stream->body.p, bytes, state, task, &regions);
		if (regions.is_full)
			more = max(2 * more, ktau_regions_bytes(state));
		else
			bytes = max(2 * bytes, ktau_snapshot_bytes(state));
	} while (err == -ENOSPC);
	if (err)
		return err;
	rec = stream->body.p;
	rec->groups_throughout =
		ktau_groups_throughout(state, U32_MAX,
				       stream->select.since_ticks);
	if (!(stream->access & KTAU_ACCESS_EXACT))
		ktau_redact_profile(rec, ktau_clock_hz());
	append_regions(stream, &regions);
	return 0;
}

/*
 * A task that has been read alive may be found again in the same stream: it may have exited, or
 * have become the leader of its process by an exec. Then its ring is read on from where it was.
 */
static void recall(struct ktau_stream *stream, const struct ktau_state *state)
{
	const struct ktau_reach *known = xa_load(&stream->read, state->serial);

	if (known)
		stream->reach = *known;
	stream->reach.until = 0;
	stream->reach.consume = stream->select.flags & KTAU_SELECT_CONSUME;
	stream->reach.since_ticks = stream->select.since_ticks;
}

/* Note how far the ring of a live task has been read. Without memory it is forgotten. */
static void remember(struct ktau_stream *stream, const struct ktau_state *state)
{
	struct ktau_reach *known = xa_load(&stream->read, state->serial);

	if (known) {
		*known = stream->reach;
		return;
	}
	known = kmemdup(&stream->reach, sizeof(*known), GFP_KERNEL_ACCOUNT);
	if (known && xa_err(xa_store(&stream->read, state->serial, known, GFP_KERNEL_ACCOUNT)))
		kfree(known);
}

/* Copy slots to @stream->body. Return: 1 if there are more, 0, -errno. */
static int copy_trace(struct ktau_stream *stream, struct ktau_state *state,
		      struct task_struct *task)
{
	size_t bytes = clamp_t(size_t, ktau_snapshot_trace_bytes(state),
			       TRACE_BYTES_MIN, TRACE_BYTES_MAX);
	struct ktau_rec_trace *rec;
	int ret;

	ret = ktau_buffer_need(&stream->body, bytes);
	if (ret)
		return ret;
	rec = stream->body.p;
	if (!stream->reach.ring)
		recall(stream, state);
	ret = ktau_snapshot_trace(rec, stream->body.bytes - sizeof(*rec), state,
				  task, &stream->reach);
	if (ret < 0)
		return ret;
	if (!ret && task && !stream->reach.consume)
		remember(stream, state);
	ktau_redact_trace(stream);
	if (rec->lost)
		stream->end.cut_ticks = max(stream->end.cut_ticks,
					    rec->lost_to_ticks);
	if (!ret && !task && stream->reach.consume)
		WRITE_ONCE(state->taken, true);
	return ret;
}

/* Whether the body is a trace with nothing to report. */
static bool is_empty(const struct ktau_stream *stream)
{
	const struct ktau_rec_trace *rec = stream->body.p;

	return stream->content == KTAU_REC_TRACE && !rec->nr_slots && !rec->lost;
}

/**
 * ktau_record_put() - copy and put the record of one owner
 * @stream: the stream, locked
 * @state: the owner's state, held by the caller
 * @task: the live task that it belongs to, or NULL
 *
 * An owner of which no consistent copy could be made is counted instead, and so is a
 * listed task without a ring.
 *
 * Context: May sleep.
 * Return: 1 if the same owner has more, 0 if not, -ENOMEM.
 */
int ktau_record_put(struct ktau_stream *stream, struct ktau_state *state,
		    struct task_struct *task, const struct ktau_owner *owner)
{
	int ret = stream->content == KTAU_REC_PROFILE ?
		  copy_profile(stream, state, task) :
		  copy_trace(stream, state, task);

	switch (ret) {
	case -EAGAIN:
		stream->end.torn++;
		ktau_look_again(state);
		return 0;
	case -ENODATA:
		if (stream->select.target & KTAU_TARGETS_LISTED)
			stream->end.stateless++;
		return 0;
	}
	if (ret >= 0 && !is_empty(stream))
		ktau_record_put_body(stream, owner, ktau_describe_path(task, state));
	return ret;
}
