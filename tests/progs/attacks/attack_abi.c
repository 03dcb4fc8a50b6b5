// SPDX-License-Identifier: GPL-2.0-only
/* The reader of the attack tests, the only file of them that uses the interface's header. */
#include <errno.h>
#include <fcntl.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/ioctl.h>
#include <unistd.h>

#include <linux/ktau.h>

#include "attack.h"

#define NR_NAMES 65536
#define NAME_BYTES 64
#define STREAM_BYTES (64 << 20)

/* The events of the last streams, by id. */
static struct {
	char name[NAME_BYTES];
	uint32_t group;
	uint8_t source;
} events[NR_NAMES];

static const struct {
	unsigned int what;
	uint32_t target;
} targets[] = {
	{ OF_SELF, KTAU_TARGET_SELF },
	{ OF_LIST, KTAU_TARGET_LIST },
	{ OF_ALL, KTAU_TARGET_ALL },
	{ OF_EXITED, KTAU_TARGET_EXITED },
	{ OF_EVICTED, KTAU_TARGET_EVICTED },
	{ OF_CPUS, KTAU_TARGET_CPU },
};

static int select_owners(int fd, unsigned int what, int32_t tid)
{
	struct ktau_select select = { .size = sizeof(select) };
	size_t i;

	for (i = 0; i < sizeof(targets) / sizeof(*targets); i++)
		if (what & targets[i].what)
			select.target |= targets[i].target;
	if (what & CONSUME)
		select.flags = KTAU_SELECT_CONSUME;
	if (what & OF_LIST) {
		select.pids = (uintptr_t)&tid;
		select.nr_pids = 1;
	}
	return ioctl(fd, KTAU_IOC_SELECT, &select);
}

/* Copy the known part of a record; fields that the kernel does not have are zero. */
static void get_fixed(void *to, size_t bytes, const struct ktau_rec *rec)
{
	memset(to, 0, bytes);
	memcpy(to, rec, bytes < rec->head ? bytes : rec->head);
}

static struct seen_owner *owner_of(struct seen *seen, uint64_t serial)
{
	size_t i;

	for (i = seen->nr_owners; i--;)
		if (seen->owner[i].serial == serial)
			return &seen->owner[i];
	return NULL;
}

static bool take_owner(struct seen *seen, const struct ktau_rec *from)
{
	struct ktau_rec_owner rec;
	struct seen_owner *owner;

	get_fixed(&rec, sizeof(rec), from);
	owner = owner_of(seen, rec.serial);
	if (!owner) {
		if (seen->nr_owners == SEEN_OWNERS)
			return false;
		owner = &seen->owner[seen->nr_owners++];
		memset(owner, 0, sizeof(*owner));
	}
	owner->serial = rec.serial;
	owner->start_ns = rec.start_ns;
	owner->kind = rec.kind == KTAU_OWNER_TASK    ? SEEN_TASK :
		      rec.kind == KTAU_OWNER_EXITED  ? SEEN_EXITED :
		      rec.kind == KTAU_OWNER_CPU     ? SEEN_CPU :
		      rec.kind == KTAU_OWNER_EVICTED ? SEEN_EVICTED :
						       SEEN_OTHER;
	owner->tid = rec.tid;
	owner->uid = rec.uid;
	owner->idle = rec.flags & KTAU_OWNER_IDLE;
	return true;
}

static bool take_profile(struct seen *seen, const struct ktau_rec *from)
{
	const char *at = (const char *)from + from->head;
	struct ktau_rec_profile rec;
	struct seen_owner *owner;
	struct ktau_entry entry;
	uint32_t i;

	get_fixed(&rec, sizeof(rec), from);
	owner = owner_of(seen, rec.serial);
	if (!owner || seen->nr_entries + rec.nr_entries > SEEN_ENTRIES ||
	    from->head + (uint64_t)rec.nr_entries * rec.entry_size > from->size)
		return false;
	owner->has_profile = true;
	owner->outer_ticks = rec.outer_ticks;
	owner->open_child_ticks = rec.open_child_ticks;
	owner->refused_ticks = rec.refused_ticks;
	owner->first_entry = seen->nr_entries;
	owner->nr_entries = rec.nr_entries;
	for (i = 0; i < rec.nr_entries; i++) {
		memset(&entry, 0, sizeof(entry));
		memcpy(&entry, at + (size_t)i * rec.entry_size,
		       rec.entry_size < sizeof(entry) ? rec.entry_size : sizeof(entry));
		seen->entry[seen->nr_entries++] = (struct seen_entry){
			.id = entry.id,
			.timer = entry.kind == KTAU_KIND_TIMER,
			.count = entry.count,
			.incl = entry.incl,
			.excl = entry.excl,
		};
	}
	return true;
}

