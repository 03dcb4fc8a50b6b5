// SPDX-License-Identifier: GPL-2.0-only
/*
 * Perfetto's protobuf trace. Frames are slices on the tracks of threads. Context switches and
 * wakeups are ftrace events, from which Perfetto derives thread states and wakers. Times are
 * CLOCK_BOOTTIME, Perfetto's default clock.
 *
 * Interrupts are slices of the interrupted thread and are not repeated on tracks of CPUs, so
 * each frame has exactly one slice.
 */
#include <stdlib.h>
#include <string.h>

#include "cli.h"
#include "export.h"
#include "hash.h"
#include "protobuf.h"

/* Field numbers, by message. */
enum { TRACE_PACKET = 1 };
enum {
	PACKET_FTRACE_EVENTS = 1, PACKET_CLOCK_SNAPSHOT = 6, PACKET_TIMESTAMP = 8,
	PACKET_SEQUENCE_ID = 10, PACKET_TRACK_EVENT = 11, PACKET_INTERNED_DATA = 12,
	PACKET_SEQUENCE_FLAGS = 13, PACKET_SYSTEM_INFO = 45, PACKET_TRACK_DESCRIPTOR = 60,
};
enum { SNAPSHOT_CLOCKS = 1, SNAPSHOT_PRIMARY = 2, CLOCK_ID = 1, CLOCK_TIMESTAMP = 2 };
enum { CLOCK_ID_REALTIME = 1, CLOCK_ID_MONOTONIC = 3, CLOCK_ID_BOOTTIME = 6 };
enum { SYSTEM_UTSNAME = 1, UTS_SYSNAME = 1, UTS_RELEASE = 3, UTS_MACHINE = 4 };
enum {
	TRACK_UUID = 1, TRACK_NAME = 2, TRACK_PROCESS = 3, TRACK_THREAD = 4, TRACK_PARENT = 5,
	TRACK_COUNTER = 8,
};
enum { PROCESS_PID = 1, PROCESS_NAME = 6, THREAD_PID = 1, THREAD_TID = 2, THREAD_NAME = 5 };
enum {
	EVENT_CATEGORY_IIDS = 3, EVENT_ANNOTATIONS = 4, EVENT_TYPE = 9, EVENT_NAME_IID = 10,
	EVENT_TRACK_UUID = 11, EVENT_NAME = 23, EVENT_COUNTER_VALUE = 30,
};
enum { TYPE_SLICE_BEGIN = 1, TYPE_SLICE_END = 2, TYPE_INSTANT = 3, TYPE_COUNTER = 4 };
enum {
	ANNOTATION_BOOL = 2, ANNOTATION_UINT = 3, ANNOTATION_INT = 4, ANNOTATION_POINTER = 7,
	ANNOTATION_NAME = 10,
};
enum { INTERNED_CATEGORIES = 1, INTERNED_NAMES = 2, INTERNED_IID = 1, INTERNED_TEXT = 2 };
enum { BUNDLE_CPU = 1, BUNDLE_EVENT = 2 };
enum { FTRACE_TIMESTAMP = 1, FTRACE_PID = 2, FTRACE_SWITCH = 4, FTRACE_WAKING = 20 };
enum {
	SWITCH_PREV_COMM = 1, SWITCH_PREV_PID, SWITCH_PREV_PRIO, SWITCH_PREV_STATE,
	SWITCH_NEXT_COMM, SWITCH_NEXT_PID, SWITCH_NEXT_PRIO,
};
enum { WAKING_COMM = 1, WAKING_PID, WAKING_PRIO, WAKING_SUCCESS, WAKING_TARGET_CPU };

/* All packets belong to one sequence, within which names are interned. */
enum { SEQUENCE = 1, STATE_CLEARED = 1, NEEDS_STATE = 2 };

enum { NR_IDS = 65536 };

/* Track ids; those of tasks are the index of the track plus 1. */
#define PROCESS_UUID(pid)	(1ULL << 40 | (uint32_t)(pid))
#define COUNTER_UUID(track, id)	(1ULL << 63 | (uint64_t)(track)->index << 16 | (id))

