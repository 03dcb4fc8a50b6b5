// SPDX-License-Identifier: GPL-2.0-only
/*
 * Snapshots without memory: after any failed allocation the snapshot is usable, and its final
 * contents are the same as without failures.
 */
#include <errno.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stdlib.h>
#include <string.h>

#include <cmocka.h>

#include "map.h"
#include "snapshots.h"

/* The allocation that fails, counted down; 0: none. */
static unsigned int fail_at;

/* The current call has changed a map. */
static bool indexed;

void *__real_malloc(size_t size);
void *__real_calloc(size_t nr, size_t size);
void *__real_realloc(void *old, size_t size);
void *__real_reallocarray(void *old, size_t nr, size_t size);
void *__wrap_malloc(size_t size);
void *__wrap_calloc(size_t nr, size_t size);
void *__wrap_realloc(void *old, size_t size);
void *__wrap_reallocarray(void *old, size_t nr, size_t size);
int __real_ktau__map_put(struct ktau__map *map, uint64_t value, size_t index);
int __wrap_ktau__map_put(struct ktau__map *map, uint64_t value, size_t index);

static bool fails(void)
{
	return fail_at && !--fail_at;
}

void *__wrap_malloc(size_t size)
{
	return fails() ? NULL : __real_malloc(size);
}

void *__wrap_calloc(size_t nr, size_t size)
{
	return fails() ? NULL : __real_calloc(nr, size);
}

void *__wrap_realloc(void *old, size_t size)
{
	return fails() ? NULL : __real_realloc(old, size);
}

void *__wrap_reallocarray(void *old, size_t nr, size_t size)
{
	return fails() ? NULL : __real_reallocarray(old, nr, size);
}

int __wrap_ktau__map_put(struct ktau__map *map, uint64_t value, size_t index)
{
	indexed = true;
	return __real_ktau__map_put(map, value, index);
}

/*
 * A call that fails must not have changed any map, so room in all maps is reserved before the first
 * entry is put. Otherwise the serial of an owner could be found while its tid or CPU could not.
 */
static void check_failed(int err)
{
	assert_int_equal(err, -ENOMEM);
	assert_false(indexed);
}

/* 40 tasks, so that each map grows once, some with the same tid, and 40 CPUs. */
static struct stream make_stream(uint64_t scale)
{
	struct stream s = begin();
	unsigned int i;

	for (i = 0; i < 40; i++) {
		put_task(&s, 1 + i, 10 + i, TASK, scale);
		put_cpu(&s, 1000 + i, i, scale);
		if (i % 2)
			put_task(&s, 100 + i, 10 + i, EXITED, scale);
	}
	put_end(&s);
	return s;
}

/* Add each record until it succeeds. Returns the number of failed calls. */
static unsigned int read_stubbornly(struct ktau_snapshot *snap, const struct stream *s)
{
	unsigned int armed = fail_at, failed = 0;
	union ktau_record record;
	struct ktau_reader *r;
	int err;

	fail_at = 0;
	assert_int_equal(ktau_reader_create(&r), 0);
	assert_int_equal(ktau_reader_open_memory(r, s->data, s->size), 0);
	while (ktau_reader_next(r, &record) > 0) {
		fail_at = armed;
		while (indexed = false, (err = ktau_snapshot_add(snap, &record))) {
			check_failed(err);
			failed++;
		}
		armed = fail_at;
		fail_at = 0;
	}
	ktau_reader_destroy(r);
	fail_at = armed;
	return failed;
}

static void check_result(const struct ktau_snapshot *snap, uint64_t scale)
{
	const struct ktau_owned *o = NULL;
	struct ktau_rec_profile *sum;
	unsigned int i, nr = 0;

	assert_int_equal(ktau_snapshot_count(snap), 100);
	while ((o = ktau_snapshot_next(snap, o))) {
		assert_ptr_equal(ktau_snapshot_find(snap, o->owner->serial), o);
		nr++;
	}
	assert_int_equal(nr, 100);
	for (i = 0; i < 40; i++) {
		o = ktau_snapshot_find_tid(snap, 10 + i);
		assert_non_null(o);
		assert_int_equal(o->owner->serial, 1 + i);
		o = ktau_snapshot_cpu(snap, i);
		assert_non_null(o);
		assert_int_equal(o->profile->outer_ticks, scale);
	}
	assert_int_equal(ktau_snapshot_sum(snap, &sum, NULL), 0);
	assert_int_equal(count_in(sum, 0), 60 * 2 * scale);
	ktau_record_free(sum);
}

static void each_allocation(void **state)
{
	struct stream first = make_stream(1), second = make_stream(3);
	struct ktau_snapshot *snap;
	unsigned int n, failed;

	(void)state;
	for (n = 1;; n++) {
		snap = create();
		fail_at = n;
		failed = read_stubbornly(snap, &first);
		failed += read_stubbornly(snap, &second);
		fail_at = 0;
		check_result(snap, 3);
		ktau_snapshot_destroy(snap);
		if (!failed)
			break;
	}
	/* Each owner and profile of the first stream is a copy, which the second overwrites. */
	assert_true(n > 200);
	stream_free(&first);
	stream_free(&second);
}

/* The same with ktau_snapshot_put(). */
static void put_again(void **state)
{
	struct stream s = make_stream(1);
	struct ktau_snapshot *from = create(), *snap;
	const struct ktau_owned *o;
	unsigned int n, failed;
	int err;

	(void)state;
	assert_int_equal(read_into(from, &s), 1);
	for (n = 1;; n++) {
		snap = create();
		failed = 0;
		fail_at = n;
		for (o = NULL; (o = ktau_snapshot_next(from, o));) {
			while (indexed = false, (err = ktau_snapshot_put(snap, o))) {
				check_failed(err);
				failed++;
			}
		}
		fail_at = 0;
		check_result(snap, 1);
		ktau_snapshot_destroy(snap);
		if (!failed)
			break;
	}
	ktau_snapshot_destroy(from);
	stream_free(&s);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(each_allocation),
		cmocka_unit_test(put_again),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
