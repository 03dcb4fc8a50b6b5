// SPDX-License-Identifier: GPL-2.0-only
/* libktau-user without a kernel: programs that read their own figures. */
#include <errno.h>
#include <fcntl.h>
#include <pthread.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <unistd.h>

#include <ktau_user.h>
#include <linux/ktau.h>

#include "user_fake.h"

static void expect_figures(int (*read)(uint32_t, uint64_t *, uint64_t *, uint64_t *),
			   uint32_t event, int wanted, const uint64_t *figure)
{
	uint64_t count = 99, incl = 99, excl = 99;

	assert_int_equal(read(event, &count, &incl, &excl), wanted);
	assert_int_equal(count, figure[0]);
	assert_int_equal(incl, figure[1]);
	assert_int_equal(excl, figure[2]);
}

#define FIGURES(...) ((const uint64_t[]){ __VA_ARGS__ })

/* The events of the kernel, in more than one read(). */
static void write_events(void)
{
	FILE *file = fopen(events_file, "w");
	int i;

	assert_non_null(file);
	fputs("# id group kind address name\n0 syscall timer 0 __x64_sys_read\n", file);
	fputs("7 syscall timer 0 __ia_compat_sys\n", file);
	for (i = 100; i < 300; i++)
		fprintf(file, "%d syscall timer ffffffff81a0b2c0 __x64_sys_call%d\n", i, i);
	fprintf(file, "400 syscall timer 0 %0600d\nx syscall timer 0 bad\n401 syscall\n", 0);
	fputs("640 tcp timer 0 an_event\n641 syscall counter 0 values\n1027 syscall timer 0 "
	      "__ia32_sys_read\n", file);
	fclose(file);
}

static void *mapped_thread(void *arg)
{
	struct ktau_user_frame frame;
	static struct ktau_user_point point[2] = { { "first", 0 }, { "second", 0 } };

	expect_figures(ktau_user_read, 39, 0, FIGURES(7, 70, 60));
	assert_true(ktau_user_is_mapped());
	assert_int_equal(ktau_user_hz(), 1234567);
	expect_figures(ktau_user_read_region, 39, -ENOENT, FIGURES(99, 99, 99));
	ktau_user_enter(&frame, &point[0]);
	expect_figures(ktau_user_read, 39, 0, FIGURES(12, 120, 100));
	expect_figures(ktau_user_read_region, 39, 0, FIGURES(5, 50, 40));
	expect_figures(ktau_user_read_region, 1023, 0, FIGURES(1, 2, 3));
	expect_figures(ktau_user_read, 40, 0, FIGURES(0, 0, 0));
	figures->block[4][0].count = 3;
	expect_figures(ktau_user_read, 32, 0, FIGURES(3, 0, 0));
	expect_figures(ktau_user_read, 500, 0, FIGURES(0, 0, 0));
	expect_figures(ktau_user_read, 1024, -ENODATA, FIGURES(99, 99, 99));
	assert_int_equal(ktau_user_read(39, NULL, NULL, NULL), 0);
	figures->header.region[0].refused = 1;
	expect_figures(ktau_user_read, 39, 1, FIGURES(12, 120, 100));
	expect_figures(ktau_user_read_region, 39, 0, FIGURES(5, 50, 40));
	ktau_user_exit(&frame);
	ktau_user_enter(&frame, &point[1]);
	expect_figures(ktau_user_read_region, 39, 0, FIGURES(0, 0, 0));
	ktau_user_exit(&frame);
	return arg;
}

static void mapped(void **state)
{
	(void)state;
	with_figures = true;
	in_thread(mapped_thread);
	with_figures = false;
}

/*
 * Like an interrupt between two reads: the second cell is in a page that cannot be read at first,
 * and the signal handler adds to both cells.
 */
static void on_fault(int sig)
{
	(void)sig;
	figures->block[3][39 % 8] = (struct ktau_area_cell){ 8, 80, 70, 11 };
	figures->block[FAR][39 % 8] = (struct ktau_area_cell){ 6, 60, 50, 12 };
	mprotect(shown + 2 * 4096, 4096, PROT_READ); /* NOLINT(bugprone-signal-handler) */
}

