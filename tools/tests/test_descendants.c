// SPDX-License-Identifier: GPL-2.0-only
/* Who descends from whom, and what a command did before it was one. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdlib.h>
#include <string.h>

#include <cmocka.h>

#include "family.h"

#define MS	1000000ULL
#define ME	100	/* runktau's own pid */
#define ASKED	(1000 * MS)

/* A task: dead if it has an end. */
struct task {
	uint64_t serial;
	int32_t tid, tgid, ppid;
	uint64_t start_ms, exit_ms;
};

static void add_stream(struct ktau_snapshot *snapshot)
{
	struct ktau_rec_stream stream = {
		.rec = { sizeof(stream), KTAU_REC_STREAM, sizeof(stream) },
		.magic = KTAU_MAGIC,
		.version = KTAU_ABI_VERSION,
		.content = KTAU_REC_PROFILE,
	};
	const union ktau_record record = { .stream = &stream };

	assert_int_equal(ktau_snapshot_add(snapshot, &record), 0);
}

static void add_task(struct ktau_snapshot *snapshot, const struct task *task)
{
	struct ktau_rec_profile profile = {
		.rec = { sizeof(profile), KTAU_REC_PROFILE, sizeof(profile) },
		.owner = {
			.serial = task->serial,
			.kind = task->exit_ms ? KTAU_OWNER_DEAD : KTAU_OWNER_TASK,
			.tid = task->tid,
			.tgid = task->tgid,
			.ppid = task->ppid,
			.start_ns = task->start_ms * MS,
			.exit_ns = task->exit_ms * MS,
		},
		.entry_size = sizeof(struct ktau_entry),
		.open_size = sizeof(struct ktau_open),
	};
	const union ktau_record record = { .profile = &profile };

	assert_int_equal(ktau_snapshot_add(snapshot, &record), 0);
}

/* All tasks in, the serials in @expected (0 at the end) must come out. */
static void expect_family(const struct task *tasks, const uint64_t *expected)
{
	struct ktau_snapshot *all, *family;
	size_t nr = 0;

	assert_int_equal(ktau_snapshot_create(&all), 0);
	assert_int_equal(ktau_snapshot_create(&family), 0);
	add_stream(all);
	add_stream(family);
	for (; tasks->serial; tasks++)
		add_task(all, tasks);
	assert_int_equal(family_find(all, ME, ASKED, family), 0);
	for (; expected[nr]; nr++)
		if (!ktau_snapshot_find(family, expected[nr]))
			fail_msg("serial %d is missing", (int)expected[nr]);
	assert_int_equal(ktau_snapshot_count(family), nr);
	ktau_snapshot_destroy(family);
	ktau_snapshot_destroy(all);
}

static void test_generations(void **state)
{
	static const struct task tasks[] = {
		{ 1, 1, 1, 0, 0, 0 },			/* init */
		{ 2, ME, ME, 1, 100, 0 },		/* runktau */
		{ 3, 101, 101, ME, 200, 900 },		/* the command */
		{ 4, 105, 105, 104, 400, 500 },		/* grandchild before its parent */
		{ 5, 104, 104, 101, 300, 800 },
		{ 6, 106, 101, ME, 300, 400 },		/* a thread of the command */
		{ 7, 107, 107, 101, 350, 0 },		/* outlives it */
		{ 8, 108, 108, ME, 350, 0 },		/* an orphan, adopted */
		{ 9, 200, 200, 1, 10, 0 },		/* a stranger, and his child */
		{ 10, 201, 201, 200, 500, 600 },
		{ 11, 0, 0, 0, 0, 0 },			/* idle */
		{ 0 }
	};
	static const uint64_t expected[] = { 3, 4, 5, 6, 7, 8, 0 };

	(void)state;
	expect_family(tasks, expected);
}

/* Process ids come again: 300 was ours, then a stranger's. */
static void test_reused_pid(void **state)
{
	static const struct task tasks[] = {
		{ 3, 101, 101, ME, 200, 0 },
		{ 4, 300, 300, 101, 300, 400 },
		{ 5, 301, 301, 300, 310, 390 },		/* ours */
		{ 6, 302, 302, 300, 310, 450 },		/* ours, about to be adopted */
		{ 7, 300, 300, 1, 600, 0 },		/* the stranger */
		{ 8, 303, 303, 300, 700, 800 },		/* his */
		{ 9, 304, 304, 300, 700, 0 },		/* his, alive */
		{ 0 }
	};
	static const uint64_t expected[] = { 3, 4, 5, 6, 0 };

	(void)state;
	expect_family(tasks, expected);
}

