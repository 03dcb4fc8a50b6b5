// SPDX-License-Identifier: GPL-2.0-only
/* Reading *.ktau files: both byte orders, truncation, flipped bits, forged blocks. */
#include <errno.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>
#include <zlib.h>

#include <cmocka.h>

#include "encode.h"
#include "files.h"

static const unsigned int all_flags[] = {
	0, KTAU_WRITER_ZLIB, KTAU_WRITER_DELTA, KTAU_WRITER_DELTA | KTAU_WRITER_ZLIB,
#ifdef KTAU_HAVE_ZSTD
	KTAU_WRITER_ZSTD, KTAU_WRITER_ZSTD | KTAU_WRITER_DELTA,
#endif
	KTAU_WRITER_COMPACT,
};

static void round_trip(void **state)
{
	const struct ktau_rec_event *event;
	const struct ktau_rec_info *info;
	struct ktau_reader *r;
	union ktau_record rec;
	unsigned int i, nr;

	(void)state;
	for (i = 0; i < NR(all_flags); i++) {
		write_sample(all_flags[i], 4);
		assert_int_equal(ktau_reader_create(&r), 0);
		assert_int_equal(ktau_reader_open_file(r, path), 0);
		for (nr = 0; ktau_reader_next(r, &rec) > 0; nr++)
			;
		assert_string_equal(ktau_reader_error(r), "");
		/* INFO, events and the group once; in each stream STREAM, END, three pairs. */
		assert_int_equal(nr, 1 + 3 + 4 * 8);
		info = ktau_reader_info(r);
		assert_non_null(info);
		assert_string_equal(ktau_info_command(info), "ktaud -f x.conf");
		assert_string_equal(ktau_info_symbols(info), "/boot/System.map");
		assert_string_equal(ktau_info_job(info), "job 7");
		assert_int_equal(info->period_ns, 1000000000);
		assert_int_equal(info->stext, 0xffffffff81000000);
		assert_true(strlen(info->release) > 0);
		assert_int_equal(ktau_events_count(ktau_reader_events(r)), 2);
		event = ktau_reader_event(r, 39);
		assert_string_equal(ktau_event_name(event), "__x64_sys_getpid");
		event = ktau_events_next(ktau_reader_events(r), event);
		assert_int_equal(event->id, 701);
		assert_int_equal(event->kind, KTAU_KIND_COUNTER);
		assert_null(ktau_events_next(ktau_reader_events(r), event));
		assert_string_equal(ktau_cgroup_path(ktau_reader_cgroup(r, 5)), "/job");
		ktau_reader_destroy(r);
	}
}

static void put_info_record(struct stream *s)
{
	record_begin(s, 0x8000);
	put64(s, 1700000000000000000);
	put64(s, 500000000);
	put64(s, 0xc0000000);
	put_text(s, "\1\2\3\4\5\6\7\10\11\12\13\14\15\16\17\20\21\22\23\24", 32);
	put32(s, 20);
	put32(s, 6);
	put32(s, 4);
	put32(s, 3);
	put_text(s, "ion7", 72);
	put_text(s, "6.1.0-bgl", 72);
	put_text(s, "ppc", 72);
	record_fixed(s);
	put_text(s, "ktaud", 6);
	put_text(s, "map", 4);
	put_text(s, "42", 3);
	record_end(s);
}

/* A block: header, @payload and its padding, byte by byte. */
struct header {
	uint16_t type, flags;
	uint8_t compression, encoding;
	uint32_t raw, sequence;
	uint64_t from_ns, to_ns;
	unsigned int grown; /* bytes more than the current size */
};

