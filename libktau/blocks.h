/* SPDX-License-Identifier: LGPL-2.1-or-later */
/* The blocks of a *.ktau file: checked, unpacked, and found again after damage. */
#ifndef KTAU_INTERNAL_BLOCKS_H
#define KTAU_INTERNAL_BLOCKS_H

#include "buffer.h"
#include "fail.h"
#include "source.h"

/* The first size of struct ktau_block; it only grows. */
#define KTAU__BLOCK_BYTES	48

struct ktau__blocks {
	bool swap;
	bool skipped;		/* a block was stepped over, so its records are missing */
	bool bad_header;	/* the file's; boot_id is not known */
	uint8_t boot_id[16];
	uint32_t next_sequence;
	uint64_t begin;		/* offset of the first block */
	uint64_t end;		/* offset after the last whole block ... */
	uint32_t end_sequence;	/* ... and the number for the next one there */
	struct ktau_damage damage;
	struct ktau_unknown unknown;
	struct ktau__error first;	/* describes the first damage */
	struct ktau__buffer unpacked;
	struct ktau__buffer decoded;
};

void ktau__blocks_free(struct ktau__blocks *blocks);

/* Count @bytes as lost. The text is kept for the first damage only. */
void ktau__damage(struct ktau__blocks *blocks, uint64_t offset, uint64_t bytes,
		  const char *format, ...) __attribute__((format(printf, 4, 5)));

/*
 * Consume the file's header; a damaged one is reported as damage, and the blocks after it can be
 * read. 0; -EBADMSG or -EPROTONOSUPPORT with *@why; -errno.
 */
int ktau__blocks_start(struct ktau__blocks *blocks, struct ktau__source *source,
		       const char **why);

/*
 * Find the first block of a file whose beginning is damaged or missing, in either byte order. 1 if
 * the blocks from there on can be read, which is reported as damage; 0 if there is none, -errno.
 */
int ktau__blocks_find(struct ktau__blocks *blocks, struct ktau__source *source);

/* A payload as records. */
struct ktau__payload {
	const uint8_t *data;
	size_t size;
	size_t taken;		/* size of its block in the source */
};

/*
 * The next whole block of records: 1, 0 at the end, -errno. Its bytes stay in the source
 * until ktau__source_take(source, payload->taken).
 */
int ktau__blocks_next(struct ktau__blocks *blocks, struct ktau__source *source,
		      struct ktau__payload *payload);

/* Go to the block at which ktau_reader_seek_time() starts. 0, -errno. */
int ktau__blocks_seek_time(struct ktau__blocks *blocks, struct ktau__source *source,
			   uint64_t from_ns);

/* Forget the damage in blocks, but not that in the file's header. */
void ktau__blocks_clear_damage(struct ktau__blocks *blocks);

/*
 * The checksum of a header of @size bytes, of the file or of a block, as it is in the file.
 * @at is the offset of the checksum itself.
 */
uint32_t ktau__header_crc(const void *header, size_t size, size_t at);

#endif /* KTAU_INTERNAL_BLOCKS_H */
