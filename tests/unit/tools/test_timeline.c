// SPDX-License-Identifier: GPL-2.0-only
/*
 * The sequence of events from rings: order, balance, gaps, overlapping streams.
 */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <cmocka.h>

#include <errno.h>
#include <fcntl.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "../../../libktau/user/trace_format.h"
#include "lib/cli.h"
#include "lib/report/region_names.h"
#include "lib/report/registry.h"
#include "rings.h"
#include "analyse/timeline.h"
#include "analyse/user_trace.h"

/* Rings are merged by time. */
static void merge(void **state)
{
	static const struct stream s[] = { { 1000, 0, {
		{ 10, 0, 0, 0, 0, { ENTER(100, 1), CALL(120, 2, 30), EXIT(200, 1) } },
		{ 11, 0, 0, 0, 0, { CALL(110, 3, 20), ENTER(140, 4), EXIT(150, 4) } },
	} } };
	struct seen seen = convert_ok(s, 1);

	(void)state;
	assert_string_equal(seen.text,
			    "100 10 in 1\n110 11 in 3\n120 10 in 2\n130 11 out 3\n140 11 in 4\n"
			    "150 10 out 2\n150 11 out 4\n200 10 out 1\n");
	assert_int_equal(seen.counts.slots, 8);
	assert_int_equal(seen.counts.enters, 4);
}

/*
 * Slots that are newer than the beginning of their stream wait for the next stream, because
 * another ring may have older slots there.
 */
static void between_streams(void **state)
{
	static const struct stream s[] = {
		{ 150, 0, { { 10, 0, 0, 0, 0, { ENTER(100, 1), EXIT(180, 1) } },
			    { 11, 0, 0, 0, 0, { ENTER(120, 2) } } } },
		{ 250, 0, { { 10, 2, 0, 0, 0, { ENTER(210, 3), EXIT(220, 3) } },
			    { 11, 1, 0, 0, 0, { EXIT(160, 2) } } } },
	};
	struct seen seen = convert_ok(s, 2);

	(void)state;
	assert_string_equal(seen.text,
			    "100 10 in 1\n120 11 in 2\n160 11 out 2\n180 10 out 1\n"
			    "210 10 in 3\n220 10 out 3\n");
}

/* A reader that does not consume gets the same slots again. */
static void read_again(void **state)
{
	static const struct stream s[] = {
		{ 150, 0, { { 10, 0, 0, 0, 0, { ENTER(100, 1), EXIT(110, 1) } } } },
		{ 250, 0, { { 10, 0, 0, 0, 0, { ENTER(100, 1), EXIT(110, 1), ENTER(200, 2),
						EXIT(210, 2) } } } },
	};
	struct seen seen = convert_ok(s, 2);

	(void)state;
	assert_string_equal(seen.text, "100 10 in 1\n110 10 out 1\n200 10 in 2\n210 10 out 2\n");
}

/* A gap ends all frames; an exit without an enter is omitted. */
static void gap(void **state)
{
	static const struct stream s[] = {
		{ 150, 0, { { 10, 0, 0, 0, 0, { ENTER(100, 1), ENTER(110, 2) } } } },
		{ 400, 0, { { 10, 12, 10, 120, 300, { EXIT(310, 1), ENTER(320, 3),
						      EXIT(330, 3) } } } },
	};
	struct seen seen = convert_ok(s, 2);

	(void)state;
	assert_string_equal(seen.text,
			    "100 10 in 1\n110 10 in 2\n120 10 out 2 by loss\n120 10 out 1 by loss\n"
			    "120 10 lost 10\n320 10 in 3\n330 10 out 3\n");
	assert_int_equal(seen.counts.lost, 10);
	assert_int_equal(seen.counts.gaps, 1);
	assert_int_equal(seen.counts.half_exits, 1);
	assert_int_equal(seen.counts.half_enters, 2);
}

