// SPDX-License-Identifier: LGPL-2.1-or-later
/*
 * The blocks of a *.ktau file: checked, inflated, and found again behind
 * damage. Every byte is looked at a bounded number of times, whatever the file
 * holds: a payload is summed only where the header before it is right.
 */
#include <inttypes.h>
#include <stdio.h>
#include <zlib.h>

#include "internal.h"

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

int ktau__blocks_start(struct ktau__blocks *blocks, struct ktau__source *source,
		       const char **why)
{
	struct ktau_file_header header;
	uint16_t size;
	int err;

	err = ktau__source_need(source, sizeof(header));
	if (err)
		return err;
	*why = "cut off in the file's header";
	if (source->size < sizeof(header))
		return -EBADMSG;
	memcpy(&header, source->data, sizeof(header));
	*why = "not a KTAU file";
	blocks->swap = header.magic == __builtin_bswap32(KTAU_FILE_MAGIC);
	if (ktau__swap32(header.magic, blocks->swap) != KTAU_FILE_MAGIC)
		return -EBADMSG;
	*why = "file of a version that this library does not know";
	if (ktau__swap16(header.version, blocks->swap) != KTAU_FILE_VERSION)
		return -EPROTONOSUPPORT;
	size = ktau__swap16(header.size, blocks->swap);
	*why = "file header with an impossible size";
	if (size < sizeof(header) || size % 8)
		return -EBADMSG;
	err = ktau__source_need(source, size);
	if (err)
		return err;
	*why = "cut off in the file's header";
	if (source->size < size)
		return -EBADMSG;
	ktau__source_take(source, size);
	blocks->end = source->offset;
	return 0;
}

/* The checksum is of the bytes in the file: @block is as it stands there. */
uint32_t ktau__block_crc(const struct ktau_block *block)
{
	return crc32(0, (const void *)block, offsetof(struct ktau_block, header_crc));
}

static bool get_header(const struct ktau__blocks *blocks, const uint8_t *data,
		       struct ktau_block *block)
{
	bool swap = blocks->swap;

	memcpy(block, data, sizeof(*block));
	if (ktau__swap32(block->magic, swap) != KTAU_BLOCK_MAGIC ||
	    ktau__swap32(block->header_crc, swap) != ktau__block_crc(block))
		return false;
	block->type = ktau__swap16(block->type, swap);
	block->flags = ktau__swap16(block->flags, swap);
	block->stored_bytes = ktau__swap32(block->stored_bytes, swap);
	block->raw_bytes = ktau__swap32(block->raw_bytes, swap);
	block->payload_crc = ktau__swap32(block->payload_crc, swap);
	block->sequence = ktau__swap32(block->sequence, swap);
	return block->stored_bytes <= KTAU_BLOCK_MAX && block->raw_bytes <= KTAU_BLOCK_MAX;
}

/*
 * Go to the next good header. 1 with *@block, still in the source; 0 at the
 * end.
 */
static int find_header(struct ktau__blocks *blocks, struct ktau__source *source,
		       struct ktau_block *block)
{
	uint64_t start = source->offset;
	bool found = false;
	int err;

	for (;;) {
		err = ktau__source_need(source, sizeof(*block));
		if (err)
			return err;
		if (source->size < sizeof(*block))
			break;
		found = get_header(blocks, source->data, block);
		if (found)
			break;
		ktau__source_take(source, 8);
	}
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

static int inflate_block(struct ktau__blocks *blocks, const uint8_t *stored,
			 const struct ktau_block *block, const char **why)
{
	z_stream z = {
		.next_in = (Bytef *)stored,
		.avail_in = block->stored_bytes,
		.avail_out = block->raw_bytes,
	};
	int err;

	err = ktau__buffer_reserve(&blocks->inflated, block->raw_bytes);
	if (err)
		return err;
	z.next_out = blocks->inflated.data;
	if (inflateInit(&z) != Z_OK)
		return -ENOMEM;
	err = inflate(&z, Z_FINISH);
	inflateEnd(&z);
	*why = "payload that does not inflate to its size";
	if (err == Z_MEM_ERROR)
		return -ENOMEM;
	return err == Z_STREAM_END && !z.avail_in && !z.avail_out ? 0 : -EBADMSG;
}

/* The payload as records: 0, -EBADMSG with *@why, -ENOMEM. */
static int get_payload(struct ktau__blocks *blocks, const uint8_t *stored,
		       const struct ktau_block *block, const uint8_t **payload,
		       const char **why)
{
	int err;

	*why = "bad checksum";
	if (crc32(0, stored, block->stored_bytes) != block->payload_crc)
		return -EBADMSG;
	*why = "flags that this library does not know";
	if (block->flags & ~KTAU_BLOCK_ZLIB)
		return -EBADMSG;
	*payload = stored;
	if (block->flags & KTAU_BLOCK_ZLIB) {
		err = inflate_block(blocks, stored, block, why);
		*payload = blocks->inflated.data;
		return err;
	}
	*why = "two sizes";
	return block->raw_bytes == block->stored_bytes ? 0 : -EBADMSG;
}

int ktau__blocks_next(struct ktau__blocks *blocks, struct ktau__source *source,
		      const uint8_t **payload, size_t *size, size_t *taken)
{
	struct ktau_block block;
	const char *why;
	int err;

	for (;;) {
		err = find_header(blocks, source, &block);
		if (err <= 0)
			return err;
		*taken = sizeof(block) + ktau__pad8(block.stored_bytes);
		err = ktau__source_need(source, *taken);
		if (err)
			return err;
		check_sequence(blocks, &block, source->offset);
		if (source->size < *taken) {
			blocks->damage.truncated = true;
			ktau__damage(blocks, source->offset, source->size,
				     "truncated at byte %" PRIu64 " in block %" PRIu32,
				     source->offset + source->size, block.sequence);
			ktau__source_take(source, source->size);
			return 0;
		}
		err = get_payload(blocks, source->data + sizeof(block), &block,
				  payload, &why);
		if (err == -ENOMEM)
			return err;
		if (!err) {
			blocks->nr++;
			blocks->end = source->offset + *taken;
			blocks->end_sequence = blocks->next_sequence;
			*size = block.raw_bytes;
			if (block.type == KTAU_BLOCK_RECORDS)
				return 1;
		} else {
			blocks->damage.bad_blocks++;
			ktau__damage(blocks, source->offset, *taken,
				     "%s in block %" PRIu32 " at byte %" PRIu64,
				     why, block.sequence, source->offset);
		}
		ktau__source_take(source, *taken);
	}
}
