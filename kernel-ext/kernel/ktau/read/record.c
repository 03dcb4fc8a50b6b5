// SPDX-License-Identifier: GPL-2.0-only
/*
 * KTAU: the record of one owner: whether it is put into a stream, because the reader may see the
 * owner, asked for it, and has not had it already; and what is taken out of it.
 *
 * Permission is decided for each task when it is copied: the credentials that the file was
 * opened with are compared with those that the task has then.
 *
 * A rounded profile shows what its task did itself. Interrupts of the task may do work
 * for other users, so all of them are merged into one row. That accounts for their time,
 * but does not show when other users received network traffic or disk data.
 */
#include <linux/capability.h>
#include <linux/math64.h>
#include <linux/sched/signal.h>
#include <linux/sizes.h>
#include <linux/slab.h>
#include <linux/string.h>
#include <linux/time64.h>
#include <linux/uaccess.h>
#include <linux/user_namespace.h>
#include <linux/xarray.h>

#include "base/arch.h"
#include "base/core.h"
#include "base/event.h"
#include "measure/clock.h"
#include "measure/ring.h"
#include "measure/state.h"
#include "tasks/exited.h"
#include "tasks/gone.h"
#include "tasks/region_copy.h"
#include "tasks/snapshot.h"
#include "tasks/snapshot_trace.h"
#include "compose.h"
#include "record.h"
#include "select.h"
#include "stream.h"

/**
 * ktau_is_interrupt() - whether an event may occur in an interrupt
 * @id: event
 *
 * A table does not contain the context in which a function ran.
 *
 * Context: Task.
 * Return: Whether it is an interrupt, or may be called by one.
 */
bool ktau_is_interrupt(unsigned int id)
{
	const struct ktau_event *event = ktau_event_find(id);

	if (!event || event->in_task || (event->group & ktau_groups_in_task))
		return false;
	return event->source != KTAU_SOURCE_WORK;
}

/* Round to whole microseconds, in ticks. */
static u64 round_us(u64 ticks, u64 hz)
{
	u64 us = mul_u64_u64_div_u64(ticks, USEC_PER_SEC, max(hz, 1ULL));

	return mul_u64_u64_div_u64(us, hz, USEC_PER_SEC);
}

static void round_entry(struct ktau_entry *entry, u64 hz)
{
	if (entry->kind != KTAU_KIND_TIMER)
		return;
	entry->incl = round_us(entry->incl, hz);
	entry->excl = round_us(entry->excl, hz);
	entry->longest = round_us(entry->longest, hz);
	entry->asleep = round_us(entry->asleep, hz);
	entry->runq = round_us(entry->runq, hz);
	entry->irq = 0;
	entry->flags &= ~KTAU_ENTRY_IRQ;
}

/*
 * Merge all interrupts into one entry, in the order of ids. Counters in interrupts have
 * no time and are dropped. The sum of the exclusive times is all the time that interrupts
 * took. Return: the number of entries, which does not increase.
 */
static u32 merge_interrupts(struct ktau_entry *entry, u32 nr)
{
	struct ktau_entry all = { .id = KTAU_ID_INTERRUPTS };
	u32 from, to = 0, at;

	for (from = 0; from < nr; from++) {
		if (!ktau_is_interrupt(entry[from].id)) {
			entry[to++] = entry[from];
		} else if (entry[from].kind == KTAU_KIND_TIMER) {
			all.count += entry[from].count;
			all.excl += entry[from].excl;
		}
	}
	if (!all.count)
		return to;
	all.incl = all.excl;
	for (at = to; at && entry[at - 1].id > all.id; at--)
		entry[at] = entry[at - 1];
	entry[at] = all;
	return to + 1;
}

/* Remove an open interrupt, and the frames inside it. */
static void cut_open(struct ktau_rec_profile *rec, struct ktau_open *open)
{
	u32 cut;

	for (cut = rec->nr_open; cut; cut--)
		if (ktau_is_interrupt(open[cut - 1].id))
			break;
	rec->nr_open -= cut;
	rec->depth -= cut;
	memmove(open, open + cut, rec->nr_open * sizeof(*open));
}

/*
 * Round the open frames. Their children cannot have taken more than @left, the sum of all
 * entries.
 */