/* The first task named by a slot, or 0. */
static uint64_t named_task(const struct ktau_slot *slot)
{
	uint64_t serial = 0;

	/* Its identity is the first word of each of these payloads. */
	_Static_assert(!offsetof(struct ktau_slot_switch, next_serial) &&
			       !offsetof(struct ktau_slot_waking, serial) &&
			       !offsetof(struct ktau_slot_woken, waker_serial) &&
			       !offsetof(struct ktau_slot_fork, serial),
		       "first word");
	switch (slot->type) {
	case KTAU_TRACE_SWITCH:
	case KTAU_TRACE_WAKING:
	case KTAU_TRACE_WOKEN:
	case KTAU_TRACE_FORK:
		if (slot->words > 2)
			memcpy(&serial, slot + 1, sizeof(serial));
	}
	return serial;
}

static bool take_trace(struct seen *seen, const struct ktau_rec *from)
{
	const char *at = (const char *)from + from->head;
	struct ktau_rec_trace rec;
	struct seen_owner *owner;
	uint32_t i, gone = 0;

	get_fixed(&rec, sizeof(rec), from);
	owner = owner_of(seen, rec.serial);
	if (!owner || seen->nr_slots + rec.nr_slots > SEEN_SLOTS ||
	    from->head + (uint64_t)rec.slots_bytes > from->size)
		return false;
	/* A ring may have several consecutive records. */
	if (!owner->has_trace)
		owner->first_slot = seen->nr_slots;
	owner->has_trace = true;
	for (i = 0; i < rec.nr_slots; i++) {
		const struct ktau_slot *slot = (const struct ktau_slot *)(at + gone);

		if (gone + sizeof(*slot) > rec.slots_bytes || slot->words < 2)
			return false;
		seen->slot[seen->nr_slots++] = (struct seen_slot){
			.id = slot->id,
			.enters = slot->type == KTAU_TRACE_ENTER,
			.other = named_task(slot),
		};
		gone += 8U * slot->words;
	}
	owner->nr_slots = seen->nr_slots - owner->first_slot;
	return gone == rec.slots_bytes;
}

static bool take_event(const struct ktau_rec *from)
{
	struct ktau_rec_event rec;

	get_fixed(&rec, sizeof(rec), from);
	if (!rec.name_bytes || from->head + (uint64_t)rec.name_bytes > from->size)
		return false;
	events[rec.id].group = rec.group;
	events[rec.id].source = rec.source;
	snprintf(events[rec.id].name, NAME_BYTES, "%.*s", (int)rec.name_bytes,
		 (const char *)from + from->head);
	return true;
}

static void take_end(struct seen *seen, const struct ktau_rec *from)
{
	struct ktau_rec_end rec;

	get_fixed(&rec, sizeof(rec), from);
	seen->denied = rec.denied;
	seen->torn = rec.torn;
	seen->refused_gone = rec.refused_gone;
	seen->losses = rec.refused_memory_limit + rec.refused_user_limit + rec.refused_no_memory +
		       rec.refused_no_chunk + rec.refused_no_id + rec.refused_no_state +
		       rec.refused_descriptors + rec.lost_no_ring + rec.lost_resized +
		       rec.lost_evicted + rec.evicted + rec.clamped + rec.internal_errors +
		       rec.refused_regions + rec.refused_functions + rec.lost_no_room;
}

/* Add a record; false if there is no room for it or it is malformed. */
static bool take(struct seen *seen, const struct ktau_rec *rec)
{
	struct ktau_rec_stream stream;
	struct ktau_rec_gone gone;

	switch (rec->type) {
	case KTAU_REC_STREAM:
		get_fixed(&stream, sizeof(stream), rec);
		seen->clock_hz = stream.clock_hz;
		seen->rounded = stream.round_ns;
		return stream.magic == KTAU_MAGIC && stream.version == KTAU_ABI_VERSION;
	case KTAU_REC_EVENT:
		return take_event(rec);
	case KTAU_REC_OWNER:
		return take_owner(seen, rec);
	case KTAU_REC_PROFILE:
		return take_profile(seen, rec);
	case KTAU_REC_TRACE:
		return take_trace(seen, rec);
	case KTAU_REC_GONE:
		get_fixed(&gone, sizeof(gone), rec);
		seen->gone += gone.nr_serials;
		return true;
	case KTAU_REC_END:
		take_end(seen, rec);
		return true;
	default:
		return true;
	}
}

int seen_open(const char *path, unsigned int what, int32_t tid)
{
	int fd = open(path, O_RDONLY | O_CLOEXEC), err;

	if (fd < 0)
		return -errno;
	if (!what || !select_owners(fd, what, tid))
		return fd;
	err = -errno;
	close(fd);
	return err;
}

uint64_t user_bytes(int fd)
{
	struct ktau_info info = { .size = sizeof(info) };

	return ioctl(fd, KTAU_IOC_INFO, &info) ? 0 : info.user_bytes;
}

