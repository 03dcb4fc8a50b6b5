// SPDX-License-Identifier: GPL-2.0-only
/*
 * Fuzz both decoders and all that stands on them. The first byte says how the
 * rest is taken: as it is, or as the payload of a block with right checksums,
 * which no fuzzer would find by itself.
 */
#include <stdlib.h>
#include <string.h>
#include <zlib.h>

#include <ktau_legacy.h>

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);

static void use(const union ktau_record *record)
{
	const struct ktau_rec_profile *p = record->profile;
	const struct ktau_rec_trace *t = record->trace;
	const struct ktau_slot *slot = NULL;
	uint64_t incl, excl;
	unsigned int i;

	switch (record->rec->type) {
	case KTAU_REC_PROFILE:
	case KTAU_REC_DIFF:
		for (i = 0; !ktau_profile_inflight(p, i, &incl, &excl); i++)
			;
		ktau_profile_find(p, 700);
		break;
	case KTAU_REC_TRACE:
		while ((slot = ktau_trace_next(t, slot))) {
			for (i = 1; i <= slot->more && ktau_trace_more(t, slot, i); i++)
				;
		}
		break;
	case KTAU_REC_INFO:
		if (strlen(ktau_info_command(record->info)) > record->rec->size ||
		    strlen(ktau_info_symbols(record->info)) > record->rec->size)
			abort();
		break;
	}
}

static void read_records(const uint8_t *data, size_t size)
{
	struct ktau_snapshot *snapshot, *diff;
	struct ktau_rec_profile *sum;
	struct ktau_reader *reader;
	struct ktau_check *check;
	union ktau_record record;

	if (ktau_reader_create(&reader) || ktau_check_create(&check, NULL, NULL) ||
	    ktau_snapshot_create(&snapshot))
		abort();
	if (!ktau_reader_open_memory(reader, data, size)) {
		while (ktau_reader_next(reader, &record) > 0) {
			use(&record);
			ktau_check_record(check, &record);
			ktau_snapshot_add(snapshot, &record);
		}
	}
	if (!ktau_snapshot_sum(snapshot, &sum))
		ktau_record_free(sum);
	if (!ktau_snapshot_diff(snapshot, snapshot, &diff))
		ktau_snapshot_destroy(diff);
	ktau_snapshot_destroy(snapshot);
	ktau_check_destroy(check);
	ktau_reader_destroy(reader);
}

static void read_legacy(const uint8_t *data, size_t size)
{
	ktau_output *list;
	int type, nr;

	for (type = KTAU_PROFILE; type <= KTAU_TRACE; type++) {
		nr = unpack_bindata(type, (char *)data, size, &list);
		if (nr >= 0)
			unpack_free(type, list, nr);
	}
}

/* A file around @data: one block, compressed if the tail of its size is odd. */
static void read_as_block(const uint8_t *data, size_t size, bool zlib)
{
	const struct ktau_file_header header = {
		.magic = KTAU_FILE_MAGIC, .version = KTAU_FILE_VERSION, .size = sizeof(header),
	};
	struct ktau_block block = {
		.magic = KTAU_BLOCK_MAGIC, .type = KTAU_BLOCK_RECORDS, .stored_bytes = size,
		.raw_bytes = size, .payload_crc = crc32(0, data, size),
	};
	size_t bytes = sizeof(header) + sizeof(block) + (size + 7) / 8 * 8;
	uint8_t *file = calloc(1, bytes);

	if (!file)
		abort();
	if (zlib) {
		block.flags = KTAU_BLOCK_ZLIB;
		block.raw_bytes = 4096;
	}
	block.header_crc = crc32(0, (const void *)&block, offsetof(struct ktau_block, header_crc));
	memcpy(file, &header, sizeof(header));
	memcpy(file + sizeof(header), &block, sizeof(block));
	memcpy(file + sizeof(header) + sizeof(block), data, size);
	read_records(file, bytes);
	free(file);
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
	if (!size)
		return 0;
	switch (data[0] % 4) {
	case 0:
		read_records(data + 1, size - 1);
		break;
	case 1:
		read_as_block(data + 1, size - 1, false);
		break;
	case 2:
		read_as_block(data + 1, size - 1, true);
		break;
	default:
		read_legacy(data + 1, size - 1);
	}
	return 0;
}
