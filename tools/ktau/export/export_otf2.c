// SPDX-License-Identifier: GPL-2.0-only
/*
 * OTF2, for Vampir and ViTE. A location is a task, a location group is a process, and a region
 * is an event. Details of slots without a frame (such as the waker) become attributes of the
 * Leave of the enclosing frame.
 */
#include <errno.h>

#include "export.h"

#ifdef KTAU_HAVE_OTF2
#include <inttypes.h>
#include <otf2/otf2.h>
#include <stdlib.h>
#include <string.h>
#include <sys/resource.h>

#include "analyse/point.h"
#include "lib/cli.h"
#include "lib/hash.h"
#include "lib/text.h"

enum { NS = 1000000000, NR_IDS = 65536, EVENT_CHUNK_BYTES = 1 << 18,
       DEFINITION_CHUNK_BYTES = 1 << 22 };

/* Readers expect numbers without gaps. Number 0 is reserved for what is not an event. */
enum { REGION_LOST = 0, METRIC_CPU = 0, METRIC_RUNNING = 1, FIRST_METRIC = 2 };
enum { ATTRIBUTE_RESULT, ATTRIBUTE_ENDED, ATTRIBUTE_SLOTS, ATTRIBUTE_WAKER, ATTRIBUTE_NEXT,
       ATTRIBUTE_ADDRESS, NR_ATTRIBUTES };
enum { STRING_EMPTY, STRING_LOSS, STRING_END, NR_FIXED_STRINGS };

static const struct {
	const char *name, *description;
	OTF2_Type type;
} attributes[NR_ATTRIBUTES] = {
	[ATTRIBUTE_RESULT] = { "result", "result of a system call", OTF2_TYPE_INT64 },
	[ATTRIBUTE_ENDED] = { "ended", "why a frame has no exit of its own", OTF2_TYPE_STRING },
	[ATTRIBUTE_SLOTS] = { "slots", "slots lost", OTF2_TYPE_UINT64 },
	[ATTRIBUTE_WAKER] = { "woken by", "the task that woke it", OTF2_TYPE_LOCATION },
	[ATTRIBUTE_NEXT] = { "switched to", "the task that got the CPU", OTF2_TYPE_LOCATION },
	[ATTRIBUTE_ADDRESS] = { "address", "faulting address", OTF2_TYPE_UINT64 },
};

/* Ids of the types of points, after those of events. */
enum { FIRST_POINT = NR_IDS, ALL_IDS = NR_IDS + UINT8_MAX + 1 };

/**
 * struct numbers - definitions of events, numbered from 1 in the order of first occurrence
 * @number: number of an event id, or of a type of points; 0 if it is not defined yet
 * @ids: event id of a number
 * @nr: number of definitions
 */
struct numbers {
	uint32_t number[ALL_IDS];
	uint32_t ids[ALL_IDS + 1];
	uint32_t nr;
};

/**
 * struct otf2 - state of an export
 * @regions: numbers of timer events
 * @metrics: numbers of counter events
 * @list: attributes of the next event; cleared when the event is written
 * @writers: event writers, by index of the track
 * @nr_writers: length of @writers
 * @cpus: last CPU written for each track, plus 1
 * @wakers: track index of the last waker of each track, plus 1
 * @nexts: track index of the task that got the CPU of each track, plus 1
 * @nr_strings: number of strings defined
 * @first_ns: time of the first event
 * @last_ns: time of the last event
 * @failed: a message has been printed
 */
struct otf2 {
	OTF2_Archive *archive;
	OTF2_GlobalDefWriter *definitions;
	OTF2_AttributeList *list;
	OTF2_EvtWriter **writers;
	size_t nr_writers;
	uint32_t *cpus, *wakers, *nexts;
	struct numbers regions, metrics;
	uint32_t nr_strings;
	uint64_t first_ns, last_ns;
	bool failed;
};

/*
 * Replaces OTF2's own error output. Only the first error is printed; the others follow from it.
 * OTF2 prescribes the type.
 */