uint64_t user_limit(int fd)
{
	struct ktau_info info = { .size = sizeof(info) };

	return ioctl(fd, KTAU_IOC_INFO, &info) ? 0 : info.user_limit_bytes;
}

static void forget(struct seen *seen)
{
	memset(seen, 0, offsetof(struct seen, owner));
}

int seen_read(int fd, struct seen *seen)
{
	static _Alignas(8) char bytes[STREAM_BYTES];
	const struct ktau_rec *rec;
	size_t have = 0, at;
	ssize_t got;

	forget(seen);
	while ((got = read(fd, bytes + have, sizeof(bytes) - have)) > 0)
		have += (size_t)got;
	if (got < 0)
		return -errno;
	for (at = 0; at + sizeof(*rec) <= have; at += rec->size) {
		rec = (const struct ktau_rec *)(bytes + at);
		if (rec->head < sizeof(*rec) || rec->size < rec->head || at + rec->size > have ||
		    !take(seen, rec))
			break;
	}
	if (have && at == have)
		return 0;
	printf("# a stream of %zu bytes is malformed at %zu\n", have, at);
	return -EPROTO;
}

int seen_get(const char *path, unsigned int what, int32_t tid, struct seen *seen)
{
	int fd = seen_open(path, what, tid), err;

	forget(seen);
	if (fd < 0)
		return fd;
	err = seen_read(fd, seen);
	close(fd);
	return err;
}

const struct seen_owner *seen_tid(const struct seen *seen, int32_t tid)
{
	size_t i;

	for (i = 0; i < seen->nr_owners; i++)
		if (seen->owner[i].tid == tid && !seen->owner[i].idle &&
		    seen->owner[i].kind <= SEEN_EXITED)
			return &seen->owner[i];
	return NULL;
}

const struct seen_owner *seen_serial(const struct seen *seen, uint64_t serial)
{
	return owner_of((struct seen *)seen, serial);
}

size_t seen_profiles(const struct seen *seen)
{
	size_t i, nr = 0;

	for (i = 0; i < seen->nr_owners; i++)
		nr += seen->owner[i].has_profile;
	return nr;
}

/* A system call's function has a prefix that depends on the architecture. */
static bool is_event(unsigned int id, const char *event)
{
	const char *name = id < NR_NAMES ? events[id].name : "", *at = strstr(name, event);

	return at && !at[strlen(event)] && (at == name || at[-1] == '_');
}

uint64_t seen_count(const struct seen *seen, const struct seen_owner *owner, const char *event)
{
	uint64_t count = 0;
	size_t i;

	for (i = 0; owner && i < owner->nr_entries; i++)
		if (is_event(seen->entry[owner->first_entry + i].id, event))
			count += seen->entry[owner->first_entry + i].count;
	return count;
}

uint64_t seen_total(const struct seen *seen, const char *event)
{
	uint64_t count = 0;
	size_t i;

	for (i = 0; i < seen->nr_entries; i++)
		if (is_event(seen->entry[i].id, event))
			count += seen->entry[i].count;
	return count;
}

uint64_t seen_traced(const struct seen *seen, const struct seen_owner *owner, const char *event)
{
	uint64_t count = 0;
	size_t i;

	for (i = 0; owner && i < owner->nr_slots; i++) {
		const struct seen_slot *slot = &seen->slot[owner->first_slot + i];

		count += slot->enters && is_event(slot->id, event);
	}
	return count;
}

static bool is_from(unsigned int source, enum seen_source wanted)
{
	switch (wanted) {
	case SEEN_LINE:
		return source == KTAU_SOURCE_IRQ;
	case SEEN_TIMER:
		return source == KTAU_SOURCE_TIMER || source == KTAU_SOURCE_HRTIMER;
	default:
		return source == KTAU_SOURCE_WORK;
	}
}

bool seen_has(const struct seen *seen, enum seen_source source)
{
	size_t i;

	for (i = 0; i < seen->nr_entries; i++) {
		unsigned int id = seen->entry[i].id % NR_NAMES;

		if (is_from(events[id].source, source) && !strstr(events[id].name, ":other"))
			return true;
	}
	return false;
}

bool seen_is_interrupt(const struct seen_entry *entry)
{
	return events[entry->id % NR_NAMES].group & (KTAU_GROUP_IRQ | KTAU_GROUP_BH);
}

uint64_t seen_identity(const struct seen_owner *owner)
{
	return owner->serial;
}

size_t seen_naming(const struct seen *seen, const struct seen_owner *owner, uint64_t other)
{
	size_t i, nr = 0;

	for (i = 0; owner && i < owner->nr_slots; i++)
		nr += seen->slot[owner->first_slot + i].other == other;
	return nr;
}
