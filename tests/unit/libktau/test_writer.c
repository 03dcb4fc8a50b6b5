// SPDX-License-Identifier: GPL-2.0-only
/* Writing *.ktau files: continuing one, rejecting others, full disks. */
#include <errno.h>
#include <setjmp.h>
#include <signal.h>
#include <stdarg.h>
#include <stdlib.h>
#include <string.h>
#include <sys/resource.h>
#include <sys/stat.h>
#include <sys/statfs.h>
#include <unistd.h>

#include <linux/magic.h>

#include <cmocka.h>
#include <zlib.h>

#include "encode.h"
#include "files.h"

/* The boot id of put_stream(). */
static const uint8_t boot_id[16];

static void compresses(void **state)
{
	struct image plain, packed;

	(void)state;
	write_sample(0, 4);
	plain = load();
	write_sample(KTAU_WRITER_ZLIB, 4);
	packed = load();
	assert_true(packed.size * 2 < plain.size);
	free(plain.data);
	free(packed.data);
}

static void append(void **state)
{
	size_t starts[64], cut_at;
	struct ktau_writer *w;
	unsigned int whole;
	struct read_back b;
	struct image image;

	(void)state;
	write_sample(KTAU_WRITER_ZLIB, 3);
	image = load();
	find_blocks(&image, starts);
	for (cut_at = 0; cut_at <= image.size; cut_at += cut_at < 40 ? 1 : 7) {
		store(&image, cut_at);
		w = create(KTAU_WRITER_APPEND);
		put_tasks(w, 3, 9);
		assert_int_equal(ktau_writer_close(w), 0);
		ktau_writer_destroy(w);
		b = read_path();
		assert_int_equal(b.err, 0);
		for (whole = 0; whole < 3 && starts[whole + 1] <= cut_at; whole++)
			;
		assert_int_equal(b.streams, whole + 1);
	}
	free(image.data);
}

static void rejects(void **state)
{
	const struct image text = { .data = (uint8_t *)"some precious text", .size = 18 };
	struct ktau_writer *w, *second;
	struct ktau_rec rec = { .size = 8, .type = 99, .head = 8 };
	struct image image;

	(void)state;
	assert_int_equal(ktau_writer_create(&w), 0);
	assert_int_equal(ktau_writer_flush(w, true), -EBADF);
	assert_int_equal(ktau_writer_put(w, &rec), -EBADF);
	store(&text, text.size);
	assert_int_equal(ktau_writer_open(w, path, 0, NULL), -EEXIST);
	assert_int_equal(ktau_writer_open(w, path, KTAU_WRITER_APPEND, boot_id), -EBADMSG);
	assert_non_null(strstr(ktau_writer_error(w), path));
	assert_int_equal(ktau_writer_open(w, path, 1U << 31, NULL), -EINVAL);
	assert_non_null(strstr(ktau_writer_error(w), "unknown flags"));
	image = load();
	assert_int_equal(image.size, text.size);
	assert_memory_equal(image.data, text.data, text.size);
	free(image.data);

	write_sample(0, 1);
	assert_int_equal(ktau_writer_open(w, path, KTAU_WRITER_APPEND, boot_id), 0);
	assert_int_equal(ktau_writer_create(&second), 0);
	assert_int_equal(ktau_writer_open(second, path, KTAU_WRITER_APPEND, boot_id), -EWOULDBLOCK);
	ktau_writer_destroy(second);
	assert_int_equal(ktau_writer_put(w, &rec), -EINVAL);
	assert_non_null(strstr(ktau_writer_error(w), "type that files do not have"));
	rec.size = 12;
	assert_int_equal(ktau_writer_put(w, &rec), -EINVAL);
	ktau_writer_destroy(w);
	assert_int_equal(read_path().err, 0);

	/* Of another boot. */
	assert_int_equal(ktau_writer_create(&w), 0);
	assert_int_equal(ktau_writer_open(w, path, KTAU_WRITER_APPEND, NULL), -ESTALE);
	assert_non_null(strstr(ktau_writer_error(w), "another boot"));
	ktau_writer_destroy(w);
	/* With a damaged header. */
	image = load();
	image.data[9] ^= 1;
	store(&image, image.size);
	assert_int_equal(ktau_writer_create(&w), 0);
	assert_int_equal(ktau_writer_open(w, path, KTAU_WRITER_APPEND, boot_id), -EBADMSG);
	assert_non_null(strstr(ktau_writer_error(w), "checksum of the file's header"));
	ktau_writer_destroy(w);
	image.data[9] ^= 1;
	/* Made by a machine of the other byte order. */
	*(uint32_t *)image.data = __builtin_bswap32(KTAU_FILE_MAGIC);
	*(uint16_t *)(image.data + 4) = __builtin_bswap16(2);
	*(uint16_t *)(image.data + 6) = __builtin_bswap16(40);
	memset(image.data + 32, 0, 4);
	*(uint32_t *)(image.data + 32) = __builtin_bswap32(crc32(0, image.data, 40));
	store(&image, 40);
	free(image.data);
	assert_int_equal(ktau_writer_create(&w), 0);
	assert_int_equal(ktau_writer_open(w, path, KTAU_WRITER_APPEND, boot_id), -EINVAL);
	ktau_writer_destroy(w);
}

