// SPDX-License-Identifier: GPL-2.0-only
/* The decoder on streams: byte orders, growth, lies, cuts and flipped bits. */
#include <errno.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stdlib.h>
#include <string.h>

#include <cmocka.h>
#include <ktau.h>

#include "encode.h"

static const struct entry entries[] = {
	{ 0x102, 0, 0x0102030405060708, 0x1112131415161718, 0x2122232425262728, 0 },
	{ 701, 1, 3, 600, 100, 300 },
};
static const struct frame frames[] = {
	{ 39, 0x3132333435363738, 0x4142434445464748 },
	{ 40, 17, 18 },
};
static const struct profile full = {
	.serial = 0x5152535455565758, .kind = 1, .flags = 2, .tid = 0x61626364,
	.tgid = 0x65666768, .ppid = -2, .cpu = 3, .uid = 1000, .exit_code = 0x8b00,
	.start_ns = 4, .exit_ns = 5, .dead_seq = 6, .utime_ns = 7, .stime_ns = 8,
	.comm = "abcdefghijklmno", .ticks = 0x6152535455565758, .outer = 10,
	.open_child = 11, .refused = 12, .refused_ticks = 13, .clamped = 14,
	.groups = 0x400001ff, .depth = 16, .entries = entries, .nr_entries = 2,
	.open = frames, .nr_open = 2,
};
static const struct slot slots[] = {
	{ .ticks = 100, .arg = 0x0a0b0c0d0e0f1011, .id = 0x203, .type = 1, .cpu = 0x102 },
	{ .ticks = 101, .type = 7, .more = 1 },
	{ .type = 255, .ctx = 1, .id = 0x1234, .more = 0x4321, .text = "new-name" },
	{ .ticks = 102, .id = 0x203, .type = 2, .ctx = 2 },
};
static const struct trace traced = {
	.serial = 9, .tid = 10, .first = 20, .lost = 3, .from = 80, .to = 90,
	.written = 24, .slots = slots, .nr_slots = 4,
};

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

static void check_stream(const struct ktau_rec_stream *st)
{
	assert_int_equal(st->magic, KTAU_MAGIC);
	assert_int_equal(st->version, 1);
	assert_int_equal(st->content, KTAU_REC_PROFILE);
	assert_int_equal(st->groups, 0x1ff);
	assert_int_equal(st->modes, KTAU_MODE_PROFILE);
	assert_int_equal(st->clock_hz, 2000000000);
	assert_int_equal(st->clock_flags, KTAU_CLOCK_STABLE);
	assert_int_equal(st->nr_cpus, 2);
	assert_int_equal(st->ticks, 5000000000);
	assert_int_equal(st->realtime_ns, 1700000000000000000);
	assert_int_equal(st->boot_monotonic_ns, 500000000);
	assert_int_equal(st->stext, 0xffffffff81000000);
	assert_int_equal(st->profile_pair_mticks, 60123);
	assert_int_equal(st->trace_pair_mticks, 95456);
	assert_int_equal(st->dead_next, 77);
}

static void check_profile(const struct ktau_rec_profile *p)
{
	const struct ktau_entry *e = ktau_profile_entries(p);
	const struct ktau_open *o = ktau_profile_open(p);
	const struct ktau_owner *w = &p->owner;

	assert_int_equal(p->rec.size, sizeof(*p) + 2 * sizeof(*e) + 2 * sizeof(*o));
	assert_int_equal(p->rec.head, sizeof(*p));
	assert_int_equal(w->serial, full.serial);
	assert_int_equal(w->kind, KTAU_OWNER_DEAD);
	assert_int_equal(w->flags, KTAU_OWNER_KTHREAD);
	assert_int_equal(w->tid, full.tid);
	assert_int_equal(w->tgid, full.tgid);
	assert_int_equal(w->ppid, -2);
	assert_int_equal(w->cpu, 3);
	assert_int_equal(w->uid, 1000);
	assert_int_equal(w->exit_code, 0x8b00);
	assert_int_equal(w->start_ns, 4);
	assert_int_equal(w->exit_ns, 5);
	assert_int_equal(w->dead_seq, 6);
	assert_int_equal(w->utime_ns, 7);
	assert_int_equal(w->stime_ns, 8);
	assert_string_equal(w->comm, full.comm);
	assert_int_equal(p->ticks, full.ticks);
	assert_int_equal(p->outer_ticks, 10);
	assert_int_equal(p->open_child_ticks, 11);
	assert_int_equal(p->refused, 12);
	assert_int_equal(p->refused_ticks, 13);
	assert_int_equal(p->clamped, 14);
	assert_int_equal(p->groups, 0x400001ff);
	assert_int_equal(p->depth, 16);
	assert_int_equal(p->nr_entries, 2);
	assert_int_equal(e[0].id, 0x102);
	assert_int_equal(e[0].count, entries[0].count);
	assert_int_equal(e[0].incl, entries[0].incl);
	assert_int_equal(e[0].excl, entries[0].excl);
	assert_int_equal(e[1].kind, KTAU_KIND_COUNTER);
	assert_int_equal(e[1].sum, 600);
	assert_int_equal(e[1].min, 100);
	assert_int_equal(e[1].max, 300);
	assert_int_equal(p->nr_open, 2);
	assert_int_equal(o[0].id, 39);
	assert_int_equal(o[0].start_ticks, frames[0].start);
	assert_int_equal(o[0].child_ticks, frames[0].child);
	assert_int_equal(o[1].start_ticks, 17);
	assert_ptr_equal(ktau_profile_find(p, 701), &e[1]);
	assert_null(ktau_profile_find(p, 702));
}

