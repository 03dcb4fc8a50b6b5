// SPDX-License-Identifier: GPL-2.0-only
/* Reading *.ktau files: both byte orders, cuts, flipped bits, forged blocks. */
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

static void round_trip(void **state)
{
	const struct ktau_rec_info *info;
	const struct ktau_event *event;
	struct ktau_reader *r;
	union ktau_record rec;
	unsigned int flags, nr;

	(void)state;
	for (flags = 0; flags <= KTAU_WRITER_ZLIB; flags += KTAU_WRITER_ZLIB) {
		write_sample(flags, 4);
		assert_int_equal(ktau_reader_create(&r), 0);
		assert_int_equal(ktau_reader_open_file(r, path), 0);
		for (nr = 0; ktau_reader_next(r, &rec) > 0; nr++)
			;
		assert_string_equal(ktau_reader_error(r), "");
		assert_int_equal(nr, 3 + 4 * 5);
		info = ktau_reader_info(r);
		assert_non_null(info);
		assert_string_equal(ktau_info_command(info), "ktaud -f x.conf");
		assert_string_equal(ktau_info_symbols(info), "/boot/System.map");
		assert_int_equal(info->period_ns, 1000000000);
		assert_int_equal(info->stext, 0xffffffff81000000);
		assert_true(strlen(info->release) > 0);
		assert_int_equal(ktau_events_count(ktau_reader_events(r)), 2);
		event = ktau_events_find(ktau_reader_events(r), 39);
		assert_string_equal(event->name, "__x64_sys_getpid");
		assert_int_equal(event->address, 0xffffffff81a0b2c0);
		event = ktau_events_next(ktau_reader_events(r), event);
		assert_int_equal(event->id, 701);
		assert_int_equal(event->kind, KTAU_KIND_COUNTER);
		assert_null(ktau_events_next(ktau_reader_events(r), event));
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
	put32(s, 0);
	put_text(s, "ion7", 72);
	put_text(s, "6.1.0-bgl", 72);
	put_text(s, "ppc", 72);
	record_fixed(s);
	put_text(s, "ktaud", 6);
	put_text(s, "map", 4);
	record_end(s);
}

static void put_event_record(struct stream *s)
{
	record_begin(s, 0x8001);
	put32(s, 4);
	put32(s, KTAU_GROUP_SYSCALL);
	put32(s, 0);
	put32(s, 10);
	put64(s, 0xc0012340);
	record_fixed(s);
	put_text(s, "sys_write", 10);
	record_end(s);
}

/* Header and one block around @records, byte by byte. */
static struct stream wrap(const struct stream *records)
{
	struct stream s = { .big = records->big };
	size_t i, start;

	put32(&s, 0x4c49464b);
	put16(&s, 1);
	put16(&s, 16);
	put64(&s, 1);
	start = s.size;
	put32(&s, 0x4b42544b);
	put16(&s, 1);
	put16(&s, 0);
	put32(&s, records->size);
	put32(&s, records->size);
	put32(&s, crc32(0, records->data, records->size));
	put32(&s, 0);
	put32(&s, 0);
	put32(&s, crc32(0, s.data + start, s.size - start));
	for (i = 0; i < records->size; i++)
		put8(&s, records->data[i]);
	return s;
}

static void by_hand(bool big)
{
	struct stream records = { .word_bits = 32, .big = big }, file;
	const struct ktau_rec_info *info;
	const struct ktau_event *event;
	struct ktau_reader *r;
	union ktau_record rec;
	unsigned int nr = 0;

	put_info_record(&records);
	put_event_record(&records);
	put_stream(&records, KTAU_REC_PROFILE, 1);
	put_task(&records, 7, 70, 0, 3);
	put_end(&records);
	file = wrap(&records);
	assert_int_equal(ktau_reader_create(&r), 0);
	assert_int_equal(ktau_reader_open_memory(r, file.data, file.size), 0);
	while (ktau_reader_next(r, &rec) > 0)
		nr++;
	assert_int_equal(nr, 5);
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
	event = ktau_events_find(ktau_reader_events(r), 4);
	assert_non_null(event);
	assert_string_equal(event->name, "sys_write");
	assert_int_equal(event->address, 0xc0012340);
	assert_int_equal(event->group, KTAU_GROUP_SYSCALL);
	ktau_reader_destroy(r);
	stream_free(&records);
	stream_free(&file);
}

static void both_orders(void **state)
{
	(void)state;
	by_hand(false);
	by_hand(true);
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
	if (size >= 16 && starts[whole] == size) {
		assert_int_equal(b.err, 0);
	} else {
		assert_int_equal(b.err, -EBADMSG);
		assert_true(strlen(b.error) > 0);
		assert_true(size < 16 || b.damage.truncated);
		assert_int_equal(b.damage.lost_bytes, size < 16 ? 0 : size - starts[whole]);
	}
	free(copy);
}

static void cut(void **state)
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

/* A wrong bit costs its block and no other, and is never overlooked. */
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
		for (bit = 16 * 8; bit < image.size * 8; bit++) {
			image.data[bit / 8] ^= 1 << bit % 8;
			b = read_memory(image.data, image.size);
			/* Only padding may change unseen. */
			if (b.err) {
				assert_int_equal(b.err, -EBADMSG);
				assert_int_equal(b.streams, 3);
				assert_true(b.damage.bad_blocks == 1 || b.damage.truncated);
			} else {
				assert_int_equal(b.streams, 4);
				assert_true(flags);
			}
			image.data[bit / 8] ^= 1 << bit % 8;
		}
		free(image.data);
	}
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

	/* A block taken out leaves a hole in the numbers. */
	memmove(image.data + starts[1], image.data + starts[2], image.size - starts[2]);
	b = read_memory(image.data, image.size - (starts[2] - starts[1]));
	assert_int_equal(b.err, -EBADMSG);
	assert_int_equal(b.streams, 2);
	assert_int_equal(b.damage.missing_blocks, 1);
	free(image.data);
	free(noisy.data);
}

