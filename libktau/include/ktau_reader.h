/* SPDX-License-Identifier: LGPL-2.1-or-later */
/* libktau: records from kernels, files and memory; events. The rules are in <ktau.h>. */
#ifndef KTAU_READER_H
#define KTAU_READER_H

#include <ktau_record.h>

#ifdef __cplusplus
extern "C" {
#endif

/*
 * Reader: records from a kernel, a file, memory
 */

struct ktau_reader;

/**
 * struct ktau_query - what to ask a running kernel for
 * @content: KTAU_REC_PROFILE or KTAU_REC_TRACE
 * @target: KTAU_TARGET_* bits
 * @flags: KTAU_SELECT_* bits
 * @nr_tids: number of @tids, for KTAU_TARGET_LIST
 * @tids: thread ids in the caller's pid namespace, any order
 * @dead_since: of the dead, only those with this dead_seq or a later one: give
 *	dead_next of the END record before it to see each dead task once
 */
struct ktau_query {
	uint32_t content;
	uint32_t target;
	uint32_t flags;
	uint32_t nr_tids;
	const int32_t *tids;
	uint64_t dead_since;
};

/**
 * struct ktau_damage - what of a source could not be used
 * @bad_blocks: blocks with a wrong checksum, or whose records were wrong
 * @lost_bytes: bytes that belong to no good block or record
 * @first_offset: where the first of them is
 * @truncated: the source ends inside a block, a record or a stream
 * @missing_blocks: blocks that a jump of the sequence numbers shows to be gone
 */
struct ktau_damage {
	uint64_t bad_blocks;
	uint64_t lost_bytes;
	uint64_t first_offset;
	uint64_t missing_blocks;
	bool truncated;
};

/* A reader without a source; destroying it closes what it has opened. */
int ktau_reader_create(struct ktau_reader **reader);
void ktau_reader_destroy(struct ktau_reader *reader);

/*
 * Opening a source. A reader that has one already leaves it first. All return 0
 * or -errno with the reason in ktau_reader_error(): errors of open(2), read(2)
 * and KTAU_IOC_SELECT, -EBADMSG for what is not KTAU data (or empty),
 * -EPROTONOSUPPORT for a version that this library does not know.
 */

/**
 * ktau_reader_open_live() - read from the running kernel
 *
 * Opens /proc/ktau/profile or trace, selects @query, starts a stream.
 *
 * Return: 0, -ENOENT without KTAU in this kernel, -EINVAL, -E2BIG, errors of
 * open(2).
 */
int ktau_reader_open_live(struct ktau_reader *reader, const struct ktau_query *query);

/* The next stream on the same descriptor; query->content must be the same. */
int ktau_reader_restart(struct ktau_reader *reader, const struct ktau_query *query);

/* A *.ktau file, or streams as saved by cat /proc/ktau/profile; "-" is stdin. */
int ktau_reader_open_file(struct ktau_reader *reader, const char *path);

/* The same from an open descriptor, which may be a pipe and stays the caller's. */
int ktau_reader_open_fd(struct ktau_reader *reader, int fd, const char *name);

/* The same from memory, which stays the caller's and must outlive its use. */
int ktau_reader_open_memory(struct ktau_reader *reader, const void *data, size_t size);

/**
 * ktau_reader_next() - the next record
 * @reader: reader
 * @record: set to the record, which is valid until the next call
 *
 * Unknown record types are stepped over. Damage does not stop the reading of
 * a *.ktau file: every block that is whole comes out. When all has come out and
 * something was damaged, -EBADMSG comes instead of 0, so a loop over
 * "while ((err = ktau_reader_next(r, &rec)) > 0)" uses everything usable and
 * still knows. A live stream ends behind its END record: 0.
 *
 * Memory use is bounded by one block and one record.
 *
 * Return: 1 with a record, 0 at the end, -EBADMSG at the end of a damaged
 * source, -ENOMEM, errors of read(2).
 */
int ktau_reader_next(struct ktau_reader *reader, union ktau_record *record);

/* Source, place and reason of the last error. */
const char *ktau_reader_error(const struct ktau_reader *reader);

/* What was unusable so far; complete when ktau_reader_next() has ended. */
const struct ktau_damage *ktau_reader_damage(const struct ktau_reader *reader);

/* The descriptor, to poll(2) on; -1 for memory. */
int ktau_reader_fd(const struct ktau_reader *reader);

/* True if the data was written in the other byte order. */
bool ktau_reader_swapped(const struct ktau_reader *reader);

/*
 * What has come out so far, kept by the reader: the newest STREAM and INFO
 * record (NULL if none yet; valid until the next ktau_reader_next()), and the
 * events of all EVENT records (never NULL; valid as long as the reader).
 */
const struct ktau_rec_stream *ktau_reader_stream(const struct ktau_reader *reader);
const struct ktau_rec_info *ktau_reader_info(const struct ktau_reader *reader);
const struct ktau_events *ktau_reader_events(const struct ktau_reader *reader);

/*
 * Events: ids and their names
 */

struct ktau_events;

/**
 * struct ktau_event - one named instrumentation point
 * @id: event id, below KTAU_NR_IDS
 * @group: KTAU_GROUP_* bit, 0 if unknown
 * @kind: KTAU_KIND_*
 * @address: of the function, 0 if there is none or it is hidden
 * @name: as recorded, no blanks
 */
struct ktau_event {
	uint32_t id;
	uint32_t group;
	uint32_t kind;
	uint64_t address;
	const char *name;
};

/* An empty table. */
int ktau_events_create(struct ktau_events **events);
void ktau_events_destroy(struct ktau_events *events);

/**
 * ktau_events_load() - read the kernel's event table
 * @events: where to
 * @path: text as in /proc/ktau/events; NULL is that file
 *
 * What is there already is replaced id by id.
 *
 * Return: number of events read; errors of open(2) and read(2), -EINVAL for a
 * bad line (its number is in ktau_events_error(); the lines before it are in).
 */
int ktau_events_load(struct ktau_events *events, const char *path);

/* One event, copied. -EINVAL: bad id, kind, name (empty, blanks, >255 bytes). */
int ktau_events_add(struct ktau_events *events, const struct ktau_event *event);

/* NULL if the id has no event. Valid until that id is replaced. */
const struct ktau_event *ktau_events_find(const struct ktau_events *events, uint32_t id);

/* Walk in the order of ids: NULL begins, NULL ends. */
const struct ktau_event *ktau_events_next(const struct ktau_events *events,
					  const struct ktau_event *event);

/* How many ids have an event. */
unsigned int ktau_events_count(const struct ktau_events *events);

/* File, line and reason of the last error. */
const char *ktau_events_error(const struct ktau_events *events);

#ifdef __cplusplus
}
#endif

#endif /* KTAU_READER_H */