static void round_open(struct ktau_rec_profile *rec, struct ktau_open *open,
		       u64 left, u64 hz)
{
	u64 children = 0;
	u32 i;

	for (i = 0; i < rec->nr_open; i++) {
		open[i].start_ticks = round_us(open[i].start_ticks, hz);
		open[i].child_ticks = min(round_us(open[i].child_ticks, hz),
					  left - children);
		children += open[i].child_ticks;
		open[i].asleep_ticks = round_us(open[i].asleep_ticks, hz);
		open[i].runq_ticks = round_us(open[i].runq_ticks, hz);
		open[i].irq_ticks = 0;
	}
	/* Frames beyond those listed are left out. */
	rec->open_child_ticks = children;
}

static void round_account(struct ktau_rec_profile *rec, u64 hz)
{
	rec->user_ticks = round_us(rec->user_ticks, hz);
	rec->kernel_ticks = round_us(rec->kernel_ticks, hz);
	rec->irq_ticks = round_us(rec->irq_ticks, hz);
	rec->runq_ticks = round_us(rec->runq_ticks, hz);
	rec->asleep_ticks = round_us(rec->asleep_ticks, hz);
	rec->guest_ticks = round_us(rec->guest_ticks, hz);
}

/**
 * ktau_redact_profile() - round a profile to 1 us, and merge its interrupts into one row
 * @rec: the profile, followed by room for two more open frames
 * @hz: ticks per second
 *
 * The result still satisfies: sum of excl + refused_ticks = outer_ticks +
 * open_child_ticks.
 *
 * Context: Task.
 */
void ktau_redact_profile(struct ktau_rec_profile *rec, u64 hz)
{
	struct ktau_entry *entry = (struct ktau_entry *)(rec + 1);
	struct ktau_open *open = (struct ktau_open *)(entry + rec->nr_entries);
	u64 sum;
	u32 i;

	/* Move the frames out of the way of the entries, and later back to their end. */
	memmove(open + 2, open, rec->nr_open * sizeof(*open));
	static_assert(2 * sizeof(*open) >= sizeof(*entry));
	open += 2;
	rec->nr_entries = merge_interrupts(entry, rec->nr_entries);
	cut_open(rec, open);
	memmove(entry + rec->nr_entries, open, rec->nr_open * sizeof(*open));
	open = (struct ktau_open *)(entry + rec->nr_entries);

	rec->refused_ticks = round_us(rec->refused_ticks, hz);
	sum = rec->refused_ticks;
	for (i = 0; i < rec->nr_entries; i++) {
		round_entry(&entry[i], hz);
		if (entry[i].kind == KTAU_KIND_TIMER)
			sum += entry[i].excl;
	}
	round_open(rec, open, sum, hz);
	rec->outer_ticks = sum - rec->open_child_ticks;
	rec->ticks = round_us(rec->ticks, hz);
	rec->start_ticks = round_us(rec->start_ticks, hz);
	round_account(rec, hz);
	rec->rec.size = sizeof(*rec) + rec->nr_entries * sizeof(*entry) +
			rec->nr_open * sizeof(*open);
}

/**
 * ktau_redact_region() - round a region's part of a profile, and merge its interrupts
 * @rec: the region, which does not become larger
 * @hz: ticks per second
 *
 * Context: Task.
 */
void ktau_redact_region(struct ktau_rec_region *rec, u64 hz)
{
	struct ktau_entry *entry = (struct ktau_entry *)(rec + 1);
	u32 i;

	rec->nr_entries = merge_interrupts(entry, rec->nr_entries);
	for (i = 0; i < rec->nr_entries; i++)
		round_entry(&entry[i], hz);
	rec->rec.size = sizeof(*rec) + rec->nr_entries * sizeof(*entry);
}

/* Whether @serial belongs to another user and must not be shown to this reader. */
static bool is_hidden(struct ktau_stream *stream, u64 serial)
{
	return serial && !(stream->access & KTAU_ACCESS_SERIALS) &&
	       !ktau_named_visible(stream, serial);
}

/* Addresses of page faults in the kernel reveal its memory layout. */
static void redact_fault(const struct ktau_stream *stream, struct ktau_slot *slot)
{
	u64 *address = (u64 *)(slot + 1);

	if (slot->words * sizeof(u64) > sizeof(*slot) &&
	    *address >= TASK_SIZE_MAX && !(stream->access & KTAU_ACCESS_ADDRESSES))
		*address = 0;
}

