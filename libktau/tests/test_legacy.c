// SPDX-License-Identifier: GPL-2.0-only
/* A program as it was written for the original, and what its calls give. */
#include <errno.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include <cmocka.h>
#include <ktau_legacy.h>

#include "../legacy.h"
#include "encode.h"

static struct ktau_reader *open_stream(const struct stream *s)
{
	struct ktau_reader *r;

	assert_int_equal(ktau_reader_create(&r), 0);
	assert_int_equal(ktau_reader_open_memory(r, s->data, s->size), 0);
	return r;
}

static void put_event(struct stream *s)
{
	record_begin(s, 0x8001);
	put32(s, 700);
	put32(s, KTAU_GROUP_TCP);
	put32(s, 0);
	put32(s, 12);
	put64(s, 0xffffffff81900000);
	record_fixed(s);
	put_text(s, "tcp_sendmsg", 12);
	record_end(s);
}

/* Two reads with a purge between them: the second has only what came after. */
static void profiles(void **state)
{
	struct stream before = { .word_bits = 64, .big = true }, after = before;
	struct ktau__buffer packed = { 0 };
	struct ktau_snapshot *baseline;
	struct ktau_reader *r;
	ktau_output *list;
	int nr;

	(void)state;
	put_stream(&before, KTAU_REC_PROFILE, KTAU_TARGET_ALL);
	put_task(&before, 1, 10, 0, 3);
	put_end(&before);
	put_stream(&after, KTAU_REC_PROFILE, KTAU_TARGET_ALL);
	put_event(&after);
	put_task(&after, 1, 10, 0, 5);
	put_task(&after, 2, 20, 0, 1);
	put_end(&after);
	assert_int_equal(ktau_snapshot_create(&baseline), 0);
	r = open_stream(&before);
	assert_int_equal(ktau_snapshot_read(baseline, r), 1);
	ktau_reader_destroy(r);
	r = open_stream(&after);
	assert_int_equal(ktau__legacy_pack(r, baseline, &packed), 0);
	ktau_reader_destroy(r);
	/* A program gives the size of its buffer, not of the data. */
	assert_int_equal(ktau__buffer_append(&packed, "leftovers of a read before", 26), 0);
	nr = unpack_bindata(KTAU_PROFILE, (char *)packed.data, packed.size, &list);
	assert_int_equal(nr, 2);
	assert_int_equal(list[0].pid, 10);
	assert_int_equal(list[0].size, 3);
	assert_int_equal(list[0].ent_lst[0].index, 0);
	assert_int_equal(list[0].ent_lst[0].entry.data.timer.count, 4);
	assert_int_equal(list[0].ent_lst[1].entry.addr, 0xffffffff81900000);
	assert_int_equal(list[0].ent_lst[1].entry.data.timer.excl, 6);
	assert_int_equal(list[0].ent_lst[2].entry.type, KTAU_TYPE_EVENT);
	assert_int_equal(list[0].ent_lst[2].entry.data.event.count, 2);
	assert_int_equal(list[1].ent_lst[0].entry.data.timer.count, 2);
	unpack_free(KTAU_PROFILE, list, nr);
	ktau_snapshot_destroy(baseline);
	ktau__buffer_free(&packed);
	stream_free(&before);
	stream_free(&after);
}

static void traces(void **state)
{
	static const struct slot slots[] = {
		{ .ticks = 100, .id = 700, .type = 1 },
		{ .ticks = 105, .type = 4 },
		{ .ticks = 110, .id = 700, .type = 2 },
	};
	const struct trace t = { .serial = 1, .tid = 10, .first = 2, .lost = 2, .from = 50,
				 .to = 90, .written = 5, .slots = slots, .nr_slots = 3 };
	struct stream s = { .word_bits = 64 };
	ktau_output *list;

	(void)state;
	put_stream(&s, KTAU_REC_TRACE, KTAU_TARGET_ALL);
	put_event(&s);
	put_trace(&s, &t);
	put_end(&s);
	assert_int_equal(unpack_bindata(KTAU_TRACE, (char *)s.data, s.size, &list), 1);
	assert_int_equal(list[0].size, 4);
	assert_int_equal(list[0].trace_lst[0].tsc, 50);
	assert_int_equal(list[0].trace_lst[0].addr, 0);
	assert_int_equal(list[0].trace_lst[1].type, KTAU_TRACE_STOP);
	assert_int_equal(list[0].trace_lst[2].tsc, 100);
	assert_int_equal(list[0].trace_lst[2].addr, 0xffffffff81900000);
	assert_int_equal(list[0].trace_lst[3].type, KTAU_TRACE_STOP);
	unpack_free(KTAU_TRACE, list, 1);
	stream_free(&s);
}

static void bad_data(void **state)
{
	struct stream s = { .word_bits = 64 };
	ktau_output *list;
	char text[] = "Entry 12: addr c0158ba0";
	size_t size;

	(void)state;
	assert_int_equal(unpack_bindata(KTAU_PROFILE, text, sizeof(text), &list), -EBADMSG);
	assert_null(list);
	assert_int_equal(unpack_bindata(7, text, sizeof(text), &list), -EINVAL);
	put_stream(&s, KTAU_REC_PROFILE, KTAU_TARGET_ALL);
	put_task(&s, 1, 10, 0, 5);
	put_end(&s);
	for (size = 0; size < s.size; size++)
		assert_int_equal(unpack_bindata(KTAU_PROFILE, (char *)s.data, size, &list),
				 -EBADMSG);
	stream_free(&s);
}

/* Without KTAU in the kernel each call says so; with it, the program works. */
static void live(void **state)
{
	long size = read_size(KTAU_PROFILE, 1, NULL, 0, 0, NULL, -1);
	ktau_output *list;
	char *buffer;
	int nr;

	(void)state;
	if (size < 0) {
		assert_true(size == -ENOENT);
		assert_int_equal(purge_data(KTAU_PROFILE, 1, NULL, 0), -ENOENT);
		print_message("no KTAU in this kernel\n");
		ktau_legacy_release(&ktau_legacy_state);
		return;
	}
	buffer = malloc(size);
	assert_non_null(buffer);
	size = read_data(KTAU_PROFILE, 1, NULL, 0, buffer, size, 0, NULL);
	assert_true(size > 0);
	nr = unpack_bindata(KTAU_PROFILE, buffer, size, &list);
	assert_int_equal(nr, 1);
	unpack_free(KTAU_PROFILE, list, nr);
	assert_int_equal(read_data(KTAU_PROFILE, 1, NULL, 0, buffer, 16, 0, NULL), -ENOSPC);
	assert_int_equal(purge_data(KTAU_PROFILE, 1, NULL, 0), 0);
	ktau_legacy_release(&ktau_legacy_state);
	free(buffer);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(profiles),
		cmocka_unit_test(traces),
		cmocka_unit_test(bad_data),
		cmocka_unit_test(live),
	};

	return cmocka_run_group_tests_name("libktau: the original's calls", tests, NULL, NULL);
}
