// SPDX-License-Identifier: GPL-2.0-only
/*
 * Fuzz the decoder and all layers above it. The first byte selects how the rest is read:
 * directly, or as the payload of a block with correct checksums, which a fuzzer would not
 * find by itself.
 */
#include <stdlib.h>
#include <string.h>
#include <zlib.h>

#include <ktau.h>

/* The compressed size of blocks, as in the seeds of sample.c. */
#define RAW_BYTES	8192

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);

static size_t text_bytes(const union ktau_record *record)
{
	switch (record->rec->type) {
	case KTAU_REC_INFO:
		return strlen(ktau_info_command(record->info)) +
		       strlen(ktau_info_symbols(record->info)) +
		       strlen(ktau_info_job(record->info));
	case KTAU_REC_EVENT:
		return strlen(ktau_event_name(record->event));
	case KTAU_REC_CGROUP:
		return strlen(ktau_cgroup_path(record->cgroup));
	case KTAU_REC_OWNER:
		return strlen(ktau_owner_path(record->owner)) + strlen(record->owner->comm);
	default:
		return 0;
	}
}

static unsigned int use_slot(const struct ktau_slot *slot)
{
	struct ktau_slot_switch sw;
	struct ktau_slot_woken woken;
	struct ktau_slot_net net;
	uint64_t word, sum = 0;
	int64_t result;
	char comm[17];
	unsigned int i;

	for (i = 0; i < ktau_slot_payload_words(slot); i++)
		sum += ktau_slot_payload(slot)[i];
	if (ktau_slot_comm(slot, comm) && strlen(comm) > 16)
		abort();
	return ktau_slot_switch(slot, &sw) + ktau_slot_woken(slot, &woken) +
	       ktau_slot_net(slot, &net) + ktau_slot_exec(slot, &word) +
	       ktau_slot_result(slot, &result) + !!sum;
}

static void use(const union ktau_record *record)
{
	const struct ktau_slot *slot = NULL;
	uint64_t incl, excl;
	uint32_t i = 0;

	if (text_bytes(record) > record->rec->size)
		abort();
	switch (record->rec->type) {
	case KTAU_REC_PROFILE:
	case KTAU_REC_DIFF:
		while (!ktau_profile_inflight(record->profile, i, &incl, &excl))
			i++;
		ktau_profile_find(record->profile, 700);
		break;
	case KTAU_REC_TRACE:
		while ((slot = ktau_trace_next(record->trace, slot))) {
			use_slot(slot);
			i++;
		}
		if (i != record->trace->nr_slots)
			abort();
		break;
	}
}

/* The registries return the newest record of each key. */
static void use_registries(const struct ktau_reader *reader, const union ktau_record *record)
{
	const struct ktau_rec_owner *owner = NULL;
	const struct ktau_rec_cgroup *cgroup = NULL;
	unsigned int nr;

	if (record->rec->type == KTAU_REC_OWNER &&
	    memcmp(ktau_reader_owner(reader, record->owner->serial), record->rec,
		   record->rec->size))
		abort();
	if (record->rec->type != KTAU_REC_END)
		return;
	for (nr = 0; (owner = ktau_reader_next_owner(reader, owner)); nr++)
		;
	while ((cgroup = ktau_reader_next_cgroup(reader, cgroup)))
		nr++;
}

static void read_all(struct ktau_reader *reader)
{
	struct ktau_snapshot *snapshot, *diff;
	struct ktau_rec_profile *sum;
	struct ktau_check *check;
	union ktau_record record;

	if (ktau_check_create(&check, NULL, NULL) || ktau_snapshot_create(&snapshot))
		abort();
	while (ktau_reader_next(reader, &record) > 0) {
		use(&record);
		use_registries(reader, &record);
		ktau_check_record(check, &record);
		ktau_snapshot_add(snapshot, &record);
	}
	if (!ktau_snapshot_sum(snapshot, &sum, NULL))
		ktau_record_free(sum);
	ktau_snapshot_drop_evicted(snapshot);
	if (!ktau_snapshot_diff(snapshot, snapshot, &diff))
		ktau_snapshot_destroy(diff);
	ktau_snapshot_drop_exited(snapshot);
	ktau_snapshot_destroy(snapshot);
	ktau_check_destroy(check);
}

static void read_records(const uint8_t *data, size_t size)
{
	struct ktau_reader *reader;

	if (ktau_reader_create(&reader))
		abort();
	if (!ktau_reader_open_memory(reader, data, size)) {
		read_all(reader);
		if (!ktau_reader_seek_time(reader, 1700000000000000000, UINT64_MAX))
			read_all(reader);
	}
	ktau_reader_destroy(reader);
}

/* A file around @data: one block. */
static void read_as_block(const uint8_t *data, size_t size, uint8_t compression,
			  uint8_t encoding)
{
	struct ktau_file_header header = {
		.magic = KTAU_FILE_MAGIC, .version = KTAU_FILE_VERSION, .size = sizeof(header),
	};
	struct ktau_block block = {
		.magic = KTAU_BLOCK_MAGIC, .size = sizeof(block), .type = KTAU_BLOCK_RECORDS,
		.compression = compression, .encoding = encoding, .stored_bytes = size,
		.raw_bytes = compression ? RAW_BYTES : size, .payload_crc = crc32(0, data, size),
	};
	size_t bytes = sizeof(header) + sizeof(block) + (size + 7) / 8 * 8;
	uint8_t *file = calloc(1, bytes);

	if (!file)
		abort();
	header.header_crc = crc32(0, (const void *)&header, sizeof(header));
	block.header_crc = crc32(0, (const void *)&block, sizeof(block));
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
		read_as_block(data + 1, size - 1, KTAU_COMPRESS_NONE, KTAU_ENCODE_PLAIN);
		break;
	case 2:
		read_as_block(data + 1, size - 1, KTAU_COMPRESS_ZLIB, KTAU_ENCODE_PLAIN);
		break;
	default:
		read_as_block(data + 1, size - 1, KTAU_COMPRESS_NONE, KTAU_ENCODE_DELTA);
	}
	return 0;
}