static void redact_others(struct ktau_stream *stream, struct ktau_slot *slot)
{
	struct ktau_slot_switch *to = (void *)(slot + 1);
	struct ktau_slot_waking *waking = (void *)(slot + 1);
	struct ktau_slot_woken *woken = (void *)(slot + 1);

	switch (slot->type) {
	case KTAU_TRACE_SWITCH:
		if (is_hidden(stream, to->next_serial)) {
			to->next_serial = 0;
			to->next_prio = -1;
		}
		break;
	case KTAU_TRACE_WAKING:
		if (is_hidden(stream, waking->serial)) {
			waking->serial = 0;
			waking->prio = -1;
		}
		break;
	case KTAU_TRACE_WOKEN:
		if (is_hidden(stream, woken->waker_serial))
			woken->waker_serial = 0;
		break;
	case KTAU_TRACE_NET_SEND:
	case KTAU_TRACE_NET_RECV:
		/*
		 * A softirq handles segments of all users, whatever task it interrupts.
		 */
		if (slot->ctx != KTAU_CTX_TASK)
			memset(slot + 1, 0, slot->words * sizeof(u64) -
			       sizeof(*slot));
		break;
	}
}

/**
 * ktau_redact_trace() - remove from a trace what the reader may not see
 * @stream: the stream, whose body is the trace
 *
 * This is what belongs to other users, and kernel addresses.
 *
 * Context: May sleep.
 */
void ktau_redact_trace(struct ktau_stream *stream)
{
	struct ktau_rec_trace *rec = stream->body.p;
	struct ktau_slot *slot = (struct ktau_slot *)(rec + 1);
	u32 i;

	if (!(~stream->access & (KTAU_ACCESS_ALL | KTAU_ACCESS_ADDRESSES)))
		return;
	for (i = 0; i < rec->nr_slots; i++) {
		if (slot->type == KTAU_TRACE_ENTER)
			redact_fault(stream, slot);
		else if (!(stream->access & KTAU_ACCESS_ALL))
			redact_others(stream, slot);
		slot = (void *)slot + slot->words * sizeof(u64);
	}
}

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

/* Take back the record that ktau_record_put() has put, of which nothing has been handed out. */
static void drop(struct ktau_stream *stream)
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

/**
 * ktau_admit_sum() - whether a stream contains the evicted sum
 *
 * Context: Any.
 * Return: Whether it was asked for and the reader may see it.
 */
bool ktau_admit_sum(const struct ktau_stream *stream)
{
	return (stream->select.target & KTAU_TARGET_EVICTED) &&
	       stream->content == KTAU_REC_PROFILE &&
	       (stream->access & KTAU_ACCESS_ALL);
}

/**
 * ktau_admit_begin() - start watching for folding and eviction of the tasks of a stream
 * @stream: the stream, locked; the current credentials are those of its opener
 *
 * Context: Task.
 */
void ktau_admit_begin(struct ktau_stream *stream)
{
	/* A reader that may trace any task may see tasks of other users. */
	bool wide = stream->privileged ||
		    ns_capable_noaudit(&init_user_ns, CAP_SYS_PTRACE);

	ktau_exited_watch(&stream->watch, wide ? NULL : stream->user,
			  ktau_admit_sum(stream));
}

/**
 * ktau_admit_watched() - the watch of a stream that reports folded and evicted tasks
 *
 * Context: Any.
 * Return: The watch, or NULL if the stream does not report them.
 */
struct ktau_watch *ktau_admit_watched(struct ktau_stream *stream)
{
	return stream->content == KTAU_REC_PROFILE &&
	       (stream->select.target & KTAU_TARGET_EXITED) ?
	       &stream->watch : NULL;
}

/* The same for one owner; also NULL if the stream may not watch the tasks of its user. */
static struct ktau_watch *watched_for(struct ktau_stream *stream,
				      const struct ktau_state *state)
{
	return stream->watch.wide || state->user == stream->user ?
	       ktau_admit_watched(stream) : NULL;
}

/* Whether the stream must contain the profile, or may contain the trace, of a live task. */
static bool is_due(struct ktau_stream *stream, struct ktau_state *state,
		   struct task_struct *task)
{
	u32 target = stream->select.target;

