// SPDX-License-Identifier: GPL-2.0-only
/*
 * libktau-legacy on streams in memory, which take the place of /proc/ktau/profile. The library
 * remembers every task that it has read, so each test uses pids of its own.
 */
#include <errno.h>
#include <limits.h>
#include <pthread.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stdatomic.h>
#include <stdbool.h>
#include <stddef.h>
#include <stdlib.h>
#include <string.h>
#include <sys/wait.h>
#include <unistd.h>

#include <cmocka.h>
#include <ktau.h>
#include <ktau_proc_interface.h>

#include "legacy_lists.h"

enum { SYSCALLS_MOVED = 65536, COUNTERS = 300 };

/* This test must be the first: nothing has been read yet. */
static void test_no_ktau(void **state)
{
	ktau_output *list;
	char buffer[8];

	(void)state;
	assert_int_equal(read_size(KTAU_TYPE_PROFILE, 0, NULL, 0, 0, NULL, -1), -1);
	assert_int_equal(errno, ENOENT);
	assert_int_equal(read_data(KTAU_TYPE_PROFILE, 0, NULL, 0, buffer, 8, 0, NULL), -1);
	assert_int_equal(errno, ENOENT);
	assert_null(ktau_add_container(KTAU_TYPE_PROFILE, 1, NULL, 0, NULL, 2000));
	assert_int_equal(errno, ENOENT);
	assert_int_equal(read_size(KTAU_TYPE_TRACE, 0, NULL, 0, 0, NULL, -1), -1);
	assert_int_equal(errno, EINVAL);
	assert_int_equal(read_size(KTAU_TYPE_PROFILE, 0, NULL, 3, 0, NULL, -1), -1);
	assert_int_equal(errno, EINVAL);
	assert_int_equal(unpack_bindata(KTAU_TYPE_TRACE, buffer, 8, &list), -1);
	assert_int_equal(errno, EINVAL);
}

static void test_exited_since(void **state)
{
	struct list list;

	(void)state;
	begin(KTAU_TARGET_ALL);
	put_end(&live);
	assert_true(read_size(KTAU_TYPE_PROFILE, 0, NULL, 0, 0, NULL, -1) > 0);
	/* The first stream begins the period, so it need not have earlier exited tasks. */
	assert_int_equal(asked.target, KTAU_TARGET_ALL);
	begin(KTAU_TARGET_ALL | KTAU_TARGET_EXITED);
	put_end(&live);
	assert_true(read_size(KTAU_TYPE_PROFILE, 0, NULL, 0, 0, NULL, -1) > 0);
	assert_int_equal(asked.target, KTAU_TARGET_ALL | KTAU_TARGET_EXITED);
	assert_int_equal(asked.exited_since, 77);	/* exited_next of its STREAM */
	list = read_list(0, NULL, 0);
	assert_int_equal(asked.exited_since, 78);	/* of the last END */
	assert_int_equal(list.nr, 0);
	free_list(list);
}