/* @known: a switch has been seen on the CPU */
struct running {
	bool known;
	int32_t tid;
	char comm[16];
};

/**
 * struct perfetto - state of an export
 * @packet: packet being built
 * @event: event inside @packet
 * @inner: message inside @event
 * @deep: message inside @inner
 * @interned: names that the packet introduces
 * @name_known: event ids whose names have been introduced
 * @categories: groups that have been introduced
 * @counters: counter tracks that have been described
 * @processes: processes that have been described
 * @running: task that the last switch on each CPU went to
 * @nr_running: length of @running
 */
struct perfetto {
	struct message packet, event, inner, deep, interned;
	uint8_t name_known[NR_IDS];
	uint32_t categories;
	struct hash counters;
	struct hash processes;
	struct running *running;
	size_t nr_running;
};

static uint64_t track_uuid(const struct track *track)
{
	return (uint64_t)track->index + 1;
}

static void begin_packet(struct perfetto *p, uint64_t ns)
{
	message_clear(&p->packet);
	message_varint(&p->packet, PACKET_TIMESTAMP, ns);
	message_varint(&p->packet, PACKET_SEQUENCE_ID, SEQUENCE);
}

static void write_packet(struct export_run *x)
{
	struct perfetto *p = x->data;

	message_write(&p->packet, TRACE_PACKET, x->out);
}

static void put_clock(struct perfetto *p, uint32_t clock, uint64_t ns)
{
	message_clear(&p->deep);
	message_varint(&p->deep, CLOCK_ID, clock);
	message_varint(&p->deep, CLOCK_TIMESTAMP, ns);
	message_put(&p->inner, SNAPSHOT_CLOCKS, &p->deep);
}

static int begin(struct export_run *x)
{
	const struct ktau_rec_stream *stream = timeline_stream(x->timeline);
	const struct ktau_clock *clock = timeline_clock(x->timeline);
	struct perfetto *p = calloc(1, sizeof(*p));

	if (!p)
		return -1;
	x->data = p;
	begin_packet(p, clock->boottime_ns);
	message_varint(&p->packet, PACKET_SEQUENCE_FLAGS, STATE_CLEARED);
	message_clear(&p->inner);
	put_clock(p, CLOCK_ID_BOOTTIME, clock->boottime_ns);
	put_clock(p, CLOCK_ID_MONOTONIC, clock->monotonic_ns);
	put_clock(p, CLOCK_ID_REALTIME, clock->realtime_ns);
	message_varint(&p->inner, SNAPSHOT_PRIMARY, CLOCK_ID_BOOTTIME);
	message_put(&p->packet, PACKET_CLOCK_SNAPSHOT, &p->inner);
	write_packet(x);

	begin_packet(p, clock->boottime_ns);
	message_clear(&p->deep);
	message_string(&p->deep, UTS_SYSNAME, "Linux");
	message_string(&p->deep, UTS_RELEASE, stream->release);
	message_string(&p->deep, UTS_MACHINE, stream->machine);
	message_clear(&p->inner);
	message_put(&p->inner, SYSTEM_UTSNAME, &p->deep);
	message_put(&p->packet, PACKET_SYSTEM_INFO, &p->inner);
	write_packet(x);
	return 0;
}

static void put_descriptor(struct export_run *x, uint64_t ns)
{
	struct perfetto *p = x->data;

	begin_packet(p, ns);
	message_put(&p->packet, PACKET_TRACK_DESCRIPTOR, &p->inner);
	write_packet(x);
}

/* A process has the name of its leader; until that appears, the name of its first thread. */
static void describe_process(struct export_run *x, const struct track *track)
{
	const struct ktau_rec_owner *o = &track->owner;
	struct perfetto *p = x->data;

	if (hash_get(&p->processes, (uint32_t)o->tgid) && o->tid != o->tgid)
		return;
	hash_put(&p->processes, (uint32_t)o->tgid, 1);
	message_clear(&p->deep);
	message_varint(&p->deep, PROCESS_PID, (uint32_t)o->tgid);
	message_string(&p->deep, PROCESS_NAME, o->comm);
	message_clear(&p->inner);
	message_varint(&p->inner, TRACK_UUID, PROCESS_UUID(o->tgid));
	message_put(&p->inner, TRACK_PROCESS, &p->deep);
	put_descriptor(x, track->ns);
}