/*
 * A record may have a loss and no slots. The loss ends when the next slot was written, and the
 * record of a reader that does not consume may be repeated.
 */
static void gap_without_slots(void **state)
{
	static const struct stream s[] = {
		{ 150, 0, { { 10, 0, 0, 0, 0, { ENTER(100, 1) } } } },
		{ 400, 0, { { 10, 11, 10, 120, 410, { { 0 } } },
			    { 11, 0, 0, 0, 0, { CALL(395, 4, 1), CALL(407, 4, 1) } } } },
		{ 500, 0, { { 10, 11, 10, 120, 510, { ENTER(405, 3), EXIT(408, 3) } } } },
		{ 600, 0, { { 10, 18, 5, 520, 610, { { 0 } } } } },
		{ 700, 0, { { 10, 18, 5, 520, 710, { { 0 } } } } },
	};
	struct seen seen = convert_ok(s, 5);

	(void)state;
	assert_string_equal(seen.text,
			    "100 10 in 1\n395 11 in 4\n396 11 out 4\n"
			    "120 10 out 1 by loss\n120 10 lost 10\n405 10 in 3\n407 11 in 4\n"
			    "408 10 out 3\n408 11 out 4\n520 10 lost 5\n");
	assert_int_equal(seen.counts.lost, 15);
	assert_int_equal(seen.counts.gaps, 2);
	assert_int_equal(seen.counts.half_enters, 1);
	assert_int_equal(seen.counts.clamped, 0);
}

/*
 * Records that are missing, as those of a damaged block, are a loss. It begins with the last slot
 * that is there, also if slots were lost after them; before the first record nothing is missing.
 */
static void missing_records(void **state)
{
	static const struct stream s[] = {
		{ 150, 0, { { 10, 0, 0, 0, 0, { ENTER(100, 1), ENTER(110, 2) } },
			    { 11, 0, 0, 0, 0, { ENTER(105, 4) } },
			    { 12, 0, 0, 0, 0, { ENTER(107, 5) } } } },
		{ 400, 0, { { 10, 12, 0, 0, 0, { EXIT(310, 1), CALL(320, 3, 10) } },
			    { 11, 8, 4, 200, 300, { EXIT(305, 4) } },
			    { 12, 7, 0, 0, 0, { { 0 } } },
			    { 13, 9, 0, 0, 0, { CALL(315, 6, 1) } } } },
		{ 500, 0, { { 12, 7, 0, 0, 0, { EXIT(350, 5), CALL(360, 5, 5) } } } },
	};
	struct seen seen = convert_ok(s, 3);

	(void)state;
	assert_string_equal(seen.text,
			    "100 10 in 1\n105 11 in 4\n107 12 in 5\n110 10 in 2\n"
			    "105 11 out 4 by loss\n105 11 lost 7\n"
			    "110 10 out 2 by loss\n110 10 out 1 by loss\n110 10 lost 10\n"
			    "315 13 in 6\n316 13 out 6\n320 10 in 3\n330 10 out 3\n"
			    "107 12 out 5 by loss\n107 12 lost 6\n360 12 in 5\n365 12 out 5\n");
	assert_int_equal(seen.counts.lost, 23);
	assert_int_equal(seen.counts.gaps, 3);
	assert_int_equal(seen.counts.half_exits, 3);
	assert_int_equal(seen.counts.clamped, 0);
}