/* NOLINTNEXTLINE(readability-function-size) */
static OTF2_ErrorCode take_error(void *arg, const char *file, uint64_t line, const char *function,
				 OTF2_ErrorCode code, const char *format, va_list args)
{
	struct export_run *x = arg;
	struct otf2 *o = x->data;
	char text[256];

	(void)file, (void)line, (void)function;
	vsnprintf(text, sizeof(text), format, args);
	if (!o->failed)
		complain("cannot write %s: %s: %s", output_name(x->output),
			 OTF2_Error_GetDescription(code), text);
	o->failed = true;
	return code;
}

static OTF2_FlushType flush_always(void *arg, OTF2_FileType type, OTF2_LocationRef location,
				   void *data, bool last)
{
	(void)arg;
	(void)type;
	(void)location;
	(void)data;
	(void)last;
	return OTF2_FLUSH;
}

/*
 * Without these callbacks OTF2 keeps up to 128 MiB of events of each location in memory. Here the
 * events of a location get one chunk: when OTF2 asks for a second one, it is refused, and OTF2
 * writes the first one to its file, which has a buffer of 4 MiB, and asks again. Definitions may
 * need more than one chunk.
 */
struct chunk {
	struct chunk *next;
	uint64_t memory[];
};

/* OTF2 prescribes the type. */
/* NOLINTNEXTLINE(readability-function-size) */
static void *allocate_chunk(void *arg, OTF2_FileType type, OTF2_LocationRef location, void **data,
			    uint64_t bytes)
{
	struct chunk *chunk = *data;

	(void)arg, (void)location;
	if (chunk && type == OTF2_FILETYPE_EVENTS)
		return NULL;
	chunk = cli_alloc(NULL, 1, sizeof(*chunk) + bytes);
	chunk->next = *data;
	*data = chunk;
	return chunk->memory;
}

/* NOLINTNEXTLINE(readability-function-size) */
static void free_chunks(void *arg, OTF2_FileType type, OTF2_LocationRef location, void **data,
			bool last)
{
	struct chunk *chunk = *data, *next;

	(void)arg, (void)type, (void)location, (void)last;
	for (; chunk; chunk = next) {
		next = chunk->next;
		free(chunk);
	}
	*data = NULL;
}

/* Each location has a file that stays open, so raise the limit on open files. */
static void allow_files(void)
{
	struct rlimit limit;

	if (getrlimit(RLIMIT_NOFILE, &limit))
		return;
	limit.rlim_cur = limit.rlim_max;
	setrlimit(RLIMIT_NOFILE, &limit);
}

static int begin(struct export_run *x)
{
	static const OTF2_FlushCallbacks flush = { .otf2_pre_flush = flush_always };
	static const OTF2_MemoryCallbacks memory = { allocate_chunk, free_chunks };
	struct otf2 *o = cli_alloc(NULL, 1, sizeof(*o));

	memset(o, 0, sizeof(*o));
	x->data = o;
	OTF2_Error_RegisterCallback(take_error, x);
	allow_files();
	o->archive = OTF2_Archive_Open(output_path(x->output), "traces", OTF2_FILEMODE_WRITE,
				       EVENT_CHUNK_BYTES, DEFINITION_CHUNK_BYTES,
				       OTF2_SUBSTRATE_POSIX, OTF2_COMPRESSION_NONE);
	if (!o->archive)
		return -EIO;
	o->list = OTF2_AttributeList_New();
	OTF2_Archive_SetFlushCallbacks(o->archive, &flush, NULL);
	OTF2_Archive_SetMemoryCallbacks(o->archive, &memory, NULL);
	OTF2_Archive_SetSerialCollectiveCallbacks(o->archive);
	OTF2_Archive_SetCreator(o->archive, "ktau export");
	OTF2_Archive_OpenEvtFiles(o->archive);
	return o->failed || !o->list ? -EIO : 0;
}