/* Records that a reader would report as damage are not written. */
static void rejects_records(void **state)
{
	struct ktau_rec_stream stream = {
		.rec = { .size = sizeof(stream), .type = KTAU_REC_STREAM, .head = sizeof(stream) },
		.magic = KTAU_MAGIC, .version = KTAU_ABI_VERSION,
	};
	struct {
		struct ktau_rec_event event;
		char name[8];
	} event = {
		.event = { .rec = { .size = sizeof(event), .type = KTAU_REC_EVENT,
				    .head = sizeof(event.event) },
			   .id = 65534, .name_bytes = 2 },
		.name = "x",
	};
	struct ktau_rec_profile end = { .rec = { .type = KTAU_REC_END } };
	struct ktau_writer *w;

	(void)state;
	unlink(path);
	w = create(0);
	assert_int_equal(ktau_writer_put(w, &stream), 0);
	stream.magic = 0;
	assert_int_equal(ktau_writer_put(w, &stream), -EINVAL);
	assert_non_null(strstr(ktau_writer_error(w), "byte order"));
	stream.magic = KTAU_MAGIC;
	stream.version++;
	assert_int_equal(ktau_writer_put(w, &stream), -EINVAL);
	stream.version--;
	stream.boot_id[3] = 1;
	assert_int_equal(ktau_writer_put(w, &stream), -ESTALE);
	assert_non_null(strstr(ktau_writer_error(w), "another boot"));
	assert_int_equal(ktau_writer_put_diff(w, &end), -EINVAL);
	assert_non_null(strstr(ktau_writer_error(w), "not a profile"));
	assert_int_equal(ktau_writer_put(w, &event), 0);
	event.event.id++;
	assert_int_equal(ktau_writer_put(w, &event), -EINVAL);
	event.event.id = 1;
	event.event.name_bytes = 9;
	assert_int_equal(ktau_writer_put(w, &event), -EINVAL);
	event.event.name_bytes = 1;
	assert_int_equal(ktau_writer_put(w, &event), -EINVAL);
	assert_non_null(strstr(ktau_writer_error(w), "impossible name"));
	assert_int_equal(ktau_writer_close(w), 0);
	ktau_writer_destroy(w);
	assert_int_equal(read_path().records, 2);
}

/* Events and control groups are written once, again if they change, and after a key block. */
static void repeats(void **state)
{
	struct stream s = { .word_bits = 64 }, changed = { .word_bits = 64 };
	struct ktau_writer *w;

	(void)state;
	put_stream(&s, KTAU_REC_PROFILE, 1);
	put_event(&s, 1, 1, "sys_write");
	put_event(&s, 60000, 1, "later");
	put_cgroup(&s, 7, "/a");
	put_end(&s);
	put_stream(&changed, KTAU_REC_PROFILE, 1);
	put_event(&changed, 60000, 1, "renamed");
	put_cgroup(&changed, 7, "/b");
	put_end(&changed);
	unlink(path);
	w = create(0);
	put_records(w, &s);			/* 5 */
	put_records(w, &s);			/* 2 */
	assert_int_equal(ktau_writer_flush(w, false), 0);
	put_records(w, &s);			/* 2 */
	put_records(w, &changed);		/* 4 */
	assert_int_equal(ktau_writer_key(w), 0);
	put_records(w, &changed);		/* 4 */
	put_records(w, &changed);		/* 2 */
	assert_int_equal(ktau_writer_flush(w, false), 0);
	/* Dropped records count as not written. */
	put_records(w, &s);
	assert_int_equal(ktau_writer_drop(w), 5);
	put_records(w, &s);			/* 5 */
	assert_int_equal(ktau_writer_close(w), 0);
	ktau_writer_destroy(w);
	assert_int_equal(read_path().records, 5 + 2 + 2 + 4 + 4 + 2 + 5);
	stream_free(&s);
	stream_free(&changed);
}

