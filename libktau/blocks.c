// SPDX-License-Identifier: LGPL-2.1-or-later
/*
 * The blocks of a *.ktau file: checked, unpacked, and found again after damage.
 * Every byte is read a bounded number of times, whatever the file contains, because the
 * checksum of a payload is computed only if that of its header is correct.
 */
#include <inttypes.h>
#include <stddef.h>
#include <stdio.h>
#include <zlib.h>

#include "blocks.h"
#include "delta.h"
#include "pack.h"
#include "swap.h"

void ktau__blocks_free(struct ktau__blocks *blocks)
{
	ktau__buffer_free(&blocks->unpacked);
	ktau__buffer_free(&blocks->decoded);
	memset(blocks, 0, sizeof(*blocks));
}

void ktau__damage(struct ktau__blocks *blocks, uint64_t offset, uint64_t bytes,
		  const char *format, ...)
{
	bool first = !blocks->first.text[0];
	va_list args;

	blocks->damage.lost_bytes += bytes;
	if (!first)
		return;
	blocks->damage.first_offset = offset;
	va_start(args, format);
	vsnprintf(blocks->first.text, sizeof(blocks->first.text), format, args);
	va_end(args);
}

/* The checksum covers the bytes as they are in the file, with the field at @at taken as zero. */
uint32_t ktau__header_crc(const void *header, size_t size, size_t at)
{
	static const uint8_t zeros[4];
	uint32_t crc = crc32(0, header, at);

	crc = crc32(crc, zeros, sizeof(zeros));
	return crc32(crc, (const uint8_t *)header + at + 4, size - at - 4);
}

/* The size that the header at @data gives for itself; 0 if there is no header. */
static uint16_t header_size(const struct ktau__blocks *blocks, const uint8_t *data)
{
	struct ktau_block block;
	uint16_t size;

	memcpy(&block, data, 8);
	size = ktau__swap16(block.size, blocks->swap);
	if (ktau__swap32(block.magic, blocks->swap) != KTAU_BLOCK_MAGIC ||
	    size < KTAU__BLOCK_BYTES || size > KTAU_BLOCK_HEADER_MAX || size % 8)
		return 0;
	return size;
}

/* The header of @size bytes at @data in normal form. */
static bool get_header(const struct ktau__blocks *blocks, const uint8_t *data, uint16_t size,
		       struct ktau_block *block)
{
	uint32_t crc = ktau__header_crc(data, size, offsetof(struct ktau_block, header_crc));

	memset(block, 0, sizeof(*block));
	memcpy(block, data, ktau__min(size, sizeof(*block)));
	if (blocks->swap)
		ktau__swap_fields(block, sizeof(*block), "422" "112" "44444" "88");
	return block->header_crc == crc && block->stored_bytes <= KTAU_BLOCK_MAX &&
	       block->raw_bytes <= KTAU_BLOCK_MAX;
}

/* 1 if the source begins with a valid header, 0 if not, -errno. */
static int look_for_header(const struct ktau__blocks *blocks, struct ktau__source *source,
			   struct ktau_block *block)
{
	uint16_t size = header_size(blocks, source->data);
	int err;

	if (!size)
		return 0;
	err = ktau__source_need(source, size);
	if (err)
		return err;
	return source->size >= size && get_header(blocks, source->data, size, block);
}

/* Go to the next valid header: 1 with *@block, whose header is still in the source; 0, -errno. */
static int search_header(const struct ktau__blocks *blocks, struct ktau__source *source,
			 struct ktau_block *block)
{
	int found, err;

	for (;;) {
		err = ktau__source_need(source, KTAU__BLOCK_BYTES);
		if (err)
			return err;
		if (source->size < KTAU__BLOCK_BYTES)
			return 0;
		found = look_for_header(blocks, source, block);
		if (found)
			return found;
		ktau__source_take(source, 8);
	}
}

/* The same, with a report of what was stepped over. */
static int find_header(struct ktau__blocks *blocks, struct ktau__source *source,
		       struct ktau_block *block)
{
	uint64_t start = source->offset;
	int found = search_header(blocks, source, block);

	if (found < 0)
		return found;
	if (!found) {
		if (source->size || source->offset != start)
			blocks->damage.truncated = true;
		ktau__source_take(source, source->size);
	}
	if (source->offset == start)
		return found;
	ktau__damage(blocks, start, source->offset - start, found ?
		     "bad block header at byte %" PRIu64 :
		     "truncated at byte %" PRIu64 ": no whole block follows", start);
	blocks->damage.bad_blocks += found;
	return found;
}

/* The first size of struct ktau_file_header. */
#define FILE_HEADER_BYTES	40