static int add_writers(struct export_run *x, size_t nr)
{
	struct otf2 *o = x->data;
	size_t i = o->nr_writers;

	if (nr <= i)
		return 0;
	o->nr_writers = 2 * nr;
	o->writers = cli_alloc(o->writers, o->nr_writers, sizeof(OTF2_EvtWriter *));
	o->cpus = cli_alloc(o->cpus, o->nr_writers, sizeof(*o->cpus));
	o->wakers = cli_alloc(o->wakers, o->nr_writers, sizeof(*o->wakers));
	o->nexts = cli_alloc(o->nexts, o->nr_writers, sizeof(*o->nexts));
	for (; i < o->nr_writers; i++) {
		o->writers[i] = NULL;
		o->cpus[i] = o->wakers[i] = o->nexts[i] = 0;
	}
	return 0;
}

static int track(struct export_run *x, struct track *track)
{
	struct otf2 *o = x->data;

	add_writers(x, (size_t)track->index + 1);
	if (!o->writers[track->index])
		o->writers[track->index] = OTF2_Archive_GetEvtWriter(o->archive, track->index);
	return o->writers[track->index] ? 0 : -EIO;
}

static void put_metric(OTF2_EvtWriter *writer, uint64_t ns, OTF2_MetricRef metric, uint64_t value)
{
	const OTF2_Type type = OTF2_TYPE_UINT64;
	OTF2_MetricValue values = { .unsigned_int = value };

	OTF2_EvtWriter_Metric(writer, NULL, ns, metric, 1, &type, &values);
}

static void put_cpu(struct otf2 *o, const struct timeline_event *e)
{
	uint32_t index = e->track->index;

	if (o->cpus[index] == e->track->cpu + 1)
		return;
	o->cpus[index] = e->track->cpu + 1;
	put_metric(o->writers[index], e->ns, METRIC_CPU, e->track->cpu);
}

static void add_location(struct otf2 *o, OTF2_AttributeRef attribute, uint32_t *which)
{
	if (*which)
		OTF2_AttributeList_AddLocationRef(o->list, attribute, *which - 1);
	*which = 0;
}

static uint32_t number_of(struct numbers *numbers, uint32_t id)
{
	if (!numbers->number[id]) {
		numbers->number[id] = ++numbers->nr;
		numbers->ids[numbers->nr] = id;
	}
	return numbers->number[id];
}

static void put_exit(struct export_run *x, const struct timeline_event *e)
{
	static const OTF2_StringRef ended[] = {
		[ENDED_BY_LOSS] = STRING_LOSS, [ENDED_BY_END] = STRING_END,
	};
	uint32_t index = e->track->index;
	struct otf2 *o = x->data;
	int64_t result;

	if (e->ended != ENDED_BY_EXIT)
		OTF2_AttributeList_AddStringRef(o->list, ATTRIBUTE_ENDED, ended[e->ended]);
	else if (e->slot && ktau_slot_result(e->slot, &result))
		OTF2_AttributeList_AddInt64(o->list, ATTRIBUTE_RESULT, result);
	if (symbolize_group_bit(x->names, e->id) == KTAU_GROUP_SCHED) {
		add_location(o, ATTRIBUTE_WAKER, &o->wakers[index]);
		add_location(o, ATTRIBUTE_NEXT, &o->nexts[index]);
	}
	OTF2_EvtWriter_Leave(o->writers[index], o->list, e->ns, number_of(&o->regions, e->id));
}

static void put_enter(struct otf2 *o, const struct timeline_event *e)
{
	if (e->frame->address)
		OTF2_AttributeList_AddUint64(o->list, ATTRIBUTE_ADDRESS, e->frame->address);
	OTF2_EvtWriter_Enter(o->writers[e->track->index], o->list, e->ns,
			     number_of(&o->regions, e->id));
}

static void put_lost(struct otf2 *o, const struct timeline_event *e)
{
	OTF2_EvtWriter *writer = o->writers[e->track->index];

	OTF2_AttributeList_AddUint64(o->list, ATTRIBUTE_SLOTS, e->lost);
	OTF2_EvtWriter_Enter(writer, o->list, e->ns, REGION_LOST);
	OTF2_EvtWriter_Leave(writer, NULL, e->to_ns, REGION_LOST);
	if (e->to_ns > o->last_ns)
		o->last_ns = e->to_ns;
}

