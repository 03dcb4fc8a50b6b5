/* SPDX-License-Identifier: LGPL-2.1-or-later */
/* A stream that is being written: compose.c writes profiles, compose_trace.c traces. */
#ifndef KTAU_BPF_STREAM_H
#define KTAU_BPF_STREAM_H

#include "../map.h"
#include "bpf.h"
#include "cgroup.h"

#define KTAU__MAX_ENTRIES \
	(KB_NR_TASK_IDS + KB_NR_SOFTIRQS + KB_NR_VECTORS + KB_NR_CPU_LINES + 1)

/**
 * struct ktau__stream - a stream that is being written
 * @bpf: the source
 * @query: what was requested
 * @out: where it goes
 * @serials: tgid of each live process to the index of its leader in @leaders
 * @leaders: serials of leaders
 * @named: bit set of the event ids that have an EVENT record
 * @cgroups: ids of control groups to whether they have a CGROUP record
 * @cgroup_mount: the mounted hierarchy of control groups
 * @entries: the entries of the profile at hand
 * @nr_entries: length of @entries
 * @end: counts for END
 * @times: KTAU_ENTRY_* that are measured for tasks
 * @self: the calling thread
 * @tasks: of a stream of traces: struct ktau__stream_task of each task
 * @by_serial: serial of each of them to its place there
 * @clocks: those of the start
 */
struct ktau__stream {
	struct ktau__bpf *bpf;
	const struct ktau_query *query;
	struct ktau__buffer *out;
	struct ktau__map serials;
	struct ktau__buffer leaders;
	uint8_t named[65536 / 8];
	struct ktau__map cgroups;
	struct ktau__cgroup_mount cgroup_mount;
	struct ktau_entry entries[KTAU__MAX_ENTRIES];
	uint32_t nr_entries;
	struct ktau_rec_end end;
	uint8_t times;
	int32_t self;
	struct ktau__buffer tasks;
	struct ktau__map by_serial;
	struct ktau__clocks clocks;
};

struct ktau_rec ktau__header(uint16_t type, size_t head, size_t size);

/* Append a record, or a part of one. All return 0 or -errno. */
int ktau__put(struct ktau__stream *s, const void *data, size_t size);

/* Describe an event, once. */
int ktau__put_event(struct ktau__stream *s, uint32_t id, uint8_t kind);

/* Describe a control group, once. *@id becomes 0 if its path cannot be read. */
int ktau__put_cgroup(struct ktau__stream *s, uint64_t *id);

/* @seq: of an exited task; @flags: KTAU_OWNER_NAMED or 0 */
int ktau__put_owner(struct ktau__stream *s, const struct kb_state *st, uint64_t seq,
		    uint32_t flags);

/* Whether a live task is selected, and whether it passes the filters. */
bool ktau__is_listed(const struct ktau__stream *s, const struct kb_owner *o);
bool ktau__passes(const struct ktau__stream *s, const struct kb_owner *o);

/* The serial of a live process's leader, 0 if it is not in the stream. */
uint64_t ktau__leader_of(const struct ktau__stream *s, int32_t tgid);

#endif /* KTAU_BPF_STREAM_H */