static int track(struct export_run *x, struct track *track)
{
	const struct ktau_rec_owner *o = &track->owner;
	struct perfetto *p = x->data;

	/* All idle tasks have tid 0, but a thread can have only one track. */
	if (o->tid)
		describe_process(x, track);
	message_clear(&p->inner);
	message_varint(&p->inner, TRACK_UUID, track_uuid(track));
	if (o->tid) {
		message_clear(&p->deep);
		message_varint(&p->deep, THREAD_PID, (uint32_t)o->tgid);
		message_varint(&p->deep, THREAD_TID, (uint32_t)o->tid);
		message_string(&p->deep, THREAD_NAME, o->comm);
		message_put(&p->inner, TRACK_THREAD, &p->deep);
	} else {
		message_string(&p->inner, TRACK_NAME, o->comm);
	}
	put_descriptor(x, track->ns);
	return 0;
}

static void intern(struct perfetto *p, uint32_t field, uint64_t iid, const char *text)
{
	message_clear(&p->deep);
	message_varint(&p->deep, INTERNED_IID, iid);
	message_string(&p->deep, INTERNED_TEXT, text);
	message_put(&p->interned, field, &p->deep);
}

/* Number of the group's bit, 1 to 32, as its id; 0 if the group is unknown. */
static uint64_t category(struct export_run *x, uint32_t id)
{
	uint32_t group = symbolize_group_bit(x->names, id);

	return group ? (uint64_t)__builtin_ctz(group) + 1 : 0;
}

static void introduce(struct export_run *x, uint32_t id)
{
	uint32_t group = symbolize_group_bit(x->names, id);
	struct perfetto *p = x->data;

	message_clear(&p->interned);
	if (!p->name_known[id])
		intern(p, INTERNED_NAMES, (uint64_t)id + 1, symbolize_event(x->names, id));
	p->name_known[id] = 1;
	if (group & ~p->categories)
		intern(p, INTERNED_CATEGORIES, category(x, id), symbolize_group(x->names, id));
	p->categories |= group;
}

static void annotate(struct perfetto *p, const char *name, uint32_t kind, uint64_t value)
{
	message_clear(&p->deep);
	message_string(&p->deep, ANNOTATION_NAME, name);
	message_varint(&p->deep, kind, value);
	message_put(&p->event, EVENT_ANNOTATIONS, &p->deep);
}

static void begin_event(struct perfetto *p, uint64_t uuid, uint32_t type)
{
	message_clear(&p->event);
	message_varint(&p->event, EVENT_TRACK_UUID, uuid);
	message_varint(&p->event, EVENT_TYPE, type);
}

static void write_event(struct export_run *x, uint64_t ns)
{
	struct perfetto *p = x->data;

	begin_packet(p, ns);
	message_varint(&p->packet, PACKET_SEQUENCE_FLAGS, NEEDS_STATE);
	if (p->interned.nr)
		message_put(&p->packet, PACKET_INTERNED_DATA, &p->interned);
	message_put(&p->packet, PACKET_TRACK_EVENT, &p->event);
	message_clear(&p->interned);
	write_packet(x);
}

static void put_enter(struct export_run *x, const struct timeline_event *e)
{
	uint64_t group = category(x, e->id), address;
	struct perfetto *p = x->data;

	introduce(x, e->id);
	begin_event(p, track_uuid(e->track), TYPE_SLICE_BEGIN);
	message_varint(&p->event, EVENT_NAME_IID, (uint64_t)e->id + 1);
	if (group)
		message_varint(&p->event, EVENT_CATEGORY_IIDS, group);
	if (ktau_slot_address(e->slot, &address))
		annotate(p, "address", ANNOTATION_POINTER, address);
	write_event(x, e->ns);
}