/* A task first read late: its loss begins with the recording or, if that is later, with it. */
static void gap_begins(void **state)
{
	static const struct stream s[] = {
		{ 500000, 0, { { 0 } }, KTAU_REC_PROFILE },
		{ 600000, 0, { { 10, 0, 0, 0, 0, { CALL(550000, 1, 5) } } } },
		{ 900000, 0, { { 11, 9, 9, 0, 800000, { CALL(800000, 2, 5) }, 1 },
			       { 12, 9, 9, 0, 800000, { CALL(800000, 3, 5) }, 700000 } } },
	};
	/* Without an earlier stream, the recording begins with the oldest slot. */
	static const struct stream ring[] = {
		{ 900000, 0, { { 10, 0, 0, 0, 0, { CALL(300000, 1, 5) }, 1 },
			       { 11, 9, 9, 0, 800000, { CALL(800000, 2, 5) }, 1 } } },
	};
	struct seen seen = convert_ok(s, 3);

	(void)state;
	assert_string_equal(seen.text,
			    "550000 10 in 1\n550005 10 out 1\n500000 11 lost 9\n800000 11 in 2\n"
			    "700000 12 lost 9\n800000 12 in 3\n800005 11 out 2\n800005 12 out 3\n");
	seen = convert_ok(ring, 1);
	assert_string_equal(seen.text, "300000 10 in 1\n300005 10 out 1\n300000 11 lost 9\n"
				       "800000 11 in 2\n800005 11 out 2\n");
}

/* A TRACE record in a stream of profiles does not belong there, and is ignored. */
static void misplaced(void **state)
{
	static const struct stream s[] = {
		{ 150, 0, { { 10, 0, 0, 0, 0, { ENTER(100, 1) } } }, KTAU_REC_PROFILE },
	};
	struct seen seen = convert_ok(s, 1);

	(void)state;
	assert_string_equal(seen.text, "");
	assert_int_equal(seen.counts.misplaced, 1);
}

/* Exits that are missing without a gap do not leave frames open forever. */
static void unbalanced(void **state)
{
	static const struct stream s[] = { { 1000, 0, {
		{ 10, 0, 0, 0, 0, { EXIT(90, 9), ENTER(100, 1), ENTER(110, 2), EXIT(120, 1),
				    EXIT(130, 2) } },
	} } };
	struct seen seen = convert_ok(s, 1);

	(void)state;
	assert_string_equal(seen.text, "100 10 in 1\n110 10 in 2\n120 10 out 2 by loss\n"
				       "120 10 out 1\n");
	assert_int_equal(seen.counts.half_exits, 2);
	assert_int_equal(seen.counts.half_enters, 1);
}

/* Frames open at the end last until the newest stream; times never decrease. */
static void unfinished(void **state)
{
	static const struct stream s[] = { { 500, 0, {
		{ 10, 0, 0, 0, 0, { ENTER(100, 1), ENTER(90, 2), EXIT(130, 2) } },
	} } };
	struct seen seen = convert_ok(s, 1);

	(void)state;
	assert_string_equal(seen.text, "100 10 in 1\n100 10 in 2\n130 10 out 2\n"
				       "500 10 out 1 by end\n");
	assert_int_equal(seen.counts.unfinished, 1);
	assert_int_equal(seen.counts.clamped, 1);
}

static void errors(void **state)
{
	static const struct stream s[] = {
		{ 150, 0, { { 10, 0, 0, 0, 0, { ENTER(100, 1), ENTER(110, 2) } } } },
		{ 250, 1, { { 10, 0, 0, 0, 0, { ENTER(200, 1) } } } },
	};
	static const struct stream backward[] = {
		{ 250, 0, { { 10, 0, 0, 0, 0, { ENTER(200, 1) } } } },
		{ 150, 0, { { 10, 0, 0, 0, 0, { ENTER(100, 1) } } } },
	};
	struct seen seen = { .refuse_after = 2 };

	(void)state;
	rings_given = s;
	rings_nr = 1;
	assert_int_equal(rings_convert(&seen), -ENOSPC);
	seen = (struct seen){ .used = 0 };
	rings_nr = 2;
	assert_int_equal(rings_convert(&seen), -EXDEV);
	seen = (struct seen){ .used = 0 };
	rings_given = backward;
	assert_int_equal(rings_convert(&seen), -ESTALE);
}