static void test_indices(void **state)
{
	static const struct entry entries[] = {
		{ .id = 0, .count = 1, .incl = 30, .excl = 20 },
		{ .id = 299, .count = 2, .incl = 31, .excl = 21 },
		{ .id = 300, .count = 3, .incl = 32, .excl = 22 },
		{ .id = 332, .count = 4, .incl = 33, .excl = 23 },
		{ .id = 511, .count = 5, .incl = 34, .excl = 24 },
		{ .id = 512, .count = 6, .incl = 35, .excl = 25 },
		{ .id = 651, .count = 7, .incl = 36, .excl = 26 },
		{ .id = 701, .kind = 1, .count = 8, .incl = 1000, .excl = 1, .longest = 99 },
		{ .id = 703, .kind = 9, .count = 9 },
	};
	static const struct {
		unsigned int index;
		unsigned long addr, count, incl;
	} want[] = {
		{ 0, 0xffffffff81000000, 1, 30 },
		{ 299, 0x1012b, 2, 31 },
		{ COUNTERS, 0x102bd, 8, 0 },
		{ 512, 0x10200, 6, 35 },
		{ 651, 0xffffffff810028b0, 7, 36 },
		{ SYSCALLS_MOVED + 300, 0x1012c, 3, 32 },
		{ SYSCALLS_MOVED + 332, 0xffffffff810014c0, 4, 33 },
		{ SYSCALLS_MOVED + 511, 0x101ff, 5, 34 },
	};
	const ktau_output *p;
	struct list list;
	size_t i;

	(void)state;
	begin(KTAU_TARGET_ALL);
	put_event(&live, 0, 1, "sys_read");
	put_event(&live, 332, 1, "sys_statx");
	put_event(&live, 651, 128, "tcp_sendmsg");
	put((struct owner){ .serial = 20, .tid = 200 }, entries, NR(entries));
	list = read_all();
	p = find_pid(list, 200);
	assert_non_null(p);
	assert_int_equal(p->size, NR(want));
	for (i = 0; i < NR(want); i++) {
		assert_int_equal(p->ent_lst[i].index, want[i].index);
		assert_int_equal(p->ent_lst[i].entry.addr, want[i].addr);
		assert_int_equal(p->ent_lst[i].entry.type, KTAU_TIMER);
		assert_int_equal(p->ent_lst[i].entry.data.timer.count, want[i].count);
		assert_int_equal(p->ent_lst[i].entry.data.timer.incl, want[i].incl);
		assert_int_equal(p->ent_lst[i].entry.data.timer.excl,
				 want[i].incl ? want[i].incl - 10 : 0);
	}
	free_list(list);
}

/* A counter keeps its index, whichever is seen first. */
static void test_counter_indices(void **state)
{
	struct entry entries[101];
	const ktau_output *p;
	struct list list;
	unsigned int i;

	(void)state;
	for (i = 0; i < NR(entries); i++)
		entries[i] = (struct entry){ .id = 650 + i, .kind = 1, .count = i + 1 };
	begin(KTAU_TARGET_ALL);
	put((struct owner){ .serial = 21, .tid = 201 }, entries, NR(entries));
	list = read_all();
	p = find_pid(list, 201);
	assert_non_null(p);
	assert_int_equal(p->size, NR(entries));
	/* Event 701 got the first index in an earlier test. The last event finds none left. */
	assert_int_equal(p->ent_lst[0].index, COUNTERS);
	assert_int_equal(p->ent_lst[0].entry.data.timer.count, 52);
	assert_int_equal(p->ent_lst[1].index, COUNTERS + 1);
	assert_int_equal(p->ent_lst[1].entry.data.timer.count, 1);
	assert_int_equal(p->ent_lst[99].index, COUNTERS + 99);
	assert_int_equal(p->ent_lst[100].index, SYSCALLS_MOVED + 750);
	free_list(list);
}

static void test_idle(void **state)
{
	const struct entry calls = { .id = 0, .count = 2, .incl = 4, .excl = 3 };
	struct list list;

	(void)state;
	begin(KTAU_TARGET_ALL);
	put((struct owner){ .serial = 30, .flags = KTAU_OWNER_IDLE }, &calls, 1);
	put((struct owner){ .serial = 31, .flags = KTAU_OWNER_IDLE, .cpu = 1 }, &calls, 1);
	/* A task of another pid namespace, a CPU and the evicted sum are not idle tasks. */
	put((struct owner){ .serial = 32 }, &calls, 1);
	put((struct owner){ .serial = 33, .kind = CPU }, &calls, 1);
	put((struct owner){ .serial = 34, .kind = EVICTED }, &calls, 1);
	list = read_all();
	assert_int_equal(calls_of(list, 0), 4);
	free_list(list);
}

