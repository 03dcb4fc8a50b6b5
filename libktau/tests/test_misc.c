// SPDX-License-Identifier: GPL-2.0-only
/* Clock, names, the event table as text. */
#include <errno.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include <cmocka.h>
#include <ktau.h>

#include "../internal.h"
#include "encode.h"

static void clocks(void **state)
{
	struct ktau_rec_stream st = {
		.clock_hz = 3000000000, .clock_flags = KTAU_CLOCK_STABLE, .ticks = 1000000,
		.realtime_ns = 1700000000000000000, .monotonic_ns = 5000000000,
	};
	struct ktau_clock c;

	(void)state;
	assert_int_equal(ktau_clock_init(&c, &st), 0);
	assert_true(c.stable);
	assert_int_equal(ktau_clock_ns(&c, 0), 0);
	assert_int_equal(ktau_clock_ns(&c, 3), 1);
	assert_int_equal(ktau_clock_ns(&c, 3000000000), 1000000000);
	/* A century at 3 GHz: the product has 94 bits. */
	assert_int_equal(ktau_clock_ns(&c, 9467280000ULL * 1000000000), 3155760000000000000);
	assert_int_equal(ktau_clock_ns(&c, UINT64_MAX), 6148914691236517205);
	assert_int_equal(ktau_clock_realtime_ns(&c, 1000000 + 3000), 1700000000000001000);
	assert_int_equal(ktau_clock_realtime_ns(&c, 1000000 - 3000), 1699999999999999000);
	assert_int_equal(ktau_clock_monotonic_ns(&c, 1000000), 5000000000);
	c.hz = 1000;
	assert_int_equal(ktau_clock_ns(&c, UINT64_MAX), UINT64_MAX);
	assert_int_equal(ktau_clock_monotonic_ns(&c, 0), 0);
	assert_int_equal(ktau_clock_realtime_ns(&c, UINT64_MAX), UINT64_MAX);
	c.hz = UINT64_MAX;
	assert_true(ktau_clock_ns(&c, UINT64_MAX) <= 1000000000);

	/* No frequency: from the two pairs, 2 s and 4,000,000,000 ticks apart. */
	st = (struct ktau_rec_stream){
		.ticks = 5000000000, .boot_ticks = 1000000000,
		.monotonic_ns = 2500000000, .boot_monotonic_ns = 500000000,
	};
	assert_int_equal(ktau_clock_init(&c, &st), 0);
	assert_int_equal(c.hz, 2000000000);
	st.boot_monotonic_ns = st.monotonic_ns;
	assert_int_equal(ktau_clock_init(&c, &st), -ENODATA);
	assert_int_equal(ktau_clock_ns(&c, 12345), 12345);
}

/* Each error that the kernel documents for a write to control has a text of its own. */
static void control_reasons(void **state)
{
	static const struct {
		int err;
		const char *text;
	} cases[] = {
		{ -EPERM, "permission denied (requires CAP_SYS_ADMIN)" },
		{ -EACCES, "permission denied (requires CAP_SYS_ADMIN)" },
		{ -EINVAL, "a word is wrong; the kernel log (dmesg) says which and why" },
		{ -ESRCH, "no such task" },
		{ -E2BIG, "more than 64 KiB of words, or more than 64 conditions in a filter" },
		{ -EOPNOTSUPP, "this kernel has no control groups" },
		{ -EIO, "Input/output error" },
	};
	size_t i;

	(void)state;
	for (i = 0; i < sizeof(cases) / sizeof(cases[0]); i++)
		assert_string_equal(ktau_control_reason(cases[i].err), cases[i].text);
	/* On a kernel with KTAU it is about a control group. */
	assert_string_equal(ktau_control_reason(-ENOENT),
			    access("/proc/ktau/control", F_OK) ? "this kernel has no KTAU" :
								 "no such control group");
}

static void display(void **state)
{
	static const char *const cases[][2] = {
		{ "__x64_sys_read", "sys_read" },
		{ "__ia32_sys_read", "sys_read" },
		{ "__ia32_compat_sys_ioctl", "compat_sys_ioctl" },
		{ "__se_sys_read", "sys_read" },
		{ "__do_sys_getpid", "sys_getpid" },
		{ "__do_softirq", "__do_softirq" },
		{ "__x64_do_thing", "__x64_do_thing" },
		{ "sys_read", "sys_read" },
		{ ".sys_read", "sys_read" },
		{ "tcp_sendmsg", "tcp_sendmsg" },
		{ ".", "." },
		{ "", "" },
	};
	size_t i;

	(void)state;
	for (i = 0; i < NR(cases); i++)
		assert_string_equal(ktau_display_name(cases[i][0]), cases[i][1]);
}