static void put_block(struct stream *s, const struct header *h, const struct stream *payload)
{
	size_t i, start = s->size, size;

	put32(s, 0x4b42544b);
	put16(s, 48 + h->grown);
	put16(s, h->type);
	put8(s, h->compression);
	put8(s, h->encoding);
	put16(s, h->flags);
	put32(s, payload->size);
	put32(s, h->raw ? h->raw : payload->size);
	put32(s, crc32(0, payload->data, payload->size));
	put32(s, h->sequence);
	put32(s, 0);
	put64(s, h->from_ns);
	put64(s, h->to_ns);
	for (i = 0; i < h->grown; i++)
		put8(s, 0x5a);
	size = s->size;
	set32(s, start + 28, crc32(0, s->data + start, size - start));
	for (i = 0; i < payload->size; i++)
		put8(s, payload->data[i]);
	while (s->size % 8)
		put8(s, 0);
}

static void put_file_header(struct stream *s)
{
	size_t start = s->size;

	put32(s, 0x4c49464b);
	put16(s, 2);
	put16(s, 40 + s->grow_head);
	put64(s, 1);
	put_text(s, "boot", 16);
	put32(s, 0);
	put32(s, 0);
	put_text(s, "more", s->grow_head);
	set32(s, start + 32, crc32(0, s->data + start, s->size - start));
}

static void by_hand(bool big, unsigned int grown)
{
	struct stream records = { .word_bits = 32, .big = big };
	struct stream file = { .big = big, .grow_head = grown };
	const struct header header = { .type = 1, .grown = grown };
	const struct ktau_rec_info *info;
	const struct ktau_rec_event *event;
	struct ktau_reader *r;
	union ktau_record rec;
	unsigned int nr = 0;

	put_info_record(&records);
	put_stream(&records, KTAU_REC_PROFILE, 1);
	put_event(&records, 4, KTAU_GROUP_SYSCALL, "sys_write");
	put_task(&records, 7, 70, TASK, 3);
	put_end(&records);
	put_file_header(&file);
	put_block(&file, &header, &records);
	assert_int_equal(ktau_reader_create(&r), 0);
	assert_int_equal(ktau_reader_open_memory(r, file.data, file.size), 0);
	while (ktau_reader_next(r, &rec) > 0)
		nr++;
	assert_int_equal(nr, 6);
	assert_string_equal(ktau_reader_error(r), "");
	info = ktau_reader_info(r);
	assert_int_equal(info->created_ns, 1700000000000000000);
	assert_int_equal(info->period_ns, 500000000);
	assert_int_equal(info->stext, 0xc0000000);
	assert_int_equal(info->build_id_bytes, 20);
	assert_int_equal(info->build_id[19], 20);
	assert_string_equal(info->hostname, "ion7");
	assert_string_equal(info->release, "6.1.0-bgl");
	assert_string_equal(info->machine, "ppc");
	assert_string_equal(ktau_info_command(info), "ktaud");
	assert_string_equal(ktau_info_symbols(info), "map");
	assert_string_equal(ktau_info_job(info), "42");
	event = ktau_reader_event(r, 4);
	assert_non_null(event);
	assert_string_equal(ktau_event_name(event), "sys_write");
	assert_int_equal(event->group, KTAU_GROUP_SYSCALL);
	ktau_reader_destroy(r);
	stream_free(&records);
	stream_free(&file);
}

static void both_orders(void **state)
{
	(void)state;
	by_hand(false, 0);
	by_hand(true, 0);
	by_hand(false, 8);
	by_hand(true, 208);
}

static void from_pipe(void **state)
{
	struct image image;
	struct ktau_reader *r;
	struct read_back b;
	int fds[2];

	(void)state;
	write_sample(KTAU_WRITER_ZLIB, 3);
	image = load();
	assert_int_equal(pipe(fds), 0);
	assert_int_equal(write(fds[1], image.data, image.size), image.size);
	close(fds[1]);
	assert_int_equal(ktau_reader_create(&r), 0);
	b = finish(r, ktau_reader_open_fd(r, fds[0], "pipe"));
	assert_int_equal(b.err, 0);
	assert_int_equal(b.streams, 3);
	close(fds[0]);
	free(image.data);
}