static void *changing_thread(void *arg)
{
	KTAU_USER_SCOPE("outer");

	set_block(2, 39, FAR);
	figures->block[FAR][39 % 8] = (struct ktau_area_cell){ 5, 50, 40, 12 };
	expect_figures(ktau_user_read, 39, 0, FIGURES(12, 120, 100));
	signal(SIGSEGV, on_fault);
	assert_int_equal(mprotect(shown + 2 * 4096, 4096, PROT_NONE), 0);
	expect_figures(ktau_user_read, 39, 0, FIGURES(14, 140, 120));
	signal(SIGSEGV, SIG_DFL);
	return arg;
}

static void changing(void **state)
{
	(void)state;
	with_figures = true;
	in_thread(changing_thread);
	with_figures = false;
}

static void *unmapped_thread(void *arg)
{
	ktau_user_read(39, NULL, NULL, NULL);
	assert_false(ktau_user_is_mapped());
	return arg;
}

/* A stream of a newer kernel: structures are longer, and it has an unknown record. */
struct crafted {
	struct ktau_rec_stream stream;
	uint64_t more;
	struct ktau_rec_event event;
	struct ktau_rec unknown;
	struct ktau_rec_profile profile;
	struct {
		struct ktau_entry entry;
		uint64_t more;
	} entry[2];
	struct ktau_rec_region region;
	struct ktau_entry inside;
	struct ktau_rec_end end;
};

static void craft(struct crafted *c)
{
	const uint32_t entry = sizeof(c->entry[0]);

	memset(c, 0, sizeof(*c));
	c->stream.rec = (struct ktau_rec){ sizeof(c->stream) + 8, KTAU_REC_STREAM,
					   sizeof(c->stream) + 8 };
	c->stream.clock_hz = 1000;
	c->event.rec = (struct ktau_rec){ 40, KTAU_REC_EVENT, 40 };
	c->unknown = (struct ktau_rec){ 8, 999, 8 };
	c->profile.rec = (struct ktau_rec){ sizeof(c->profile) + 2 * entry, KTAU_REC_PROFILE,
					    sizeof(c->profile) };
	c->profile.nr_entries = 2;
	c->profile.entry_size = entry;
	c->entry[0].entry = (struct ktau_entry){ .id = 39, .count = 4, .incl = 30, .excl = 20 };
	c->entry[1].entry = (struct ktau_entry){ .id = 2000, .count = 5, .incl = 6, .excl = 7 };
	c->region.rec = (struct ktau_rec){ sizeof(c->region) + 64, KTAU_REC_REGION,
					   sizeof(c->region) };
	c->region.region = 1;
	c->region.nr_entries = 1;
	c->region.entry_size = 64;
	c->inside = (struct ktau_entry){ .id = 39, .count = 3, .incl = 9, .excl = 8 };
	c->end.rec = (struct ktau_rec){ sizeof(c->end), KTAU_REC_END, sizeof(c->end) };
}

static void write_stream(const struct crafted *c, size_t bytes)
{
	FILE *file = fopen(stream_file, "w");

	assert_non_null(file);
	if (bytes)
		assert_int_equal(fwrite(c, 1, bytes, file), bytes);
	fclose(file);
}

static void *stream_thread(void *arg)
{
	KTAU_USER_SCOPE("outer");
	struct crafted c;
	size_t i;

	craft(&c);
	write_stream(&c, sizeof(c));
	assert_int_equal(ktau_user_hz(), 1000);
	expect_figures(ktau_user_read, 39, 0, FIGURES(4, 30, 20));
	expect_figures(ktau_user_read, 2000, 0, FIGURES(5, 6, 7));
	expect_figures(ktau_user_read, 40, 0, FIGURES(0, 0, 0));
	expect_figures(ktau_user_read_region, 39, 0, FIGURES(3, 9, 8));
	c.region.refused = 1;
	write_stream(&c, sizeof(c));
	expect_figures(ktau_user_read_region, 39, 1, FIGURES(3, 9, 8));
	for (i = 0; i < sizeof(c) - sizeof(c.end); i += 8) {
		write_stream(&c, i);
		assert_int_equal(ktau_user_read(39, NULL, NULL, NULL), -ENODATA);
	}
	c.profile.entry_size = 1 << 30;
	write_stream(&c, sizeof(c));
	assert_int_equal(ktau_user_read(39, NULL, NULL, NULL), -EPROTO);
	c.profile.rec.size = 4;
	write_stream(&c, sizeof(c));
	assert_int_equal(ktau_user_read(39, NULL, NULL, NULL), -EPROTO);
	return arg;
}