/* Read as alive with a parent that died while the stream was read. */
static void test_dies_meanwhile(void **state)
{
	static const struct task tasks[] = {
		{ 3, 101, 101, ME, 200, 1010 },
		{ 4, 102, 102, 101, 300, 0 },
		{ 5, 103, 103, 102, 1005, 0 },
		{ 0 }
	};
	static const uint64_t expected[] = { 3, 4, 5, 0 };

	(void)state;
	expect_family(tasks, expected);
}

struct profile {
	struct ktau_rec_profile rec;
	struct ktau_entry entries[3];
	struct ktau_open open[2];
};

/* One entry of read(), then one of the scheduler, then the frames in flight. */
static void *make(uint32_t nr_entries, const struct ktau_entry *entries, uint32_t nr_open,
		  const struct ktau_open *open, uint64_t ticks)
{
	struct ktau_rec_profile *p = calloc(1, sizeof(struct profile));

	assert_non_null(p);
	p->rec.type = KTAU_REC_PROFILE;
	p->rec.head = sizeof(*p);
	p->rec.size = sizeof(*p) + nr_entries * sizeof(*entries) + nr_open * sizeof(*open);
	p->ticks = ticks;
	p->nr_entries = nr_entries;
	p->entry_size = sizeof(*entries);
	p->nr_open = p->depth = nr_open;
	p->open_size = sizeof(*open);
	memcpy(p + 1, entries, nr_entries * sizeof(*entries));
	if (nr_open)
		memcpy((char *)(p + 1) + nr_entries * sizeof(*entries), open,
		       nr_open * sizeof(*open));
	return p;
}

static void test_begin(void **state)
{
	/* In read() since 100, and there in the scheduler since 150; it is 200. */
	static const struct ktau_open open[] = {
		{ .id = 9, .start_ticks = 150 },
		{ .id = 0, .start_ticks = 100, .child_ticks = 10 },
	};
	static const struct ktau_entry before[] = {
		{ .id = 0, .count = 3, { .incl = 30 }, { .excl = 20 } },
	};
	/* Two more reads since; the scheduler only ended. */
	static const struct ktau_entry after[] = {
		{ .id = 0, .count = 6, { .incl = 300 }, { .excl = 200 } },
		{ .id = 9, .count = 1, { .incl = 70 }, { .excl = 70 } },
		{ .id = 59, .count = 1, { .incl = 5 }, { .excl = 5 } },
	};
	struct ktau_rec_profile *b = make(1, before, 2, open, 200);
	struct ktau_rec_profile *a = make(3, after, 0, NULL, 900);
	struct ktau_rec_profile *begin, *diff;
	const struct ktau_entry *read;

	(void)state;
	begin = family_begin(b, a);
	assert_non_null(begin);
	assert_int_equal(ktau_profile_diff(a, begin, &diff), 0);
	read = ktau_profile_find(diff, 0);
	assert_non_null(read);
	assert_int_equal(read->count, 2);
	assert_int_equal(read->incl, 300 - 30 - 100);
	assert_int_equal(read->excl, 200 - 20 - 40);
	assert_null(ktau_profile_find(diff, 9));
	assert_non_null(ktau_profile_find(diff, 59));
	ktau_record_free(diff);
	ktau_record_free(begin);
	free(a);
	free(b);
}

/* What was in flight and never booked, for profiles were off, takes nothing off. */
static void test_begin_unbooked(void **state)
{
	static const struct ktau_open open = { .id = 0, .start_ticks = 100 };
	static const struct ktau_entry after = {
		.id = 59, .count = 1, { .incl = 5 }, { .excl = 5 },
	};
	struct ktau_rec_profile *b = make(0, &after, 1, &open, 200);
	struct ktau_rec_profile *a = make(1, &after, 0, NULL, 900);
	struct ktau_rec_profile *begin, *diff;

	(void)state;
	begin = family_begin(b, a);
	assert_non_null(begin);
	assert_int_equal(ktau_profile_diff(a, begin, &diff), 0);
	assert_int_equal(diff->nr_entries, 1);
	assert_non_null(ktau_profile_find(diff, 59));
	ktau_record_free(diff);
	ktau_record_free(begin);
	free(a);
	free(b);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_generations),
		cmocka_unit_test(test_reused_pid),
		cmocka_unit_test(test_dies_meanwhile),
		cmocka_unit_test(test_begin),
		cmocka_unit_test(test_begin_unbooked),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