static void put_exit(struct export_run *x, const struct timeline_event *e)
{
	struct perfetto *p = x->data;
	int64_t result;

	begin_event(p, track_uuid(e->track), TYPE_SLICE_END);
	if (e->ended == ENDED_BY_END)
		annotate(p, "unfinished", ANNOTATION_BOOL, 1);
	else if (e->ended == ENDED_BY_LOSS)
		annotate(p, "lost", ANNOTATION_BOOL, 1);
	else if (e->slot && ktau_slot_result(e->slot, &result))
		annotate(p, "result", ANNOTATION_INT, (uint64_t)result);
	write_event(x, e->ns);
}

static void put_gap(struct export_run *x, const struct timeline_event *e)
{
	struct perfetto *p = x->data;

	begin_event(p, track_uuid(e->track), TYPE_SLICE_BEGIN);
	message_string(&p->event, EVENT_NAME, "trace lost");
	annotate(p, "slots", ANNOTATION_UINT, e->lost);
	write_event(x, e->ns);
	begin_event(p, track_uuid(e->track), TYPE_SLICE_END);
	write_event(x, e->to_ns);
}

static void put_mark(struct export_run *x, const struct timeline_event *e)
{
	const struct user_slot *m = e->mark;
	struct perfetto *p = x->data;

	introduce(x, e->id);
	begin_event(p, track_uuid(e->track), TYPE_INSTANT);
	message_varint(&p->event, EVENT_NAME_IID, (uint64_t)e->id + 1);
	message_varint(&p->event, EVENT_CATEGORY_IIDS, category(x, e->id));
	if (m->type == USER_MESSAGE) {
		annotate(p, "peer", ANNOTATION_INT, (uint64_t)(int64_t)m->peer);
		annotate(p, "bytes", ANNOTATION_UINT, m->value);
	} else if (m->type == USER_VALUE) {
		annotate(p, "value", ANNOTATION_UINT, m->value);
	}
	write_event(x, e->ns);
}

static void describe_counter(struct export_run *x, const struct timeline_event *e, uint64_t uuid)
{
	struct perfetto *p = x->data;

	if (hash_get(&p->counters, uuid))
		return;
	hash_put(&p->counters, uuid, 1);
	message_clear(&p->deep);
	message_clear(&p->inner);
	message_varint(&p->inner, TRACK_UUID, uuid);
	message_varint(&p->inner, TRACK_PARENT, track_uuid(e->track));
	message_string(&p->inner, TRACK_NAME, symbolize_event(x->names, e->id));
	message_put(&p->inner, TRACK_COUNTER, &p->deep);
	put_descriptor(x, e->ns);
}

static void put_count(struct export_run *x, const struct timeline_event *e)
{
	uint64_t uuid = COUNTER_UUID(e->track, e->id), value;
	struct perfetto *p = x->data;

	ktau_slot_count(e->slot, &value);
	describe_counter(x, e, uuid);
	begin_event(p, uuid, TYPE_COUNTER);
	message_varint(&p->event, EVENT_COUNTER_VALUE, value);
	write_event(x, e->ns);
}

/* Write @p->inner as field @field of an FtraceEvent. */
static void write_ftrace(struct export_run *x, const struct timeline_event *e, uint32_t field,
			 uint64_t ns)
{
	struct perfetto *p = x->data;

	message_clear(&p->event);
	message_varint(&p->event, FTRACE_TIMESTAMP, ns);
	message_varint(&p->event, FTRACE_PID, (uint32_t)e->track->owner.tid);
	message_put(&p->event, field, &p->inner);
	message_clear(&p->inner);
	message_varint(&p->inner, BUNDLE_CPU, e->slot->cpu);
	message_put(&p->inner, BUNDLE_EVENT, &p->event);
	begin_packet(p, ns);
	message_put(&p->packet, PACKET_FTRACE_EVENTS, &p->inner);
	write_packet(x);
}

/* The task running on @cpu according to the switches written so far. */
static struct running *running_on(struct perfetto *p, uint32_t cpu)
{
	size_t i = p->nr_running;

	if (cpu >= i) {
		p->nr_running = 2 * (size_t)cpu + 16;
		p->running = cli_alloc(p->running, p->nr_running, sizeof(*p->running));
		memset(p->running + i, 0, (p->nr_running - i) * sizeof(*p->running));
	}
	return &p->running[cpu];
}