static void check_cut(const struct image *image, const size_t *starts, unsigned int nr,
		      size_t size)
{
	uint8_t *copy = malloc(size ? size : 1);
	unsigned int whole = 0;
	struct read_back b;

	assert_non_null(copy);
	memcpy(copy, image->data, size);
	b = read_memory(copy, size);
	while (whole < nr && starts[whole + 1] <= size)
		whole++;
	assert_int_equal(b.streams, whole);
	assert_int_equal(b.profiles, 3 * whole);
	if (size >= 40 && starts[whole] == size) {
		assert_int_equal(b.err, 0);
	} else {
		assert_int_equal(b.err, -EBADMSG);
		assert_true(strlen(b.error) > 0);
		assert_true(size < 40 || b.damage.truncated);
		assert_int_equal(b.damage.lost_bytes, size < 40 ? 0 : size - starts[whole]);
	}
	free(copy);
}

static void truncated(void **state)
{
	struct image image;
	size_t starts[64], size;
	unsigned int nr, i, flags;

	(void)state;
	for (flags = 0; flags <= KTAU_WRITER_ZLIB; flags += KTAU_WRITER_ZLIB) {
		write_sample(flags, 20);
		image = load();
		nr = find_blocks(&image, starts);
		assert_int_equal(nr, 20);
		for (size = 0; size < 1024; size++)
			check_cut(&image, starts, nr, size);
		srand(flags + 1);
		for (i = 0; i < 500; i++)
			check_cut(&image, starts, nr, 1024 + rand() % (image.size - 1023));
		free(image.data);
	}
}

/* True if the byte at @at is padding of a block, which no checksum covers. */
static bool is_padding(const struct image *image, const size_t starts[], unsigned int nr,
		       size_t at)
{
	struct ktau_block block;
	unsigned int i;

	for (i = nr; i && starts[i - 1] > at; i--)
		;
	assert_true(i > 0);
	memcpy(&block, image->data + starts[i - 1], sizeof(block));
	return at - starts[i - 1] >= block.size + (size_t)block.stored_bytes;
}

/* A wrong bit damages its own block only, and is always detected except in padding. */
static void flipped(void **state)
{
	struct image image;
	struct read_back b;
	size_t starts[64], bit;
	unsigned int flags;

	(void)state;
	for (flags = 0; flags <= KTAU_WRITER_ZLIB; flags += KTAU_WRITER_ZLIB) {
		write_sample(flags, 4);
		image = load();
		assert_int_equal(find_blocks(&image, starts), 4);
		for (bit = starts[0] * 8; bit < image.size * 8; bit++) {
			image.data[bit / 8] ^= 1 << bit % 8;
			b = read_memory(image.data, image.size);
			if (b.err) {
				assert_int_equal(b.err, -EBADMSG);
				assert_int_equal(b.streams, 3);
				assert_true(b.damage.bad_blocks == 1 || b.damage.truncated);
			} else {
				assert_int_equal(b.streams, 4);
				assert_true(is_padding(&image, starts, 4, bit / 8));
			}
			image.data[bit / 8] ^= 1 << bit % 8;
		}
		free(image.data);
	}
}

/* A wrong bit of the header loses no block, not even in the magic number. */
static void check_header_bit(struct image *image, size_t header_bytes, size_t bit)
{
	struct ktau_reader *r;
	struct read_back b;

	image->data[bit / 8] ^= 1 << bit % 8;
	b = read_memory(image->data, image->size);
	assert_int_equal(b.err, -EBADMSG);
	assert_int_equal(b.streams, 4);
	assert_int_equal(b.damage.lost_bytes, header_bytes);
	assert_non_null(strstr(b.error, "bad checksum of the file's header"));
	/* Nor does the search for a period forget it. */
	assert_int_equal(ktau_reader_create(&r), 0);
	assert_int_equal(ktau_reader_open_memory(r, image->data, image->size), 0);
	assert_int_equal(ktau_reader_seek_time(r, 2 * SAMPLE_NS, UINT64_MAX), 0);
	b = finish(r, 0);
	assert_int_equal(b.err, -EBADMSG);
	assert_true(b.streams > 0);
	image->data[bit / 8] ^= 1 << bit % 8;
}