static void check_trace(const struct ktau_rec_trace *t)
{
	const struct ktau_slot *s = ktau_trace_next(t, NULL);
	const struct ktau_slot_more *more;

	assert_int_equal(t->first, 20);
	assert_int_equal(t->lost, 3);
	assert_int_equal(t->lost_from_ticks, 80);
	assert_int_equal(t->lost_to_ticks, 90);
	assert_int_equal(t->written, 24);
	assert_int_equal(t->ring_slots, 1024);
	assert_int_equal(t->nr_slots, 4);
	assert_int_equal(s->ticks, 100);
	assert_int_equal(s->arg, slots[0].arg);
	assert_int_equal(s->id, 0x203);
	assert_int_equal(s->type, KTAU_TRACE_ENTER);
	assert_int_equal(s->cpu, 0x102);
	assert_null(ktau_trace_more(t, s, 1));
	s = ktau_trace_next(t, s);
	assert_int_equal(s->type, KTAU_TRACE_EXEC);
	more = ktau_trace_more(t, s, 1);
	assert_non_null(more);
	assert_string_equal((const char *)more->data, "new-name");
	assert_int_equal(more->small, 0x1234);
	assert_int_equal(more->index, 1);
	assert_int_equal(more->small2, 0x4321);
	assert_null(ktau_trace_more(t, s, 2));
	assert_null(ktau_trace_more(t, s, 0));
	s = ktau_trace_next(t, s);
	assert_int_equal(s->type, KTAU_TRACE_EXIT);
	assert_int_equal(s->ctx, KTAU_CTX_HARDIRQ);
	assert_null(ktau_trace_next(t, s));
}

/* Every field arrives, whoever wrote it and however much longer it writes. */
static void decode_all(struct stream s)
{
	union ktau_record rec;
	struct ktau_reader *r;

	put_stream(&s, KTAU_REC_PROFILE, 0x3f);
	put_profile(&s, &full);
	record_begin(&s, 77);
	put64(&s, 1);
	record_fixed(&s);
	record_end(&s);
	put_end(&s);
	put_stream(&s, KTAU_REC_TRACE, KTAU_TARGET_LIST);
	put_trace(&s, &traced);
	put_end(&s);
	r = open_stream(&s);
	assert_int_equal(ktau_reader_swapped(r),
			 s.big != (__BYTE_ORDER__ == __ORDER_BIG_ENDIAN__));
	next(r, &rec, KTAU_REC_STREAM);
	assert_int_equal(rec.stream->word_bits, s.word_bits);
	check_stream(rec.stream);
	check_stream(ktau_reader_stream(r));
	next(r, &rec, KTAU_REC_PROFILE);
	check_profile(rec.profile);
	next(r, &rec, KTAU_REC_END);
	assert_int_equal(rec.end->nr_records, 1);
	assert_int_equal(rec.end->cut_ticks, 4900000000);
	assert_int_equal(rec.end->dead_next, 78);
	assert_int_equal(rec.end->lost_reaped, s.lost_reaped);
	next(r, &rec, KTAU_REC_STREAM);
	assert_int_equal(rec.stream->target, KTAU_TARGET_LIST);
	next(r, &rec, KTAU_REC_TRACE);
	check_trace(rec.trace);
	next(r, &rec, KTAU_REC_END);
	assert_int_equal(ktau_reader_next(r, &rec), 0);
	assert_string_equal(ktau_reader_error(r), "");
	assert_int_equal(ktau_reader_next(r, &rec), 0);
	ktau_reader_destroy(r);
	stream_free(&s);
}