/* Exclusive time excludes inner frames; a frame inside one of the same event is nested. */
static int take_times(void *arg, const struct timeline_event *e)
{
	struct seen *s = arg;

	if (e->type == KTAU_TRACE_EXIT)
		s->used += (size_t)snprintf(s->text + s->used, sizeof(s->text) - s->used,
					    "%u %llu %llu%s\n", e->id,
					    (unsigned long long)(e->ns - e->from_ns),
					    (unsigned long long)e->excl_ns,
					    e->nested ? " nested" : "");
	return 0;
}

static void times(void **state)
{
	static const struct stream s[] = { { 1000, 0, {
		{ 10, 0, 0, 0, 0, { ENTER(100, 1), CALL(110, 2, 5), ENTER(120, 1), CALL(130, 2, 7),
				    EXIT(150, 1), EXIT(200, 1) } },
	} } };
	struct seen seen = { .used = 0 };
	const struct timeline_sink sink = { NULL, take_times, &seen };
	struct ktau_reader *reader;
	union ktau_record record;
	struct timeline *t;

	(void)state;
	rings_given = s;
	rings_nr = 1;
	unlink(rings_path);
	assert_int_equal(fixture_saved(rings_path, rings_put), 0);
	assert_int_equal(ktau_reader_create(&reader), 0);
	assert_int_equal(ktau_reader_open_file(reader, rings_path), 0);
	t = timeline_create(NULL, &sink);
	while (ktau_reader_next(reader, &record) > 0)
		assert_int_equal(timeline_put(t, reader, &record), 0);
	assert_int_equal(timeline_finish(t), 0);
	assert_string_equal(seen.text, "2 5 5\n2 7 7\n1 30 23 nested\n1 100 65\n");
	assert_int_equal(timeline_track_at(t, 0)->serial, 10);
	assert_null(timeline_track_at(t, 1));
	timeline_destroy(t);
	ktau_reader_destroy(reader);
}

/* Many rings with alternating slots: each time occurs once, in order. */
static int check_order(void *arg, const struct timeline_event *e)
{
	uint64_t *last = arg;

	assert_true(e->ns >= *last);
	*last = e->ns;
	return 0;
}

static void many(void **state)
{
	uint64_t last = 0;
	const struct timeline_sink sink = { NULL, check_order, &last };
	static struct stream s[40];
	struct ktau_reader *reader;
	struct timeline *t;
	uint64_t i, r, k;

	(void)state;
	for (i = 0; i < 40; i++) {
		s[i].ticks = 1000 * (i + 1);
		for (r = 0; r < 3; r++) {
			s[i].rings[r].serial = 10 + r;
			s[i].rings[r].first = 14 * i;
			for (k = 0; k < 14; k++)
				s[i].rings[r].slots[k] = (struct given){
					1000 * i + 500 + k * 40 + (k * 7 + r * 13) % 40,
					k % 2 ? KTAU_TRACE_EXIT : KTAU_TRACE_ENTER, 1, 0,
				};
		}
	}
	rings_given = s;
	rings_nr = 40;
	unlink(rings_path);
	assert_int_equal(fixture_saved(rings_path, rings_put), 0);
	assert_int_equal(ktau_reader_create(&reader), 0);
	assert_int_equal(ktau_reader_open_file(reader, rings_path), 0);
	t = timeline_create(reader, &sink);
	assert_int_equal(timeline_read(t), 0);
	assert_int_equal(timeline_counts(t)->slots, 40 * 3 * 14);
	assert_int_equal(timeline_counts(t)->enters, 40 * 3 * 7);
	assert_int_equal(timeline_counts(t)->clamped, 0);
	timeline_destroy(t);
	ktau_reader_destroy(reader);
}

/* Traces of programs. */

static void user_path(char *at, size_t bytes, const char *what)
{
	snprintf(at, bytes, "%s/%s.host.1.1", rings_folder, what);
}

