// SPDX-License-Identifier: GPL-2.0-only
/* Positions of rings: what is missing between records, and what is repeated. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include <cmocka.h>
#include <ktau.h>

#include "config.h"
#include "earlier.h"
#include "positions.h"
#include "rotate.h"

#define LEN(a)		(sizeof(a) / sizeof((a)[0]))
#define MAX_SLOTS	64
#define SERIAL		7

/* The slot at position P of a ring has the time TICKS + P. */
#define TICKS		1000

struct trace {
	struct ktau_rec_trace rec;
	struct ktau_slot slots[MAX_SLOTS];
};

/* The positions of a record, and how many are lost before them. */
struct part {
	uint64_t first, next, lost;
};

/* A record of positions that take one slot each. */
static const struct ktau_rec_trace *make_trace(struct trace *t, uint64_t serial, struct part part,
					       uint64_t ticks)
{
	uint32_t i, nr = part.next - part.first;

	assert_true(nr <= MAX_SLOTS);
	*t = (struct trace){
		.rec = {
			.rec = { sizeof(t->rec) + nr * sizeof(*t->slots), KTAU_REC_TRACE,
				 sizeof(t->rec) },
			.serial = serial,
			.first = part.first,
			.next = part.next,
			.lost = part.lost,
			.lost_from_ticks = part.lost ? 1 : 0,
			.lost_to_ticks = part.lost ? ticks + part.first : 0,
			.written = part.next,
			.ring_slots = MAX_SLOTS,
			.nr_slots = nr,
			.slots_bytes = nr * sizeof(*t->slots),
		},
	};
	for (i = 0; i < nr; i++)
		t->slots[i] = (struct ktau_slot){
			.ticks = ticks + part.first + i, .type = KTAU_TRACE_ENTER, .words = 2,
		};
	return &t->rec;
}

struct expected {
	uint64_t first, next, lost;	/* of the record read */
	bool repeats, other_ring;
	int ret;
	uint64_t got_first, got_lost, missing;
};

/* After a record that ended at position 20. */
static const struct expected expected[] = {
	{ 20, 30, 0, false, false, 1, 20, 0, 0 },	/* continues */
	{ 25, 30, 5, false, false, 1, 25, 5, 0 },	/* overwritten: the kernel knows */
	{ 25, 30, 0, false, false, 1, 25, 5, 5 },	/* consumed by another reader */
	{ 28, 30, 3, false, false, 1, 28, 8, 5 },	/* both */
	{ 30, 30, 5, false, false, 1, 30, 10, 5 },	/* no slots */
	{ 0, 30, 0, false, true, 1, 0, 0, 0 },		/* a new ring */
	{ 5, 30, 5, false, true, 1, 5, 5, 0 },
	{ 10, 30, 0, true, false, 1, 20, 0, 0 },	/* repeats 10 slots */
	{ 10, 30, 10, true, false, 1, 20, 0, 0 },
	{ 10, 20, 0, true, false, 0, 0, 0, 0 },		/* nothing new */
	{ 10, 18, 10, true, false, 0, 0, 0, 0 },
	{ 25, 30, 25, true, false, 1, 25, 5, 0 },	/* overwritten since */
	{ 20, 30, 20, true, false, 1, 20, 0, 0 },
	{ 0, 30, 0, true, true, 1, 0, 0, 0 },		/* a new ring */
};

static void check_record(size_t i, const struct ktau_rec_trace *got)
{
	const struct expected *e = &expected[i];
	uint64_t ticks = (e->other_ring ? 2 : 1) * TICKS + e->got_first;

	if (got->first != e->got_first || got->lost != e->got_lost || got->next != e->next ||
	    got->nr_slots != e->next - e->got_first)
		fail_msg("case %zu: positions %llu to %llu, %llu lost", i, got->first, got->next,
			 got->lost);
	if (got->nr_slots && ktau_trace_slots(got)->ticks != ticks)
		fail_msg("case %zu: another slot is the first", i);
	if (!got->lost || e->other_ring)
		return;
	if (got->lost_to_ticks < got->lost_from_ticks || got->lost_from_ticks > TICKS + 20)
		fail_msg("case %zu: lost from %llu to %llu", i, got->lost_from_ticks,
			 got->lost_to_ticks);
}

