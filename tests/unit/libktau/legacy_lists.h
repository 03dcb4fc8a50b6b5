/* SPDX-License-Identifier: GPL-2.0-only */
/* Streams in memory for libktau-legacy, and the lists that it returns. */
#ifndef KTAU_TEST_LEGACY_LISTS_H
#define KTAU_TEST_LEGACY_LISTS_H

#include <errno.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdlib.h>
#include <string.h>

#include <cmocka.h>
#include <ktau.h>
#include <ktau_proc_interface.h>

#include "encode.h"

/* The stream that the kernel would return, and the last query. */
static struct stream live;
static struct ktau_query asked;

int __wrap_ktau_reader_open_live(struct ktau_reader *reader, const struct ktau_query *query);
int __wrap_ktau_reader_restart(struct ktau_reader *reader, const struct ktau_query *query);

int __wrap_ktau_reader_open_live(struct ktau_reader *reader, const struct ktau_query *query)
{
	asked = *query;
	return live.size ? ktau_reader_open_memory(reader, live.data, live.size) : -ENOENT;
}

int __wrap_ktau_reader_restart(struct ktau_reader *reader, const struct ktau_query *query)
{
	return __wrap_ktau_reader_open_live(reader, query);
}

static void begin(uint32_t target)
{
	stream_free(&live);
	live = (struct stream){ .word_bits = 64 };
	put_stream(&live, KTAU_REC_PROFILE, target);
}

static void put(struct owner owner, const struct entry *entries, uint32_t nr)
{
	owner.comm = "task";
	put_profile(&live, &(struct profile){ .o = owner, .entries = entries, .nr_entries = nr });
}

/* A task with @count calls of event 0 and nothing else. */
static void put_calls(uint64_t serial, int32_t tid, uint32_t kind, uint64_t count)
{
	const struct entry calls = { .id = 0, .count = count, .incl = 10 * count,
				     .excl = 7 * count };

	put((struct owner){ .serial = serial, .tid = tid, .kind = kind }, &calls, 1);
}

struct list {
	ktau_output *profiles;
	long nr;
};

/* As in TAU, the buffer is larger than the data read into it, and all of it is unpacked. */
static struct list read_list(int self, pid_t *pids, unsigned int nr)
{
	long size = read_size(KTAU_TYPE_PROFILE, self, pids, nr, 0, NULL, -1);
	struct list list;
	char *buffer;

	assert_true(size > 0);
	buffer = malloc(size * sizeof(ktau_output));
	assert_non_null(buffer);
	memset(buffer, 0xa5, size * sizeof(ktau_output));
	assert_true(read_data(KTAU_TYPE_PROFILE, self, pids, nr, buffer, size, 0, NULL) > 0);
	list.nr = unpack_bindata(KTAU_TYPE_PROFILE, buffer, size * sizeof(ktau_output),
				 &list.profiles);
	assert_true(list.nr >= 0);
	free(buffer);
	return list;
}

static struct list read_all(void)
{
	pid_t all = 0;
	struct list list;

	put_end(&live);
	list = read_list(0, &all, 0);
	assert_null(asked.tids);
	return list;
}

static void free_list(struct list list)
{
	while (list.nr--)
		free(list.profiles[list.nr].ent_lst);
	free(list.profiles);
}

static const ktau_output *find_pid(struct list list, pid_t pid)
{
	const ktau_output *found = NULL;
	long i;

	for (i = 0; i < list.nr; i++) {
		if (i)
			assert_true(list.profiles[i - 1].pid < list.profiles[i].pid);
		assert_null(list.profiles[i].trace_lst);
		if (list.profiles[i].pid == pid)
			found = &list.profiles[i];
	}
	return found;
}

static unsigned long long calls_of(struct list list, pid_t pid)
{
	const ktau_output *p = find_pid(list, pid);

	assert_non_null(p);
	assert_int_equal(p->size, 1);
	assert_int_equal(p->ent_lst[0].index, 0);
	return p->ent_lst[0].entry.data.timer.count;
}

/* Each pid and index of @before is in @after, with at least the same figures. */
static void assert_superset(struct list before, struct list after)
{
	const ktau_output *p;
	const o_ent *old, *new;
	unsigned int j, k;
	long i;

	for (i = 0; i < before.nr; i++) {
		p = find_pid(after, before.profiles[i].pid);
		assert_non_null(p);
		for (j = 0, k = 0; j < before.profiles[i].size; j++, k++) {
			old = &before.profiles[i].ent_lst[j];
			while (k < p->size && p->ent_lst[k].index != old->index)
				k++;
			assert_true(k < p->size);
			new = &p->ent_lst[k];
			assert_int_equal(new->entry.addr, old->entry.addr);
			assert_true(new->entry.data.timer.count >= old->entry.data.timer.count);
			assert_true(new->entry.data.timer.incl >= old->entry.data.timer.incl);
			assert_true(new->entry.data.timer.excl >= old->entry.data.timer.excl);
		}
	}
}

#endif