static void put_value(struct otf2 *o, const struct timeline_event *e, uint32_t id, uint64_t value)
{
	put_metric(o->writers[e->track->index], e->ns,
		   FIRST_METRIC - 1 + number_of(&o->metrics, id), value);
}

/* Forks, segments of TCP and other points. */
static void put_point(struct export_run *x, const struct timeline_event *e)
{
	struct point p;

	if (point_describe(&p, x->timeline, x->period->registry, e))
		put_value(x->data, e, FIRST_POINT + e->type, (uint64_t)p.value);
}

/* An idle task has no work that could be running. */
static void put_running(struct otf2 *o, const struct timeline_event *e)
{
	if (!(e->track->owner.flags & KTAU_OWNER_IDLE))
		put_metric(o->writers[e->track->index], e->ns, METRIC_RUNNING,
			   e->type == TIMELINE_ON);
}

static uint32_t location_of(struct export_run *x, uint64_t serial)
{
	const struct track *track = timeline_track(x->timeline, serial);

	return track ? track->index + 1 : 0;
}

static int event(struct export_run *x, const struct timeline_event *e)
{
	uint32_t index = e->track->index;
	struct ktau_slot_switch to;
	struct ktau_slot_woken woken;
	struct otf2 *o = x->data;
	uint64_t value = 0;

	if (!o->first_ns || e->ns < o->first_ns)
		o->first_ns = e->ns;
	if (e->ns > o->last_ns)
		o->last_ns = e->ns;
	put_cpu(o, e);
	switch (e->type) {
	case KTAU_TRACE_ENTER:
		put_enter(o, e);
		break;
	case KTAU_TRACE_EXIT:
		put_exit(x, e);
		break;
	case KTAU_TRACE_COUNT:
		ktau_slot_count(e->slot, &value);
		put_value(o, e, e->id, value);
		break;
	case KTAU_TRACE_SWITCH:
		ktau_slot_switch(e->slot, &to);
		o->nexts[index] = location_of(x, to.next_serial);
		break;
	case KTAU_TRACE_WOKEN:
		ktau_slot_woken(e->slot, &woken);
		o->wakers[index] = location_of(x, woken.waker_serial);
		break;
	case TIMELINE_ON:
	case TIMELINE_OFF:
		put_running(o, e);
		break;
	case TIMELINE_LOST:
		put_lost(o, e);
		break;
	case TIMELINE_MARK:
		put_value(o, e, e->id, e->mark->type == USER_MARK ? 1 : e->mark->value);
		break;
	default:
		put_point(x, e);
		break;
	}
	return o->failed ? -EIO : 0;
}

/* Define a string with control characters escaped. Return: its number. */
static OTF2_StringRef define(struct otf2 *o, const char *text)
{
	char escaped[ESCAPED_BYTES], all[1024] = "";
	size_t nr = 0;

	while (*text && nr + ESCAPED_BYTES < sizeof(all)) {
		text += escape_one(text, escaped);
		strcpy(all + nr, escaped);
		nr += strlen(escaped);
	}
	OTF2_GlobalDefWriter_WriteString(o->definitions, o->nr_strings, all);
	return o->nr_strings++;
}

static void define_attributes(struct otf2 *o)
{
	OTF2_StringRef name, description;
	uint32_t i;

	for (i = 0; i < NR_ATTRIBUTES; i++) {
		name = define(o, attributes[i].name);
		description = define(o, attributes[i].description);
		OTF2_GlobalDefWriter_WriteAttribute(o->definitions, i, name, description,
						    attributes[i].type);
	}
}