/* Write the trace of task 10 whose slots, up to one of type 0, are the last of @written. */
static void put_user(const struct ktau__trace_slot *slots, uint64_t written, const char *boot)
{
	static struct {
		struct ktau__trace_header h;
		struct ktau__trace_slot slot[KTAU__TRACE_MIN_SLOTS];
	} f;
	char name[100], text[37];
	uint64_t nr = 0;
	FILE *file;

	memset(&f, 0, sizeof(f));
	while (slots[nr].type)
		nr++;
	region_names_boot(text, fixture_boot_id);
	f.h = (struct ktau__trace_header){ .magic = KTAU__TRACE_MAGIC, .serial = 10,
					   .nr_slots = KTAU__TRACE_MIN_SLOTS,
					   .written = written ? written : nr };
	memcpy(f.h.boot, boot ? boot : text, sizeof(f.h.boot));
	while (nr--)
		f.slot[(f.h.written - 1 - nr) % KTAU__TRACE_MIN_SLOTS] = *slots++;
	user_path(name, sizeof(name), "ktau-user-trace");
	file = fopen(name, "w");
	assert_non_null(file);
	assert_int_equal(fwrite(&f, sizeof(f), 1, file), 1);
	fclose(file);
	user_path(name, sizeof(name), "ktau-user");
	file = fopen(name, "w");
	assert_non_null(file);
	fprintf(file, "ktau-user 1\nboot %s\nserial 10\npid 1\ntid 1\nregion 1 0 main\n"
		"region 2 1 foo\nregion 3 1 bar\nevent 0 step\n", text);
	fclose(file);
}

#define REGION(t, n) ((struct ktau__trace_slot){ t, 0, n, KTAU__TRACE_REGION, 0 })
#define VALUE(t, v) ((struct ktau__trace_slot){ t, v, 0, KTAU__TRACE_VALUE, 0 })

static struct seen convert_users(const struct stream *s, size_t nr,
				 const struct ktau__trace_slot *slots)
{
	struct seen seen = { .with_users = true, .with_excl = true };

	put_user(slots, 0, NULL);
	rings_given = s;
	rings_nr = nr;
	assert_int_equal(rings_convert(&seen), 0);
	return seen;
}

/*
 * Regions are around the frames of the kernel: bar is u1, foo u2, main u3, and the library itself
 * u4. At the same time, frames of the kernel end before regions change, and begin after it. What
 * the program did after the end of the kernel's trace is left out.
 */
static void regions(void **state)
{
	static const struct stream s[] = { { 1000, 0, {
		{ 10, 0, 0, 0, 0, { CALL(120, 2, 30), ENTER(200, 1), EXIT(210, 1) } },
		{ 11, 0, 0, 0, 0, { CALL(125, 3, 10) } },
	} } };
	static const struct ktau__trace_slot slots[] = {
		REGION(100, 1), REGION(105, KTAU__TRACE_OWN + 1), REGION(110, 2), VALUE(115, 77),
		REGION(150, 3), REGION(200, 1),
		VALUE(210, 78), REGION(300, 0), REGION(1001, 1), { 0 },
	};
	struct seen seen = convert_users(s, 1, slots);

	(void)state;
	assert_string_equal(seen.text,
			    "100 10 in u3\n105 10 in u4\n110 10 out u4 excl 5\n"
			    "110 10 in u2\n115 10 mark u77\n120 10 in 2\n"
			    "125 11 in 3\n135 11 out 3 excl 10\n"
			    "150 10 out 2 excl 30\n150 10 out u2 excl 10\n150 10 in u1\n"
			    "200 10 out u1 excl 50\n200 10 in 1\n210 10 out 1 excl 10\n"
			    "210 10 mark u78\n300 10 out u3 excl 95\n");
	assert_int_equal(seen.counts.half_enters + seen.counts.clamped, 0);
}