static void names(void **state)
{
	unsigned int i;

	(void)state;
	for (i = 0; i < KTAU_NR_GROUPS; i++)
		assert_int_equal(ktau_group_by_name(ktau_group_name(1U << i)), 1U << i);
	assert_string_equal(ktau_group_name(128), "tcp");
	assert_null(ktau_group_name(3));
	assert_null(ktau_group_name(0));
	assert_null(ktau_group_name(1U << KTAU_NR_GROUPS));
	assert_int_equal(ktau_group_by_name("nonsense"), 0);
	assert_string_equal(ktau_kind_name(KTAU_KIND_COUNTER), "counter");
	assert_null(ktau_kind_name(2));
	assert_string_equal(ktau_slot_type_name(KTAU_TRACE_NET_RECV), "NET_RECV");
	assert_string_equal(ktau_slot_type_name(KTAU_TRACE_MORE), "MORE");
	assert_null(ktau_slot_type_name(0));
	assert_null(ktau_slot_type_name(11));
	assert_string_equal(ktau_ctx_name(KTAU_CTX_NMI), "nmi");
	assert_null(ktau_ctx_name(4));
	for (i = 0; i < KTAU_NR_FINDINGS; i++)
		assert_non_null(ktau_finding_name(i));
	assert_null(ktau_finding_name(KTAU_NR_FINDINGS));
	assert_string_equal(ktau_version(), KTAU_LIB_VERSION);
}

static int load(struct ktau_events *events, const char *text, char *error, size_t size)
{
	char file[] = "/tmp/ktau-events-XXXXXX";
	int fd = mkstemp(file), err;

	assert_true(fd >= 0);
	assert_int_equal(write(fd, text, strlen(text)), strlen(text));
	close(fd);
	err = ktau_events_load(events, file);
	snprintf(error, size, "%s", ktau_events_error(events));
	unlink(file);
	return err;
}

static void event_text(void **state)
{
	static const char *const bad[][2] = {
		{ "39 syscall timer ffff x", "line 1: cut off" },
		{ "# head\n39 syscall timer ffff\n", "line 2: not" },
		{ "39 syscall timer ffff x y\n", "line 1: not" },
		{ "1024 syscall timer ffff x\n", "line 1: event id out of range" },
		{ "-1 syscall timer ffff x\n", "line 1: not" },
		{ "39x syscall timer ffff x\n", "line 1: event id" },
		{ "39 syscall stopwatch ffff x\n", "line 1: kind" },
		{ "39 syscall timer 0xfffg x\n", "line 1: address" },
		{ "39 syscall timer 11112222333344445 x\n", "line 1: address" },
	};
	struct ktau_events *events;
	const struct ktau_event *e;
	char error[512];
	size_t i;

	(void)state;
	assert_int_equal(ktau_events_create(&events), 0);
	assert_int_equal(load(events, "# id group kind address name\n"
			      "39 syscall timer ffffffff81a0b2c0 __x64_sys_getpid\n"
			      "515 irq timer 0 local_timer\n"
			      "640 novel timer 0 later:group\n"
			      "701 tcp counter 0 tcp:bytes\n", error, sizeof(error)), 4);
	assert_string_equal(error, "");
	assert_int_equal(ktau_events_count(events), 4);
	e = ktau_events_find(events, 39);
	assert_string_equal(e->name, "__x64_sys_getpid");
	assert_int_equal(e->address, 0xffffffff81a0b2c0);
	assert_int_equal(e->group, KTAU_GROUP_SYSCALL);
	assert_int_equal(ktau_events_find(events, 640)->group, 0);
	assert_int_equal(ktau_events_find(events, 701)->kind, KTAU_KIND_COUNTER);
	assert_null(ktau_events_find(events, 40));
	assert_null(ktau_events_find(events, UINT32_MAX));
	for (i = 0; i < NR(bad); i++) {
		assert_int_equal(load(events, bad[i][0], error, sizeof(error)), -EINVAL);
		if (!strstr(error, bad[i][1]))
			fail_msg("\"%s\" is not \"%s\"", error, bad[i][1]);
	}
	assert_int_equal(ktau_events_load(events, "/nonexistent"), -ENOENT);
	assert_int_equal(ktau_events_count(events), 4);
	ktau_events_destroy(events);
}

/* Notes as /sys/kernel/notes has them, in this machine's order, and cut ones. */
static void notes(void **state)
{
	const uint32_t header[] = { 4, 20, 3 }, other[] = { 6, 1, 257 };
	uint8_t data[12 + 8 + 4 + 12 + 4 + 20], id[20];
	const uint8_t *found;
	size_t size;
	int i;

	(void)state;
	for (i = 0; i < 20; i++)
		id[i] = 0xa0 + i;
	memset(data, 0, sizeof(data));
	memcpy(data, other, 12);
	memcpy(data + 12, "Linux", 6);
	memcpy(data + 24, header, 12);
	memcpy(data + 36, "GNU", 4);
	memcpy(data + 40, id, 20);
	assert_int_equal(ktau__note_build_id(data, sizeof(data), &found), 20);
	assert_memory_equal(found, id, 20);
	for (size = 0; size < sizeof(data); size++)
		assert_int_equal(ktau__note_build_id(data, size, &found), 0);
	memset(data, 0xff, sizeof(data));
	assert_int_equal(ktau__note_build_id(data, sizeof(data), &found), 0);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(clocks),
		cmocka_unit_test(control_reasons),
		cmocka_unit_test(display),
		cmocka_unit_test(names),
		cmocka_unit_test(event_text),
		cmocka_unit_test(notes),
	};

	return cmocka_run_group_tests_name("libktau: clock, names, events", tests, NULL, NULL);
}
