// SPDX-License-Identifier: GPL-2.0-only
/*
 * KTAU: the records of a stream, except for the snapshots: how it begins and ends,
 * and what describes the ids and owners of a snapshot before it is put.
 */
#include <linux/fs.h>
#include <linux/kallsyms.h>
#include <linux/utsname.h>
#include <asm/sections.h>

#include "stream.h"

/* @stream->small has a record now. */
static void put_small(struct ktau_stream *stream)
{
	const struct ktau_rec *rec = (const void *)stream->small;

	stream->out = stream->small;
	stream->len = rec->size;
	stream->pos = 0;
}

/**
 * ktau_compose_begin() - put STREAM
 * @stream: the stream, locked
 * @file: its descriptor; the current credentials are those that opened it
 *
 * Context: Task.
 */
void ktau_compose_begin(struct ktau_stream *stream, struct file *file)
{
	struct ktau_rec_stream *rec = (void *)stream->small;
	struct ktau_clock now;

	static_assert(sizeof(*rec) <= sizeof(stream->small));
	ktau_clock_read(&now);
	*rec = (struct ktau_rec_stream) {
		.rec = { sizeof(*rec), KTAU_REC_STREAM, sizeof(*rec) },
		.magic = KTAU_MAGIC,
		.version = KTAU_ABI_VERSION,
		.word_bits = BITS_PER_LONG,
		.content = stream->content,
		.target = stream->select.target,
		.flags = stream->select.flags,
		.groups = READ_ONCE(ktau_config.groups),
		.modes = READ_ONCE(ktau_config.modes),
		.clock_hz = ktau_clock_hz(),
		.clock_flags = ktau_arch_stable() ? KTAU_CLOCK_STABLE : 0,
		.nr_cpus = num_possible_cpus(),
		.ticks = now.ticks,
		.realtime_ns = now.realtime_ns,
		.monotonic_ns = now.monotonic_ns,
		.boot_ticks = ktau_clock_boot.ticks,
		.boot_realtime_ns = ktau_clock_boot.realtime_ns,
		.boot_monotonic_ns = ktau_clock_boot.monotonic_ns,
		.profile_pair_mticks = ktau_profile_pair_mticks,
		.trace_pair_mticks = ktau_trace_pair_mticks,
		.since_ticks = stream->select.since_ticks,
		.exited_next = ktau_exited_next(),
	};
	if (kallsyms_show_value(file->f_cred))
		rec->stext = (unsigned long)_stext;
	put_small(stream);
}

/**
 * ktau_compose_end() - put END
 * @stream: the stream, locked
 *
 * Context: Task.
 */
void ktau_compose_end(struct ktau_stream *stream)
{
	stream->end.rec = (struct ktau_rec) {
		sizeof(stream->end), KTAU_REC_END, sizeof(stream->end)
	};
	stream->end.lost_evicted = ktau_loss_total(KTAU_LOSS_UNREAD);
	memcpy(stream->small, &stream->end, sizeof(stream->end));
	put_small(stream);
}

static void put_owner(struct ktau_stream *stream, const struct ktau_owner *owner)
{
	struct ktau_rec_owner *rec = (void *)stream->small;

	*rec = (struct ktau_rec_owner) {
		.rec = { sizeof(*rec), KTAU_REC_OWNER, sizeof(*rec) },
		.serial = owner->serial,
		.kind = owner->kind,
		.flags = owner->flags,
		.tid = owner->tid,
		.tgid = owner->tgid,
		.ppid = owner->ppid,
		.cpu = owner->cpu,
		.uid = owner->uid,
		.exit_code = owner->exit_code,
		.start_ns = owner->start_ns,
		.exit_ns = owner->exit_ns,
		.exited_seq = owner->dead_seq,
		.nr_tasks = owner->nr_tasks,
		.utime_ns = owner->utime_ns,
		.stime_ns = owner->stime_ns,
	};
	memcpy(rec->comm, owner->comm, sizeof(rec->comm));
	put_small(stream);
}

static void put_event(struct ktau_stream *stream, unsigned int id,
		      struct file *file)
{
	struct ktau_rec_event *rec = (void *)stream->small;
	const struct ktau_event *event = ktau_event(id);
	char *name = (char *)(rec + 1);

	static_assert(sizeof(*rec) + KTAU_EVENT_NAME <= sizeof(stream->small));
	memset(stream->small, 0, sizeof(stream->small));
	*rec = (struct ktau_rec_event) {
		.rec = { .type = KTAU_REC_EVENT, .head = sizeof(*rec) },
		.id = id,
		.kind = event->kind,
		.source = ktau_event_source(id),
		.group = event->group,
	};
	if (kallsyms_show_value(file->f_cred)) {
		rec->address = ktau_event_address(id);
		rec->key = event->key;
	}
	ktau_event_name(id, name);
	rec->name_bytes = strlen(name) + 1;
	rec->rec.size = ALIGN(sizeof(*rec) + rec->name_bytes, 8);
	put_small(stream);
}

/* The next id in @stream->body that is one of an event; KTAU_ID_NONE at the end. */
static unsigned int next_id(struct ktau_stream *stream)
{
	const struct ktau_rec_profile *profile = stream->body;
	const struct ktau_rec_trace *trace = stream->body;
	const void *at = stream->body + stream->front.offset;
	const struct ktau_slot *slot = at;
	u32 nr = stream->front.next++;

	if (profile->rec.type == KTAU_REC_TRACE) {
		if (nr >= trace->nr_slots)
			return KTAU_NR_IDS;
		stream->front.offset += slot->words * sizeof(u64);
		return slot->id;
	}
	if (nr < profile->nr_entries) {
		stream->front.offset += sizeof(struct ktau_entry);
		return ((const struct ktau_entry *)at)->id;
	}
	if (nr < profile->nr_entries + profile->nr_open) {
		stream->front.offset += sizeof(struct ktau_open);
		return ((const struct ktau_open *)at)->id;
	}
	return KTAU_NR_IDS;
}

/**
 * ktau_compose_front() - put a record that has to come before @stream->body
 * @stream: the stream, locked
 * @file: its descriptor
 *
 * Context: Task.
 * Return: Whether there was one.
 */
bool ktau_compose_front(struct ktau_stream *stream, struct file *file)
{
	struct ktau_front *front = &stream->front;
	unsigned int id;

	if (!front->owner_put) {
		put_owner(stream, &front->owner);
		front->owner_put = true;
		front->next = 0;
		front->offset = ((const struct ktau_rec *)stream->body)->head;
		return true;
	}
	while ((id = next_id(stream)) != KTAU_NR_IDS) {
		if (id == KTAU_ID_NONE || !ktau_event(id) ||
		    __test_and_set_bit(id, stream->ids))
			continue;
		put_event(stream, id, file);
		return true;
	}
	return false;
}