/* A gap ends the frames of the kernel, and is inside the regions. */
static void regions_gap(void **state)
{
	static const struct stream s[] = {
		{ 115, 0, { { 10, 0, 0, 0, 0, { ENTER(100, 1), ENTER(110, 2) } } } },
		{ 400, 0, { { 10, 12, 10, 120, 300, { EXIT(310, 1), ENTER(320, 3),
						      EXIT(330, 3) } } } },
	};
	static const struct ktau__trace_slot slots[] = {
		REGION(90, 2), REGION(200, 3), REGION(305, 0), { 0 },
	};
	struct seen seen = convert_users(s, 2, slots);

	(void)state;
	assert_string_equal(seen.text,
			    "90 10 in u3\n90 10 in u2\n100 10 in 1\n110 10 in 2\n"
			    "120 10 out 2 by loss excl 10\n120 10 out 1 by loss excl 10\n"
			    "120 10 lost 10\n200 10 out u2 excl 10\n200 10 in u1\n"
			    "200 10 lost 0\n305 10 out u1 excl 5\n305 10 out u3 excl 0\n"
			    "320 10 in 3\n330 10 out 3 excl 10\n");
	assert_int_equal(seen.counts.lost, 10);
	assert_int_equal(seen.counts.gaps, 1);
}

/* A task that appears later is in its last region; its later slots wait for those of the kernel. */
static void regions_later(void **state)
{
	static const struct stream s[] = {
		{ 200, 0, { { 11, 0, 0, 0, 0, { CALL(100, 3, 10) } } } },
		{ 300, 0, { { 10, 0, 0, 0, 0, { CALL(210, 2, 10) } },
			    { 11, 2, 0, 0, 0, { CALL(305, 3, 1) } } } },
		{ 500, 0, { { 10, 2, 0, 0, 0, { CALL(310, 2, 10), CALL(460, 2, 10) } },
			    { 11, 4, 0, 0, 0, { CALL(315, 3, 10) } } } },
	};
	static const struct ktau__trace_slot slots[] = {
		REGION(90, 2), VALUE(95, 1), REGION(150, 1), VALUE(160, 1), REGION(450, 0), { 0 },
	};
	struct seen seen = convert_users(s, 3, slots);

	(void)state;
	assert_string_equal(seen.text,
			    "100 11 in 3\n110 11 out 3 excl 10\n200 10 in u2\n210 10 in 2\n"
			    "220 10 out 2 excl 10\n305 11 in 3\n306 11 out 3 excl 1\n"
			    "310 10 in 2\n315 11 in 3\n"
			    "320 10 out 2 excl 10\n325 11 out 3 excl 10\n"
			    "450 10 out u2 excl 230\n460 10 in 2\n470 10 out 2 excl 10\n");
}

/* The regions of a program that has been replaced by execve() end when this call ends. */
static void regions_exec(void **state)
{
	static const struct stream s[] = { { 1000, 0, {
		{ 10, 0, 0, 0, 0, { ENTER(100, 59), { 110, KTAU_TRACE_EXEC, KTAU_ID_NONE, 65 },
				    EXIT(120, 59), CALL(130, 2, 10) } },
	} } };
	static const struct ktau__trace_slot slots[] = { REGION(90, 1), { 0 } };
	struct seen seen = convert_users(s, 1, slots);

	(void)state;
	assert_string_equal(seen.text,
			    "90 10 in u1\n100 10 in 59\n110 10 other u0\n120 10 out 59 excl 20\n"
			    "120 10 out u1 excl 10\n130 10 in 2\n140 10 out 2 excl 10\n");
}

/* Of several traces of the same thread, none is used. */
static void regions_double(void **state)
{
	static const struct stream s[] = { { 1000, 0, {
		{ 10, 0, 0, 0, 0, { CALL(500, 2, 10) } },
	} } };
	static const struct ktau__trace_slot slots[] = { REGION(90, 1), { 0 } };
	struct seen seen;
	char name[100], copy[2][112];
	int i;

	(void)state;
	put_user(slots, 0, NULL);
	user_path(name, sizeof(name), "ktau-user-trace");
	for (i = 0; i < 2; i++) {
		snprintf(copy[i], sizeof(copy[i]), "%s.%d", name, i);
		assert_int_equal(link(name, copy[i]), 0);
	}
	seen = convert_users(s, 1, slots);
	for (i = 0; i < 2; i++)
		unlink(copy[i]);
	assert_string_equal(seen.text, "500 10 in 2\n510 10 out 2 excl 10\n");
}