static void test_vanished_and_reborn(void **state)
{
	struct list first, second, third;

	(void)state;
	begin(KTAU_TARGET_ALL);
	put_calls(40, 400, TASK, 10);
	put_calls(41, 401, TASK, 20);
	put_calls(42, 402, TASK, 30);
	first = read_all();

	/* 400 has exited, and its pid has been reused; 401 is no longer in any stream. */
	begin(KTAU_TARGET_ALL | KTAU_TARGET_EXITED);
	put_calls(43, 400, TASK, 3);
	put_calls(42, 402, TASK, 31);
	put_calls(40, 400, EXITED, 15);
	put_calls(44, 399, EXITED, 1);
	second = read_all();
	assert_superset(first, second);
	assert_int_equal(calls_of(second, 399), 1);
	assert_int_equal(calls_of(second, 400), 18);
	assert_int_equal(calls_of(second, 401), 20);
	assert_int_equal(calls_of(second, 402), 31);

	/* Only 402 is left, and its counts have decreased. */
	begin(KTAU_TARGET_ALL | KTAU_TARGET_EXITED);
	put_calls(42, 402, TASK, 5);
	third = read_all();
	assert_superset(second, third);
	assert_int_equal(calls_of(third, 400), 18);
	assert_int_equal(calls_of(third, 402), 31);
	free_list(first);
	free_list(second);
	free_list(third);
}

/* An index that was in an earlier list is in all later ones, with the same address. */
static void test_new_rows(void **state)
{
	static const struct entry few[] = { { .id = 1, .count = 1 }, { .id = 3, .count = 3 } };
	static const struct entry more[] = { { .id = 0, .count = 5 }, { .id = 2, .count = 2 },
					     { .id = 3, .count = 4 } };
	struct list before, after;
	const ktau_output *p;
	unsigned int i;

	(void)state;
	begin(KTAU_TARGET_ALL);
	put((struct owner){ .serial = 50, .tid = 500 }, few, NR(few));
	before = read_all();
	begin(KTAU_TARGET_ALL);
	put_event(&live, 3, 1, "sys_close");
	put((struct owner){ .serial = 50, .tid = 500 }, more, NR(more));
	after = read_all();
	assert_superset(before, after);
	p = find_pid(after, 500);
	assert_int_equal(p->size, 4);
	for (i = 0; i < 4; i++)
		assert_int_equal(p->ent_lst[i].index, i);
	assert_int_equal(p->ent_lst[3].entry.data.timer.count, 4);
	assert_int_equal(p->ent_lst[3].entry.addr, 0x10003);
	free_list(before);
	free_list(after);
}

static void test_selections(void **state)
{
	pid_t pids[] = { 601, 600 };
	struct list list;

	(void)state;
	begin(KTAU_TARGET_LIST | KTAU_TARGET_EXITED);
	put_calls(60, 600, TASK, 1);
	put_calls(61, 601, EXITED, 2);
	put_calls(62, 602, EXITED, 3);
	put_end(&live);
	list = read_list(0, pids, 2);
	assert_int_equal(asked.target, KTAU_TARGET_LIST | KTAU_TARGET_EXITED);
	assert_int_equal(asked.nr_tids, 2);
	assert_ptr_equal(asked.tids, pids);
	assert_int_equal(list.nr, 2);
	assert_int_equal(calls_of(list, 600), 1);
	assert_int_equal(calls_of(list, 601), 2);
	free_list(list);

	begin(KTAU_TARGET_SELF);
	put_calls(63, gettid(), TASK, 4);
	put_end(&live);
	list = read_list(1, NULL, 0);
	assert_int_equal(asked.target, KTAU_TARGET_SELF);
	assert_int_equal(list.nr, 1);
	assert_int_equal(calls_of(list, gettid()), 4);
	free_list(list);
}

static void test_sizes(void **state)
{
	long size, larger, data;
	ktau_output *list;
	char *buffer;

	(void)state;
	begin(KTAU_TARGET_ALL);
	put_calls(70, 700, TASK, 1);
	put_end(&live);
	size = read_size(KTAU_TYPE_PROFILE, 0, NULL, 0, 0, NULL, 0);
	larger = read_size(KTAU_TYPE_PROFILE, 0, NULL, 0, 0, NULL, 1);
	buffer = malloc(larger);
	data = read_data(KTAU_TYPE_PROFILE, 0, NULL, 0, buffer, larger, 0, NULL);
	assert_true(data > 0 && data < size);
	assert_int_equal(larger - size, data);
	assert_int_equal(read_data(KTAU_TYPE_PROFILE, 0, NULL, 0, buffer, data, 0, NULL), data);
	assert_int_equal(read_data(KTAU_TYPE_PROFILE, 0, NULL, 0, buffer, data - 1, 0, NULL), -1);
	assert_int_equal(errno, ENOSPC);
	while (data--) {
		assert_int_equal(unpack_bindata(KTAU_TYPE_PROFILE, buffer, data, &list), -1);
		assert_int_equal(errno, EBADMSG);
	}
	free(buffer);
}