/* The size of the file's header if its checksum is correct, 0 if not, -errno. */
static int intact_header(struct ktau__source *source, bool swap)
{
	const size_t at = offsetof(struct ktau_file_header, header_crc);
	struct ktau_file_header header;
	uint16_t size;
	int err;

	memcpy(&header, source->data, FILE_HEADER_BYTES);
	size = ktau__swap16(header.size, swap);
	if (size < FILE_HEADER_BYTES || size % 8)
		return 0;
	err = ktau__source_need(source, size);
	if (err)
		return err;
	if (source->size < size)
		return 0;
	if (ktau__swap32(header.header_crc, swap) != ktau__header_crc(source->data, size, at))
		return 0;
	return size;
}

static void report_header(struct ktau__blocks *blocks)
{
	ktau__damage(blocks, 0, blocks->begin, "bad checksum of the file's header");
}

/* Go to the first block after a damaged header, which may give a wrong size. */
static int step_over_header(struct ktau__blocks *blocks, struct ktau__source *source)
{
	struct ktau_block block;
	int found;

	ktau__source_take(source, 8);
	found = search_header(blocks, source, &block);
	if (found < 0)
		return found;
	if (!found)
		ktau__source_take(source, source->size);
	blocks->bad_header = true;
	blocks->begin = blocks->end = source->offset;
	report_header(blocks);
	return 0;
}

/* Bytes to search for a block: one block may be damaged, together with the file's header. */
#define FIND_BYTES	(KTAU_BLOCK_MAX + (1U << 16))

/* 1 if the source begins with a valid block header in either byte order, 0 if not, -errno. */
static int look_for_order(struct ktau__blocks *blocks, struct ktau__source *source)
{
	struct ktau_block block;
	int found, order;

	for (order = 0; order < 2; order++) {
		blocks->swap = order;
		found = look_for_header(blocks, source, &block);
		if (found)
			return found;
	}
	return 0;
}

int ktau__blocks_find(struct ktau__blocks *blocks, struct ktau__source *source)
{
	int found = 0, err;

	while (!found && source->offset < FIND_BYTES) {
		err = ktau__source_need(source, KTAU__BLOCK_BYTES);
		if (err)
			return err;
		if (source->size < KTAU__BLOCK_BYTES)
			return 0;
		found = look_for_order(blocks, source);
		if (!found)
			ktau__source_take(source, 8);
	}
	if (found <= 0)
		return found;
	blocks->bad_header = true;
	blocks->begin = blocks->end = source->offset;
	report_header(blocks);
	return 1;
}

int ktau__blocks_start(struct ktau__blocks *blocks, struct ktau__source *source,
		       const char **why)
{
	struct ktau_file_header header = { 0 };
	int size = ktau__source_need(source, FILE_HEADER_BYTES);

	if (size)
		return size;
	*why = "cut off in the file's header";
	if (source->size < FILE_HEADER_BYTES)
		return -EBADMSG;
	memcpy(&header, source->data, FILE_HEADER_BYTES);
	*why = "not a KTAU file";
	blocks->swap = header.magic == __builtin_bswap32(KTAU_FILE_MAGIC);
	if (ktau__swap32(header.magic, blocks->swap) != KTAU_FILE_MAGIC)
		return -EBADMSG;
	size = intact_header(source, blocks->swap);
	if (size < 0)
		return size;
	if (!size)
		return step_over_header(blocks, source);
	*why = "file of a version that this library does not know";
	if (ktau__swap16(header.version, blocks->swap) != KTAU_FILE_VERSION)
		return -EPROTONOSUPPORT;
	ktau__source_take(source, size);
	memcpy(blocks->boot_id, header.boot_id, sizeof(blocks->boot_id));
	blocks->begin = blocks->end = source->offset;
	return 0;
}

void ktau__blocks_clear_damage(struct ktau__blocks *blocks)
{
	memset(&blocks->damage, 0, sizeof(blocks->damage));
	blocks->first.text[0] = 0;
	if (blocks->bad_header)
		report_header(blocks);
}

static void check_sequence(struct ktau__blocks *blocks, const struct ktau_block *block,
			   uint64_t offset)
{
	uint32_t missing = block->sequence - blocks->next_sequence;

	blocks->next_sequence = block->sequence + 1;
	if (!missing)
		return;
	if (missing < 1U << 31)
		blocks->damage.missing_blocks += missing;
	ktau__damage(blocks, offset, 0, "block %" PRIu32 " at byte %" PRIu64
		     " where block %" PRIu32 " should be",
		     block->sequence, offset, block->sequence - missing);
}

/*
 * Decode a payload into records: 0; -EOPNOTSUPP if its compression or encoding is unknown;
 * -EBADMSG with *@why; -ENOMEM.
 */
