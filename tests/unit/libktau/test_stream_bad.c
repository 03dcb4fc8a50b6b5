// SPDX-License-Identifier: GPL-2.0-only
/* The decoder on invalid streams: wrong fields, truncation and flipped bits. */
#include <errno.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stdlib.h>
#include <string.h>

#include <cmocka.h>
#include <ktau.h>

#include "encode.h"

static struct ktau_reader *open_stream(const struct stream *s)
{
	struct ktau_reader *r;

	assert_int_equal(ktau_reader_create(&r), 0);
	assert_int_equal(ktau_reader_open_memory(r, s->data, s->size), 0);
	return r;
}

static void next(struct ktau_reader *r, union ktau_record *rec, unsigned int type)
{
	assert_int_equal(ktau_reader_next(r, rec), 1);
	assert_int_equal(rec->rec->type, type);
}

/* The stream's only record besides STREAM and END begins at byte 384. */
enum {
	RECORD = 384,
	NR_ENTRIES = RECORD + 80, ENTRY_SIZE = RECORD + 84,
	NR_OPEN = RECORD + 88, OPEN_SIZE = RECORD + 92,
	NR_SLOTS = RECORD + 72, SLOTS_BYTES = RECORD + 76,
	SLOT_ID = RECORD + sizeof(struct ktau_rec_trace) + 8,
	PATH_BYTES = RECORD + 192,
};

static void expect_damage(const struct stream *s)
{
	union ktau_record rec;
	struct ktau_reader *r = open_stream(s);

	next(r, &rec, KTAU_REC_STREAM);
	next(r, &rec, KTAU_REC_END);
	assert_int_equal(ktau_reader_next(r, &rec), -EBADMSG);
	assert_non_null(strstr(ktau_reader_error(r), "at byte 384"));
	assert_int_equal(ktau_reader_damage(r)->first_offset, 384);
	ktau_reader_destroy(r);
}

static void wrong_fields(void **state)
{
	static const struct entry entries[] = { { .id = 1 }, { .id = 2 }, { .id = 3 } };
	static const struct frame frames[] = { { .id = 1 }, { .id = 2 } };
	static const struct slot slots[] = { { .type = 1 }, { .type = 2 } };
	const struct owner owner = { .path = "/bin/true" };
	const struct profile profile = { .no_owner = true, .entries = entries, .nr_entries = 3,
					 .open = frames, .nr_open = 2 };
	const struct trace traced = { .slots = slots, .nr_slots = 2 };
	static const struct {
		int type;
		size_t at;
		uint32_t value;
	} cases[] = {
		{ 2, NR_ENTRIES, 5 }, { 2, NR_ENTRIES, UINT32_MAX },
		{ 2, NR_ENTRIES, 0x10000000 }, { 2, ENTRY_SIZE, 0 },
		{ 2, ENTRY_SIZE, 65 }, { 2, ENTRY_SIZE, UINT32_MAX - 7 },
		{ 2, NR_OPEN, 99 }, { 2, NR_OPEN, UINT32_MAX },
		{ 2, OPEN_SIZE, 4 }, { 2, OPEN_SIZE, 0x80000000 },
		{ 3, NR_SLOTS, 1 }, { 3, NR_SLOTS, 3 }, { 3, NR_SLOTS, UINT32_MAX },
		{ 3, SLOTS_BYTES, 40 }, { 3, SLOTS_BYTES, 24 }, { 3, SLOTS_BYTES, UINT32_MAX },
		{ 3, SLOT_ID, 0x01010101 }, { 3, SLOT_ID, 0x00000000 },
		{ 3, SLOT_ID, 0xffffffff },
		{ 5, PATH_BYTES, 9 }, { 5, PATH_BYTES, 17 }, { 5, PATH_BYTES, UINT32_MAX },
	};
	struct stream s;
	size_t i;

	(void)state;
	for (i = 0; i < NR(cases); i++) {
		s = (struct stream){ .word_bits = 64, .big = i & 1 };
		put_stream(&s, KTAU_REC_PROFILE, 1);
		if (cases[i].type == 2)
			put_profile(&s, &profile);
		else if (cases[i].type == 5)
			put_owner(&s, &owner);
		else
			put_trace(&s, &traced);
		if (cases[i].type == 3) {
			/* Without its OWNER record. */
			memmove(s.data + RECORD, s.data + RECORD + 200, s.size - RECORD - 200);
			s.size -= 200;
		}
		put_end(&s);
		set32(&s, cases[i].at, cases[i].value);
		expect_damage(&s);
		stream_free(&s);
	}
}

static void bad_names(void **state)
{
	struct stream s = { .word_bits = 64 };
	int i;

	(void)state;
	for (i = 0; i < 4; i++) {
		put_stream(&s, KTAU_REC_PROFILE, 1);
		put_event(&s, i == 3 ? 65535 : 7, 1, i ? "name" : "");
		put_end(&s);
		if (i == 1)
			set32(&s, RECORD + 32, 9);	/* beyond the record */
		if (i == 2)
			set32(&s, RECORD + 32, 4);	/* without its zero */
		expect_damage(&s);
		stream_free(&s);
	}
}