static void test_fork(void **state)
{
	int status = -1;
	pid_t child;

	(void)state;
	begin(KTAU_TARGET_ALL);
	put_calls(80, 800, TASK, 1);
	free_list(read_all());
	begin(KTAU_TARGET_ALL);
	child = fork();
	if (!child) {
		struct list list = read_all();

		status = calls_of(list, 800) != 1;
		free_list(list);
		stream_free(&live);
		_exit(status);
	}
	assert_int_equal(waitpid(child, &status, 0), child);
	assert_int_equal(status, 0);
}

static ktau_output profile_of(pid_t pid, o_ent *entries, unsigned int nr)
{
	return (ktau_output){ .pid = pid, .ent_lst = entries, .size = nr };
}

static o_ent entry_of(unsigned int index, unsigned long long scale)
{
	o_ent e = { .index = index, .entry = { .addr = 1000 + index } };

	e.entry.data.timer = (ktau_timer){ .count = scale, .incl = 10 * scale, .excl = 7 * scale };
	return e;
}

/*
 * What TAU does with two lists of one process: it goes on until both have ended, and compares the
 * entries at the same positions, also one after the last.
 */
static unsigned int merge_as_tau(const ktau_output *start, const ktau_output *stop)
{
	unsigned int i = 0, j = 0, nr = 0;

	while (i < start->size || j < stop->size) {
		assert_true(j < stop->size);
		i += start->ent_lst[i].index == stop->ent_lst[j].index;
		j++;
		nr++;
	}
	return nr;
}

static void test_end_of_list(void **state)
{
	const struct entry one = { .id = 0, .count = 1, .incl = 10, .excl = 7 };
	const struct entry two[] = { one, { .id = 5, .count = 2, .incl = 9, .excl = 9 } };
	struct list start, stop, diff;

	(void)state;
	begin(KTAU_TARGET_ALL);
	put((struct owner){ .serial = 70, .tid = 170 }, &one, 1);
	start = read_all();
	begin(KTAU_TARGET_ALL);
	put((struct owner){ .serial = 70, .tid = 170 }, two, 2);
	stop = read_all();
	assert_int_equal(merge_as_tau(find_pid(start, 170), find_pid(stop, 170)), 2);
	assert_int_equal(find_pid(start, 170)->ent_lst[1].index, UINT_MAX);
	diff.nr = ktau_diff_profiles(start.profiles, start.nr, stop.profiles, stop.nr,
				     &diff.profiles);
	assert_int_equal(find_pid(diff, 170)->ent_lst[2].index, UINT_MAX);
	free_list(start);
	free_list(stop);
	free_list(diff);
}

static void test_diff(void **state)
{
	o_ent old[] = { entry_of(1, 1), entry_of(3, 5), entry_of(4, 9) };
	o_ent new[] = { entry_of(1, 4), entry_of(2, 6), entry_of(3, 5), entry_of(4, 8) };
	ktau_output before[] = { profile_of(5, old, 1), profile_of(7, old, 3),
				 profile_of(8, old, 3) };
	ktau_output after[] = { profile_of(6, new, 2), profile_of(7, new, 4),
				profile_of(9, NULL, 0) };
	static const unsigned int count[] = { 3, 6, 0, 0 };
	struct list diff;
	int i;

	(void)state;
	diff.nr = ktau_diff_profiles(before, 3, after, 3, &diff.profiles);
	assert_int_equal(diff.nr, 3);
	assert_int_equal(find_pid(diff, 6)->ent_lst[0].entry.data.timer.count, 4);
	assert_int_equal(find_pid(diff, 7)->size, 4);
	for (i = 0; i < 4; i++) {
		const o_ent *e = &find_pid(diff, 7)->ent_lst[i];

		assert_int_equal(e->index, i + 1);
		assert_int_equal(e->entry.addr, 1001 + i);
		assert_int_equal(e->entry.data.timer.count, count[i]);
		assert_int_equal(e->entry.data.timer.incl, 10 * count[i]);
		assert_int_equal(e->entry.data.timer.excl, 7 * count[i]);
	}
	assert_int_equal(find_pid(diff, 9)->size, 0);
	assert_int_equal(new[0].entry.data.timer.count, 4);
	free_list(diff);
	assert_int_equal(ktau_diff_profiles(NULL, 0, NULL, 0, &diff.profiles), 0);
	free(diff.profiles);
	assert_int_equal(ktau_diff_profiles(NULL, -1, NULL, 0, &diff.profiles), -1);
	assert_int_equal(errno, EINVAL);
}

