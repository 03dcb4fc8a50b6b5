// SPDX-License-Identifier: GPL-2.0-only
/*
 * Perfetto's protobuf trace. Frames are slices on the tracks of threads. Context switches and
 * wakeups are ftrace events, from which Perfetto derives thread states and wakers. While it is
 * unknown what a CPU runs, it runs a thread "unknown", one for each CPU. Times are CLOCK_BOOTTIME,
 * Perfetto's default clock.
 *
 * Wakeups by interrupts are written in the compact form, because Perfetto reads the context of an
 * event only there. The compact form has no waker: Perfetto takes the task that its switches show
 * on the CPU, so wakeups by tasks are written in the other form.
 *
 * Interrupts are slices of the interrupted thread and are not repeated on tracks of CPUs, so
 * each frame has exactly one slice.
 */
#include <errno.h>
#include <stdlib.h>
#include <string.h>

#include "lib/cli.h"
#include "export.h"
#include "export_cpus.h"
#include "analyse/point.h"
#include "lib/hash.h"
#include "lib/program_event.h"
#include "protobuf.h"

/* Field numbers, by message. */
enum { TRACE_PACKET = 1 };
enum {
	PACKET_FTRACE_EVENTS = 1, PACKET_PROCESS_TREE = 2, PACKET_CLOCK_SNAPSHOT = 6,
	PACKET_TIMESTAMP = 8, PACKET_SEQUENCE_ID = 10, PACKET_TRACK_EVENT = 11,
	PACKET_INTERNED_DATA = 12, PACKET_SEQUENCE_FLAGS = 13, PACKET_SYSTEM_INFO = 45,
	PACKET_TRACK_DESCRIPTOR = 60,
};
enum { SNAPSHOT_CLOCKS = 1, SNAPSHOT_PRIMARY = 2, CLOCK_ID = 1, CLOCK_TIMESTAMP = 2 };
enum { CLOCK_ID_REALTIME = 1, CLOCK_ID_MONOTONIC = 3, CLOCK_ID_BOOTTIME = 6 };
enum { SYSTEM_UTSNAME = 1, UTS_SYSNAME = 1, UTS_RELEASE = 3, UTS_MACHINE = 4 };
enum {
	TRACK_UUID = 1, TRACK_NAME = 2, TRACK_PROCESS = 3, TRACK_THREAD = 4, TRACK_PARENT = 5,
	TRACK_COUNTER = 8,
};
enum { TREE_PROCESS = 1, TREE_PID = 1, TREE_PPID = 2, TREE_CMDLINE = 3 };
enum { PROCESS_PID = 1, PROCESS_NAME = 6, PROCESS_START = 7 };
enum { THREAD_PID = 1, THREAD_TID = 2, THREAD_NAME = 5 };
enum {
	EVENT_CATEGORY_IIDS = 3, EVENT_ANNOTATIONS = 4, EVENT_TYPE = 9, EVENT_NAME_IID = 10,
	EVENT_TRACK_UUID = 11, EVENT_NAME = 23, EVENT_COUNTER_VALUE = 30, EVENT_FLOWS = 47,
	EVENT_ENDED_FLOWS = 48,
};
enum { TYPE_SLICE_BEGIN = 1, TYPE_SLICE_END = 2, TYPE_INSTANT = 3, TYPE_COUNTER = 4 };
enum {
	ANNOTATION_BOOL = 2, ANNOTATION_UINT = 3, ANNOTATION_INT = 4, ANNOTATION_POINTER = 7,
	ANNOTATION_STRING = 6, ANNOTATION_NAME = 10,
};
enum { INTERNED_CATEGORIES = 1, INTERNED_NAMES = 2, INTERNED_IID = 1, INTERNED_TEXT = 2 };
enum { BUNDLE_CPU = 1, BUNDLE_EVENT = 2, BUNDLE_COMPACT = 4 };
enum {
	COMPACT_NAMES = 5, COMPACT_TIME = 7, COMPACT_PID = 8, COMPACT_TARGET_CPU = 9,
	COMPACT_PRIO = 10, COMPACT_NAME = 11, COMPACT_FLAGS = 12,
};
enum { FLAG_HARDIRQ = 8, FLAG_SOFTIRQ = 16 };
enum {
	FTRACE_TIMESTAMP = 1, FTRACE_PID = 2, FTRACE_SWITCH = 4, FTRACE_WAKING = 20,
	FTRACE_FREE = 240,
};
enum {
	SWITCH_PREV_COMM = 1, SWITCH_PREV_PID, SWITCH_PREV_PRIO, SWITCH_PREV_STATE,
	SWITCH_NEXT_COMM, SWITCH_NEXT_PID, SWITCH_NEXT_PRIO,
};
enum { FREE_COMM = 1, FREE_PID, FREE_PRIO };
enum { WAKING_COMM = 1, WAKING_PID, WAKING_PRIO, WAKING_SUCCESS, WAKING_TARGET_CPU };