static void streams(void **state)
{
	static char path[100];

	(void)state;
	in_thread(unmapped_thread);
	snprintf(path, sizeof(path), "%s/stream", folder);
	stream_file = path;
	write_stream(NULL, 0);
	in_thread(stream_thread);
	stream_file = "/dev/null";
}

static void events(void **state)
{
	static char path[100];
	char name[40];
	int i;

	(void)state;
	assert_int_equal(ktau_user_event("an_event"), -ENOENT);
	snprintf(path, sizeof(path), "%s/events", folder);
	events_file = path;
	assert_int_equal(ktau_user_event("an_event"), -ENOENT);
	write_events();
	assert_int_equal(ktau_user_event("sys_read"), 0);
	assert_int_equal(ktau_user_event("__x64_sys_read"), 0);
	assert_int_equal(ktau_user_event("__ia32_sys_read"), 1027);
	for (i = 100; i < 300; i++) {
		snprintf(name, sizeof(name), "sys_call%d", i);
		assert_int_equal(ktau_user_event(name), i);
	}
	assert_int_equal(ktau_user_event("read"), -ENOENT);
	assert_int_equal(ktau_user_event("sys"), -ENOENT);
	assert_int_equal(ktau_user_event("an_event"), 640);
	assert_int_equal(ktau_user_event("event"), -ENOENT);
	assert_int_equal(ktau_user_event("bad"), -ENOENT);
	assert_int_equal(ktau_user_event("name"), -ENOENT);
	assert_int_equal(ktau_user_read_name("bad", NULL, NULL, NULL), -ENOENT);
	for (i = 100; i < 300; i++) {
		snprintf(name, sizeof(name), "__x64_sys_call%d", i);
		assert_int_equal(ktau_user_event(name), i);
	}
	events_file = folder;	/* which read() cannot read */
	assert_int_equal(ktau_user_event("other_event"), -EISDIR);
	assert_int_equal(ktau_user_event("an_event"), 640);	/* remembered */
	assert_int_equal(ktau_user_event("__x64_sys_call299"), -EISDIR);	/* too many */
	events_file = path;
}

/* Of a counter in several regions, the smallest minimum counts. */
static void *counters_thread(void *arg)
{
	KTAU_USER_SCOPE("outer");
	const char *path = events_file;

	events_file = "/dev/null";
	expect_figures(ktau_user_read, 641, 0, FIGURES(0, 0, 0));	/* has no id yet */
	events_file = folder;
	expect_figures(ktau_user_read, 641, -EISDIR, FIGURES(99, 99, 99));
	events_file = path;
	set_block(1, 641, 6);
	set_block(2, 641, 7);
	figures->block[7][1] = (struct ktau_area_cell){ 2, 1300, 600, 700 };
	expect_figures(ktau_user_read, 641, 0, FIGURES(2, 1300, 600));
	events_file = folder;	/* what is known is not looked up */
	figures->block[6][1] = (struct ktau_area_cell){ 3, 900, 200, 400 };
	expect_figures(ktau_user_read, 641, 0, FIGURES(5, 2200, 200));
	figures->block[6][1] = (struct ktau_area_cell){ 1, 900, 900, 900 };
	expect_figures(ktau_user_read, 641, 0, FIGURES(3, 2200, 600));
	expect_figures(ktau_user_read_region, 641, 0, FIGURES(2, 1300, 600));
	figures->block[7][1] = (struct ktau_area_cell){ 0, 0, 0, 0 };
	expect_figures(ktau_user_read, 641, 0, FIGURES(1, 900, 900));
	figures->block[6][0] = (struct ktau_area_cell){ 1, 9, 8, 9 };
	figures->block[7][0] = (struct ktau_area_cell){ 1, 7, 6, 7 };
	expect_figures(ktau_user_read, 640, 0, FIGURES(2, 16, 14));
	events_file = path;
	return arg;
}

static void counters(void **state)
{
	(void)state;
	with_figures = true;
	in_thread(counters_thread);
	with_figures = false;
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(mapped),  cmocka_unit_test(changing), cmocka_unit_test(streams),
		cmocka_unit_test(events),  cmocka_unit_test(counters),
	};

	return run_user_tests(tests);
}