static void test_aggregate(void **state)
{
	o_ent a[] = { entry_of(3, 1), entry_of(9, 2) };
	o_ent b[] = { entry_of(1, 10), entry_of(9, 20) };
	const ktau_output in[] = { profile_of(5, a, 2), profile_of(6, b, 2) };
	static const unsigned int index[] = { 1, 3, 9 }, count[] = { 10, 1, 22 };
	o_ent room[3];
	ktau_output out = profile_of(77, room, 99);
	int i;

	(void)state;
	assert_int_equal(aggr_many_profiles(in, 2, 3, &out), 0);
	assert_int_equal(out.size, 3);
	assert_int_equal(out.pid, 77);
	for (i = 0; i < 3; i++) {
		assert_int_equal(room[i].index, index[i]);
		assert_int_equal(room[i].entry.data.timer.count, count[i]);
		assert_int_equal(room[i].entry.data.timer.excl, 7 * count[i]);
	}
	assert_int_equal(aggr_many_profiles(in, 2, 2, &out), -1);
	assert_int_equal(errno, ENOSPC);
	assert_int_equal(aggr_many_profiles(in, 0, 0, &out), 0);
	assert_int_equal(out.size, 0);
}

/* Counters */

enum { NUM = KTAU_SHCTR_TYPE_NUM, INCL = KTAU_SHCTR_TYPE_INCL, EXCL = KTAU_SHCTR_TYPE_EXCL };

/* The calling thread: events 0, 332 and 600 have run @scale times each, and 701 has values. */
static void put_self(uint64_t serial, uint64_t scale, bool with_600)
{
	const struct entry entries[] = {
		{ .id = 0, .count = scale, .incl = 10 * scale, .excl = 7 * scale },
		{ .id = 332, .count = 2 * scale, .incl = 20 * scale, .excl = 14 * scale },
		{ .id = 600, .count = 3 * scale, .incl = 30 * scale, .excl = 21 * scale },
		{ .id = 701, .kind = 1, .count = 4 * scale, .incl = 99, .excl = 1 },
	};
	struct entry some[] = { entries[0], entries[1], entries[3] };

	begin(KTAU_TARGET_SELF);
	put_event(&live, 0, 1, "sys_read");
	put_event(&live, 332, 1, "sys_statx");
	if (with_600)
		put_event(&live, 600, 1, "late");
	put_event(&live, 701, 128, "bytes");
	put((struct owner){ .serial = serial, .tid = gettid() }, with_600 ? entries : some,
	    with_600 ? 4 : 3);
	put_end(&live);
}

static ktau_ushcont *container(void)
{
	ktau_ushcont *c = ktau_add_container(KTAU_TYPE_PROFILE, 1, NULL, 0, NULL, 2000);

	assert_non_null(c);
	return c;
}

static void destroy(ktau_ushcont *c)
{
	assert_int_equal(ktau_del_container(KTAU_TYPE_PROFILE, 1, NULL, 0, NULL, c), 0);
}