static void test_follow(void **state)
{
	struct positions positions = { 0 };
	struct ktau_rec_trace *own;
	struct trace trace;
	size_t i;

	(void)state;
	for (i = 0; i < LEN(expected); i++) {
		const struct expected *e = &expected[i];

		positions_clear(&positions);
		make_trace(&trace, SERIAL, (struct part){ 0, 20, 0 }, TICKS);
		assert_int_equal(positions_follow(&positions, &trace.rec, 5000, &own), 1);
		assert_null(own);
		positions.repeats = e->repeats;
		make_trace(&trace, SERIAL, (struct part){ e->first, e->next, e->lost },
			   e->other_ring ? 2 * TICKS : TICKS);
		if (positions_follow(&positions, &trace.rec, 5000, &own) != e->ret)
			fail_msg("case %zu: the other result", i);
		assert_int_equal(positions.missing, e->missing);
		if (!e->ret)
			continue;
		check_record(i, own ? own : &trace.rec);
		ktau_record_free(own);
	}
	positions_clear(&positions);
}

/* Entries of more than one position, of which the first has been written. */
static void test_long_slots(void **state)
{
	struct positions positions = { .repeats = true };
	struct ktau_rec_trace *own;
	struct trace trace;

	(void)state;
	make_trace(&trace, SERIAL, (struct part){ 0, 2, 0 }, TICKS);
	trace.rec.nr_slots = 1;
	trace.rec.slots_bytes = sizeof(*trace.slots);
	trace.rec.rec.size -= sizeof(*trace.slots);
	assert_int_equal(positions_note(&positions, &trace.rec), 0);
	make_trace(&trace, SERIAL, (struct part){ 0, 3, 0 }, TICKS);
	trace.rec.next = trace.rec.written = 4;
	trace.slots[0].type = KTAU_TRACE_COMM;
	assert_int_equal(positions_follow(&positions, &trace.rec, 5000, &own), 1);
	assert_non_null(own);
	assert_int_equal(own->first, 2);
	assert_int_equal(own->nr_slots, 2);
	ktau_record_free(own);
	positions_clear(&positions);
}

/* Of a ring that the files do not mention lately, they have what is older than the last stream. */
static void test_older(void **state)
{
	struct positions positions = { .repeats = true, .since_ticks = TICKS + 10 };
	struct ktau_rec_trace *own;
	struct trace trace;
	unsigned int waits;

	(void)state;
	for (waits = 0; waits < 2; waits++) {
		make_trace(&trace, SERIAL + waits, (struct part){ 5, 15, 5 }, TICKS);
		if (waits)
			trace.slots[5].type = KTAU_TRACE_EXIT;
		assert_int_equal(positions_follow(&positions, &trace.rec, 5000, &own), 1);
		assert_non_null(own);
		assert_int_equal(own->first, 10 - waits);
		assert_int_equal(own->lost, 0);
		assert_int_equal(own->nr_slots, 5 + waits);
		assert_int_equal(ktau_trace_slots(own)->ticks, TICKS + 10 - waits);
		ktau_record_free(own);
	}
	make_trace(&trace, SERIAL + 2, (struct part){ 0, 10, 0 }, TICKS);
	assert_int_equal(positions_follow(&positions, &trace.rec, 5000, &own), 0);
	positions_clear(&positions);
}

/* Tasks that exit are forgotten at some time, and those that write are not. */
static void test_many(void **state)
{
	struct positions positions = { 0 };
	struct ktau_rec_trace *own;
	struct trace trace;
	uint64_t serial;

	(void)state;
	for (serial = 1; serial < 1000000; serial++) {
		make_trace(&trace, serial + SERIAL, (struct part){ 0, 1, 0 }, serial);
		assert_int_equal(positions_note(&positions, &trace.rec), 0);
		make_trace(&trace, SERIAL, (struct part){ serial - 1, serial, 0 }, TICKS);
		assert_int_equal(positions_follow(&positions, &trace.rec, 0, &own), 1);
		assert_null(own);
	}
	assert_int_equal(positions.missing, 0);
	assert_true(positions.room <= 1 << 18);
	positions_clear(&positions);
}

