// SPDX-License-Identifier: GPL-2.0-only
#include <errno.h>
#include <fcntl.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include <cmocka.h>

#include "encode.h"
#include "files.h"

static char directory[] = "/tmp/ktau-test-XXXXXX";
char path[64];

/* The boot id of put_stream(). */
static const uint8_t boot_id[16];

static uint64_t realtime_ns;

struct image load(void)
{
	struct image image;
	struct stat st;
	int fd = open(path, O_RDONLY);

	assert_true(fd >= 0);
	assert_int_equal(fstat(fd, &st), 0);
	image.size = st.st_size;
	image.data = malloc(image.size);
	assert_non_null(image.data);
	assert_int_equal(read(fd, image.data, image.size), image.size);
	close(fd);
	return image;
}

void store(const struct image *image, size_t size)
{
	int fd = open(path, O_WRONLY | O_CREAT | O_TRUNC, 0600);

	assert_true(fd >= 0);
	assert_int_equal(write(fd, image->data, size), size);
	close(fd);
}

struct ktau_writer *create(unsigned int flags)
{
	struct ktau_writer *w;

	assert_int_equal(ktau_writer_create(&w), 0);
	assert_int_equal(ktau_writer_open(w, path, flags, boot_id), 0);
	return w;
}

void put_records(struct ktau_writer *w, const struct stream *s)
{
	union ktau_record rec;
	struct ktau_reader *r;

	assert_int_equal(ktau_reader_create(&r), 0);
	assert_int_equal(ktau_reader_open_memory(r, s->data, s->size), 0);
	while (ktau_reader_next(r, &rec) > 0)
		assert_int_equal(ktau_writer_put(w, rec.rec), 0);
	ktau_reader_destroy(r);
}

void put_tasks(struct ktau_writer *w, unsigned int nr, uint64_t scale)
{
	struct stream s = { .word_bits = 64, .big = true, .realtime_ns = realtime_ns };
	unsigned int i;

	put_stream(&s, KTAU_REC_PROFILE, KTAU_TARGET_ALL);
	put_event(&s, 39, KTAU_GROUP_SYSCALL, "__x64_sys_getpid");
	put_event(&s, 701, KTAU_GROUP_TCP, "tcp:bytes");
	put_cgroup(&s, 5, "/job");
	for (i = 1; i <= nr; i++)
		put_task(&s, i, 100 + i, TASK, scale);
	put_end(&s);
	put_records(w, &s);
	stream_free(&s);
}

void write_sample(unsigned int flags, unsigned int nr)
{
	const struct ktau_writer_info info = {
		.period_ns = 1000000000, .stext = 0xffffffff81000000,
		.command = "ktaud -f x.conf", .symbols = "/boot/System.map", .job = "job 7",
	};
	struct ktau_writer *w;
	unsigned int i;

	unlink(path);
	w = create(flags);
	assert_int_equal(ktau_writer_put_info(w, &info), 0);
	for (i = 1; i <= nr; i++) {
		realtime_ns = i * SAMPLE_NS;
		if (i > 1 && i % SAMPLE_KEY == 1)
			assert_int_equal(ktau_writer_key(w), 0);
		put_tasks(w, 3, i);
		assert_int_equal(ktau_writer_flush(w, i == nr), 0);
	}
	realtime_ns = 0;
	assert_int_equal(ktau_writer_close(w), 0);
	ktau_writer_destroy(w);
}

struct read_back finish(struct ktau_reader *r, int err)
{
	struct read_back b = { 0 };
	union ktau_record rec;

	while (!err && (err = ktau_reader_next(r, &rec)) > 0) {
		err = 0;
		b.records++;
		b.streams += rec.rec->type == KTAU_REC_STREAM;
		b.profiles += rec.rec->type == KTAU_REC_PROFILE;
		assert_int_equal(rec.rec->size % 8, 0);
	}
	b.err = err;
	b.damage = *ktau_reader_damage(r);
	b.unknown = *ktau_reader_unknown(r);
	snprintf(b.error, sizeof(b.error), "%s", ktau_reader_error(r));
	ktau_reader_destroy(r);
	return b;
}

struct read_back read_memory(const void *data, size_t size)
{
	struct ktau_reader *r;

	assert_int_equal(ktau_reader_create(&r), 0);
	return finish(r, ktau_reader_open_memory(r, data, size));
}

struct read_back read_path(void)
{
	struct ktau_reader *r;

	assert_int_equal(ktau_reader_create(&r), 0);
	return finish(r, ktau_reader_open_file(r, path));
}

unsigned int find_blocks(const struct image *image, size_t *starts)
{
	unsigned int nr = 0;
	uint32_t stored;
	uint16_t size;
	size_t at = sizeof(struct ktau_file_header);

	while (at < image->size) {
		starts[nr++] = at;
		memcpy(&size, image->data + at + 4, 2);
		memcpy(&stored, image->data + at + 12, 4);
		at += size + (stored + 7) / 8 * 8;
	}
	starts[nr] = at;
	assert_int_equal(at, image->size);
	return nr;
}

int make_directory(void **state)
{
	(void)state;
	if (!mkdtemp(directory))
		return -1;
	snprintf(path, sizeof(path), "%s/file.ktau", directory);
	return 0;
}

int remove_directory(void **state)
{
	(void)state;
	unlink(path);
	return rmdir(directory);
}