static void test_counter(void **state)
{
	unsigned long syms[] = { 0xffffffff81000000, 0x810014c0, 0x10258, 0x102bd, 0 };
	int types[] = { NUM, INCL, EXCL, NUM, NUM };
	unsigned long long data[5];
	ktau_ushcont *c;
	ktau_ush_ctr *counter;

	(void)state;
	put_self(90, 100, false);
	c = container();
	assert_int_equal(ktau_get_counter(c, "KTAU_MULTICTR", 5, syms, &counter), 0);
	assert_int_equal(asked.target, KTAU_TARGET_SELF);
	assert_int_equal(ktau_copy_counter_type(counter, data, 5, types), 0);
	assert_memory_equal(data, ((unsigned long long[5]){ 0 }), sizeof(data));
	/* Event 600 runs for the first time. */
	put_self(90, 101, true);
	assert_int_equal(ktau_copy_counter_type(counter, data, 5, types), 0);
	assert_int_equal(data[0], 1);
	assert_int_equal(data[1], 20);
	assert_int_equal(data[2], 21 * 101);
	assert_int_equal(data[3], 4);
	assert_int_equal(data[4], 0);
	data[1] = 42;
	assert_int_equal(ktau_copy_counter_type(counter, data, 1, types + 1), 0);
	assert_int_equal(data[0], 10);
	assert_int_equal(data[1], 42);

	assert_int_equal(ktau_copy_counter_type(counter, data, 6, types), -1);
	assert_int_equal(ktau_copy_counter_type(counter, data, 0, types), -1);
	types[1] = 4;
	assert_int_equal(ktau_copy_counter_type(counter, data, 2, types), -1);
	assert_int_equal(errno, EINVAL);
	assert_int_equal(ktau_del_container(KTAU_TYPE_PROFILE, 1, NULL, 0, NULL, c), -1);
	assert_int_equal(errno, EBUSY);
	assert_int_equal(ktau_put_counter(counter), 0);
	destroy(c);
}

struct other {
	ktau_ush_ctr *counter;
	unsigned long long calls;
	int status;
};

static void *read_other(void *arg)
{
	struct other *other = arg;
	int type = NUM;

	other->status = ktau_copy_counter_type(other->counter, &other->calls, 1, &type);
	return NULL;
}

static unsigned long long read_in_thread(ktau_ush_ctr *counter)
{
	struct other other = { .counter = counter };
	pthread_t thread;

	assert_int_equal(pthread_create(&thread, NULL, read_other, &other), 0);
	pthread_join(thread, NULL);
	assert_int_equal(other.status, 0);
	assert_int_equal(asked.target, KTAU_TARGET_LIST);
	assert_int_equal(asked.nr_tids, 1);
	return other.calls;
}

/* Another thread finds the counter's thread by its tid, which may have been reused since. */
static void test_counter_of_another_thread(void **state)
{
	unsigned long sym = 0x10000;
	ktau_ushcont *c;
	ktau_ush_ctr *counter;

	(void)state;
	put_self(91, 100, false);
	c = container();
	assert_int_equal(ktau_get_counter(c, "one", 1, &sym, &counter), 0);
	put_self(91, 107, false);
	assert_int_equal(read_in_thread(counter), 7);
	put_self(92, 1, false);
	assert_int_equal(read_in_thread(counter), 7);
	begin(KTAU_TARGET_LIST);
	put_end(&live);
	assert_int_equal(read_in_thread(counter), 7);
	ktau_put_counter(counter);
	destroy(c);
}

/* Counters that one of several threads releases when all have started. */
enum { PUT_THREADS = 2, PUT_COUNTERS = 100000 };

struct put_job {
	atomic_int *waiting;
	ktau_ush_ctr *counters[PUT_COUNTERS];
};

static void *put_counters(void *arg)
{
	struct put_job *job = arg;
	int i;

	atomic_fetch_sub(job->waiting, 1);
	while (atomic_load(job->waiting))
		;
	for (i = 0; i < PUT_COUNTERS; i++)
		ktau_put_counter(job->counters[i]);
	return NULL;
}

