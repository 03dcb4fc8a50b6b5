// SPDX-License-Identifier: GPL-2.0-only
/* ktau_reader_seek_time(): find a period of a file by the headers of blocks. */
#include <errno.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include <cmocka.h>

#include "encode.h"
#include "files.h"

/* Read the times of the streams after a seek, in seconds. Returns their number. */
static unsigned int streams_in(struct ktau_reader *r, uint64_t from_s, uint64_t to_s,
			       unsigned int *seconds)
{
	union ktau_record rec;
	unsigned int nr = 0;
	int err;

	assert_int_equal(ktau_reader_seek_time(r, from_s * SAMPLE_NS, to_s * SAMPLE_NS), 0);
	while ((err = ktau_reader_next(r, &rec)) > 0) {
		if (rec.rec->type == KTAU_REC_STREAM)
			seconds[nr++] = rec.stream->realtime_ns / SAMPLE_NS;
	}
	assert_int_equal(err, 0);
	assert_int_equal(ktau_reader_damage(r)->missing_blocks, 0);
	if (nr) {
		/* Records before the key block are not needed. */
		assert_string_equal(ktau_info_job(ktau_reader_info(r)), "job 7");
		assert_int_equal(ktau_events_count(ktau_reader_events(r)), 2);
		assert_non_null(ktau_reader_cgroup(r, 5));
	}
	return nr;
}

/* Read the file at @path, or @image if that is not NULL, each time with a new reader. */
static struct ktau_reader *open_sample(const struct image *image)
{
	struct ktau_reader *r;
	int err;

	assert_int_equal(ktau_reader_create(&r), 0);
	err = image ? ktau_reader_open_memory(r, image->data, image->size) :
		      ktau_reader_open_file(r, path);
	assert_int_equal(err, 0);
	return r;
}

static void check_periods(const struct image *image)
{
	static const struct {
		unsigned int from, to, first, nr;
	} cases[] = {
		/* Key blocks are those of streams 1, 5, 9 ... */
		{ 0, 20, 1, 20 }, { 1, 1, 1, 1 }, { 4, 4, 1, 4 }, { 5, 5, 5, 1 },
		{ 7, 9, 5, 5 }, { 20, 99, 17, 4 }, { 99, 100, 17, 4 }, { 0, 0, 0, 0 },
		{ 13, 12, 13, 0 },
	};
	unsigned int seconds[32], nr, j;
	struct ktau_reader *r;
	size_t i;

	for (i = 0; i < NR(cases); i++) {
		r = open_sample(image);
		nr = streams_in(r, cases[i].from, cases[i].to, seconds);
		assert_int_equal(nr, cases[i].nr);
		for (j = 0; j < nr; j++)
			assert_int_equal(seconds[j], cases[i].first + j);
		/* Seek back in the same reader. */
		assert_int_equal(streams_in(r, 0, 100, seconds), 20);
		ktau_reader_destroy(r);
	}
}

static void periods(void **state)
{
	struct ktau_reader *r;
	struct image image;
	struct read_back b;
	int fds[2];

	(void)state;
	write_sample(KTAU_WRITER_ZLIB, 20);
	image = load();
	check_periods(NULL);
	check_periods(&image);

	/* Only headers are read while seeking, so a damaged earlier block is not noticed. */
	image.data[40 + 48 + 7] ^= 1;
	r = open_sample(&image);
	assert_int_equal(ktau_reader_seek_time(r, 6 * SAMPLE_NS, UINT64_MAX), 0);
	b = finish(r, 0);
	assert_int_equal(b.err, 0);
	assert_int_equal(b.streams, 16);

	assert_int_equal(pipe(fds), 0);
	assert_int_equal(write(fds[1], image.data, 1000), 1000);
	close(fds[1]);
	assert_int_equal(ktau_reader_create(&r), 0);
	assert_int_equal(ktau_reader_open_fd(r, fds[0], "pipe"), 0);
	assert_int_equal(ktau_reader_seek_time(r, 0, 1), -ESPIPE);
	ktau_reader_destroy(r);
	close(fds[0]);
	free(image.data);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(periods),
	};

	return cmocka_run_group_tests_name("libktau: periods", tests, make_directory,
					   remove_directory);
}