static void flipped_header(void **state)
{
	static const size_t grown[] = { 0, 8, 64 };
	struct stream file;
	struct image image, whole;
	size_t i, bit;

	(void)state;
	write_sample(0, 4);
	image = load();
	for (i = 0; i < NR(grown); i++) {
		file = (struct stream){ .grow_head = grown[i] };
		put_file_header(&file);
		whole.size = image.size + grown[i];
		whole.data = malloc(whole.size);
		assert_non_null(whole.data);
		memcpy(whole.data, file.data, file.size);
		memcpy(whole.data + file.size, image.data + 40, image.size - 40);
		assert_int_equal(read_memory(whole.data, whole.size).err, 0);
		for (bit = 0; bit < file.size * 8; bit++)
			check_header_bit(&whole, file.size, bit);
		/* Nothing but a damaged header. */
		whole.data[8] ^= 1;
		assert_int_equal(read_memory(whole.data, file.size).err, -EBADMSG);
		free(whole.data);
		stream_free(&file);
	}
	free(image.data);
}

/* A file is read from its first whole block on, whatever it begins with. */
static void no_beginning(void **state)
{
	struct image image;
	struct read_back b;
	size_t cut;

	(void)state;
	write_sample(0, 4);
	image = load();
	for (cut = 48; cut < image.size; cut += cut < 512 ? 8 : 512) {
		b = read_memory(image.data + cut, image.size - cut);
		assert_int_equal(b.err, -EBADMSG);
		if (cut < 512)
			assert_true(b.streams > 0 && b.streams <= 4);
		memset(image.data, 0, cut);
		b = read_memory(image.data, image.size);
		assert_int_equal(b.err, -EBADMSG);
		if (cut < 512)
			assert_true(b.streams > 0 && b.streams <= 4);
	}
	free(image.data);
}

static void noise_between(void **state)
{
	size_t starts[64], i;
	struct read_back b;
	struct image image, noisy;

	(void)state;
	write_sample(0, 3);
	image = load();
	find_blocks(&image, starts);
	noisy.size = image.size + 4096;
	noisy.data = malloc(noisy.size);
	assert_non_null(noisy.data);
	memcpy(noisy.data, image.data, starts[1]);
	for (i = 0; i < 4096; i++)
		noisy.data[starts[1] + i] = rand();
	memcpy(noisy.data + starts[1] + 4096, image.data + starts[1], image.size - starts[1]);
	b = read_memory(noisy.data, noisy.size);
	assert_int_equal(b.err, -EBADMSG);
	assert_int_equal(b.streams, 3);
	assert_int_equal(b.damage.lost_bytes, 4096);
	assert_int_equal(b.damage.first_offset, starts[1]);
	assert_int_equal(b.damage.missing_blocks, 0);

	/* A removed block leaves a gap in the sequence. */
	memmove(image.data + starts[1], image.data + starts[2], image.size - starts[2]);
	b = read_memory(image.data, image.size - (starts[2] - starts[1]));
	assert_int_equal(b.err, -EBADMSG);
	assert_int_equal(b.streams, 2);
	assert_int_equal(b.damage.missing_blocks, 1);
	free(image.data);
	free(noisy.data);
}

/* Read a file with one block of @size bytes at @data and correct checksums. */
static struct read_back read_block(const struct header *header, const void *data, size_t size)
{
	const struct stream payload = { .data = (uint8_t *)data, .size = size };
	struct stream file = { 0 };
	struct read_back b;

	put_file_header(&file);
	put_block(&file, header, &payload);
	b = read_memory(file.data, file.size);
	stream_free(&file);
	return b;
}