static void not_ktau(void **state)
{
	static const struct {
		const char *data;
		size_t size;
		const char *why;
	} cases[] = {
		{ "", 0, "empty" },
		{ "KTAU", 4, "shorter than any header" },
		{ "this is a text and no stream at all", 35, "not KTAU data" },
		{ "\x10\0\0\0\1\0\x10\0KTAU\1\0\0\0", 16, "version" },
	};
	struct ktau_reader *r;
	union ktau_record rec;
	size_t i;
	int err;

	(void)state;
	assert_int_equal(ktau_reader_create(&r), 0);
	assert_int_equal(ktau_reader_next(r, &rec), -EINVAL);
	assert_string_equal(ktau_reader_error(r), "reader: no source");
	for (i = 0; i < NR(cases); i++) {
		err = ktau_reader_open_memory(r, cases[i].data, cases[i].size);
		assert_int_equal(err, i == 3 ? -EPROTONOSUPPORT : -EBADMSG);
		assert_non_null(strstr(ktau_reader_error(r), cases[i].why));
	}
	assert_int_equal(ktau_reader_open_file(r, "/nonexistent/file"), -ENOENT);
	assert_string_equal(ktau_reader_error(r),
			    "/nonexistent/file: No such file or directory");
	assert_int_equal(ktau_reader_next(r, &rec), -EINVAL);
	assert_non_null(strstr(ktau_reader_error(r), "No such file or directory"));
	ktau_reader_destroy(r);
}

/* Opening a source closes an open file. */
static void unknown_content(void **state)
{
	struct ktau_query query = { .content = 7, .target = KTAU_TARGET_ALL };
	struct stream s = { .word_bits = 64 };
	struct ktau_reader *r;
	union ktau_record rec;

	(void)state;
	put_everything(&s);
	assert_int_equal(ktau_reader_create(&r), 0);
	assert_int_equal(ktau_reader_open_memory(r, s.data, s.size), 0);
	assert_int_equal(ktau_reader_restart(r, &query), -EINVAL);
	assert_string_equal(ktau_reader_error(r), "memory: not open for such a stream");
	assert_int_equal(ktau_reader_seek_time(r, 0, 0), -EINVAL);
	assert_int_equal(ktau_reader_next(r, &rec), 1);
	assert_int_equal(ktau_reader_open_live(r, &query), -EINVAL);
	assert_non_null(strstr(ktau_reader_error(r), "neither profile nor trace"));
	assert_int_equal(ktau_reader_next(r, &rec), -EINVAL);
	ktau_reader_destroy(r);
	stream_free(&s);
}

/* Truncated anywhere: every complete record is returned, and the damage is reported. */
static void truncated(void **state)
{
	struct stream s = { .word_bits = 64 };
	size_t ends[64], size, at, whole, nr = 0, last;
	bool at_end[64] = { false };
	union ktau_record rec;
	struct ktau_reader *r;
	uint8_t *copy;
	int err;

	(void)state;
	put_everything(&s);
	for (at = 0; at < s.size; nr++) {
		const struct ktau_rec *head = (const void *)(s.data + at);

		at += head->size;
		at_end[nr] = head->type == KTAU_REC_END;
		ends[nr] = at;
		nr -= head->type == 77;
	}
	assert_int_equal(ktau_reader_create(&r), 0);
	for (size = 16; size <= s.size; size++) {
		copy = malloc(size);
		assert_non_null(copy);
		memcpy(copy, s.data, size);
		assert_int_equal(ktau_reader_open_memory(r, copy, size), 0);
		for (whole = 0; (err = ktau_reader_next(r, &rec)) > 0; whole++)
			;
		for (last = 0; last < nr && ends[last] <= size; last++)
			;
		assert_int_equal(whole, last);
		whole = last && at_end[last - 1] && ends[last - 1] == size;
		assert_int_equal(err, whole ? 0 : -EBADMSG);
		assert_int_equal(ktau_reader_damage(r)->truncated, err != 0);
		free(copy);
	}
	ktau_reader_destroy(r);
	stream_free(&s);
}

/* Any single wrong bit: no crash, no infinite loop, a bounded number of records. */
static void flipped(void **state)
{
	union ktau_record rec;
	struct ktau_reader *r;
	struct stream s;
	size_t bit, nr;
	int big;

	(void)state;
	assert_int_equal(ktau_reader_create(&r), 0);
	for (big = 0; big < 2; big++) {
		s = (struct stream){ .word_bits = 64, .big = big };
		put_everything(&s);
		for (bit = 0; bit < s.size * 8; bit++) {
			s.data[bit / 8] ^= 1 << bit % 8;
			if (!ktau_reader_open_memory(r, s.data, s.size)) {
				for (nr = 0; ktau_reader_next(r, &rec) > 0; nr++)
					assert_true(nr < 100);
			}
			s.data[bit / 8] ^= 1 << bit % 8;
		}
		stream_free(&s);
	}
	ktau_reader_destroy(r);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(wrong_fields),
		cmocka_unit_test(bad_names),
		cmocka_unit_test(not_ktau),
		cmocka_unit_test(unknown_content),
		cmocka_unit_test(truncated),
		cmocka_unit_test(flipped),
	};

	return cmocka_run_group_tests_name("libktau: bad streams", tests, NULL, NULL);
}