static void set_size(uint32_t nr_slots)
{
	char name[100];
	int fd;

	user_path(name, sizeof(name), "ktau-user-trace");
	fd = open(name, O_WRONLY);
	assert_true(fd >= 0);
	assert_int_equal(pwrite(fd, &nr_slots, sizeof(nr_slots),
				offsetof(struct ktau__trace_header, nr_slots)),
			 sizeof(nr_slots));
	close(fd);
}

/*
 * A ring that has wrapped, whose oldest slot may be in the course of being overwritten; invalid
 * slots; another boot; files that are too short.
 */
static void regions_damaged(void **state)
{
	static const struct stream s[] = { { 1000, 0, {
		{ 10, 0, 0, 0, 0, { CALL(500, 2, 10) } },
	} } };
	static const struct ktau__trace_slot nonsense[] = {
		{ .ticks = 300, .type = 9, .number = 1 },
		REGION(310, KTAU__TRACE_OWN + KTAU_REGIONS_MAX),
		{ .ticks = 320, .type = KTAU__TRACE_VALUE, .number = KTAU__TRACE_EVENTS },
		REGION(400, 255), REGION(399, 1), { 0 },
	};
	static struct ktau__trace_slot full[KTAU__TRACE_MIN_SLOTS + 1];
	struct seen seen = { .with_users = true };
	char name[100];
	int i;

	(void)state;
	seen = convert_users(s, 1, nonsense);
	assert_string_equal(seen.text, "400 10 in u1\n400 10 out u1 excl 0\n400 10 in u2\n"
				       "500 10 in 2\n510 10 out 2 excl 10\n"
				       "1000 10 out u2 by end excl 590\n");
	for (i = 0; i < KTAU__TRACE_MIN_SLOTS; i++)
		full[i] = REGION(100 + i, i ? 1 : 2);
	put_user(full, 1000, NULL);
	seen = (struct seen){ .with_users = true };
	assert_int_equal(rings_convert(&seen), 0);
	assert_string_equal(seen.text, "101 10 in u1\n500 10 in 2\n510 10 out 2\n"
				       "1000 10 out u1 by end\n");
	put_user(full, 1000, "00000000-0000-0000-0000-000000000000");
	seen = (struct seen){ .with_users = true };
	assert_int_equal(rings_convert(&seen), 0);
	assert_string_equal(seen.text, "500 10 in 2\n510 10 out 2\n");
	put_user(full, 1000, NULL);
	user_path(name, sizeof(name), "ktau-user-trace");
	assert_int_equal(truncate(name, 500), 0);
	seen = (struct seen){ .with_users = true };
	assert_int_equal(rings_convert(&seen), 0);
	assert_string_equal(seen.text, "500 10 in 2\n510 10 out 2\n");
	put_user(full, 1000, NULL);
	set_size(KTAU__TRACE_MIN_SLOTS / 2);
	seen = (struct seen){ .with_users = true };
	assert_int_equal(rings_convert(&seen), 0);
	assert_string_equal(seen.text, "500 10 in 2\n510 10 out 2\n");
}

/* The number of slots in a header that is read for the second time, unless it is 0. */
static uint64_t rewritten;

ssize_t __real_pread64(int fd, void *to, size_t bytes, off_t at);
ssize_t __wrap_pread64(int fd, void *to, size_t bytes, off_t at);

ssize_t __wrap_pread64(int fd, void *to, size_t bytes, off_t at)
{
	static int nr_headers;
	ssize_t got = __real_pread64(fd, to, bytes, at);

	if (rewritten && bytes == sizeof(struct ktau__trace_header) && ++nr_headers % 2 == 0)
		((struct ktau__trace_header *)to)->written = rewritten;
	return got;
}

