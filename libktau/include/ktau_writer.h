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
#define KTAU_WRITER_APPEND	(1U << 0)	/* go on in a file that exists */
#define KTAU_WRITER_ZLIB	(1U << 1)	/* compress blocks */

/* A writer without a file. */
int ktau_writer_create(struct ktau_writer **writer);

/* Closes without flushing: what was not flushed is dropped. */
void ktau_writer_destroy(struct ktau_writer *writer);

/**
 * ktau_writer_open() - start a file
 * @writer: writer
 * @path: file, created with mode 0640
 * @flags: KTAU_WRITER_*
 *
 * Without APPEND the file must not exist (-EEXIST). With it, a file that
 * exists is checked, what follows its last whole block is cut off, and the
 * next block goes there; a file in the other byte order is -EINVAL, one that is
 * no *.ktau file -EBADMSG and left as it is. The file is locked against other
 * writers (flock(2)): -EWOULDBLOCK.
 *
 * Return: 0 or -errno.
 */
int ktau_writer_open(struct ktau_writer *writer, const char *path, unsigned int flags);

/**
 * ktau_writer_put() - one more record
 * @writer: writer
 * @record: in normal form (from a reader, a snapshot, or built by the caller)
 *
 * Collects records in memory and writes a block when it is full.
 *
 * Return: 0, -EINVAL for a record that is not in order, errors of write(2)
 * with the record not taken.
 */
int ktau_writer_put(struct ktau_writer *writer, const void *record);

/* A profile as KTAU_REC_DIFF record: from ktau_profile_diff(). */
int ktau_writer_put_diff(struct ktau_writer *writer, const struct ktau_rec_profile *diff);

/* An event as KTAU_REC_EVENT record. */
int ktau_writer_put_event(struct ktau_writer *writer, const struct ktau_event *event);

/**
 * struct ktau_info - what the caller knows for the INFO record
 * @period_ns: as in struct ktau_rec_info
 * @stext: likewise, from a STREAM record
 * @command: command line, NULL if none
 * @symbols: path of the symbol source, NULL if none
 */
struct ktau_info {
	uint64_t period_ns;
	uint64_t stext;
	const char *command;
	const char *symbols;
};

/* An INFO record; time, host, release, machine, build-id are this machine's. */
int ktau_writer_put_info(struct ktau_writer *writer, const struct ktau_info *info);

/**
 * ktau_writer_flush() - everything put so far to the file
 * @writer: writer
 * @sync: wait until it is on the disk as well (fdatasync(2))
 *
 * On -ENOSPC, -EIO and so on the file is cut back to its last whole block. The
 * records stay in memory and the next flush tries again, or ktau_writer_drop()
 * gives them up.
 *
 * Return: 0 or -errno.
 */
int ktau_writer_flush(struct ktau_writer *writer, bool sync);

/* Give up what is not written. Returns the number of records dropped. */
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