	/* A list may name several threads of one process. */
	if ((target & KTAU_TARGETS_LISTED) && !stream->reach.ring)
		return !(ktau_serial_bits(stream, state->serial) &
			 BIT(KTAU_SERIAL_RECORD + KTAU_OWNER_TASK));
	if (!(target & KTAU_TARGETS_ALL))
		return true;
	if (stream->content == KTAU_REC_TRACE)
		return !(stream->select.flags & KTAU_SELECT_CONSUME) ||
		       ktau_ring_has_unread(state);
	return ktau_look(state, task, stream->number,
			 target & KTAU_TARGET_CHANGED ? stream->since : 0);
}

/*
 * Note that @task is being shown. Return: 0, 1 if it has exited since @state was looked
 * up, or -ENOMEM.
 */
static int know(struct ktau_stream *stream, const struct ktau_state *state,
		const struct task_struct *task)
{
	struct ktau_watch *watch = watched_for(stream, state);
	int err;

	if (!watch)
		return 0;
	err = ktau_gone_know(watch, state->serial);
	smp_mb();	/* pairs with the barrier of an exit before it is queued */
	return err ?: READ_ONCE(task->ktau.state) != state;
}

/* Count a live task that the reader does not get. @err: -EBUSY or -EACCES. */
static void count_left_out(struct ktau_stream *stream, struct ktau_state *state, int err)
{
	if (err == -EBUSY) {
		stream->end.busy++;
		ktau_look_again(state);
	} else {
		stream->end.denied++;
	}
}

/* Put the record of a live task that the reader may see and has selected. */
static int put_visible(struct ktau_stream *stream, struct task_struct *task,
		       struct ktau_state *state)
{
	struct ktau_owner owner;
	int err, ret;

	if (is_due(stream, state, task))
		ret = know(stream, state, task);
	else
		ret = 1;
	if (!ret) {
		ktau_describe_task(stream, &owner, task);
		owner.serial = state->serial;
		owner.exec_ns = state->exec_ns;
		ret = ktau_record_put(stream, state, task, &owner);
	} else if (ret > 0) {
		ret = 0;
	}
	err = stream->body_len ? ktau_task_recheck(task, state, stream->access) : 0;
	if (err) {
		drop(stream);
		count_left_out(stream, state, err);
		ret = 0;
	}
	return ret;
}

/**
 * ktau_admit_task() - put the record of a live task if the reader may have it
 * @stream: the stream, locked; the current credentials are those of its opener
 * @task: the task, held by the caller
 *
 * An exec may change access to the task while it is copied, so access is checked again
 * afterwards.
 *
 * Context: May sleep.
 * Return: As ktau_record_put(); 0 if the reader does not get the task.
 */
int ktau_admit_task(struct ktau_stream *stream, struct task_struct *task)
{
	struct ktau_state *state;
	int ret;

	if (!ktau_select_task(&stream->select, task))
		return 0;
	state = ktau_state_get(task);
	/* A state that is about to be used for the first time is not a profile yet. */
	if (state && !ktau_read(&state->start_ticks)) {
		ktau_state_put(state);
		state = NULL;
	}
	ret = ktau_task_check(task, stream->access);
	if (!state) {
		/* A task without a profile is not counted as denied: there is none to see. */
		if (!ret && (stream->select.target & KTAU_TARGETS_LISTED))
			stream->end.stateless++;
		return 0;
	}
	if (!ret) {
		ret = put_visible(stream, task, state);
	} else {
		count_left_out(stream, state, ret);
		ret = 0;
	}
	ktau_state_put(state);
	return ret;
}

/**
 * ktau_admit_exited() - put the record of an exited task if the reader may have it
 * @stream: the stream, locked; the current credentials are those of its opener
 * @state: the task's state, held by the caller
 *
 * Context: May sleep.
 * Return: As ktau_record_put(); 0 if the reader does not get the task.
 */
int ktau_admit_exited(struct ktau_stream *stream, struct ktau_state *state)
{
	struct ktau_owner owner;

	if (!ktau_is_in_reach(stream, state) ||
	    !ktau_select_exited(&stream->select, state))
		return 0;
	if (!(stream->access & KTAU_ACCESS_ALL) && !ktau_may_read_exited(state)) {
		stream->end.denied++;
		return 0;
	}
	/* Once folded or evicted, it is part of a record that is still to come. */
	if (stream->content == KTAU_REC_PROFILE &&
	    !ktau_exited_show(watched_for(stream, state), state))
		return 0;
	ktau_describe_exited(stream, &owner, state);
	return ktau_record_put(stream, state, NULL, &owner);
}