static void put_stream(struct ktau_writer *writer, uint64_t ticks)
{
	struct ktau_rec_stream stream = {
		.rec = { sizeof(stream), KTAU_REC_STREAM, sizeof(stream) },
		.magic = KTAU_MAGIC,
		.version = KTAU_ABI_VERSION,
		.word_bits = 64,
		.content = KTAU_REC_TRACE,
		.clock_hz = 1000000000,
		.nr_cpus = 1,
		.ticks = ticks,
		.boot_realtime_ns = 1,
	};

	ktau_boot_id(stream.boot_id);
	assert_int_equal(ktau_writer_put(writer, &stream), 0);
}

static void put_end(struct ktau_writer *writer)
{
	struct ktau_rec_end end = {
		.rec = { sizeof(end), KTAU_REC_END, sizeof(end) }, .nr_records = 1,
	};

	assert_int_equal(ktau_writer_put(writer, &end), 0);
}

static struct ktau_writer *begin_file(const char *dir, const char *name, char *path, size_t size)
{
	struct ktau_writer *writer;

	snprintf(path, size, "%s/n-2026010%sT000000.000Z.ktau", dir, name);
	assert_int_equal(ktau_writer_create(&writer), 0);
	assert_int_equal(ktau_writer_open(writer, path, 0, NULL), 0);
	return writer;
}

static void end_file(struct ktau_writer *writer)
{
	assert_int_equal(ktau_writer_close(writer), 0);
	ktau_writer_destroy(writer);
}

/* What the files in a directory have. */
static int load(const char *dir, struct positions *positions)
{
	struct rotate rotate;
	int ret;

	rotate_init(&rotate, "n");
	assert_int_equal(rotate_scan(&rotate, dir), 0);
	ret = earlier_load(&rotate, dir, positions);
	rotate_deinit(&rotate);
	return ret;
}

/* The last complete stream is in the file before that of the killed ktaud. */
static void test_earlier(void **state)
{
	char dir[] = "/tmp/test_positions.XXXXXX", old[64], new[64];
	struct positions positions = { 0 };
	struct ktau_writer *writer;
	struct ktau_rec_trace *own;
	struct trace trace;

	(void)state;
	assert_non_null(mkdtemp(dir));
	assert_int_equal(load(dir, &positions), 0);

	writer = begin_file(dir, "2", old, sizeof(old));
	put_stream(writer, 500);
	make_trace(&trace, SERIAL, (struct part){ 0, 10, 0 }, TICKS);
	assert_int_equal(ktau_writer_put(writer, &trace), 0);
	put_end(writer);
	end_file(writer);
	writer = begin_file(dir, "1", new, sizeof(new));
	put_stream(writer, 600);
	make_trace(&trace, SERIAL, (struct part){ 10, 15, 0 }, TICKS);
	assert_int_equal(ktau_writer_put(writer, &trace), 0);
	end_file(writer);

	assert_int_equal(load(dir, &positions), 1);
	assert_int_equal(positions.since_ticks, 500);
	positions.repeats = true;
	make_trace(&trace, SERIAL, (struct part){ 12, 16, 0 }, TICKS);
	assert_int_equal(positions_follow(&positions, &trace.rec, 0, &own), 1);
	assert_non_null(own);
	assert_int_equal(own->first, 15);
	ktau_record_free(own);
	positions_clear(&positions);
	unlink(old);
	unlink(new);
	rmdir(dir);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_follow),
		cmocka_unit_test(test_long_slots),
		cmocka_unit_test(test_older),
		cmocka_unit_test(test_many),
		cmocka_unit_test(test_earlier),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
