// SPDX-License-Identifier: GPL-2.0-only
/*
 * Programs write these files, so nothing in them is trusted. A program may write to its file while
 * it is read: slots that it has overwritten meanwhile, and the one that it may be overwriting, are
 * left out.
 */
#include <byteswap.h>
#include <dirent.h>
#include <errno.h>
#include <fcntl.h>
#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "../../../libktau/user/trace_format.h"
#include "lib/cli.h"
#include "lib/hash.h"
#include "lib/report/region_names.h"
#include "lib/symbolize.h"
#include "user_trace.h"

/* Ids of names, from the highest one down; slots of all files. */
enum { FIRST_ID = KTAU_ID_NONE - 1, LAST_ID = FIRST_ID - 4095, MAX_SLOTS = 1 << 24 };

/* Stands for the library itself, which can be the innermost region inside any other. */
enum { OWN = KTAU_REGIONS_MAX, NR_REGIONS };

/* The ids of a thread's regions and events. */
struct user_trace_names {
	uint32_t parent[KTAU_REGIONS_MAX];
	uint32_t region[NR_REGIONS];
	uint32_t event[KTAU__TRACE_EVENTS];
};

struct user_traces {
	struct registry *registry;
	struct hash ids;	/* by hash of the name and kind */
	uint32_t next_id;
	struct user_trace **trace;
	size_t nr;
	struct hash by_serial;	/* index plus 1 */
	uint64_t nr_slots;
	uint64_t left_out;	/* files beyond MAX_SLOTS */
	uint64_t nr_doubles;	/* files of threads that have more than one */
};

static bool is_event(const struct ktau_rec_event *event, const char *name, uint32_t kind)
{
	return event->group == SYMBOLIZE_USER && event->kind == kind &&
	       !strcmp(ktau_event_name(event), name);
}

static void put_event(struct registry *registry, uint32_t id, const char *name, uint32_t kind)
{
	const size_t bytes = strlen(name) + 1, size = sizeof(struct ktau_rec_event) +
						      ((bytes + 7) & ~(size_t)7);
	struct ktau_rec_event *event = cli_alloc(NULL, 1, size);
	const union ktau_record record = { .event = event };

	memset(event, 0, size);
	event->rec = (struct ktau_rec){ (uint32_t)size, KTAU_REC_EVENT, sizeof(*event) };
	event->id = (uint16_t)id;
	event->kind = (uint8_t)kind;
	event->source = KTAU_SOURCE_STATIC;
	event->group = SYMBOLIZE_USER;
	event->name_bytes = (uint32_t)bytes;
	memcpy(event + 1, name, bytes);
	if (registry_put(registry, &record))
		cli_alloc(NULL, SIZE_MAX, 1);
	free(event);
}

/* The id of a name. An earlier export of the same boot may have registered it. */
static uint32_t id_of(struct user_traces *traces, const char *name, uint32_t kind)
{
	const struct ktau_events *events = registry_events(traces->registry);
	const struct ktau_rec_event *event;
	uint64_t key = hash_bytes(HASH_START + kind, name, strlen(name));
	uint32_t id;

	for (; (id = (uint32_t)hash_get(&traces->ids, key)); key++) {
		event = ktau_events_find(events, id);
		if (event && is_event(event, name, kind))
			return id;
	}
	while (traces->next_id > LAST_ID) {
		id = traces->next_id--;
		event = ktau_events_find(events, id);
		if (event && !is_event(event, name, kind))
			continue;
		if (!event)
			put_event(traces->registry, id, name, kind);
		hash_put(&traces->ids, key, id);
		return id;
	}
	put_event(traces->registry, LAST_ID, "(other names)", KTAU_KIND_TIMER);
	return LAST_ID;
}

static const char *made_name(char made[32], const char *what, uint32_t number)
{
	snprintf(made, 32, "%s %" PRIu32, what, number);
	return made;
}

/* Name what occurs in the trace, and the regions around it, which have lower numbers. */
static void name_trace(struct user_traces *traces, const struct region_names *names,
		       struct user_trace *trace)
{
	bool region[KTAU_REGIONS_MAX] = { 0 }, event[KTAU__TRACE_EVENTS] = { 0 };
	struct user_trace_names *n = cli_alloc(NULL, 1, sizeof(*n));
	const char *name;
	char made[32];
	uint32_t i;