static void little_64(void **state)
{
	(void)state;
	decode_all((struct stream){ .word_bits = 64, .lost_reaped = 0x102030405 });
}

static void big_32(void **state)
{
	(void)state;
	decode_all((struct stream){ .word_bits = 32, .big = true, .lost_reaped = 0x102030405 });
}

static void grown(void **state)
{
	(void)state;
	decode_all((struct stream){ .word_bits = 64, .grow_head = 16, .grow_element = 8 });
	decode_all((struct stream){ .word_bits = 32, .big = true, .grow_head = 8,
				    .grow_element = 24 });
}

/* A fixed part shorter than ours: the rest reads as zero, the arrays are none. */
static void short_head(void **state)
{
	struct stream s = { .word_bits = 64 };
	union ktau_record rec;
	struct ktau_reader *r;

	(void)state;
	put_stream(&s, KTAU_REC_PROFILE, 1);
	record_begin(&s, 2);
	put64(&s, 42);
	record_fixed(&s);
	record_end(&s);
	put_end(&s);
	r = open_stream(&s);
	next(r, &rec, KTAU_REC_STREAM);
	next(r, &rec, KTAU_REC_PROFILE);
	assert_int_equal(rec.profile->owner.serial, 42);
	assert_int_equal(rec.profile->ticks, 0);
	assert_int_equal(rec.profile->nr_entries, 0);
	assert_int_equal(rec.profile->rec.size, sizeof(*rec.profile));
	next(r, &rec, KTAU_REC_END);
	ktau_reader_destroy(r);
	stream_free(&s);
}

/* Offsets of fields in the first profile record, which starts at byte 128. */
#define AT_NR_ENTRIES	(128 + 156)
#define AT_ENTRY_SIZE	(128 + 160)
#define AT_NR_OPEN	(128 + 164)
#define AT_OPEN_SIZE	(128 + 168)

