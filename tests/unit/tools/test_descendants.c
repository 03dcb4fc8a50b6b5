// SPDX-License-Identifier: GPL-2.0-only
/* The descendants of a command, and the calls that a task made before its exec. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdbool.h>
#include <stdint.h>
#include <stdlib.h>
#include <string.h>

#include <cmocka.h>

#include "descendants.h"

#define ME	100	/* runktau's own pid */

struct task {
	uint64_t serial, parent;
	int32_t tid, ppid;
	bool exited;
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
	const struct ktau_rec_owner owner = {
		.rec = { sizeof(owner), KTAU_REC_OWNER, sizeof(owner) },
		.serial = task->serial,
		.parent_serial = task->parent,
		.kind = task->exited ? KTAU_OWNER_EXITED : KTAU_OWNER_TASK,
		.tid = task->tid,
		.tgid = task->tid,
		.ppid = task->ppid,
	};
	const struct ktau_rec_profile profile = {
		.rec = { sizeof(profile), KTAU_REC_PROFILE, sizeof(profile) },
		.serial = task->serial,
		.entry_size = sizeof(struct ktau_entry),
		.open_size = sizeof(struct ktau_open),
	};
	const struct ktau_owned owned = { &owner, &profile };

	assert_int_equal(ktau_snapshot_put(snapshot, &owned), 0);
}

/* Of @tasks exactly the serials in @expected (0 at the end) must be descendants. */
static void expect_descendants(const struct task *tasks, const uint64_t *expected)
{
	struct ktau_snapshot *all, *found;
	size_t nr = 0;

	assert_int_equal(ktau_snapshot_create(&all), 0);
	assert_int_equal(ktau_snapshot_create(&found), 0);
	add_stream(all);
	add_stream(found);
	for (; tasks->serial; tasks++)
		add_task(all, tasks);
	assert_int_equal(descendants_find(all, ME, found), 0);
	for (; expected[nr]; nr++)
		if (!ktau_snapshot_find(found, expected[nr]))
			fail_msg("serial %d is missing", (int)expected[nr]);
	assert_int_equal(ktau_snapshot_count(found), nr);
	ktau_snapshot_destroy(found);
	ktau_snapshot_destroy(all);
}

static void test_generations(void **state)
{
	static const struct task tasks[] = {
		{ 1, 0, 1, 0, false },			/* init */
		{ 2, 1, ME, 1, false },			/* runktau */
		{ 3, 2, 101, ME, true },		/* the command */
		{ 4, 5, 105, 104, true },		/* grandchild before its parent */
		{ 5, 3, 104, 101, true },
		{ 6, 2, 106, ME, true },		/* a thread of the command */
		{ 7, 3, 107, 101, false },		/* outlives it */
		{ 8, 2, 108, ME, false },		/* a reparented orphan */
		{ 9, 1, 200, 1, false },		/* an unrelated task and its child */
		{ 10, 9, 201, 200, true },
		{ 11, 0, 0, 0, false },			/* idle */
		{ 0 }
	};
	static const uint64_t expected[] = { 3, 4, 5, 6, 7, 8, 0 };

	(void)state;
	expect_descendants(tasks, expected);
}

/* Process ids are reused: 300 was a descendant, then an unrelated task. */
static void test_reused_pid(void **state)
{
	static const struct task tasks[] = {
		{ 3, 2, 101, ME, false },
		{ 4, 3, 300, 101, true },
		{ 5, 4, 301, 300, true },
		{ 7, 1, 300, 1, false },		/* the unrelated task */
		{ 8, 7, 303, 300, true },		/* its child */
		{ 9, 7, 304, 300, false },
		{ 0 }
	};
	static const uint64_t expected[] = { 3, 4, 5, 0 };

	(void)state;
	expect_descendants(tasks, expected);
}

/* KTAU was enabled after runktau had started, so runktau has no serial. */
static void test_no_serial(void **state)
{
	static const struct task tasks[] = {
		{ 3, 0, 101, ME, false },
		{ 4, 3, 102, 101, false },
		{ 5, 0, 103, 7, false },		/* its parent is hidden */
		{ 0 }
	};
	static const uint64_t expected[] = { 3, 4, 0 };

	(void)state;
	expect_descendants(tasks, expected);
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
	/* In read() since 100, asleep since 150; the time is 200. */
	static const struct ktau_open open[] = {
		{ .id = 9, .start_ticks = 150, .asleep_ticks = 50 },
		{ .id = 0, .start_ticks = 100, .child_ticks = 10, .asleep_ticks = 50 },
	};
	static const struct ktau_entry before[] = {
		{ .id = 0, .count = 3, { .incl = 30 }, { .excl = 20 } },
	};
	/* Two more reads have ended, and the scheduler's frame. */
	static const struct ktau_entry after[] = {
		{ .id = 0, .flags = KTAU_ENTRY_ASLEEP, .count = 6, { .incl = 300 },
		  { .excl = 200 }, .asleep = 70 },
		{ .id = 9, .flags = KTAU_ENTRY_ASLEEP, .count = 1, { .incl = 70 }, { .excl = 70 },
		  .asleep = 70 },
		{ .id = 59, .count = 1, { .incl = 5 }, { .excl = 5 } },
	};
	struct ktau_rec_profile *b = make(1, before, 2, open, 200);
	struct ktau_rec_profile *a = make(3, after, 0, NULL, 900);
	struct ktau_rec_profile *begin, *diff;
	const struct ktau_entry *read;

	(void)state;
	begin = descendants_begin(b, a);
	assert_non_null(begin);
	assert_int_equal(ktau_profile_diff(a, begin, &diff), 0);
	read = ktau_profile_find(diff, 0);
	assert_non_null(read);
	assert_int_equal(read->count, 2);
	assert_int_equal(read->incl, 300 - 30 - 100);
	assert_int_equal(read->excl, 200 - 20 - 40);
	assert_int_equal(read->asleep, 70 - 50);
	assert_null(ktau_profile_find(diff, 9));
	assert_non_null(ktau_profile_find(diff, 59));
	ktau_record_free(diff);
	ktau_record_free(begin);
	free(a);
	free(b);
}

/* A frame in flight that was not profiled, because profiles were off, subtracts nothing. */
static void test_begin_unaccounted(void **state)
{
	static const struct ktau_open open = { .id = 0, .start_ticks = 100 };
	static const struct ktau_entry after = {
		.id = 59, .count = 1, { .incl = 5 }, { .excl = 5 },
	};
	struct ktau_rec_profile *b = make(0, &after, 1, &open, 200);
	struct ktau_rec_profile *a = make(1, &after, 0, NULL, 900);
	struct ktau_rec_profile *begin, *diff;

	(void)state;
	begin = descendants_begin(b, a);
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
		cmocka_unit_test(test_no_serial),
		cmocka_unit_test(test_begin),
		cmocka_unit_test(test_begin_unaccounted),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
