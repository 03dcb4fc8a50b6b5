// SPDX-License-Identifier: GPL-2.0-only
/* KTAU_ENCODE_DELTA: round trips, hand-written bytes, invalid input. */
#include <errno.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stdlib.h>
#include <string.h>

#include <cmocka.h>

#include <ktau.h>

#include "delta.h"
#include "encode.h"

/* Encode all records as one payload. */
static void encode_all(const struct stream *s, struct ktau__buffer *out)
{
	struct ktau__encoder *encoder = ktau__encoder_create();
	struct ktau_rec rec;
	size_t at;

	assert_non_null(encoder);
	out->size = 0;
	for (at = 0; at < s->size; at += rec.size) {
		memcpy(&rec, s->data + at, sizeof(rec));
		assert_int_equal(ktau__encoder_put(encoder, s->data + at, rec.type, out), 0);
	}
	ktau__encoder_destroy(encoder);
}

/* Encoding and decoding gives the same bytes, for every type of record. */
static void check_same(const struct stream *s)
{
	struct ktau__buffer encoded = { 0 }, decoded = { 0 };

	encode_all(s, &encoded);
	assert_int_equal(ktau__delta_decode(encoded.data, encoded.size, false, &decoded), 0);
	assert_int_equal(decoded.size, s->size);
	assert_memory_equal(decoded.data, s->data, s->size);
	ktau__buffer_free(&encoded);
	ktau__buffer_free(&decoded);
}

static void round_trip(void **state)
{
	struct stream s = { .word_bits = 64 };
	unsigned int i;

	(void)state;
	put_everything(&s);
	check_same(&s);
	put_everything(&s);
	check_same(&s);
	s.grow_head = 16;
	s.grow_element = 8;
	put_everything(&s);
	s.grow_head = 2048;	/* more than form 1 allows */
	put_everything(&s);
	check_same(&s);
	stream_free(&s);
	s = (struct stream){ .word_bits = 64 };
	for (i = 1; i < 500; i++)
		put_task(&s, i, i, TASK, i * i);
	check_same(&s);
	stream_free(&s);
}

/* A quarter of the size is left, before any compression. */
static void smaller(void **state)
{
	struct ktau__buffer encoded = { 0 };
	struct slot slots[512] = { { 0 } };
	struct stream s = { .word_bits = 64 };
	unsigned int i;

	(void)state;
	for (i = 0; i < NR(slots); i++)
		slots[i] = (struct slot){ .ticks = 5000000000 + 300 * i, .id = 39 + i % 3,
					  .type = 1 + i % 2 };
	put_trace(&s, &(struct trace){ .serial = 7, .slots = slots, .nr_slots = NR(slots) });
	encode_all(&s, &encoded);
	assert_true(encoded.size * 4 < s.size);
	ktau__buffer_free(&encoded);
	stream_free(&s);
}

/*
 * Every number as long as it can be: the encoding is larger than the records. The buffer grows by
 * doubling; the slots are so many that it would be too small if their growth was not considered.
 */
static void largest(void **state)
{
	static const struct entry entry = {
		.id = 65535, .kind = 255, .flags = 255, .count = -1, .incl = -1, .excl = -1,
		.longest = -1, .asleep = -1, .runq = -1, .irq = -1,
	};
	static const struct frame open = { .id = -1, .start = 1ULL << 63, .child = -1 };
	struct slot slots[600];
	struct stream s = { .word_bits = 64 };
	unsigned int i;

	(void)state;
	for (i = 0; i < NR(slots); i++)
		slots[i] = (struct slot){ .ticks = (uint64_t)i << 63, .id = i % 2, .type = 255,
					  .ctx = 255, .cpu = 65535, .format = "8888",
					  .values = { -1, -1, -1, -1 } };
	put_trace(&s, &(struct trace){ .slots = slots, .nr_slots = NR(slots) });
	assert_true(s.size < 1U << 15 && s.size + s.size / 5 > 1U << 15);
	check_same(&s);
	put_profile(&s, &(struct profile){ .no_owner = true, .entries = &entry,
					   .nr_entries = 1, .open = &open, .nr_open = 1 });
	check_same(&s);
	stream_free(&s);
}

/* Records that contradict themselves are passed through unchanged. */
static void inconsistent_records(void **state)
{
	struct stream s = { .word_bits = 64 };
	size_t at;

	(void)state;
	put_task(&s, 1, 1, TASK, 1);
	for (at = 200 + 8; at < s.size; at += 4) {
		uint32_t right;

		memcpy(&right, s.data + at, 4);
		set32(&s, at, 0xffffffff);
		check_same(&s);
		set32(&s, at, 0x10);
		check_same(&s);
		set32(&s, at, right);
	}
	stream_free(&s);
}

