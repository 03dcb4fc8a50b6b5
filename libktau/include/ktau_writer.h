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

/* True if this library can read and write KTAU_COMPRESS_*. */
bool ktau_has_compression(uint8_t compression);

/* A writer without a file. */
int ktau_writer_create(struct ktau_writer **writer);

/* Closes without flushing: records that were not flushed are dropped. */
void ktau_writer_destroy(struct ktau_writer *writer);

/**
 * ktau_writer_open() - start a file
 * @writer: writer
 * @path: file, created with mode 0640
 * @flags: KTAU_WRITER_*
 * @boot_id: boot of the records that will follow, 16 bytes as in a STREAM record;
 *	NULL for the present boot of this machine
 *
 * Without APPEND the file must not exist (-EEXIST). With it, an existing file is
 * checked, everything after its last whole block is cut off, and the next block
 * goes there; a file in the other byte order is -EINVAL, one of another boot
 * -ESTALE, one that is no *.ktau file -EBADMSG and left as it is. The file is locked
 * against other writers (flock(2)): -EWOULDBLOCK. A compression that is not built
 * in is -EOPNOTSUPP.
 *
 * Return: 0 or -errno.
 */
int ktau_writer_open(struct ktau_writer *writer, const char *path, unsigned int flags,
		     const uint8_t *boot_id);

/**
 * ktau_writer_put() - one more record
 * @writer: writer
 * @record: in normal form (from a reader, a snapshot, or built by the caller)
 *
 * Collects records in memory and writes a block when it is full. An EVENT or
 * CGROUP record that repeats one in the file is dropped, unless it is the first
 * after ktau_writer_key().
 *
 * Return: 0, -EINVAL for an invalid record, -ESTALE for a stream of another boot,
 * errors of write(2) with the record not taken.
 */
int ktau_writer_put(struct ktau_writer *writer, const void *record);

/* A profile as KTAU_REC_DIFF record: from ktau_profile_diff(). */
int ktau_writer_put_diff(struct ktau_writer *writer, const struct ktau_rec_profile *diff);

/**
 * ktau_writer_key() - the next record starts a block that needs nothing before it
 *
 * Call it before the STREAM record of a stream that has no DIFF records, every minute
 * or so, so that ktau_reader_seek_time() has places to start at. The block begins
 * with a copy of the newest INFO record, and EVENT and CGROUP records are written
 * anew. The first block of a file is such a block in any case.
 *
 * Return: 0, errors of write(2).
 */
int ktau_writer_key(struct ktau_writer *writer);

/**
 * struct ktau_writer_info - what the caller knows for the INFO record
 * @period_ns: as in struct ktau_rec_info
 * @stext: likewise, from a STREAM record
 * @command: command line, NULL if none
 * @symbols: path of the symbol source, NULL if none
 * @job: job id, NULL if none
 */
struct ktau_writer_info {
	uint64_t period_ns;
	uint64_t stext;
	const char *command;
	const char *symbols;
	const char *job;
};

/* An INFO record; time, host, release, machine, build-id are this machine's. */
int ktau_writer_put_info(struct ktau_writer *writer, const struct ktau_writer_info *info);

/**
 * ktau_writer_flush() - everything put so far to the file
 * @writer: writer
 * @sync: wait until it is on the disk as well (fdatasync(2))
 *
 * On -ENOSPC, -EIO and so on the file is cut back to its last whole block. The
 * records stay in memory; the next flush tries again, or ktau_writer_drop()
 * discards them.
 *
 * Return: 0 or -errno.
 */
int ktau_writer_flush(struct ktau_writer *writer, bool sync);

/* Discard what is not written. Returns the number of records dropped. */
uint64_t ktau_writer_drop(struct ktau_writer *writer);

/* Flush with sync and close. On error the file is closed all the same. */
int ktau_writer_close(struct ktau_writer *writer);

/* Bytes of the file so far, without what is still in memory. */
uint64_t ktau_writer_bytes(const struct ktau_writer *writer);

/* File and reason of the last error. */
const char *ktau_writer_error(const struct ktau_writer *writer);

#ifdef __cplusplus
}
#endif

#endif /* KTAU_WRITER_H */