/* The headers of the blocks: key, and the times of the streams. */
static void headers(void **state)
{
	struct ktau_block block;
	size_t starts[64];
	struct image image;
	unsigned int i;

	(void)state;
	write_sample(KTAU_WRITER_ZLIB, 9);
	image = load();
	assert_int_equal(find_blocks(&image, starts), 9);
	for (i = 0; i < 9; i++) {
		memcpy(&block, image.data + starts[i], sizeof(block));
		assert_int_equal(block.sequence, i);
		assert_int_equal(block.flags, i % SAMPLE_KEY ? 0 : KTAU_BLOCK_KEY);
		assert_int_equal(block.compression, KTAU_COMPRESS_ZLIB);
		assert_int_equal(block.from_ns, (i + 1) * SAMPLE_NS);
		assert_int_equal(block.to_ns, (i + 1) * SAMPLE_NS);
	}
	free(image.data);
}

/* The compression and encoding of the first block. */
static struct ktau_block first_block(unsigned int flags)
{
	struct image image;
	struct ktau_block block;

	write_sample(flags, 1);
	image = load();
	assert_true(image.size >= sizeof(struct ktau_file_header) + sizeof(block));
	memcpy(&block, image.data + sizeof(struct ktau_file_header), sizeof(block));
	free(image.data);
	return block;
}

static void compact(void **state)
{
	bool zstd = ktau_has_compression(KTAU_COMPRESS_ZSTD);
	struct ktau_block block = first_block(KTAU_WRITER_COMPACT);

	(void)state;
	assert_int_equal(block.encoding, KTAU_ENCODE_DELTA);
	assert_int_equal(block.compression, zstd ? KTAU_COMPRESS_ZSTD : KTAU_COMPRESS_ZLIB);
	block = first_block(0);
	assert_int_equal(block.encoding, KTAU_ENCODE_PLAIN);
	assert_int_equal(block.compression, KTAU_COMPRESS_NONE);
}

static void without_zstd(void **state)
{
	struct ktau_writer *w;
	int err;

	(void)state;
	unlink(path);
	assert_int_equal(ktau_writer_create(&w), 0);
	err = ktau_writer_open(w, path, KTAU_WRITER_ZSTD, NULL);
	assert_int_equal(err, ktau_has_compression(KTAU_COMPRESS_ZSTD) ? 0 : -EOPNOTSUPP);
	ktau_writer_destroy(w);
	assert_true(ktau_has_compression(KTAU_COMPRESS_ZLIB));
	assert_false(ktau_has_compression(77));
}

/* The disk fills up within a block: the file is cut back, and writing continues later. */
static void full_disk(void **state)
{
	struct rlimit old, limit;
	struct ktau_writer *w;
	uint64_t before;
	struct stat st;

	(void)state;
	signal(SIGXFSZ, SIG_IGN);
	getrlimit(RLIMIT_FSIZE, &old);
	unlink(path);
	w = create(0);
	put_tasks(w, 100, 1);
	assert_int_equal(ktau_writer_flush(w, true), 0);
	before = ktau_writer_bytes(w);
	limit = old;
	limit.rlim_cur = before + 1000;
	assert_int_equal(setrlimit(RLIMIT_FSIZE, &limit), 0);
	put_tasks(w, 100, 2);
	assert_int_equal(ktau_writer_flush(w, false), -EFBIG);
	assert_int_equal(ktau_writer_flush(w, false), -EFBIG);
	assert_non_null(strstr(ktau_writer_error(w), "File too large"));
	assert_int_equal(ktau_writer_bytes(w), before);
	assert_int_equal(stat(path, &st), 0);
	assert_int_equal(st.st_size, before);
	assert_int_equal(read_path().streams, 1);
	setrlimit(RLIMIT_FSIZE, &old);
	assert_int_equal(ktau_writer_flush(w, true), 0);
	put_tasks(w, 1, 3);
	assert_int_equal(ktau_writer_drop(w), 4);
	assert_int_equal(ktau_writer_close(w), 0);
	ktau_writer_destroy(w);
	assert_int_equal(read_path().streams, 2);
	assert_int_equal(read_path().err, 0);

	assert_int_equal(ktau_writer_create(&w), 0);
	assert_int_equal(ktau_writer_open(w, "/dev/full", KTAU_WRITER_APPEND, NULL), -ENOSPC);
	ktau_writer_destroy(w);
}

static void put_gap(struct ktau_writer *w)
{
	struct ktau_rec_gap gap = {
		.rec = { .size = sizeof(gap), .type = KTAU_REC_GAP, .head = sizeof(gap) },
		.from_ns = 1,
		.to_ns = 2,
		.periods = 1,
	};

	assert_int_equal(ktau_writer_put(w, &gap), 0);
}

/* Blocks of this size fill the disk until no further one fits. Return: the last error. */
static int fill(struct ktau_writer *w)
{
	int err;

	do {
		put_gap(w);
		err = ktau_writer_flush(w, false);
	} while (!err);
	assert_int_equal(ktau_writer_drop(w), 1);
	return err;
}

/*
 * However the last page is filled, a block fits into the room that was reserved, and closing
 * releases the rest of it. A limit of the size is a full disk to tmpfs, also when it allocates.
 */