static int get_payload(struct ktau__blocks *blocks, const uint8_t *stored,
		       const struct ktau_block *block, struct ktau__payload *payload,
		       const char **why)
{
	int err;

	*why = "bad checksum";
	if (crc32(0, stored, block->stored_bytes) != block->payload_crc)
		return -EBADMSG;
	if (block->type != KTAU_BLOCK_RECORDS || !ktau_has_compression(block->compression) ||
	    block->encoding > KTAU_ENCODE_DELTA)
		return -EOPNOTSUPP;
	payload->data = stored;
	payload->size = block->stored_bytes;
	*why = "contradictory sizes";
	if (block->compression == KTAU_COMPRESS_NONE && block->raw_bytes != block->stored_bytes)
		return -EBADMSG;
	if (block->compression != KTAU_COMPRESS_NONE) {
		*why = "payload that does not decompress to its size";
		err = ktau__unpack(block->compression, stored, block->stored_bytes,
				   block->raw_bytes, &blocks->unpacked);
		if (err)
			return err;
		payload->data = blocks->unpacked.data;
		payload->size = blocks->unpacked.size;
	}
	if (block->encoding == KTAU_ENCODE_PLAIN)
		return 0;
	*why = "payload that cannot be decoded";
	err = ktau__delta_decode(payload->data, payload->size, blocks->swap, &blocks->decoded);
	payload->data = blocks->decoded.data;
	payload->size = blocks->decoded.size;
	return err;
}

static void count_unknown(struct ktau__blocks *blocks, const struct ktau_block *block)
{
	struct ktau_unknown *unknown = &blocks->unknown;

	/* A block of another type has no records, so none are missing. */
	blocks->skipped |= block->type == KTAU_BLOCK_RECORDS;
	if (unknown->blocks++)
		return;
	unknown->block_type = block->type;
	unknown->block_compression = block->compression;
	unknown->block_encoding = block->encoding;
}

int ktau__blocks_next(struct ktau__blocks *blocks, struct ktau__source *source,
		      struct ktau__payload *payload)
{
	struct ktau_block block;
	const char *why;
	int err;

	for (;;) {
		err = find_header(blocks, source, &block);
		if (err <= 0)
			return err;
		payload->taken = block.size + ktau__pad8(block.stored_bytes);
		err = ktau__source_need(source, payload->taken);
		if (err)
			return err;
		check_sequence(blocks, &block, source->offset);
		if (source->size < payload->taken) {
			blocks->damage.truncated = true;
			ktau__damage(blocks, source->offset, source->size,
				     "truncated at byte %" PRIu64 " in block %" PRIu32,
				     source->offset + source->size, block.sequence);
			ktau__source_take(source, source->size);
			return 0;
		}
		err = get_payload(blocks, source->data + block.size, &block, payload, &why);
		if (err == -ENOMEM)
			return err;
		if (err == -EBADMSG) {
			blocks->damage.bad_blocks++;
			ktau__damage(blocks, source->offset, payload->taken,
				     "%s in block %" PRIu32 " at byte %" PRIu64,
				     why, block.sequence, source->offset);
		} else {
			blocks->end = source->offset + payload->taken;
			blocks->end_sequence = blocks->next_sequence;
		}
		if (!err)
			return 1;
		if (err == -EOPNOTSUPP)
			count_unknown(blocks, &block);
		ktau__source_take(source, payload->taken);
	}
}

/* Read the block header at @offset without moving: 1, 0 if there is no valid one, -errno. */
static int peek_header(const struct ktau__blocks *blocks, const struct ktau__source *source,
		       uint64_t offset, struct ktau_block *block)
{
	uint8_t data[KTAU_BLOCK_HEADER_MAX];
	ssize_t got = ktau__source_peek(source, offset, data, sizeof(data));
	uint16_t size;

	if (got < 0)
		return got;
	size = got >= KTAU__BLOCK_BYTES ? header_size(blocks, data) : 0;
	return size && size <= got && get_header(blocks, data, size, block);
}

int ktau__blocks_seek_time(struct ktau__blocks *blocks, struct ktau__source *source,
			   uint64_t from_ns)
{
	uint64_t at = blocks->begin, key = at;
	struct ktau_block block;
	uint32_t sequence = 0;
	int found;

	while ((found = peek_header(blocks, source, at, &block)) > 0) {
		if (block.from_ns > from_ns)
			break;
		if (block.flags & KTAU_BLOCK_KEY && block.from_ns) {
			key = at;
			sequence = block.sequence;
		}
		at += block.size + ktau__pad8(block.stored_bytes);
	}
	if (found < 0)
		return found;
	found = ktau__source_seek(source, key);
	if (!found)
		blocks->next_sequence = sequence;
	return found;
}