static void expect_bad(const struct header *header, const void *data, size_t size,
		       const char *why)
{
	struct read_back b = read_block(header, data, size);

	assert_int_equal(b.err, -EBADMSG);
	assert_int_equal(b.records, 0);
	assert_int_equal(b.unknown.blocks, 0);
	if (!strstr(b.error, why))
		fail_msg("\"%s\" is not in \"%s\"", why, b.error);
}

static void zip_bomb(void **state)
{
	struct header header = { .type = 1, .compression = KTAU_COMPRESS_ZLIB };
	uLongf bytes = 1 << 20;
	size_t room = 64 << 20;
	uint8_t *zeros = calloc(1, room), *packed = malloc(bytes);

	(void)state;
	assert_true(zeros && packed);
	assert_int_equal(compress(packed, &bytes, zeros, room), Z_OK);
	/* Larger than the maximum of a block, and larger than the header states. */
	header.raw = room;
	expect_bad(&header, packed, bytes, "no whole block follows");
	header.raw = 4096;
	expect_bad(&header, packed, bytes, "does not decompress to its size in block 0");
	header.compression = KTAU_COMPRESS_ZSTD;
	if (ktau_has_compression(KTAU_COMPRESS_ZSTD))
		expect_bad(&header, packed, bytes, "does not decompress to its size");
	/* Zeros are not records. */
	header = (struct header){ .type = 1 };
	expect_bad(&header, zeros, 4096, "impossible size");
	header.raw = 16;
	expect_bad(&header, zeros, 8, "contradictory sizes");
	header = (struct header){ .type = 1, .encoding = KTAU_ENCODE_DELTA };
	expect_bad(&header, zeros, 4096, "cannot be decoded");
	free(zeros);
	free(packed);
}

/* Features of newer writers are skipped and counted; they are not damage. */
static void unknown_blocks(void **state)
{
	static const struct header headers[] = {
		{ .type = 7 }, { .type = 1, .compression = 9 }, { .type = 1, .encoding = 9 },
	};
	struct stream file = { 0 }, first = { .word_bits = 64 }, rest = { .word_bits = 64 };
	struct header header = { .type = 1, .sequence = 0 };
	struct read_back b;
	size_t i;

	(void)state;
	/* A stream that begins before the unknown block and ends after it. */
	put_stream(&first, KTAU_REC_PROFILE, 1);
	put_end(&rest);
	for (i = 0; i < NR(headers); i++) {
		struct header unknown = headers[i];

		b = read_block(&unknown, "payload ", 8);
		assert_int_equal(b.err, 0);
		assert_int_equal(b.unknown.blocks, 1);
		assert_int_equal(b.unknown.block_type, unknown.type);
		assert_int_equal(b.unknown.block_compression, unknown.compression);
		assert_int_equal(b.unknown.block_encoding, unknown.encoding);
		file = (struct stream){ 0 };
		put_file_header(&file);
		put_block(&file, &header, &first);
		unknown.sequence = 1;
		put_block(&file, &unknown, &first);
		b = read_memory(file.data, file.size);
		/* A block of another type cannot contain the END record. */
		assert_int_equal(b.err, i ? 0 : -EBADMSG);
		put_block(&file, &(struct header){ .type = 1, .sequence = 2 }, &rest);
		b = read_memory(file.data, file.size);
		assert_int_equal(b.err, 0);
		assert_int_equal(b.streams, 1);
		assert_int_equal(b.unknown.blocks, 1);
		stream_free(&file);
	}
	stream_free(&first);
	stream_free(&rest);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(round_trip),
		cmocka_unit_test(both_orders),
		cmocka_unit_test(from_pipe),
		cmocka_unit_test(truncated),
		cmocka_unit_test(flipped),
		cmocka_unit_test(flipped_header),
		cmocka_unit_test(no_beginning),
		cmocka_unit_test(noise_between),
		cmocka_unit_test(zip_bomb),
		cmocka_unit_test(unknown_blocks),
	};

	return cmocka_run_group_tests_name("libktau: files", tests, make_directory,
					   remove_directory);
}
