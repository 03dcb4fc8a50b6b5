// SPDX-License-Identifier: GPL-2.0-only
/* The regions of threads in a period, from streams that each case makes. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <cmocka.h>

#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "lib/cli.h"
#include "fixture.h"
#include "lib/report/period.h"
#include "lib/report/regions.h"

static const struct task_filter everything;
static char folder[] = "/tmp/ktau-regions-XXXXXX", path[64];

/* One event of a region. */
struct part {
	uint32_t region, id;
	uint64_t count;
};

/* A thread in one stream: its profile, and what it did in regions; region 0 ends the list. */
struct thread {
	uint64_t serial;
	int32_t tgid;
	const char *comm;
	uint32_t uid;
	unsigned int exited;	/* 1: since the stream before; 2: before all streams */
	struct part parts[4];
};

/* The streams, each ended by a thread with serial 0. */
static const struct thread *streams[3];
static bool reboots;

static int put_region(struct sink *s, uint64_t serial, const struct part *part)
{
	struct {
		struct ktau_rec_region r;
		struct ktau_entry e;
	} r = {
		.r.rec = { sizeof(r), KTAU_REC_REGION, sizeof(r.r) }, .r.serial = serial,
		.r.region = part->region, .r.nr_entries = 1, .r.entry_size = sizeof(r.e),
		.e = { .id = (uint16_t)part->id, .count = part->count,
		       .incl = 10 * part->count, .excl = 7 * part->count },
	};

	return sink_put(s, &r);
}

static int put_thread(struct sink *s, const struct thread *t, uint64_t at, uint64_t *nr)
{
	struct fixture_profile p = {
		.owner = fixture_owner(t->exited ? KTAU_OWNER_EXITED : KTAU_OWNER_TASK, t->serial,
				       t->tgid, t->tgid, t->comm),
		.ticks = t->exited == 2 ? SECOND : at,
	};
	const struct part *part;
	int err;

	p.owner.uid = t->uid;
	fixture_timer(&p, ID_READ, 1000 * at / SECOND, MS, MS);
	err = fixture_put(s, &p, nr);
	for (part = t->parts; !err && part->region; part++)
		err = put_region(s, t->serial, part);
	return err;
}

static int write_streams(struct sink *s)
{
	const struct thread *t;
	struct ktau_rec_end end;
	uint64_t nr;
	int err = 0, i;

	for (i = 0; !err && i < 3 && streams[i]; i++) {
		struct ktau_rec_stream stream =
			fixture_stream(KTAU_REC_PROFILE, (10 + (uint64_t)i) * SECOND);

		stream.boot_id[0] ^= reboots && i;
		nr = 0;
		err = sink_put(s, &stream);
		if (!err)
			err = fixture_put_names(s);
		for (t = streams[i]; !err && t->serial; t++)
			err = put_thread(s, t, stream.ticks, &nr);
		end = fixture_end(nr, 7);
		if (!err)
			err = sink_put(s, &end);
	}
	return err;
}

struct result {
	struct period period;
	struct aggregate rows;
	struct region_sums sums;
};

static void read_period(struct result *r, enum aggregate_by by, const struct task_filter *filter)
{
	const struct period_select all = { 0 };
	struct ktau_reader *reader;

	assert_int_equal(fixture_saved(path, write_streams), 0);
	assert_int_equal(ktau_reader_create(&reader), 0);
	assert_int_equal(ktau_reader_open_file(reader, path), 0);
	assert_int_equal(period_init(&r->period, &r->rows), 0);
	aggregate_init(&r->rows, by, filter, r->period.registry);
	r->rows.regions = regions_create(folder);
	period_start(&r->period, &all, 0);
	assert_int_equal(period_read(&r->period, reader, path), 0);
	period_stop(&r->period);
	ktau_reader_destroy(reader);
	assert_int_equal(aggregate_finish(&r->rows, r->period.before, r->period.after), 0);
	regions_sum(r->rows.regions, ktau_snapshot_stream(r->period.after), &r->sums);
}

static void forget(struct result *r)
{
	region_sums_deinit(&r->sums);
	regions_destroy(r->rows.regions);
	aggregate_deinit(&r->rows);
	period_deinit(&r->period);
	unlink(path);
	memset(streams, 0, sizeof(streams));
	reboots = false;
}

static void names_path(uint64_t serial, int tid, char name[100])
{
	snprintf(name, 100, "%s/ktau-user.host.%llu.%d", folder, (unsigned long long)serial, tid);
}