static void define_region(struct otf2 *o, OTF2_RegionRef region, OTF2_StringRef name,
			  OTF2_RegionRole role)
{
	OTF2_GlobalDefWriter_WriteRegion(o->definitions, region, name, name, STRING_EMPTY, role,
					 OTF2_PARADIGM_UNKNOWN, OTF2_REGION_FLAG_NONE,
					 STRING_EMPTY, 0, 0);
}

static void define_metric(struct otf2 *o, OTF2_MetricRef metric, OTF2_StringRef name)
{
	const OTF2_MetricMemberRef member = metric;

	OTF2_GlobalDefWriter_WriteMetricMember(o->definitions, member, name, STRING_EMPTY,
					       OTF2_METRIC_TYPE_OTHER, OTF2_METRIC_ABSOLUTE_LAST,
					       OTF2_TYPE_UINT64, OTF2_BASE_DECIMAL, 0,
					       STRING_EMPTY);
	OTF2_GlobalDefWriter_WriteMetricClass(o->definitions, metric, 1, &member,
					      OTF2_METRIC_ASYNCHRONOUS,
					      OTF2_RECORDER_KIND_ABSTRACT);
}

static const char *metric_name(struct export_run *x, uint32_t id)
{
	return id < FIRST_POINT ? symbolize_event(x->names, id) : point_name(id - FIRST_POINT);
}

static void define_events(struct export_run *x)
{
	struct otf2 *o = x->data;
	uint32_t i;

	define_region(o, REGION_LOST, define(o, "trace lost"), OTF2_REGION_ROLE_ARTIFICIAL);
	for (i = 1; i <= o->regions.nr; i++)
		define_region(o, i, define(o, symbolize_event(x->names, o->regions.ids[i])),
			      OTF2_REGION_ROLE_FUNCTION);
	define_metric(o, METRIC_CPU, define(o, "cpu"));
	define_metric(o, METRIC_RUNNING, define(o, "running"));
	for (i = 1; i <= o->metrics.nr; i++)
		define_metric(o, FIRST_METRIC - 1 + i,
			      define(o, metric_name(x, o->metrics.ids[i])));
}

/* Define the regions of each of KTAU's groups. */
static void define_groups(struct export_run *x)
{
	uint64_t *members = cli_alloc(NULL, NR_IDS, sizeof(*members));
	struct otf2 *o = x->data;
	uint32_t bit, i, nr, groups = 0;

	for (bit = 1; bit; bit <<= 1) {
		nr = 0;
		for (i = 1; i <= o->regions.nr; i++)
			if (symbolize_group_bit(x->names, o->regions.ids[i]) == bit)
				members[nr++] = i;
		if (!nr)
			continue;
		OTF2_GlobalDefWriter_WriteGroup(o->definitions, groups++,
						define(o, symbolize_group_text(x->names, bit)),
						OTF2_GROUP_TYPE_REGIONS, OTF2_PARADIGM_UNKNOWN,
						OTF2_GROUP_FLAG_NONE, nr, members);
	}
	free(members);
}

static uint64_t process_of(const struct ktau_rec_owner *owner)
{
	if (!owner->tgid)
		return 0;	/* all idle tasks */
	return owner->leader_serial ? owner->leader_serial : owner->serial;
}

/*
 * Define processes by serial, because a pid can be used twice. A process has the name of its
 * leader or, without one, of its first thread.
 */
static void define_processes(struct export_run *x, struct hash *groups)
{
	const struct ktau_rec_owner *owner;
	const struct track *track;
	struct otf2 *o = x->data;
	struct hash names = { 0 };
	const char *name;
	char text[64];
	size_t i;

	for (i = 0; (track = timeline_track_at(x->timeline, i)); i++) {
		owner = &track->owner;
		if (!hash_get(&names, process_of(owner)) || owner->tid == owner->tgid)
			hash_put(&names, process_of(owner), (uintptr_t)owner->comm);
	}
	for (i = 0; (track = timeline_track_at(x->timeline, i)); i++) {
		owner = &track->owner;
		if (hash_get(groups, process_of(owner)))
			continue;
		name = (const char *)hash_get(&names, process_of(owner));
		if (owner->tgid)
			snprintf(text, sizeof(text), "%s (%d)", name, owner->tgid);
		else
			strcpy(text, "idle");
		OTF2_GlobalDefWriter_WriteLocationGroup(o->definitions, (uint32_t)groups->nr,
							define(o, text),
							OTF2_LOCATION_GROUP_TYPE_PROCESS, 0,
							OTF2_UNDEFINED_LOCATION_GROUP);
		hash_put(groups, process_of(owner), groups->nr + 1);
	}
	hash_deinit(&names);
}

