/* SPDX-License-Identifier: LGPL-2.1-or-later */
/* libktau: records from kernels, files and memory; events. The rules are in <ktau.h>. */
#ifndef KTAU_READER_H
#define KTAU_READER_H

#include <ktau_names.h>
#include <ktau_record.h>

#ifdef __cplusplus
extern "C" {
#endif

/*
 * Reader: records from a kernel, a file, memory
 */

struct ktau_reader;

/**
 * struct ktau_query - a selection from a running kernel
 * @content: KTAU_REC_PROFILE or KTAU_REC_TRACE
 * @target: KTAU_TARGET_* bits
 * @flags: KTAU_SELECT_* bits
 * @nr_tids: number of @tids, for KTAU_TARGET_LIST
 * @tids: thread ids in the caller's pid namespace, any order
 * @exited_since: only exited tasks with this exited_seq or a later one: pass exited_next of
 *	the previous END record to see each exited task once
 * @since_ticks: as in struct ktau_select
 * @cgroup: control group by its id, with KTAU_SELECT_CGROUP: see ktau_cgroup_id()
 * @uid: user id, with KTAU_SELECT_UID
 * @tag: with KTAU_SELECT_TAG
 *
 * A field that a later version adds is only read with a flag of its own.
 */
struct ktau_query {
	uint32_t content;
	uint32_t target;
	uint32_t flags;
	uint32_t nr_tids;
	const int32_t *tids;
	uint64_t exited_since;
	uint64_t since_ticks;
	uint64_t cgroup;
	uint32_t uid;
	uint32_t tag;
};

/**
 * struct ktau_damage - unusable parts of a source
 * @bad_blocks: blocks with a wrong checksum or with invalid records
 * @lost_bytes: bytes that belong to no valid block or record
 * @first_offset: where the first of them is
 * @missing_blocks: blocks that are missing from the sequence of block numbers
 * @truncated: the source ends inside a block, a record or a stream
 */
struct ktau_damage {
	uint64_t bad_blocks;
	uint64_t lost_bytes;
	uint64_t first_offset;
	uint64_t missing_blocks;
	bool truncated;
};

/**
 * struct ktau_unknown - what a reader skipped, and a newer library may know
 * @records: records of unknown types
 * @record_type: type of the first of them
 * @blocks: blocks of an unknown type, compression or encoding
 * @block_type: type of the first of them
 * @block_compression: its compression
 * @block_encoding: its encoding
 */
struct ktau_unknown {
	uint64_t records;
	uint32_t record_type;
	uint32_t block_type;
	uint64_t blocks;
	uint32_t block_compression;
	uint32_t block_encoding;
};

/* Create a reader without a source, and destroy it, which closes what it has opened. */
int ktau_reader_create(struct ktau_reader **reader);
void ktau_reader_destroy(struct ktau_reader *reader);

/*
 * Opening a source. A reader that already has one closes it first. All functions return 0
 * or -errno with the reason in ktau_reader_error(): errors of open(2), read(2) and
 * KTAU_IOC_SELECT, -EBADMSG if the source is empty or is not KTAU data, -EPROTONOSUPPORT
 * for a version that this library does not know.
 */

/**
 * ktau_reader_open_live() - read from the running kernel
 *
 * Opens /proc/ktau/profile or trace, selects @query and starts a stream. If the level in
 * force does not allow the query, ktau_reader_error() names kernel.ktau_paranoid and the
 * level that would allow it.
 *
 * Return: 0, -ENOENT without KTAU in this kernel, -EACCES, -EPERM, -EINVAL,
 * -E2BIG, errors of open(2).
 */
int ktau_reader_open_live(struct ktau_reader *reader, const struct ktau_query *query);

/* What KTAU_ORIGIN_* cannot see: its limit number @i, NULL after the last. */
const char *ktau_origin_limit(unsigned int origin, unsigned int i);

/*
 * Start the next stream of a running kernel on the same descriptor or with the same programs;
 * query->content must be the same.
 */
int ktau_reader_restart(struct ktau_reader *reader, const struct ktau_query *query);

/* Open a *.ktau file, or streams saved by cat /proc/ktau/profile; "-" is standard input. */
int ktau_reader_open_file(struct ktau_reader *reader, const char *path);

/* Read from an open descriptor, which may be a pipe. The caller remains its owner. */
int ktau_reader_open_fd(struct ktau_reader *reader, int fd, const char *name);

/* Read from memory, which the caller owns and must keep while the reader uses it. */
int ktau_reader_open_memory(struct ktau_reader *reader, const void *data, size_t size);

/**
 * ktau_reader_seek_time() - restrict reading to the part of a file that covers a period
 * @reader: reader of a seekable *.ktau file, or of one in memory
 * @from_ns: CLOCK_REALTIME of the recorded machine, inclusive
 * @to_ns: CLOCK_REALTIME of the recorded machine, inclusive; UINT64_MAX reads to the end
 *
 * Moves to the last key block whose first stream is not later than @from_ns, or else to the
 * first block, by reading only block headers. ktau_reader_next() then ends before the first
 * stream that is later than @to_ns. The caller skips streams that are earlier than it
 * needs.
 *
 * Return: 0, -ESPIPE if the source is not seekable, -EINVAL if it is not a *.ktau file,
 * errors of read(2).
 */
int ktau_reader_seek_time(struct ktau_reader *reader, uint64_t from_ns, uint64_t to_ns);

/**
 * ktau_reader_next() - the next record
 * @record: set to the record, which is valid until the next call
 *
 * Records and blocks of unknown types are skipped and counted in ktau_reader_unknown().
 * Reading a *.ktau file does not stop at damage: the records of every intact block are
 * returned. At the end of a damaged source, -EBADMSG is returned instead of 0, so the loop
 * "while ((err = ktau_reader_next(r, &rec)) > 0)" uses everything usable and still detects
 * the damage. A live stream ends after its END record: 0.
 *
 * Memory use is bounded by one block, one record, the owners and control groups of one
 * stream, or the control groups of a file, and the events of the source.
 *
 * Return: 1 with a record, 0 at the end, -EBADMSG at the end of a damaged
 * source, -ENOMEM, errors of read(2).
 */
int ktau_reader_next(struct ktau_reader *reader, union ktau_record *record);

/* Source, position and reason of the last error. */
const char *ktau_reader_error(const struct ktau_reader *reader);

/* What has been unusable so far; complete once ktau_reader_next() has returned the end. */
const struct ktau_damage *ktau_reader_damage(const struct ktau_reader *reader);

/* What has been skipped so far; complete once ktau_reader_next() has returned the end. */
const struct ktau_unknown *ktau_reader_unknown(const struct ktau_reader *reader);

/* The descriptor, for poll(2); -1 for memory. */
int ktau_reader_fd(const struct ktau_reader *reader);

/* True if the data was written in the other byte order. */
bool ktau_reader_swapped(const struct ktau_reader *reader);

/*
 * Records that the reader has seen. Unless stated otherwise, a result is NULL if there has
 * been none yet, and is valid until the next call of ktau_reader_next() or of a function
 * that opens or restarts.
 */

/* The newest STREAM and INFO record. */
const struct ktau_rec_stream *ktau_reader_stream(const struct ktau_reader *reader);
const struct ktau_rec_info *ktau_reader_info(const struct ktau_reader *reader);

/* The newest OWNER record of a serial in the current stream. */
const struct ktau_rec_owner *ktau_reader_owner(const struct ktau_reader *reader,
					       uint64_t serial);

/*
 * The newest EVENT record of an id in the source, and CGROUP record in a file, or in the current
 * stream of any other source.
 */
const struct ktau_rec_event *ktau_reader_event(const struct ktau_reader *reader,
					       uint32_t id);
const struct ktau_rec_cgroup *ktau_reader_cgroup(const struct ktau_reader *reader,
						 uint64_t id);

/* Iterate in the order of first appearance: NULL begins and ends. */
const struct ktau_rec_owner *
ktau_reader_next_owner(const struct ktau_reader *reader, const struct ktau_rec_owner *owner);
const struct ktau_rec_cgroup *
ktau_reader_next_cgroup(const struct ktau_reader *reader,
			const struct ktau_rec_cgroup *cgroup);

/* The events as a table: never NULL, valid until the reader opens another source. */
const struct ktau_events *ktau_reader_events(const struct ktau_reader *reader);

/*
 * Events: EVENT records by id
 */

struct ktau_events;

/* Create an empty table, and destroy it. */
int ktau_events_create(struct ktau_events **events);
void ktau_events_destroy(struct ktau_events *events);

/* Copy a record, which replaces that of the same id. 0, -ENOMEM, -EINVAL. */
int ktau_events_put(struct ktau_events *events, const struct ktau_rec_event *event);

/* NULL if the id has no event. Valid until that id is replaced. */
const struct ktau_rec_event *ktau_events_find(const struct ktau_events *events,
					      uint32_t id);

/* Iterate in ascending order of ids: NULL begins and ends. */
const struct ktau_rec_event *ktau_events_next(const struct ktau_events *events,
					      const struct ktau_rec_event *event);

/* The number of events. */
unsigned int ktau_events_count(const struct ktau_events *events);

/*
 * The running kernel
 */

/**
 * ktau_info_read() - query the running kernel (KTAU_IOC_INFO)
 * @fd: descriptor of /proc/ktau/profile or trace (ktau_reader_fd()); -1 opens one
 * @info: filled in; fields that the kernel does not have are zero
 *
 * Return: 0, -ENOENT without KTAU in this kernel, errors of open(2) and ioctl(2).
 */
int ktau_info_read(int fd, struct ktau_info *info);

/**
 * ktau_cgroup_id() - the id of a control group, for struct ktau_query
 * @path: path in the default hierarchy, as in a CGROUP record (/system.slice), or the
 *	directory below /sys/fs/cgroup
 * @id: set to the id
 *
 * Return: 0, -ENOENT if there is no such group, or no version 2 cgroup file system at
 * /sys/fs/cgroup; other errors of open(2).
 */
int ktau_cgroup_id(const char *path, uint64_t *id);

/**
 * ktau_boot_id() - the id of this machine's current boot
 * @id: set to the 16 bytes of /proc/sys/kernel/random/boot_id, as in a STREAM record; zeros after
 *	an error
 *
 * Return: 0, -EINVAL if the file does not contain an id; errors of open(2) and read(2).
 */
int ktau_boot_id(uint8_t id[16]);

#ifdef __cplusplus
}
#endif

#endif /* KTAU_READER_H */