/* As described in delta.c: a trace with one slot, in either byte order. */
static void by_hand(bool big)
{
	static const uint8_t encoded[] = {
		14, 3, 11, 1,			/* 112 bytes, TRACE, head 88, form 1 */
		14, 0, 4, 0, 0, 0, 4,		/* serial 7, next 2, written 2 */
	};
	/* ring_slots and groups, nr_slots and slots_bytes are words of the file's order. */
	static const uint8_t slot[] = {
		0,				/* no_room 0 */
		49,				/* time of 2 bytes, entry and payload given */
		44, 1,				/* ticks 300 */
		255,				/* a new entry */
		39,				/* id 39 */
		2, 3,				/* EXIT, 3 words */
		129, 2,				/* cpu 257 */
		1, 0,				/* softirq */
		254, 1,				/* result 127 */
	};
	struct ktau__buffer in = { 0 }, out = { 0 };
	struct stream plain = { .word_bits = 64, .big = big };
	const struct slot result = { .ticks = 300, .id = 39, .type = 2, .ctx = 1, .cpu = 257,
				     .format = "8", .values = { 127 } };
	uint64_t words[2] = { 1024, 0x800001ff };
	int i;

	put_trace(&plain, &(struct trace){ .serial = 7, .next = 2, .slots = &result,
					   .nr_slots = 1 });
	assert_int_equal(ktau__buffer_append(&in, encoded, sizeof(encoded)), 0);
	for (i = 0; i < 2; i++) {
		uint64_t first = i ? 1 : words[0], second = i ? 24 : words[1];
		uint64_t word = big ? first << 32 | second : second << 32 | first;
		uint64_t zigzag = word << 1 ^ (word >> 63 ? UINT64_MAX : 0);

		for (; zigzag > 127; zigzag >>= 7)
			assert_int_equal(ktau__buffer_append(&in, &(uint8_t){ zigzag | 128 }, 1),
					 0);
		assert_int_equal(ktau__buffer_append(&in, &(uint8_t){ zigzag }, 1), 0);
	}
	assert_int_equal(ktau__buffer_append(&in, slot, sizeof(slot)), 0);
	assert_int_equal(ktau__delta_decode(in.data, in.size, big, &out), 0);
	assert_int_equal(out.size, plain.size - 200);
	assert_memory_equal(out.data, plain.data + 200, out.size);
	/* No truncated payload is accepted. */
	for (i = 1; i < (int)in.size; i++)
		assert_int_equal(ktau__delta_decode(in.data, i, big, &out), -EBADMSG);
	ktau__buffer_free(&in);
	ktau__buffer_free(&out);
	stream_free(&plain);
}

static void both_orders(void **state)
{
	(void)state;
	by_hand(false);
	by_hand(true);
}

/* The encoding of the slots of the last record of @s. */
static void check_slots(const struct stream *s, const uint8_t *slots, size_t size)
{
	struct ktau__buffer encoded = { 0 };

	encode_all(s, &encoded);
	assert_true(encoded.size > size);
	assert_memory_equal(encoded.data + encoded.size - size, slots, size);
	ktau__buffer_free(&encoded);
	check_same(s);
}

/* As described in delta_slots.h: what is given, and what is not. */
static void slots_by_hand(void **state)
{
	static const struct slot calls[] = {
		{ .ticks = 10, .id = 1, .type = 1 },
		{ .ticks = 20, .id = 1, .type = 2, .format = "8", .values = { 7 } },
		{ .ticks = 300, .id = 1, .type = 1 },
		{ .ticks = 301, .id = 1, .type = 2, .format = "8", .values = { 7 } },
		{ .ticks = 310, .id = 1, .type = 1 },
		{ .ticks = 320, .id = 1, .type = 2, .format = "8", .values = { 5 } },
		{ .ticks = 330, .id = 1, .type = 2, .format = "8", .values = { 5 } },
	};
	static const struct slot earlier = { .ticks = 30, .id = 1, .type = 1 };
	static const uint8_t first[] = {
		16, 48, 1, 0, 0, 32, 16,
		10, 10, 24, 1, 1, 9, 10, 10,	/* times; the third one is 280 */
		255, 1, 1, 2, 0, 0, 0,		/* entry 0 */
		255, 1, 2, 3, 0, 0, 0, 14,	/* entry 1, payload 7 more than 0 */
		3,				/* payload 5 is 2 less than 7 */
		1,				/* entry 1, which entry 0 has followed so far */
	};
	/* 300 before the last slot of the record before; entry 0 followed entry 1 the last time */
	static const uint8_t second[] = { 9 | 16, 44, 1, 0 };
	struct stream s = { .word_bits = 64 };

	(void)state;
	put_trace(&s, &(struct trace){ .serial = 7, .slots = calls, .nr_slots = NR(calls) });
	check_slots(&s, first, sizeof(first));
	put_trace(&s, &(struct trace){ .serial = 8, .slots = &earlier, .nr_slots = 1 });
	check_slots(&s, second, sizeof(second));
	stream_free(&s);
}

/*
 * More kinds of slots than the table has entries, twice, then a few again and again, whose payloads
 * have more words than it keeps.
 */
