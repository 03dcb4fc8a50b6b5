// SPDX-License-Identifier: GPL-2.0-only
/* Full disks, simulated by a limit of the file size. */
#include <errno.h>
#include <setjmp.h>
#include <signal.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/resource.h>
#include <unistd.h>

#include <cmocka.h>
#include <ktau.h>

#include "output.h"

#define ROOM_BYTES	4096
#define NR_RECORDS	500	/* more than the limit, and less than a block */
#define MORE_RECORDS	5000	/* more than a block */

/* The records at the start of a file: INFO and STREAM. */
#define NR_HEAD		2

struct fixture {
	char dir[64];
	char log[80];
	struct config config;
	struct output out;
	int old_stderr;
};

static void limit_size(rlim_t bytes)
{
	struct rlimit limit;

	assert_int_equal(getrlimit(RLIMIT_FSIZE, &limit), 0);
	limit.rlim_cur = bytes;
	assert_int_equal(setrlimit(RLIMIT_FSIZE, &limit), 0);
}

static int setup(void **state)
{
	struct fixture *f = calloc(1, sizeof(*f));
	char path[96];
	FILE *file;

	assert_non_null(f);
	*state = f;
	signal(SIGXFSZ, SIG_IGN);
	strcpy(f->dir, "/tmp/test_output.XXXXXX");
	assert_non_null(mkdtemp(f->dir));
	snprintf(path, sizeof(path), "%s/events", f->dir);
	file = fopen(path, "w");
	assert_non_null(file);
	fclose(file);
	snprintf(f->log, sizeof(f->log), "%s/log", f->dir);
	fflush(stderr);
	f->old_stderr = dup(STDERR_FILENO);
	assert_non_null(freopen(f->log, "w", stderr));
	assert_int_equal(output_init(&f->out, f->dir, "test_output"), 0);
	assert_int_equal(output_open(&f->out, &f->config), 0);
	return 0;
}

static int teardown(void **state)
{
	struct fixture *f = *state;
	char command[96];

	limit_size(RLIM_INFINITY);
	fflush(stderr);
	dup2(f->old_stderr, STDERR_FILENO);
	close(f->old_stderr);
	snprintf(command, sizeof(command), "rm -r %s", f->dir);
	assert_int_equal(system(command), 0);
	free(f);
	return 0;
}

static bool was_said(const struct fixture *f, const char *text)
{
	char line[512];
	bool found = false;
	FILE *file;

	fflush(stderr);
	file = fopen(f->log, "r");
	assert_non_null(file);
	while (fgets(line, sizeof(line), file))
		found |= strstr(line, text) != NULL;
	fclose(file);
	return found;
}

static void begin_stream(struct fixture *f)
{
	struct ktau_rec_stream stream = {
		.rec = { sizeof(stream), KTAU_REC_STREAM, sizeof(stream) },
		.magic = KTAU_MAGIC,
		.version = KTAU_ABI_VERSION,
		.word_bits = 64,
		.content = KTAU_REC_TRACE,
		.clock_hz = 1000000000,
		.nr_cpus = 1,
	};

	ktau_boot_id(stream.boot_id);
	output_stream(&f->out, &f->config, &stream, false);
}

static void put_records(struct fixture *f, unsigned int nr)
{
	struct ktau_rec_trace trace = {
		.rec = { sizeof(trace), KTAU_REC_TRACE, sizeof(trace) },
		.lost = 1,
		.first = 1,
		.next = 1,
		.written = 1,
	};

	while (nr--)
		output_record(&f->out, &trace.rec);
}

static unsigned int count_traces(const char *path)
{
	struct ktau_reader *reader;
	union ktau_record record;
	unsigned int nr = 0;

	assert_int_equal(ktau_reader_create(&reader), 0);
	assert_int_equal(ktau_reader_open_file(reader, path), 0);
	while (ktau_reader_next(reader, &record) > 0)
		nr += record.rec->type == KTAU_REC_TRACE;
	ktau_reader_destroy(reader);
	return nr;
}

/* No new file is started until the last records fit into the old one. */
static void test_rotate(void **state)
{
	struct fixture *f = *state;
	char *path = strdup(f->out.path);

	begin_stream(f);
	put_records(f, NR_RECORDS);
	assert_false(output_blocked(&f->out));
	limit_size(ROOM_BYTES);
	assert_int_equal(output_open(&f->out, &f->config), -EFBIG);
	assert_true(output_blocked(&f->out));
	assert_string_equal(f->out.path, path);
	assert_int_equal(f->out.rotate.nr, 1);

	limit_size(RLIM_INFINITY);
	assert_true(output_flush(&f->out));
	assert_int_equal(output_open(&f->out, &f->config), 0);
	assert_string_not_equal(f->out.path, path);
	assert_int_equal(count_traces(path), NR_RECORDS);
	assert_int_equal(output_deinit(&f->out), 0);
	free(path);
}

/* Both the records of the block and those that wait for it are logged as lost. */
static void test_logged(void **state)
{
	struct fixture *f = *state;
	char text[64];

	limit_size(ROOM_BYTES);
	begin_stream(f);
	put_records(f, MORE_RECORDS);
	assert_true(output_blocked(&f->out));
	assert_int_equal(output_deinit(&f->out), -EFBIG);
	snprintf(text, sizeof(text), "is incomplete: %d records did not fit",
		 NR_HEAD + MORE_RECORDS);
	assert_true(was_said(f, text));
}

/* The error occurs every period and is logged once. */
static void test_no_new_file(void **state)
{
	struct fixture *f = *state;
	long log_bytes;
	int i;

	f->out.dir = "/tmp/none/of/these";
	assert_int_equal(output_open(&f->out, &f->config), -ENOENT);
	assert_true(was_said(f, "cannot create"));
	log_bytes = ftell(stderr);
	for (i = 0; i < 3; i++)
		assert_int_equal(output_open(&f->out, &f->config), -ENOENT);
	fflush(stderr);
	assert_int_equal(ftell(stderr), log_bytes);
	f->out.dir = f->dir;
	assert_int_equal(output_open(&f->out, &f->config), 0);
	assert_int_equal(output_deinit(&f->out), 0);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test_setup_teardown(test_rotate, setup, teardown),
		cmocka_unit_test_setup_teardown(test_logged, setup, teardown),
		cmocka_unit_test_setup_teardown(test_no_new_file, setup, teardown),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