static void write_names(uint64_t serial, const char *lines)
{
	char name[100];
	FILE *f;

	names_path(serial, 1, name);
	f = fopen(name, "w");
	assert_non_null(f);
	fprintf(f, "ktau-user 1\nboot 0b0071d0-0102-0304-0506-0708090a0b0c\nserial %llu\n%s",
		(unsigned long long)serial, lines);
	assert_int_equal(fclose(f), 0);
}

/* Test that the sums, as lines "comm: path: id count", are as wanted. */
static void expect(const struct result *r, const char *wanted)
{
	char text[1000] = "";
	const struct region_sum *s;
	size_t used = 0;

	for (s = r->sums.sum; s < r->sums.sum + r->sums.nr; s++) {
		used += (size_t)snprintf(text + used, sizeof(text) - used, "%s: %s: %u %llu\n",
					 s->owner->comm, s->path, s->id,
					 (unsigned long long)s->count);
		assert_int_equal(s->incl, 10 * s->count);
		assert_int_equal(s->excl, 7 * s->count);
	}
	assert_string_equal(text, wanted);
}

static void test_since_boot(void **state)
{
	static const struct thread only[] = {
		{ 5, 100, "a", 0, false,
		  { { 1, ID_READ, 3 }, { 1, ID_WRITE, 9 }, { 2, ID_READ, 4 } } },
		{ 6, 200, "b", 0, true, { { 1, ID_READ, 8 } } },
		{ 0 },
	};
	struct result r;

	(void)state;
	streams[0] = only;
	read_period(&r, BY_PROCESS, &everything);
	/* The rows of exited tasks come first. */
	expect(&r, "b: region 1: 0 8\na: main: 1 9\na: main: 0 3\na: main => foo: 0 4\n");
	forget(&r);
}

static void test_difference(void **state)
{
	static const struct thread first[] = {
		{ 5, 100, "a", 0, false, { { 1, ID_READ, 3 }, { 2, ID_READ, 4 } } },
		{ 6, 200, "gone", 0, true, { { 1, ID_READ, 8 } } },
		{ 7, 300, "same", 0, false, { { 1, ID_READ, 8 } } },
		{ 8, 400, "exec", 0, false, { { 1, ID_READ, 8 }, { 2, ID_READ, 8 } } },
		{ 0 },
	};
	static const struct thread second[] = {
		{ 5, 100, "a", 0, false, { { 1, ID_READ, 5 }, { 2, ID_READ, 4 } } },
		{ 7, 300, "same", 0, false, { { 1, ID_READ, 8 } } },
		{ 8, 400, "exec", 0, false, { { 1, ID_READ, 9 } } },
		{ 9, 500, "new", 0, true, { { 1, ID_READ, 2 } } },
		{ 0 },
	};
	static const struct thread third[] = {
		{ 5, 100, "a", 0, true,
		  { { 1, ID_READ, 6 }, { 2, ID_READ, 4 }, { 3, ID_READ, 1 } } },
		{ 7, 300, "same", 0, false, { { 1, ID_READ, 8 } } },
		{ 8, 400, "exec", 0, false, { { 1, ID_READ, 9 } } },
		{ 0 },
	};
	struct result r;

	(void)state;
	streams[0] = first;
	streams[1] = second;
	streams[2] = third;
	read_period(&r, BY_PROCESS, &everything);
	expect(&r, "new: region 1: 0 2\na: main: 0 3\na: region 3: 0 1\nexec: region 1: 0 9\n");
	forget(&r);
}

/* Larger than the library writes. */
static void test_large_names(void **state)
{
	static const struct thread first[] = {
		{ 77, 100, "a", 0, 0, { { 1, ID_READ, 3 } } }, { 0 },
	};
	const size_t bytes = 1 << 20;
	struct result r;
	char *lines = malloc(bytes + 1);

	(void)state;
	assert_non_null(lines);
	memset(lines, '\n', bytes);
	lines[bytes] = 0;
	memcpy(lines, "region 1 0 main\n", 16);
	streams[0] = first;
	write_names(77, lines);
	read_period(&r, BY_NAME, &everything);
	expect(&r, "a: region 1: 0 3\n");
	forget(&r);
	streams[0] = first;
	lines[1000] = 0;
	write_names(77, lines);
	read_period(&r, BY_NAME, &everything);
	expect(&r, "a: main: 0 3\n");
	forget(&r);
	free(lines);
}

