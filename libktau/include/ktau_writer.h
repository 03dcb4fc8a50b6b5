/* SPDX-License-Identifier: LGPL-2.1-or-later */
/* libktau: writing *.ktau files. The rules are in <ktau.h>. */
#ifndef KTAU_WRITER_H
#define KTAU_WRITER_H

#include <ktau_reader.h>

#ifdef __cplusplus
extern "C" {
#endif

struct ktau_writer;

/* @flags of ktau_writer_open() */
#define KTAU_WRITER_APPEND	(1U << 0)	/* continue a file that exists */
#define KTAU_WRITER_ZLIB	(1U << 1)	/* compress blocks with zlib */
#define KTAU_WRITER_ZSTD	(1U << 2)	/* with zstd, which must be built in */
#define KTAU_WRITER_DELTA	(1U << 3)	/* KTAU_ENCODE_DELTA */
#define KTAU_WRITER_COMPACT	(1U << 4)	/* DELTA and the better compression built in */

/* True if this library can read and write KTAU_COMPRESS_*. */
bool ktau_has_compression(uint8_t compression);

/* Create a writer without a file. */
int ktau_writer_create(struct ktau_writer **writer);

/* Closes without flushing: records that have not been flushed are dropped. */
void ktau_writer_destroy(struct ktau_writer *writer);

/**
 * ktau_writer_open() - start a file
 * @path: file, created with mode 0640
 * @flags: KTAU_WRITER_*
 * @boot_id: boot of the records to write, 16 bytes as in a STREAM record; NULL for this
 *	machine's current boot
 *
 * Without APPEND the file must not exist (-EEXIST). With it, an existing file is checked,
 * everything after its last whole block is cut off, and writing continues there. The error
 * is -EINVAL for a file in the other byte order, -ESTALE for one of another boot, -EBADMSG
 * for one that is not a *.ktau file, which is not changed, -EWOULDBLOCK if another writer
 * has locked the file (flock(2)), and -EOPNOTSUPP for a compression that is not built in.
 *
 * Return: 0 or -errno.
 */
int ktau_writer_open(struct ktau_writer *writer, const char *path, unsigned int flags,
		     const uint8_t *boot_id);

/**
 * ktau_writer_put() - write a record
 * @record: in normal form (from a reader, a snapshot, or built by the caller)
 *
 * Collects records in memory and writes a block when it is full. An EVENT or
 * CGROUP record that repeats one in the file is dropped, unless it is the first
 * after ktau_writer_key().
 *
 * Return: 0, -EINVAL for an invalid record, -ESTALE for a stream of another boot, -ENOMEM,
 * errors of write(2). After an error @record is not kept.
 */
int ktau_writer_put(struct ktau_writer *writer, const void *record);

/* Write a profile of ktau_profile_diff() as a KTAU_REC_DIFF record. */
int ktau_writer_put_diff(struct ktau_writer *writer, const struct ktau_rec_profile *diff);

/**
 * ktau_writer_key() - start a key block, which does not depend on earlier blocks, with the
 * next record
 *
 * Call it about every minute, before the STREAM record of a stream without DIFF records, so
 * that ktau_reader_seek_time() has blocks to start at. The block begins with a copy of the
 * newest INFO record, and EVENT and CGROUP records are written again. The first block of a
 * file is always a key block.
 *
 * Return: 0, errors of write(2).
 */
int ktau_writer_key(struct ktau_writer *writer);

/**
 * struct ktau_writer_info - the caller's part of the INFO record
 * @period_ns: as in struct ktau_rec_info
 * @stext: address of _stext, from a STREAM record
 * @command: command line, NULL if none
 * @command_serial: as in struct ktau_rec_info
 * @symbols: path of the symbol source, NULL if none
 * @job: job id, NULL if none
 * @flags: 0; each field that a later version adds has a flag
 */
struct ktau_writer_info {
	uint64_t period_ns;
	uint64_t stext;
	const char *command;
	uint64_t command_serial;
	const char *symbols;
	const char *job;
	uint64_t flags;
};

/* Write an INFO record with this machine's time, host, release, machine and build-id. */
int ktau_writer_put_info(struct ktau_writer *writer, const struct ktau_writer_info *info);

/**
 * ktau_writer_flush() - write all records that have been put
 * @sync: also wait until they are on the disk (fdatasync(2))
 *
 * After an error such as -ENOSPC the file is cut back to its last whole block. The records
 * stay in memory until the next flush succeeds or ktau_writer_drop() discards them.
 *
 * Return: 0 or -errno.
 */
int ktau_writer_flush(struct ktau_writer *writer, bool sync);

/* Discard the records that are not written. Returns their number. */
uint64_t ktau_writer_drop(struct ktau_writer *writer);

/**
 * ktau_writer_reserve() - keep room for a last block
 * @bytes: how much each block leaves allocated after it; 0: from now on the next ones may use it
 *
 * On a full disk, what is left of the file's last page may be too small for a block that says so.
 * A block that would not leave the room fails with -ENOSPC, like one that does not fit. Nothing is
 * reserved on a file system that cannot allocate space (fallocate(2)). Closing the file releases
 * the room.
 */
void ktau_writer_reserve(struct ktau_writer *writer, uint32_t bytes);

/* Flush with sync and close. The file is closed even on error. */
int ktau_writer_close(struct ktau_writer *writer);

/* Bytes of the file so far, without the records that are still in memory. */
uint64_t ktau_writer_bytes(const struct ktau_writer *writer);

/* File and reason of the last error. */
const char *ktau_writer_error(const struct ktau_writer *writer);

#ifdef __cplusplus
}
#endif

#endif /* KTAU_WRITER_H */