static void lies(void **state)
{
	static const struct {
		size_t at;
		uint32_t value;
	} cases[] = {
		{ AT_NR_ENTRIES, 3 }, { AT_NR_ENTRIES, UINT32_MAX },
		{ AT_NR_ENTRIES, 0x10000000 }, { AT_ENTRY_SIZE, 0 },
		{ AT_ENTRY_SIZE, 41 }, { AT_ENTRY_SIZE, UINT32_MAX - 7 },
		{ AT_NR_OPEN, 99 }, { AT_NR_OPEN, UINT32_MAX },
		{ AT_OPEN_SIZE, 4 }, { AT_OPEN_SIZE, 0x80000000 },
	};
	union ktau_record rec;
	struct ktau_reader *r;
	struct stream s;
	size_t i;

	(void)state;
	for (i = 0; i < NR(cases); i++) {
		s = (struct stream){ .word_bits = 64, .big = i & 1 };
		put_stream(&s, KTAU_REC_PROFILE, 1);
		put_profile(&s, &full);
		put_end(&s);
		set32(&s, cases[i].at, cases[i].value);
		r = open_stream(&s);
		next(r, &rec, KTAU_REC_STREAM);
		next(r, &rec, KTAU_REC_END);
		assert_int_equal(ktau_reader_next(r, &rec), -EBADMSG);
		assert_non_null(strstr(ktau_reader_error(r), "at byte 128"));
		assert_int_equal(ktau_reader_damage(r)->first_offset, 128);
		ktau_reader_destroy(r);
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
		{ "\x10\0\0\0\1\0\x10\0KTAU\2\0\0\0", 16, "version" },
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

static struct stream sample(bool big)
{
	struct stream s = { .word_bits = 64, .big = big };

	put_stream(&s, KTAU_REC_PROFILE, 0x3f);
	put_task(&s, 1, 100, 0, 10);
	put_profile(&s, &full);
	put_end(&s);
	put_stream(&s, KTAU_REC_TRACE, 0x3f);
	put_trace(&s, &traced);
	put_end(&s);
	return s;
}

/* A file may have been open before: it is left, as by any other opening. */
static void unknown_content(void **state)
{
	struct ktau_query query = { .content = 7, .target = KTAU_TARGET_ALL };
	struct stream s = sample(false);
	struct ktau_reader *r;
	union ktau_record rec;

	(void)state;
	assert_int_equal(ktau_reader_create(&r), 0);
	assert_int_equal(ktau_reader_open_memory(r, s.data, s.size), 0);
	assert_int_equal(ktau_reader_restart(r, &query), -EINVAL);
	assert_string_equal(ktau_reader_error(r), "memory: not open for such a stream");
	assert_int_equal(ktau_reader_next(r, &rec), 1);
	assert_int_equal(ktau_reader_open_live(r, &query), -EINVAL);
	assert_non_null(strstr(ktau_reader_error(r), "neither profile nor trace"));
	assert_int_equal(ktau_reader_next(r, &rec), -EINVAL);
	ktau_reader_destroy(r);
	stream_free(&s);
}

/* Cut anywhere: what is whole comes out, and the reader knows. */
static void cut(void **state)
{
	struct stream s = sample(false);
	static const size_t ends[] = { 128, 448, 752, 824, 952, 1208, 1280 };
	union ktau_record rec;
	struct ktau_reader *r;
	size_t size, whole, i;
	uint8_t *copy;
	int err;

	(void)state;
	assert_int_equal(s.size, ends[NR(ends) - 1]);
	assert_int_equal(ktau_reader_create(&r), 0);
	for (size = 16; size <= s.size; size++) {
		copy = malloc(size);
		assert_non_null(copy);
		memcpy(copy, s.data, size);
		assert_int_equal(ktau_reader_open_memory(r, copy, size), 0);
		for (whole = 0; (err = ktau_reader_next(r, &rec)) > 0; whole++)
			;
		for (i = 0; i < NR(ends) && ends[i] <= size; i++)
			;
		assert_int_equal(whole, i);
		assert_int_equal(err, size == 824 || size == s.size ? 0 : -EBADMSG);
		assert_int_equal(ktau_reader_damage(r)->truncated, err != 0);
		free(copy);
	}
	ktau_reader_destroy(r);
	stream_free(&s);
}

/* Any one bit wrong: no crash, no endless loop, a bounded number of records. */
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
		s = sample(big);
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

static void in_flight(void **state)
{
	const struct frame open[] = {
		{ .id = 1, .start = 900, .child = 30 },
		{ .id = 2, .start = 500, .child = 50 },
		{ .id = 3, .start = 2000 },
	};
	const struct profile p = { .serial = 1, .ticks = 1000, .open = open, .nr_open = 3 };
	struct stream s = { .word_bits = 64 };
	uint64_t incl, excl;
	union ktau_record rec;
	struct ktau_reader *r;

	(void)state;
	put_stream(&s, KTAU_REC_PROFILE, 1);
	put_profile(&s, &p);
	r = open_stream(&s);
	next(r, &rec, KTAU_REC_STREAM);
	next(r, &rec, KTAU_REC_PROFILE);
	assert_int_equal(ktau_profile_inflight(rec.profile, 0, &incl, &excl), 0);
	assert_int_equal(incl, 100);
	assert_int_equal(excl, 70);
	assert_int_equal(ktau_profile_inflight(rec.profile, 1, &incl, &excl), 0);
	assert_int_equal(incl, 500);
	assert_int_equal(excl, 350);
	assert_int_equal(ktau_profile_inflight(rec.profile, 2, &incl, &excl), 0);
	assert_int_equal(incl, 0);
	assert_int_equal(excl, 0);
	assert_int_equal(ktau_profile_inflight(rec.profile, 3, NULL, NULL), -ERANGE);
	ktau_reader_destroy(r);
	stream_free(&s);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(little_64),
		cmocka_unit_test(big_32),
		cmocka_unit_test(grown),
		cmocka_unit_test(short_head),
		cmocka_unit_test(lies),
		cmocka_unit_test(not_ktau),
		cmocka_unit_test(unknown_content),
		cmocka_unit_test(cut),
		cmocka_unit_test(flipped),
		cmocka_unit_test(in_flight),
	};

	return cmocka_run_group_tests_name("libktau: streams", tests, NULL, NULL);
}