/* Several files with the same serial, as after an exec: it is not known which one is new. */
static void test_doubles(void **state)
{
	static const struct thread first[] = {
		{ 78, 100, "a", 0, 0, { { 1, ID_READ, 3 } } },
		{ 79, 200, "b", 0, 0, { { 1, ID_READ, 2 } } }, { 0 },
	};
	char name[2][100];
	struct result r;
	int i;

	(void)state;
	write_names(79, "region 1 0 main\n");
	names_path(78, 1, name[0]);
	for (i = 2; i < 4; i++) {
		write_names(78, i == 2 ? "region 1 0 old\n" : "region 1 0 older\n");
		names_path(78, i, name[1]);
		assert_int_equal(rename(name[0], name[1]), 0);
	}
	write_names(78, "region 1 0 new\n");
	streams[0] = first;
	read_period(&r, BY_PROCESS, &everything);
	expect(&r, "a: region 1: 0 3\nb: main: 0 2\n");
	forget(&r);
}

/* A restarted ktaud lists all exited tasks again, also those that exited before the period. */
static void test_exited_before(void **state)
{
	static const struct thread first[] = {
		{ 5, 100, "a", 0, 0, { { 1, ID_READ, 3 } } }, { 0 },
	};
	static const struct thread second[] = {
		{ 5, 100, "a", 0, 0, { { 1, ID_READ, 5 } } },
		{ 15, 200, "a", 0, 2, { { 1, ID_READ, 8 }, { 2, ID_READ, 4 } } },
		{ 16, 300, "a", 0, 1, { { 1, ID_READ, 1 } } },
		{ 0 },
	};
	struct result r;

	(void)state;
	streams[0] = first;
	streams[1] = second;
	read_period(&r, BY_NAME, &everything);
	expect(&r, "a: main: 0 2\na: region 1: 0 1\n");
	forget(&r);
	/* In the only stream, nothing was before the period. */
	streams[0] = second;
	read_period(&r, BY_NAME, &everything);
	expect(&r, "a: main: 0 5\na: region 1: 0 9\na: region 2: 0 4\n");
	forget(&r);
}

static void test_reboot(void **state)
{
	static const struct thread first[] = {
		{ 5, 100, "a", 0, false, { { 1, ID_READ, 3 } } }, { 0 },
	};
	static const struct thread second[] = {
		{ 5, 100, "z", 0, false, { { 1, ID_READ, 4 } } }, { 0 },
	};
	struct result r;

	(void)state;
	streams[0] = first;
	streams[1] = second;
	reboots = true;
	read_period(&r, BY_PROCESS, &everything);
	/* Names of another boot are not used. */
	expect(&r, "z: region 1: 0 4\n");
	forget(&r);
}

static void test_rows(void **state)
{
	static const struct thread only[] = {
		{ 5, 100, "a", 0, false, { { 1, ID_READ, 3 } } },
		{ 6, 200, "a", 0, false, { { 1, ID_READ, 8 }, { 2, ID_READ, 1 } } },
		{ 7, 300, "b", 1000, false, { { 1, ID_READ, 2 } } },
		{ 0 },
	};
	const struct task_filter user = { .flags = KTAU_SELECT_UID, .uid = 1000 };
	struct result r;

	(void)state;
	write_names(6, "region 1 0 main\nregion 2 1 other\n");
	streams[0] = only;
	read_period(&r, BY_NAME, &everything);
	expect(&r, "a: main: 0 11\na: main => other: 0 1\nb: region 1: 0 2\n");
	forget(&r);
	streams[0] = only;
	read_period(&r, BY_THREAD, &user);
	expect(&r, "b: region 1: 0 2\n");
	forget(&r);
}

static int begin(void **state)
{
	(void)state;
	if (!mkdtemp(folder))
		return -1;
	snprintf(path, sizeof(path), "%s/stream", folder);
	write_names(5, "region 1 0 main\nregion 2 1 foo\nregion 9 9 bad\nregion x\n");
	return 0;
}

static int end(void **state)
{
	char command[100];

	(void)state;
	snprintf(command, sizeof(command), "rm -rf %s", folder);
	return system(command) ? -1 : 0;
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_since_boot), cmocka_unit_test(test_difference),
		cmocka_unit_test(test_exited_before), cmocka_unit_test(test_reboot),
		cmocka_unit_test(test_rows),	   cmocka_unit_test(test_large_names),
		cmocka_unit_test(test_doubles),
	};

	cli_init("test_regions");
	return cmocka_run_group_tests(tests, begin, end);
}