	memset(n, 0, sizeof(*n));
	trace->names = n;
	for (i = 0; i < trace->nr; i++)
		if (trace->slots[i].type == USER_REGION)
			region[trace->slots[i].number % KTAU__TRACE_OWN] = true;
		else
			event[trace->slots[i].number] = true;
	for (i = KTAU_REGIONS_MAX - 1; i; i--) {
		if (!region[i])
			continue;
		name = region_names_region(names, trace->serial, i, &n->parent[i]);
		n->region[i] = id_of(traces, name ? name : made_name(made, "region", i),
				     KTAU_KIND_TIMER);
		region[n->parent[i]] = true;
	}
	n->region[OWN] = id_of(traces, "(libktau-user)", KTAU_KIND_TIMER);
	for (i = 0; i < KTAU__TRACE_EVENTS; i++) {
		if (!event[i])
			continue;
		name = region_names_event(names, trace->serial, i);
		n->event[i] = id_of(traces, name ? name : made_name(made, "event", i),
				    KTAU_KIND_COUNTER);
	}
}

/* A header or slots in the other byte order. */
static void swap_header(struct ktau__trace_header *h)
{
	h->magic = bswap_64(h->magic);
	h->serial = bswap_64(h->serial);
	h->written = bswap_64(h->written);
	h->nr_slots = bswap_32(h->nr_slots);
}

static void swap_slot(struct ktau__trace_slot *s)
{
	s->ticks = bswap_64(s->ticks);
	s->value = bswap_64(s->value);
	s->number = bswap_16(s->number);
	s->type = bswap_16(s->type);
	s->peer = (int32_t)bswap_32((uint32_t)s->peer);
}

static bool read_header(int fd, struct ktau__trace_header *h, bool *swap)
{
	if (pread(fd, h, sizeof(*h), 0) != sizeof(*h))
		return false;
	*swap = h->magic == bswap_64(KTAU__TRACE_MAGIC);
	if (*swap)
		swap_header(h);
	return h->magic == KTAU__TRACE_MAGIC && h->serial &&
	       h->nr_slots >= KTAU__TRACE_MIN_SLOTS && h->nr_slots <= KTAU__TRACE_MAX_SLOTS &&
	       !(h->nr_slots & (h->nr_slots - 1));
}

static bool is_valid(const struct ktau__trace_slot *s)
{
	switch (s->type) {
	case KTAU__TRACE_REGION:
		return s->number < KTAU__TRACE_OWN + KTAU_REGIONS_MAX;
	case KTAU__TRACE_MARK:
	case KTAU__TRACE_VALUE:
	case KTAU__TRACE_MESSAGE:
		return s->number < KTAU__TRACE_EVENTS;
	}
	return false;
}

/* Take the slots from number @from to before @to out of the ring. */
static void take_slots(struct user_trace *trace, const struct ktau__trace_slot *ring,
		       uint32_t nr_slots, uint64_t from, uint64_t to)
{
	const struct ktau__trace_slot *s;
	uint64_t ticks = 0;

	trace->slots = cli_alloc(NULL, to - from + 1, sizeof(*trace->slots));
	for (; from < to; from++) {
		s = &ring[from & (nr_slots - 1)];
		if (!is_valid(s))
			continue;
		ticks = s->ticks > ticks ? s->ticks : ticks;
		trace->slots[trace->nr++] = (struct user_slot){
			.ticks = ticks, .value = s->value, .type = s->type,
			.number = s->number, .peer = s->peer,
		};
	}
}

static size_t ring_bytes(const struct ktau__trace_header *h)
{
	return h->nr_slots * sizeof(struct ktau__trace_slot);
}

static void read_slots(int fd, struct user_trace *trace, const struct ktau__trace_header *before)
{
	const size_t bytes = ring_bytes(before);
	struct ktau__trace_slot *ring = cli_alloc(NULL, before->nr_slots, sizeof(*ring));
	struct ktau__trace_header after;
	uint64_t from = 0;
	uint32_t i;
	bool swap;

	if (pread(fd, ring, bytes, sizeof(after)) == (ssize_t)bytes &&
	    read_header(fd, &after, &swap) && after.nr_slots == before->nr_slots &&
	    after.written >= before->written) {
		for (i = 0; swap && i < before->nr_slots; i++)
			swap_slot(&ring[i]);
		if (after.written >= before->nr_slots)
			from = after.written - before->nr_slots + 1;
		if (from < before->written)
			take_slots(trace, ring, before->nr_slots, from, before->written);
	}
	free(ring);
}

/* There is another file of the same thread: a copy, or of the program before an exec. */
static void reject_both(struct user_traces *traces, struct user_trace *trace)
{
	traces->nr_doubles += trace->nr_files == 1 ? 2 : 1;
	trace->nr_files++;
	trace->nr = 0;
}