/* Threads may release counters at the same time. None of them is forgotten. */
static void test_counter_threads(void **state)
{
	static struct put_job jobs[PUT_THREADS];
	unsigned long sym = 0x10000;
	pthread_t threads[PUT_THREADS];
	atomic_int waiting = PUT_THREADS;
	ktau_ushcont *c;
	int i, j;

	(void)state;
	put_self(95, 1, false);
	c = container();
	for (i = 0; i < PUT_THREADS; i++) {
		jobs[i].waiting = &waiting;
		for (j = 0; j < PUT_COUNTERS; j++)
			assert_int_equal(ktau_get_counter(c, "one", 1, &sym,
							  &jobs[i].counters[j]), 0);
	}
	for (i = 0; i < PUT_THREADS; i++)
		assert_int_equal(pthread_create(&threads[i], NULL, put_counters, &jobs[i]), 0);
	for (i = 0; i < PUT_THREADS; i++)
		pthread_join(threads[i], NULL);
	destroy(c);
}

static void test_counter_fork(void **state)
{
	unsigned long sym = 0x10000;
	unsigned long long data;
	int status, type = NUM;
	ktau_ushcont *c;
	ktau_ush_ctr *counter;
	pid_t child;

	(void)state;
	put_self(93, 1, false);
	c = container();
	assert_int_equal(ktau_get_counter(c, "one", 1, &sym, &counter), 0);
	child = fork();
	if (!child) {
		/* Like TAU in a child: release everything and start again. */
		status = ktau_copy_counter_type(counter, &data, 1, &type) != -1 ||
			 errno != ECHILD || ktau_get_counter(c, "two", 1, &sym, &counter) != -1;
		ktau_put_counter(counter);
		destroy(c);
		c = container();
		status |= ktau_get_counter(c, "one", 1, &sym, &counter) ||
			  ktau_copy_counter_type(counter, &data, 1, &type) || data;
		ktau_put_counter(counter);
		destroy(c);
		stream_free(&live);
		_exit(status);
	}
	assert_int_equal(waitpid(child, &status, 0), child);
	assert_int_equal(status, 0);
	ktau_put_counter(counter);
	destroy(c);
}

static void test_counter_errors(void **state)
{
	unsigned long sym = 0x10000;
	ktau_ush_ctr *counter;
	ktau_ushcont *c;

	(void)state;
	put_self(94, 1, false);
	assert_null(ktau_add_container(KTAU_TYPE_TRACE, 1, NULL, 0, NULL, 2000));
	assert_null(ktau_add_container(KTAU_TYPE_PROFILE, 0, NULL, 0, NULL, 2000));
	assert_null(ktau_add_container(KTAU_TYPE_PROFILE, 1, NULL, 0, NULL, 0));
	assert_int_equal(errno, EINVAL);
	c = container();
	assert_int_equal(ktau_get_counter(c, "none", 0, &sym, &counter), -1);
	assert_int_equal(ktau_get_counter(c, "none", -1, &sym, &counter), -1);
	assert_int_equal(ktau_get_counter(NULL, "none", 1, &sym, &counter), -1);
	assert_int_equal(errno, EINVAL);
	stream_free(&live);
	assert_int_equal(ktau_get_counter(c, "none", 1, &sym, &counter), -1);
	assert_int_equal(errno, ENOENT);
	assert_int_equal(ktau_put_counter(NULL), -1);
	assert_int_equal(ktau_del_container(KTAU_TYPE_PROFILE, 1, NULL, 0, NULL, NULL), -1);
	destroy(c);
}

static int free_stream(void **state)
{
	(void)state;
	stream_free(&live);
	return 0;
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_no_ktau),
		cmocka_unit_test(test_exited_since),
		cmocka_unit_test(test_indices),
		cmocka_unit_test(test_counter_indices),
		cmocka_unit_test(test_idle),
		cmocka_unit_test(test_vanished_and_reborn),
		cmocka_unit_test(test_new_rows),
		cmocka_unit_test(test_selections),
		cmocka_unit_test(test_sizes),
		cmocka_unit_test(test_fork),
		cmocka_unit_test(test_end_of_list),
		cmocka_unit_test(test_diff),
		cmocka_unit_test(test_aggregate),
		cmocka_unit_test(test_counter),
		cmocka_unit_test(test_counter_of_another_thread),
		cmocka_unit_test(test_counter_threads),
		cmocka_unit_test(test_counter_fork),
		cmocka_unit_test(test_counter_errors),
	};

	return cmocka_run_group_tests(tests, NULL, free_stream);
}