/* A block as any program could write it: right checksums, wrong content. */
static size_t forge(uint8_t *out, const void *payload, uint32_t stored, uint32_t raw,
		    uint16_t flags)
{
	struct ktau_file_header header = {
		.magic = KTAU_FILE_MAGIC, .version = 1, .size = sizeof(header),
	};
	struct ktau_block block = {
		.magic = KTAU_BLOCK_MAGIC, .type = 1, .flags = flags,
		.stored_bytes = stored, .raw_bytes = raw,
		.payload_crc = crc32(0, payload, stored),
	};

	block.header_crc = crc32(0, (void *)&block, 28);
	memcpy(out, &header, sizeof(header));
	memcpy(out + 16, &block, sizeof(block));
	memcpy(out + 48, payload, stored);
	memset(out + 48 + stored, 0, 8);
	return 48 + (stored + 7) / 8 * 8;
}

static void zip_bomb(void **state)
{
	uLongf bytes = 1 << 20;
	size_t room = 64 << 20;
	uint8_t *zeros = calloc(1, room), *packed = malloc(bytes), *file = malloc(bytes + 64);
	struct read_back b;
	size_t size;

	(void)state;
	assert_true(zeros && packed && file);
	assert_int_equal(compress(packed, &bytes, zeros, room), Z_OK);
	/* More than a block may have, and more than the header says. */
	size = forge(file, packed, bytes, room, KTAU_BLOCK_ZLIB);
	b = read_memory(file, size);
	assert_int_equal(b.err, -EBADMSG);
	assert_int_equal(b.records, 0);
	size = forge(file, packed, bytes, 4096, KTAU_BLOCK_ZLIB);
	b = read_memory(file, size);
	assert_int_equal(b.err, -EBADMSG);
	assert_non_null(strstr(b.error, "does not inflate to its size in block 0"));
	/* Zeros are no records. */
	size = forge(file, zeros, 4096, 4096, 0);
	b = read_memory(file, size);
	assert_int_equal(b.err, -EBADMSG);
	assert_non_null(strstr(b.error, "impossible size"));
	size = forge(file, zeros, 8, 16, 0);
	assert_int_equal(read_memory(file, size).err, -EBADMSG);
	size = forge(file, zeros, 8, 8, 0x80);
	assert_non_null(strstr(read_memory(file, size).error, "flags"));
	free(zeros);
	free(packed);
	free(file);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(round_trip),
		cmocka_unit_test(both_orders),
		cmocka_unit_test(from_pipe),
		cmocka_unit_test(cut),
		cmocka_unit_test(flipped),
		cmocka_unit_test(noise_between),
		cmocka_unit_test(zip_bomb),
	};

	return cmocka_run_group_tests_name("libktau: files", tests, make_directory,
					   remove_directory);
}