static void full_table(void **state)
{
	struct stream s = { .word_bits = 64 };
	struct slot slots[1200];
	unsigned int i;

	(void)state;
	for (i = 0; i < NR(slots); i++)
		slots[i] = (struct slot){ .ticks = 1000 * i, .id = i < 600 ? i % 300 : i % 6,
					  .type = 1, .format = i % 3 ? "" : "888888888888",
					  .values = { i, i, i, i, i, i, i, i, i, 1, i % 2 } };
	put_trace(&s, &(struct trace){ .serial = 7, .slots = slots, .nr_slots = NR(slots) });
	check_same(&s);
	stream_free(&s);
}

/* Two entries and a frame, of a kernel's size; 1024 and more take a second byte. */
static void entries_by_hand(void **state)
{
	static const struct entry entries[] = {
		{ .id = 10, .flags = 1, .count = 3, .incl = 300, .excl = 4, .longest = 5 },
		{ .id = 7, .kind = 1, .count = 1, .incl = 2, .excl = 2, .longest = 2 },
	};
	static const struct frame open = { .id = 300, .start = 90, .child = 6 };
	const struct profile p = { .no_owner = true, .o.serial = 1, .ticks = 100, .depth = 0,
				   .entries = entries, .nr_entries = 2, .open = &open,
				   .nr_open = 1 };
	static const uint8_t rest[] = {
		20, 0, 1, 0, 3, 172, 2, 4, 5, 0, 0, 0,	/* id 10 */
		5, 1, 0, 0, 1, 2, 2, 2, 0, 0, 0,	/* id 10 - 3 */
		172, 2, 0, 19, 6,			/* id 300, 10 ticks before */
	};
	struct stream plain = { .word_bits = 64 };
	struct ktau__buffer encoded = { 0 };

	(void)state;
	put_profile(&plain, &p);
	encode_all(&plain, &encoded);
	assert_true(encoded.size > sizeof(rest));
	assert_memory_equal(encoded.data + encoded.size - sizeof(rest), rest, sizeof(rest));
	ktau__buffer_free(&encoded);
	stream_free(&plain);
}

/* The encoded size of the last record; the fixed part of record i is grown[i] bytes longer. */
static size_t last_bytes(const unsigned int *grown, size_t nr)
{
	struct ktau__buffer encoded = { 0 };
	struct stream s = { .word_bits = 64 };
	size_t i, before = 0;

	for (i = 0; i < nr; i++) {
		s.grow_head = grown[i];
		put_profile(&s, &(struct profile){ .no_owner = true });
		before = encoded.size;
		encode_all(&s, &encoded);
	}
	before = encoded.size - before;
	ktau__buffer_free(&encoded);
	stream_free(&s);
	return before;
}

/* A word that the previous record does not have is a delta to 0. */
static void missing_word(void **state)
{
	(void)state;
	assert_int_equal(last_bytes((unsigned int[]){ 8, 0, 8 }, 3),
			 last_bytes((unsigned int[]){ 0, 8 }, 2));
	assert_int_not_equal(last_bytes((unsigned int[]){ 8, 8 }, 2),
			     last_bytes((unsigned int[]){ 0, 8 }, 2));
}

static void invalid_input(void **state)
{
	static const struct {
		uint8_t bytes[16];
		size_t size;
	} cases[] = {
		{ { 1 }, 1 },				/* nothing follows */
		{ { 0, 1, 1, 0 }, 4 },			/* a record of no bytes */
		{ { 1, 1, 2, 0 }, 4 },			/* a head longer than the record */
		{ { 1, 1, 1, 2 }, 4 },			/* an unknown form */
		{ { 1, 1, 1, 1 }, 4 },			/* a type without form 1 */
		{ { 2, 1, 1, 0, 0 }, 5 },		/* too little */
		{ { 0x80, 0x80, 0x80, 0x80, 1, 1, 1, 0 }, 8 },	/* 2 GiB */
		{ { 1, 0x80, 0x80, 4, 1, 0 }, 6 },	/* a type of more than 16 bits */
		{ { 0xff, 0xff, 0xff, 0xff, 0xff, 0xff, 0xff, 0xff, 0xff, 2, 1, 1, 0 }, 13 },
	};
	struct ktau__buffer out = { 0 };
	size_t i;

	(void)state;
	for (i = 0; i < NR(cases); i++)
		assert_int_equal(ktau__delta_decode(cases[i].bytes, cases[i].size, false, &out),
				 -EBADMSG);
	assert_int_equal(ktau__delta_decode((const uint8_t *)"", 0, false, &out), 0);
	assert_int_equal(out.size, 0);
	ktau__buffer_free(&out);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(round_trip),
		cmocka_unit_test(smaller),
		cmocka_unit_test(largest),
		cmocka_unit_test(inconsistent_records),
		cmocka_unit_test(both_orders),
		cmocka_unit_test(slots_by_hand),
		cmocka_unit_test(full_table),
		cmocka_unit_test(entries_by_hand),
		cmocka_unit_test(missing_word),
		cmocka_unit_test(invalid_input),
	};

	return cmocka_run_group_tests_name("libktau: delta coding", tests, NULL, NULL);
}