/* All packets belong to one sequence, within which names are interned. */
enum { SEQUENCE = 1, STATE_CLEARED = 1, NEEDS_STATE = 2 };

enum { NR_IDS = 65536 };

/* The tid of the unknown thread of CPU 0; no task can have it. */
enum { UNKNOWN_TID = 0x40000000 };

/*
 * The state after a loss is unknown: Perfetto has none for that, so it counts this one as invalid
 * and shows no state. The threads "unknown" are idle between their turns.
 */
enum { UNKNOWN_STATE = 0x200, IDLE_STATE = 0x80 };

/*
 * Track ids; those of tasks are the index of the track plus 1. A pid can be used twice, but not
 * the serial of a process, that of its leader.
 */
#define PROCESS_UUID(serial)	(1ULL << 62 | (serial))
#define COUNTER_UUID(track, id)	(1ULL << 63 | (uint64_t)(track)->index << 16 | (id))
#define VIEW_UUID	(3ULL << 61)
#define ROW_UUID(row)	(VIEW_UUID + 1 + (row))

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
 * @processes: processes that have been described, by serial
 * @wakings: the time of the last wakeup in the ring of a waker, by serial of the woken task
 * @cpus: what the CPUs run
 */
struct perfetto {
	struct message packet, event, inner, deep, interned;
	uint8_t name_known[NR_IDS];
	uint32_t categories;
	struct hash counters;
	struct hash processes;
	struct hash wakings;
	struct cpus cpus;
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

static int put_switch(struct export_run *x, const struct cpu_switch *s);

static int begin(struct export_run *x)
{
	const struct ktau_rec_stream *stream = timeline_stream(x->timeline);
	const struct ktau_clock *clock = timeline_clock(x->timeline);
	struct perfetto *p = calloc(1, sizeof(*p));

	if (!p)
		return -1;
	x->data = p;
	p->cpus.put = put_switch;
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

static uint64_t process_serial(const struct ktau_rec_owner *o)
{
	return o->leader_serial ? o->leader_serial : o->serial;
}

/* The parent of a process, which a track descriptor cannot have. */
static void put_process_tree(struct export_run *x, const struct ktau_rec_owner *o, uint64_t ns)
{
	struct perfetto *p = x->data;

	message_clear(&p->deep);
	message_varint(&p->deep, TREE_PID, (uint32_t)o->tgid);
	message_varint(&p->deep, TREE_PPID, (uint32_t)o->ppid);
	message_string(&p->deep, TREE_CMDLINE, o->comm);
	message_clear(&p->inner);
	message_put(&p->inner, TREE_PROCESS, &p->deep);
	begin_packet(p, ns);
	message_put(&p->packet, PACKET_PROCESS_TREE, &p->inner);
	write_packet(x);
}

/* A process has the name of its leader; until that appears, the name of its first thread. */
static void describe_process(struct export_run *x, const struct ktau_rec_owner *o, uint64_t ns)
{
	uint64_t serial = process_serial(o);
	struct perfetto *p = x->data;

	if (hash_get(&p->processes, serial) && o->tid != o->tgid)
		return;
	hash_put(&p->processes, serial, 1);
	message_clear(&p->deep);
	message_varint(&p->deep, PROCESS_PID, (uint32_t)o->tgid);
	message_string(&p->deep, PROCESS_NAME, o->comm);
	if (o->tid == o->tgid)
		message_varint(&p->deep, PROCESS_START, o->start_ns);
	message_clear(&p->inner);
	message_varint(&p->inner, TRACK_UUID, PROCESS_UUID(serial));
	message_put(&p->inner, TRACK_PROCESS, &p->deep);
	put_descriptor(x, ns);
	if (o->tid == o->tgid)
		put_process_tree(x, o, ns);
}

/* Make describe() describe the track again at its next event. */
static int track(struct export_run *x, struct track *track)
{
	(void)x;
	track->writer = 0;
	return 0;
}

static void describe(struct export_run *x, struct track *track, uint64_t ns)
{
	const struct ktau_rec_owner *o = &track->owner;
	struct perfetto *p = x->data;

	track->writer = 1;

	/* All idle tasks have tid 0, but a thread can have only one track. */
	if (o->tid)
		describe_process(x, o, ns);
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
	put_descriptor(x, ns);
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

static void put_lost(struct export_run *x, const struct timeline_event *e)
{
	struct perfetto *p = x->data;

	begin_event(p, track_uuid(e->track), TYPE_SLICE_BEGIN);
	message_string(&p->event, EVENT_NAME, "trace lost");
	annotate(p, "slots", ANNOTATION_UINT, e->lost);
	write_event(x, e->ns);
	begin_event(p, track_uuid(e->track), TYPE_SLICE_END);
	write_event(x, e->to_ns);
}

static void annotate_text(struct perfetto *p, const char *name, const char *text)
{
	message_clear(&p->deep);
	message_string(&p->deep, ANNOTATION_NAME, name);
	message_string(&p->deep, ANNOTATION_STRING, text);
	message_put(&p->event, EVENT_ANNOTATIONS, &p->deep);
}

/* All fields of an event of a program. */
static void annotate_fields(struct export_run *x, const struct timeline_event *e, const char *name)
{
	struct perfetto *p = x->data;
	struct program_field field;
	struct program_walk walk;
	char key[PROGRAM_NAME];

	program_begin(&walk, name, e->slot);
	while (program_next(&walk, &field)) {
		snprintf(key, sizeof(key), "%.*s", (int)field.name_bytes, field.name);
		if (field.type <= PROGRAM_S64) {
			annotate(p, key, field.type == PROGRAM_U64 ? ANNOTATION_UINT :
								     ANNOTATION_INT,
				 field.number);
			continue;
		}
		annotate_text(p, key, program_text(&field));
	}
}

static void put_mark(struct export_run *x, const struct timeline_event *e)
{
	const char *fields = symbolize_fields(x->names, e->id);
	const struct user_slot *m = e->mark;
	struct perfetto *p = x->data;

	introduce(x, e->id);
	begin_event(p, track_uuid(e->track), TYPE_INSTANT);
	message_varint(&p->event, EVENT_NAME_IID, (uint64_t)e->id + 1);
	message_varint(&p->event, EVENT_CATEGORY_IIDS, category(x, e->id));
	if (fields) {
		annotate_fields(x, e, fields);
	} else if (m->type == USER_MESSAGE) {
		annotate(p, "peer", ANNOTATION_INT, (uint64_t)(int64_t)m->peer);
		annotate(p, "bytes", ANNOTATION_UINT, m->value);
	} else if (m->type == USER_VALUE) {
		annotate(p, "value", ANNOTATION_UINT, m->value);
	}
	write_event(x, e->ns);
}

/* Forks, segments of TCP and other points: instants of the thread. */
static void put_point(struct export_run *x, const struct timeline_event *e)
{
	struct perfetto *p = x->data;
	struct point point;
	size_t i;

	if (!point_describe(&point, x->timeline, x->period->registry, e))
		return;
	begin_event(p, track_uuid(e->track), TYPE_INSTANT);
	message_string(&p->event, EVENT_NAME, point.name);
	for (i = 0; i < point.nr; i++)
		if (point.args[i].text)
			annotate_text(p, point.args[i].name, point.args[i].text);
		else
			annotate(p, point.args[i].name, ANNOTATION_INT,
				 (uint64_t)point.args[i].number);
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

/* Write @p->inner as field @field of an FtraceEvent of CPU @cpu in the context of @tid. */
static void write_ftrace(struct export_run *x, uint32_t field, uint64_t ns, uint32_t cpu,
			 uint32_t tid)
{
	struct perfetto *p = x->data;

	message_clear(&p->event);
	message_varint(&p->event, FTRACE_TIMESTAMP, ns);
	message_varint(&p->event, FTRACE_PID, tid);
	message_put(&p->event, field, &p->inner);
	message_clear(&p->inner);
	message_varint(&p->inner, BUNDLE_CPU, cpu);
	message_put(&p->inner, BUNDLE_EVENT, &p->event);
	begin_packet(p, ns);
	message_put(&p->packet, PACKET_FTRACE_EVENTS, &p->inner);
	write_packet(x);
}

static uint32_t tid_of(const struct track *track, uint32_t cpu)
{
	return track ? (uint32_t)track->owner.tid : UNKNOWN_TID + cpu;
}

static const char *comm_of(const struct track *track)
{
	return track ? track->owner.comm : "unknown";
}

static int put_switch(struct export_run *x, const struct cpu_switch *s)
{
	uint32_t state = s->prev ? export_state(s->state) : IDLE_STATE;
	struct perfetto *p = x->data;

	if (s->prev && s->unknown)
		state = UNKNOWN_STATE;
	message_clear(&p->inner);
	message_string(&p->inner, SWITCH_PREV_COMM, comm_of(s->prev));
	message_varint(&p->inner, SWITCH_PREV_PID, tid_of(s->prev, s->cpu));
	message_varint(&p->inner, SWITCH_PREV_PRIO, (uint64_t)s->prio);
	message_varint(&p->inner, SWITCH_PREV_STATE, state);
	message_string(&p->inner, SWITCH_NEXT_COMM, comm_of(s->next));
	message_varint(&p->inner, SWITCH_NEXT_PID, tid_of(s->next, s->cpu));
	message_varint(&p->inner, SWITCH_NEXT_PRIO, (uint64_t)s->next_prio);
	write_ftrace(x, FTRACE_SWITCH, s->ns, s->cpu, tid_of(s->prev, s->cpu));
	return 0;
}

/* Another task may get the same tid, so that of this one ends. */
static void put_gone(struct export_run *x, const struct timeline_event *e)
{
	const struct ktau_rec_owner *o = &e->track->owner;
	struct perfetto *p = x->data;

	message_clear(&p->inner);
	message_string(&p->inner, FREE_COMM, o->comm);
	message_varint(&p->inner, FREE_PID, (uint32_t)o->tid);
	message_varint(&p->inner, FREE_PRIO, (uint64_t)o->prio);
	write_ftrace(x, FTRACE_FREE, e->ns, e->track->cpu, (uint32_t)o->tid);
}

/**
 * struct wakeup - a wakeup
 * @ns: when
 * @cpu: the CPU
 * @tid: the waker, or the task that the interrupt has interrupted
 * @ctx: KTAU_CTX_*
 * @target_cpu: the CPU on which the task will run
 * @prio: its priority
 */
struct wakeup {
	uint64_t ns;
	uint32_t cpu, tid, ctx, target_cpu;
	int32_t prio;
};

static void put_packed(struct message *m, uint32_t field, uint64_t value)
{
	message_packed(m, field, &value, 1);
}

/* Write a wakeup of @woken by an interrupt. */
static void put_interrupt(struct export_run *x, const struct ktau_rec_owner *woken,
			  const struct wakeup *w)
{
	struct perfetto *p = x->data;

	message_clear(&p->event);
	message_string(&p->event, COMPACT_NAMES, woken->comm);
	put_packed(&p->event, COMPACT_TIME, w->ns);
	put_packed(&p->event, COMPACT_PID, (uint32_t)woken->tid);
	put_packed(&p->event, COMPACT_TARGET_CPU, w->target_cpu);
	put_packed(&p->event, COMPACT_PRIO, (uint64_t)w->prio);
	put_packed(&p->event, COMPACT_NAME, 0);
	put_packed(&p->event, COMPACT_FLAGS,
		   w->ctx == KTAU_CTX_SOFTIRQ ? FLAG_SOFTIRQ : FLAG_HARDIRQ);
	message_clear(&p->inner);
	message_varint(&p->inner, BUNDLE_CPU, w->cpu);
	message_put(&p->inner, BUNDLE_COMPACT, &p->event);
	begin_packet(p, w->ns);
	message_put(&p->packet, PACKET_FTRACE_EVENTS, &p->inner);
	write_packet(x);
}

static void put_wakeup(struct export_run *x, const struct ktau_rec_owner *woken,
		       const struct wakeup *w)
{
	struct perfetto *p = x->data;

	if (!woken || !woken->tid)
		return;
	if (w->ctx != KTAU_CTX_TASK) {
		put_interrupt(x, woken, w);
		return;
	}
	message_clear(&p->inner);
	message_string(&p->inner, WAKING_COMM, woken->comm);
	message_varint(&p->inner, WAKING_PID, (uint32_t)woken->tid);
	message_varint(&p->inner, WAKING_PRIO, (uint64_t)w->prio);
	message_varint(&p->inner, WAKING_SUCCESS, 1);
	message_varint(&p->inner, WAKING_TARGET_CPU, w->target_cpu);
	write_ftrace(x, FTRACE_WAKING, w->ns, w->cpu, w->tid);
}

/* The low bits of a time are enough: the wakeups of a task follow each other. */
static uintptr_t waking_key(uint64_t ticks)
{
	return (uintptr_t)ticks | 1;
}

static void put_waking(struct export_run *x, const struct timeline_event *e)
{
	struct ktau_slot_waking waking;
	struct perfetto *p = x->data;
	struct wakeup w;

	ktau_slot_waking(e->slot, &waking);
	w = (struct wakeup){ e->ns, e->slot->cpu, (uint32_t)e->track->owner.tid, e->slot->ctx,
			     waking.target_cpu, waking.prio };
	hash_put(&p->wakings, waking.serial, waking_key(e->slot->ticks));
	put_wakeup(x, timeline_owner(x->timeline, waking.serial), &w);
}

/*
 * The waker has no slot of the wakeup if it was not traced, has lost slots, or was exiting and its
 * ring was closed. Perfetto sorts events by their times.
 */
static void put_woken(struct export_run *x, const struct timeline_event *e)
{
	const struct ktau_clock *clock = timeline_clock(x->timeline);
	const struct ktau_rec_owner *waker;
	struct perfetto *p = x->data;
	struct ktau_slot_woken woken;
	struct wakeup w;

	ktau_slot_woken(e->slot, &woken);
	if (hash_get(&p->wakings, e->track->serial) == waking_key(woken.waking_ticks))
		return;
	waker = timeline_owner(x->timeline, woken.waker_serial);
	w = (struct wakeup){
		ktau_clock_boottime_ns(clock, woken.waking_ticks), woken.target_cpu,
		waker ? (uint32_t)waker->tid : UNKNOWN_TID + woken.target_cpu, woken.waker_ctx,
		woken.target_cpu, e->track->owner.prio,
	};
	put_wakeup(x, &e->track->owner, &w);
}

static int event(struct export_run *x, const struct timeline_event *e)
{
	struct perfetto *p = x->data;

	cpus_event(&p->cpus, x, e);
	if (!e->track->writer)
		describe(x, e->track, e->ns);
	export_put(x, e);
	return 0;
}

static void describe_row(struct export_run *x, uint64_t uuid, const char *name, uint64_t ns)
{
	struct perfetto *p = x->data;

	message_clear(&p->inner);
	message_varint(&p->inner, TRACK_UUID, uuid);
	message_string(&p->inner, TRACK_NAME, name);
	if (uuid != VIEW_UUID)
		message_varint(&p->inner, TRACK_PARENT, VIEW_UUID);
	put_descriptor(x, ns);
}

/*
 * Arrows from the task of each segment of a path to that of the next one, between instants on their
 * tracks. Tasks that have no track are left out.
 */
static void put_flows(struct export_run *x, const struct states *s)
{
	const struct states_interval *i, *end = s->intervals + s->nr_intervals;
	struct perfetto *p = x->data;
	const struct track *track;
	uint64_t flow = 0;

	for (i = s->intervals; i < end; i++) {
		track = i->serial ? timeline_track(x->timeline, i->serial) : NULL;
		if (!track || !track->writer)
			continue;
		begin_event(p, track_uuid(track), TYPE_INSTANT);
		message_string(&p->event, EVENT_NAME, "path");
		if (flow)
			message_fixed64(&p->event, EVENT_ENDED_FLOWS, flow);
		message_fixed64(&p->event, EVENT_FLOWS, ++flow);
		write_event(x, i->from_ns);
	}
}

/* A track for each row, below one for the view. */
static int put_states(struct export_run *x, const struct states *s)
{
	const struct states_interval *i;
	struct perfetto *p = x->data;
	uint32_t row;

	if (!s->nr_intervals)
		return 0;
	describe_row(x, VIEW_UUID, s->title, s->intervals[0].from_ns);
	for (row = 0; row < s->nr_rows; row++)
		describe_row(x, ROW_UUID(row), s->rows[row], s->intervals[0].from_ns);
	for (i = s->intervals; i < s->intervals + s->nr_intervals; i++) {
		begin_event(p, ROW_UUID(i->row), TYPE_SLICE_BEGIN);
		message_string(&p->event, EVENT_NAME, s->names[i->name].text);
		write_event(x, i->from_ns);
		begin_event(p, ROW_UUID(i->row), TYPE_SLICE_END);
		write_event(x, i->to_ns);
	}
	put_flows(x, s);
	return 0;
}

static int end_host(struct export_run *x)
{
	struct perfetto *p = x->data;

	return cpus_finish(&p->cpus, x);
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
	hash_deinit(&p->wakings);
	free(p);
	return 0;
}

EXPORT_FORMAT(perfetto) = {
	.name = "perfetto",
	.suffix = ".pftrace",
	.opens = "ui.perfetto.dev, trace_processor",
	.begin = begin,
	.track = track,
	.event = event,
	.put = {
		[KTAU_TRACE_ENTER] = put_enter,
		[KTAU_TRACE_EXIT] = put_exit,
		[KTAU_TRACE_COUNT] = put_count,
		[KTAU_TRACE_WAKING] = put_waking,
		[KTAU_TRACE_WOKEN] = put_woken,
		[KTAU_TRACE_FORK] = put_point,
		[KTAU_TRACE_EXEC] = put_point,
		[KTAU_TRACE_TASK_EXIT] = put_point,
		[KTAU_TRACE_COMM] = put_point,
		[KTAU_TRACE_CGROUP] = put_point,
		[KTAU_TRACE_NET_SEND] = put_point,
		[KTAU_TRACE_NET_RECV] = put_point,
		[KTAU_TRACE_KVM_ENTER] = put_point,
		[KTAU_TRACE_KVM_EXIT] = put_point,
	},
	.lost = put_lost,
	.mark = put_mark,
	.gone = put_gone,
	.states = put_states,
	.end_host = end_host,
	.end = end,
};