static void reserved(void **state)
{
	const char *file = "/dev/shm/ktau-test-writer";
	const rlim_t limit_bytes = 8192;
	struct rlimit old, limit;
	struct ktau_writer *w;
	struct statfs fs;
	struct stat st;
	uint64_t full;

	(void)state;
	if (statfs("/dev/shm", &fs) || fs.f_type != TMPFS_MAGIC)
		skip();
	signal(SIGXFSZ, SIG_IGN);
	getrlimit(RLIMIT_FSIZE, &old);
	unlink(file);
	assert_int_equal(ktau_writer_create(&w), 0);
	assert_int_equal(ktau_writer_open(w, file, 0, boot_id), 0);
	ktau_writer_reserve(w, 200);
	limit = old;
	limit.rlim_cur = limit_bytes;
	assert_int_equal(setrlimit(RLIMIT_FSIZE, &limit), 0);
	assert_int_equal(fill(w), -EFBIG);
	full = ktau_writer_bytes(w);
	assert_int_equal(stat(file, &st), 0);
	assert_int_equal(st.st_size, full);
	assert_true(full + 200 <= limit_bytes);
	ktau_writer_reserve(w, 0);
	put_gap(w);
	assert_int_equal(ktau_writer_flush(w, false), 0);
	setrlimit(RLIMIT_FSIZE, &old);
	assert_int_equal(ktau_writer_close(w), 0);
	ktau_writer_destroy(w);
	assert_int_equal(unlink(file), 0);
}

static off_t allocated(const char *file)
{
	struct stat st;

	assert_int_equal(stat(file, &st), 0);
	return st.st_blocks * 512;
}

/* Return: a writer with a block in @file, and room after it. */
static struct ktau_writer *begin_reserved(const char *file)
{
	struct ktau_writer *w;

	unlink(file);
	assert_int_equal(ktau_writer_create(&w), 0);
	assert_int_equal(ktau_writer_open(w, file, 0, boot_id), 0);
	ktau_writer_reserve(w, 1U << 20);
	put_gap(w);
	assert_int_equal(ktau_writer_flush(w, false), 0);
	return w;
}

static void released(void **state)
{
	const char *file = "/dev/shm/ktau-test-writer";
	struct ktau_writer *w;
	struct statfs fs;

	(void)state;
	if (statfs("/dev/shm", &fs) || fs.f_type != TMPFS_MAGIC)
		skip();
	w = begin_reserved(file);
	assert_true(allocated(file) >= 1 << 20);
	assert_int_equal(ktau_writer_close(w), 0);
	assert_true(allocated(file) < 1 << 17);
	ktau_writer_destroy(w);
	assert_int_equal(unlink(file), 0);
}

/*
 * Another program truncates the file between two blocks: the file stays shorter than what was
 * written, also when it is closed, and has no hole.
 */
static void truncated(void **state)
{
	const char *file = "/dev/shm/ktau-test-writer";
	struct ktau_writer *w;
	uint64_t before;
	struct stat st;

	(void)state;
	w = begin_reserved(file);
	before = ktau_writer_bytes(w);
	assert_int_equal(truncate(file, 0), 0);
	put_gap(w);
	assert_int_equal(ktau_writer_flush(w, false), 0);
	assert_int_equal(stat(file, &st), 0);
	assert_int_equal(st.st_size, ktau_writer_bytes(w) - before);
	assert_int_equal(ktau_writer_close(w), 0);
	assert_int_equal(stat(file, &st), 0);
	assert_true((uint64_t)st.st_size < before);
	ktau_writer_destroy(w);
	assert_int_equal(unlink(file), 0);
}

/* More than a block in one flush: several blocks, nothing lost. */
static void large(void **state)
{
	struct ktau_writer *w;
	struct read_back b;

	(void)state;
	unlink(path);
	w = create(KTAU_WRITER_ZLIB);
	put_tasks(w, 5000, 1);
	assert_int_equal(ktau_writer_close(w), 0);
	ktau_writer_destroy(w);
	b = read_path();
	assert_int_equal(b.err, 0);
	assert_int_equal(b.profiles, 5000);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(compresses),
		cmocka_unit_test(append),
		cmocka_unit_test(rejects),
		cmocka_unit_test(rejects_records),
		cmocka_unit_test(repeats),
		cmocka_unit_test(headers),
		cmocka_unit_test(compact),
		cmocka_unit_test(without_zstd),
		cmocka_unit_test(full_disk),
		cmocka_unit_test(reserved),
		cmocka_unit_test(released),
		cmocka_unit_test(truncated),
		cmocka_unit_test(large),
	};

	return cmocka_run_group_tests_name("libktau: writer", tests, make_directory,
					   remove_directory);
}