static void define_locations(struct export_run *x)
{
	const struct track *track;
	struct otf2 *o = x->data;
	struct hash groups = { 0 };
	OTF2_DefWriter *writer;
	uint64_t events;
	char text[64];
	size_t i;

	define_processes(x, &groups);
	OTF2_Archive_OpenDefFiles(o->archive);
	for (i = 0; (track = timeline_track_at(x->timeline, i)); i++) {
		events = 0;
		if (i < o->nr_writers && o->writers[i]) {
			OTF2_EvtWriter_GetNumberOfEvents(o->writers[i], &events);
			OTF2_Archive_CloseEvtWriter(o->archive, o->writers[i]);
			o->writers[i] = NULL;
		}
		snprintf(text, sizeof(text), "%s/%d", track->owner.comm, track->owner.tid);
		OTF2_GlobalDefWriter_WriteLocation(o->definitions, i, define(o, text),
						   OTF2_LOCATION_TYPE_CPU_THREAD, events,
						   (uint32_t)hash_get(&groups,
						   process_of(&track->owner)) - 1);
		writer = OTF2_Archive_GetDefWriter(o->archive, i);
		OTF2_Archive_CloseDefWriter(o->archive, writer);
	}
	OTF2_Archive_CloseDefFiles(o->archive);
	hash_deinit(&groups);
}

static int end_host(struct export_run *x)
{
	const struct ktau_clock *clock = timeline_clock(x->timeline);
	struct otf2 *o = x->data;
	OTF2_StringRef host;

	if (o->failed)
		return -EIO;
	o->definitions = OTF2_Archive_GetGlobalDefWriter(o->archive);
	OTF2_GlobalDefWriter_WriteClockProperties(o->definitions, NS, o->first_ns,
						  o->last_ns - o->first_ns + 1,
						  clock->realtime_ns - clock->boottime_ns +
						  o->first_ns);
	define(o, "");
	define(o, "loss");
	define(o, "end");
	define_attributes(o);
	define_events(x);
	define_groups(x);
	host = define(o, x->stream.nodename);
	OTF2_GlobalDefWriter_WriteSystemTreeNode(o->definitions, 0, host, define(o, "node"),
						 OTF2_UNDEFINED_SYSTEM_TREE_NODE);
	define_locations(x);
	OTF2_Archive_CloseEvtFiles(o->archive);
	return o->failed ? -EIO : 0;
}

static int end(struct export_run *x)
{
	struct otf2 *o = x->data;
	int err = 0;

	if (o->archive && OTF2_Archive_Close(o->archive) != OTF2_SUCCESS)
		err = -EIO;
	if (o->list)
		OTF2_AttributeList_Delete(o->list);
	err = o->failed ? -EIO : err;
	OTF2_Error_RegisterCallback(NULL, NULL);
	free(o->writers);
	free(o->cpus);
	free(o->wakers);
	free(o->nexts);
	free(o);
	return err;
}

EXPORT_FORMAT(otf2) = {
	.name = "otf2",
	.suffix = ".otf2",
	.opens = "Vampir, ViTE: a directory",
	.directory = true,
	.begin = begin,
	.track = track,
	.event = event,
	.end_host = end_host,
	.end = end,
};
#else
EXPORT_FORMAT(otf2) = {
	.name = "otf2",
	.suffix = ".otf2",
	.opens = "Vampir, ViTE: a directory",
	.package = "libotf2-trace-dev",
};
#endif