static void take_file(struct user_traces *traces, int fd, const char *boot)
{
	struct ktau__trace_header h;
	struct user_trace *trace;
	struct stat st;
	bool swap;

	if (fstat(fd, &st) || !S_ISREG(st.st_mode) || !read_header(fd, &h, &swap) ||
	    st.st_size < (off_t)(sizeof(h) + ring_bytes(&h)) ||
	    strncmp(h.boot, boot, sizeof(h.boot)))
		return;
	trace = user_traces_find(traces, h.serial);
	if (trace) {
		reject_both(traces, trace);
		return;
	}
	if (traces->nr_slots + h.nr_slots > MAX_SLOTS) {
		traces->left_out++;
		return;
	}
	traces->nr_slots += h.nr_slots;
	trace = cli_alloc(NULL, 1, sizeof(*trace));
	*trace = (struct user_trace){ .serial = h.serial, .nr_files = 1 };
	read_slots(fd, trace, &h);
	traces->trace = cli_alloc(traces->trace, traces->nr + 1, sizeof(*traces->trace));
	traces->trace[traces->nr++] = trace;
	hash_put(&traces->by_serial, trace->serial, traces->nr);
}

static void take_folder(struct user_traces *traces, DIR *dir, const char *boot)
{
	struct dirent *entry;
	int fd;

	while ((entry = readdir(dir))) {
		if (strncmp(entry->d_name, KTAU__TRACE_PREFIX, strlen(KTAU__TRACE_PREFIX)))
			continue;
		fd = openat(dirfd(dir), entry->d_name,
			    O_RDONLY | O_NOFOLLOW | O_NONBLOCK | O_CLOEXEC);
		if (fd < 0)
			continue;
		take_file(traces, fd, boot);
		close(fd);
	}
}

struct user_traces *user_traces_load(const char *path, const struct ktau_rec_stream *stream,
				     struct registry *registry)
{
	struct user_traces *traces = cli_alloc(NULL, 1, sizeof(*traces));
	struct region_names *names;
	DIR *dir = opendir(path);
	char boot[37];
	size_t i;

	*traces = (struct user_traces){ .registry = registry, .next_id = FIRST_ID };
	if (!dir) {
		complain("cannot open %s: %s", path, strerror(errno));
		return traces;
	}
	region_names_boot(boot, stream->boot_id);
	take_folder(traces, dir, boot);
	closedir(dir);
	if (traces->left_out)
		complain("%s: %" PRIu64 " traces of programs are left out, because there are too "
			 "many", path, traces->left_out);
	if (traces->nr_doubles)
		complain("%s: %" PRIu64 " traces of programs are left out, because several have "
			 "the same serial", path, traces->nr_doubles);
	if (!traces->nr)
		return traces;
	names = region_names_load(path, stream);
	for (i = 0; i < traces->nr; i++)
		name_trace(traces, names, traces->trace[i]);
	region_names_free(names);
	return traces;
}

void user_traces_free(struct user_traces *traces)
{
	size_t i;

	if (!traces)
		return;
	for (i = 0; i < traces->nr; i++) {
		free(traces->trace[i]->names);
		free(traces->trace[i]->slots);
		free(traces->trace[i]);
	}
	hash_deinit(&traces->by_serial);
	hash_deinit(&traces->ids);
	free(traces->trace);
	free(traces);
}

struct user_trace *user_traces_find(const struct user_traces *traces, uint64_t serial)
{
	size_t index = hash_get(&traces->by_serial, serial);

	return index ? traces->trace[index - 1] : NULL;
}

/* The parent of a region has a lower number, so each path ends, after at most 255 regions. */
size_t user_trace_path(const struct user_trace *trace, uint32_t region,
		       uint32_t path[USER_TRACE_DEPTH])
{
	const uint32_t last = region % KTAU__TRACE_OWN;
	size_t nr = 0, i;
	uint32_t at;

	for (at = last; at; at = trace->names->parent[at])
		nr++;
	for (at = last, i = nr; i; at = trace->names->parent[at])
		path[--i] = at;
	if (region >= KTAU__TRACE_OWN)
		path[nr++] = OWN;
	return nr;
}

uint32_t user_trace_region_id(const struct user_trace *trace, uint32_t region)
{
	return trace->names->region[region];
}

uint32_t user_trace_event_id(const struct user_trace *trace, uint32_t event)
{
	return trace->names->event[event];
}