/* The program counts back while the file is read. */
static void regions_rewritten(void **state)
{
	static const struct stream s[] = { { 1000, 0, {
		{ 10, 0, 0, 0, 0, { CALL(500, 2, 10) } },
	} } };
	static const struct ktau__trace_slot slots[] = { REGION(90, 1), { 0 } };
	struct seen seen = { .with_users = true };

	(void)state;
	rings_given = s;
	rings_nr = 1;
	put_user(slots, UINT64_MAX / 2, NULL);
	rewritten = 5;
	assert_int_equal(rings_convert(&seen), 0);
	rewritten = 0;
	assert_string_equal(seen.text, "500 10 in 2\n510 10 out 2\n");
}

/* Create or remove 40 files of a header each; @first is the number of the first. */
static void put_short(int first, bool is_there)
{
	struct ktau__trace_header h = { .magic = KTAU__TRACE_MAGIC,
					.nr_slots = KTAU__TRACE_MAX_SLOTS };
	char name[100], text[37];
	FILE *file;
	int i;

	region_names_boot(text, fixture_boot_id);
	memcpy(h.boot, text, sizeof(h.boot));
	for (i = first; i < first + 40; i++) {
		snprintf(name, sizeof(name), "%s/" KTAU__TRACE_PREFIX "short.%d", rings_folder, i);
		if (!is_there) {
			unlink(name);
			continue;
		}
		h.serial = 1000 + (uint64_t)i;
		file = fopen(name, "w");
		assert_non_null(file);
		assert_int_equal(fwrite(&h, sizeof(h), 1, file), 1);
		fclose(file);
	}
}

/* Files that are shorter than their headers say do not count towards the limit. */
static void regions_short(void **state)
{
	static const struct stream s[] = { { 1000, 0, {
		{ 10, 0, 0, 0, 0, { CALL(500, 2, 10) } },
	} } };
	static const struct ktau__trace_slot slots[] = { REGION(90, 1), { 0 } };
	struct seen seen;

	(void)state;
	put_short(0, true);
	put_user(slots, 0, NULL);
	put_short(40, true);
	seen = convert_users(s, 1, slots);
	put_short(0, false);
	put_short(40, false);
	assert_string_equal(seen.text, "90 10 in u1\n500 10 in 2\n510 10 out 2 excl 10\n"
				       "1000 10 out u1 by end excl 900\n");
}

static int remove_folder(void **state)
{
	char name[100];

	(void)state;
	user_path(name, sizeof(name), "ktau-user-trace");
	unlink(name);
	user_path(name, sizeof(name), "ktau-user");
	unlink(name);
	return rmdir(rings_folder);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(merge),
		cmocka_unit_test(between_streams),
		cmocka_unit_test(read_again),
		cmocka_unit_test(gap),
		cmocka_unit_test(gap_without_slots),
		cmocka_unit_test(missing_records),
		cmocka_unit_test(gap_begins),
		cmocka_unit_test(misplaced),
		cmocka_unit_test(unbalanced),
		cmocka_unit_test(unfinished),
		cmocka_unit_test(errors),
		cmocka_unit_test(times),
		cmocka_unit_test(many),
		cmocka_unit_test(regions),
		cmocka_unit_test(regions_gap),
		cmocka_unit_test(regions_later),
		cmocka_unit_test(regions_exec),
		cmocka_unit_test(regions_double),
		cmocka_unit_test(regions_damaged),
		cmocka_unit_test(regions_rewritten),
		cmocka_unit_test(regions_short),
	};
	int fd = mkstemp(rings_path), err;

	cli_init("test_timeline");
	if (fd < 0 || !mkdtemp(rings_folder))
		return 1;
	close(fd);
	err = cmocka_run_group_tests(tests, NULL, remove_folder);
	unlink(rings_path);
	return err;
}