/* Write a switch to @next from the task that runs according to the switches written so far. */
static void write_switch(struct export_run *x, const struct timeline_event *e,
			 const struct ktau_rec_owner *next, const struct ktau_slot_switch *to)
{
	struct perfetto *p = x->data;
	struct running *now = running_on(p, e->slot->cpu);

	message_clear(&p->inner);
	message_bytes(&p->inner, SWITCH_PREV_COMM, now->comm, strnlen(now->comm, 16));
	message_varint(&p->inner, SWITCH_PREV_PID, (uint32_t)now->tid);
	message_varint(&p->inner, SWITCH_PREV_PRIO, (uint64_t)to->prio);
	message_varint(&p->inner, SWITCH_PREV_STATE, export_state(to->state));
	message_string(&p->inner, SWITCH_NEXT_COMM, next->comm);
	message_varint(&p->inner, SWITCH_NEXT_PID, (uint32_t)next->tid);
	message_varint(&p->inner, SWITCH_NEXT_PRIO, (uint64_t)to->next_prio);
	write_ftrace(x, e, FTRACE_SWITCH, e->ns);
	*now = (struct running){ true, next->tid, "" };
	memcpy(now->comm, next->comm, sizeof(now->comm));
}

/*
 * If switches were lost, the CPU now runs a different task from the one that the last switch
 * went to. The time of the lost switch is unknown, so a substitute is written at the time of
 * this one.
 */
static void put_switch(struct export_run *x, const struct timeline_event *e)
{
	const struct ktau_rec_owner *prev = &e->track->owner, *next;
	struct running *now = running_on(x->data, e->slot->cpu);
	const struct ktau_slot_switch repair = { .prio = 120, .next_prio = 120 };
	struct ktau_slot_switch to;

	ktau_slot_switch(e->slot, &to);
	next = timeline_owner(x->timeline, to.next_serial);
	if (!next)
		return;
	if (now->known && now->tid != prev->tid)
		write_switch(x, e, prev, &repair);
	now->tid = prev->tid;
	memcpy(now->comm, prev->comm, sizeof(now->comm));
	write_switch(x, e, next, &to);
}

static void put_waking(struct export_run *x, const struct timeline_event *e)
{
	struct ktau_slot_waking waking;
	const struct ktau_rec_owner *o;
	struct perfetto *p = x->data;

	ktau_slot_waking(e->slot, &waking);
	o = timeline_owner(x->timeline, waking.serial);
	if (!o || !o->tid)
		return;
	message_clear(&p->inner);
	message_string(&p->inner, WAKING_COMM, o->comm);
	message_varint(&p->inner, WAKING_PID, (uint32_t)o->tid);
	message_varint(&p->inner, WAKING_PRIO, (uint64_t)waking.prio);
	message_varint(&p->inner, WAKING_SUCCESS, 1);
	message_varint(&p->inner, WAKING_TARGET_CPU, waking.target_cpu);
	write_ftrace(x, e, FTRACE_WAKING, e->ns);
}

static int end(struct export_run *x)
{
	struct perfetto *p = x->data;

	if (!p)
		return 0;
	message_deinit(&p->packet);
	message_deinit(&p->event);
	message_deinit(&p->inner);
	message_deinit(&p->deep);
	message_deinit(&p->interned);
	hash_deinit(&p->counters);
	hash_deinit(&p->processes);
	free(p->running);
	free(p);
	return 0;
}

const struct exporter export_perfetto = {
	.name = "perfetto",
	.suffix = ".pftrace",
	.opens = "ui.perfetto.dev, trace_processor",
	.begin = begin,
	.track = track,
	.put = {
		[KTAU_TRACE_ENTER] = put_enter,
		[KTAU_TRACE_EXIT] = put_exit,
		[KTAU_TRACE_COUNT] = put_count,
		[KTAU_TRACE_SWITCH] = put_switch,
		[KTAU_TRACE_WAKING] = put_waking,
	},
	.lost = put_gap,
	.mark = put_mark,
	.end = end,
};
