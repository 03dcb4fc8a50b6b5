// SPDX-License-Identifier: GPL-2.0-only
/* Clock, names, patterns, the event table, this machine. */
#include <errno.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include <cmocka.h>
#include <ktau.h>

#include "info.h"
#include "encode.h"

static void clocks(void **state)
{
	struct ktau_rec_stream st = {
		.clock_hz = 3000000000, .clock_flags = KTAU_CLOCK_STABLE, .ticks = 1000000,
		.realtime_ns = 1700000000000000000, .monotonic_ns = 5000000000,
		.boottime_ns = 6000000000, .tai_ns = 1700000037000000000,
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
	assert_int_equal(ktau_clock_boottime_ns(&c, 1000000), 6000000000);
	c.hz = 1000;
	assert_int_equal(ktau_clock_ns(&c, UINT64_MAX), UINT64_MAX);
	assert_int_equal(ktau_clock_monotonic_ns(&c, 0), 0);
	assert_int_equal(ktau_clock_realtime_ns(&c, UINT64_MAX), UINT64_MAX);
	c.hz = UINT64_MAX;
	assert_true(ktau_clock_ns(&c, UINT64_MAX) <= 1000000000);

	/* Without a frequency it follows from two pairs, 2 s and 4,000,000,000 ticks apart. */
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

/* The cost depends on the kind of hook that an event has. */
static void hook_costs(void **state)
{
	static const struct {
		uint8_t source, kind;
		uint32_t group;
		const char *name;
		uint64_t mticks;
	} events[] = {
		{ KTAU_SOURCE_SYSCALL, KTAU_KIND_TIMER, KTAU_GROUP_SYSCALL, "sys_read", 1000 },
		{ KTAU_SOURCE_POINT, KTAU_KIND_TIMER, KTAU_GROUP_TCP, "tcp_ack", 1000 },
		{ KTAU_SOURCE_POINT, KTAU_KIND_TIMER, KTAU_GROUP_IRQ, "sysvec_irq_work", 4000 },
		{ KTAU_SOURCE_POINT, KTAU_KIND_COUNTER, KTAU_GROUP_TCP, "tcp_retransmit", 0 },
		{ KTAU_SOURCE_STATIC, KTAU_KIND_TIMER, KTAU_GROUP_EXCEPTION, "debug", 1000 },
		{ KTAU_SOURCE_STATIC, KTAU_KIND_TIMER, KTAU_GROUP_BH, "softirq:RCU", 4000 },
		{ KTAU_SOURCE_STATIC, KTAU_KIND_TIMER, KTAU_GROUP_IRQ, "irq:other", 4000 },
		{ KTAU_SOURCE_STATIC, KTAU_KIND_TIMER, KTAU_GROUP_SCHED, "schedule", 7000 },
		{ KTAU_SOURCE_STATIC, KTAU_KIND_TIMER, KTAU_GROUP_SCHED, "schedule_wait", 0 },
		{ KTAU_SOURCE_IRQ, KTAU_KIND_TIMER, KTAU_GROUP_IRQ, "irq:4", 4000 },
		{ KTAU_SOURCE_HRTIMER, KTAU_KIND_TIMER, KTAU_GROUP_BH, "hrtimer:x", 5000 },
		{ KTAU_SOURCE_WORK, KTAU_KIND_TIMER, KTAU_GROUP_BH, "work:x", 5000 },
		{ KTAU_SOURCE_FOREIGN, KTAU_KIND_TIMER, KTAU_GROUP_SYSCALL, "compat_1", 5000 },
		{ KTAU_SOURCE_FUNCTION, KTAU_KIND_TIMER, KTAU_GROUP_FUNC, "f", 5000 },
	};
	struct ktau_rec_stream st = {
		.profile_pair_mticks = 1000, .trace_pair_mticks = 1500,
		.cpu_pair_mticks = 4000, .call_pair_mticks = 5000, .switch_mticks = 7000,
	};
	struct {
		struct ktau_rec_event rec;
		char name[32];
	} event = { .rec.rec.head = sizeof(event.rec), .rec.name_bytes = sizeof(event.name) };

	(void)state;
	for (size_t i = 0; i < sizeof(events) / sizeof(*events); i++) {
		event.rec.source = events[i].source;
		event.rec.kind = events[i].kind;
		event.rec.group = events[i].group;
		strcpy(event.name, events[i].name);
		st.modes = KTAU_MODE_PROFILE;
		assert_int_equal(ktau_hook_mticks(&st, &event.rec), events[i].mticks);
		st.modes |= KTAU_MODE_TRACE;
		assert_int_equal(ktau_hook_mticks(&st, &event.rec),
				 events[i].mticks ? events[i].mticks + 500 : 0);
	}
	assert_int_equal(ktau_hook_mticks(&st, NULL), 1500);
	assert_int_equal(ktau_hook_ticks(&st, NULL, 3), 4);
	/* Exact, and far beyond the point at which the product exceeds 64 bits. */
	st = (struct ktau_rec_stream){ .profile_pair_mticks = 7003 };
	assert_int_equal(ktau_hook_ticks(&st, NULL, 0), 0);
	assert_int_equal(ktau_hook_ticks(&st, NULL, 1999), 13998);
	assert_int_equal(ktau_hook_ticks(&st, NULL, 1000000000000000999ULL),
			 7003000000000006995ULL);
	st.profile_pair_mticks = 1000;
	assert_int_equal(ktau_hook_ticks(&st, NULL, UINT64_MAX), UINT64_MAX);
}

/* Each documented error of a write to control has its own text. */
static void control_reasons(void **state)
{
	static const struct {
		int err;
		const char *text;
	} cases[] = {
		{ -EPERM, "permission denied (requires CAP_SYS_ADMIN)" },
		{ -EACCES, "permission denied (requires CAP_SYS_ADMIN)" },
		{ -EINVAL, "invalid word; the kernel log (dmesg) has the word and the reason" },
		{ -ESRCH, "no such task" },
		{ -E2BIG, "more than 64 KiB of words, 64 conditions in a filter or 256 functions" },
		{ -EOPNOTSUPP, "this kernel has no control groups, or cannot hook functions: boot "
			       "one with CONFIG_CGROUPS or CONFIG_KTAU_FUNC" },
		{ -EBUSY, "functions are being hooked or unhooked; try again" },
		{ -EIO, "Input/output error" },
	};
	size_t i;

	(void)state;
	for (i = 0; i < sizeof(cases) / sizeof(cases[0]); i++)
		assert_string_equal(ktau_control_reason(cases[i].err), cases[i].text);
	/* On a kernel with KTAU, -ENOENT means a control group or function. */
	assert_string_equal(ktau_control_reason(-ENOENT),
			    access("/proc/ktau/control", F_OK) ?
			    "this kernel has no KTAU: boot one with CONFIG_KTAU" :
			    "no such control group or function");
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
	uint32_t bit, named = 0;
	unsigned int i;

	(void)state;
	for (bit = 1; bit; bit <<= 1) {
		if (!ktau_group_name(bit))
			continue;
		assert_int_equal(ktau_group_by_name(ktau_group_name(bit)), bit);
		named |= bit;
	}
	assert_int_equal(named, KTAU_GROUP_ALL);
	assert_string_equal(ktau_group_name(128), "tcp");
	assert_string_equal(ktau_group_name(KTAU_GROUP_ACCOUNT), "account");
	assert_string_equal(ktau_group_name(KTAU_GROUP_MODULE << 11), "module11");
	assert_null(ktau_group_name(3));
	assert_null(ktau_group_name(0));
	assert_int_equal(ktau_group_by_name("nonsense"), 0);
	assert_int_equal(ktau_group_by_name("module12"), 0);
	assert_string_equal(ktau_kind_name(KTAU_KIND_COUNTER), "counter");
	assert_null(ktau_kind_name(2));
	assert_string_equal(ktau_source_name(KTAU_SOURCE_IRQ), "irq");
	assert_string_equal(ktau_source_name(KTAU_SOURCE_FUNCTION), "function");
	assert_null(ktau_source_name(KTAU_NR_SOURCES));
	assert_string_equal(ktau_owner_kind_name(KTAU_OWNER_EVICTED), "evicted");
	assert_null(ktau_owner_kind_name(4));
	assert_string_equal(ktau_slot_type_name(KTAU_TRACE_NET_RECV), "NET_RECV");
	assert_string_equal(ktau_slot_type_name(KTAU_TRACE_KVM_EXIT), "KVM_EXIT");
	assert_string_equal(ktau_slot_type_name(KTAU_TRACE_GROUPS), "GROUPS");
	assert_string_equal(ktau_slot_type_name(KTAU_TRACE_KVM_CLOCK), "KVM_CLOCK");
	assert_string_equal(ktau_slot_type_name(KTAU_TRACE_FIELDS), "FIELDS");
	assert_string_equal(ktau_slot_type_name(KTAU_TRACE_FIELDS_LOST), "FIELDS_LOST");
	assert_null(ktau_slot_type_name(KTAU_TRACE_FIELDS - 1));
	assert_null(ktau_slot_type_name(0));
	assert_null(ktau_slot_type_name(UINT8_MAX));
	assert_string_equal(ktau_ctx_name(KTAU_CTX_NMI), "nmi");
	assert_null(ktau_ctx_name(4));
	for (i = 0; i < KTAU_NR_FINDINGS; i++)
		assert_non_null(ktau_finding_name(i));
	assert_null(ktau_finding_name(KTAU_NR_FINDINGS));
	assert_string_equal(ktau_version(), KTAU_LIB_VERSION);
}

static void policy(void **state)
{
	static const char letters[] = "RSDTtXZPI";
	uint32_t access;
	int32_t level;
	size_t i;

	(void)state;
	assert_string_equal(ktau_access_name(KTAU_ACCESS_PROFILE), "profile");
	assert_string_equal(ktau_access_name(KTAU_ACCESS_ADDRESSES), "addresses");
	assert_null(ktau_access_name(KTAU_ACCESS_ADDRESSES << 1));
	assert_string_equal(ktau_paranoid_text(3), "nothing");
	assert_string_equal(ktau_paranoid_text(4), "nothing");
	assert_string_equal(ktau_paranoid_text(-1), ktau_paranoid_text(0));
	for (level = 3; level > 0; level--)
		assert_string_not_equal(ktau_paranoid_text(level), ktau_paranoid_text(level - 1));
	assert_true(ktau_paranoid_needed(KTAU_ACCESS_TRACE, &level));
	assert_int_equal(level, 0);
	assert_true(ktau_paranoid_needed(KTAU_ACCESS_PROFILE, &level));
	assert_int_equal(level, 2);
	for (access = KTAU_ACCESS_SERIALS; access <= KTAU_ACCESS_ADDRESSES; access <<= 1)
		assert_false(ktau_paranoid_needed(access, &level));
	assert_int_equal(ktau_state_letter(0), letters[0]);
	for (i = 1; i < NR(letters) - 1; i++)
		assert_int_equal(ktau_state_letter(1U << (i - 1)), letters[i]);
	assert_int_equal(ktau_state_letter(256), '?');
	assert_int_equal(ktau_state_letter(UINT32_MAX), '?');
}

static void globs(void **state)
{
	(void)state;
	assert_true(ktau_glob("tcp_*", "tcp_sendmsg"));
	assert_false(ktau_glob("tcp_*", "udp_sendmsg"));
	assert_true(ktau_glob("udp_*,tcp_sendmsg", "tcp_sendmsg"));
	assert_true(ktau_glob("/job/*", "/job/7/step"));
	assert_true(ktau_glob("[st]*", "sys_read"));
	assert_false(ktau_glob("", "x"));
	assert_true(ktau_glob("", ""));
	assert_false(ktau_glob("a,", "b"));
	/* Blanks around a pattern, and commas in one. */
	assert_true(ktau_glob("sshd, Media Index Srv ", "Media Index Srv"));
	assert_false(ktau_glob("Media Index Srv", "Media"));
	assert_true(ktau_glob("x\\ ", "x "));
	assert_true(ktau_glob("sshd,a\\,b", "a,b"));
	assert_false(ktau_glob("a\\,b", "b"));
	assert_true(ktau_glob("a,b", "b"));
}

/* A name that the kernel has cut. */
static void task_globs(void **state)
{
	(void)state;
	assert_true(ktau_glob_task("NetworkManager-dispatcher", "NetworkManager-"));
	assert_true(ktau_glob_task("sshd,NetworkManager-dispatcher", "NetworkManager-"));
	assert_true(ktau_glob_task("NetworkManager-d*", "NetworkManager-"));
	assert_true(ktau_glob_task("a\\,b name of 15 or more", "a,b name of 15 "));
	assert_false(ktau_glob_task("NetworkManager", "NetworkManager-"));
	assert_false(ktau_glob_task("NetworkManagers-dispatcher", "NetworkManager-"));
	assert_false(ktau_glob_task("N*x", "NetworkManager-"));
	assert_false(ktau_glob_task("sshd-session", "sshd"));
	assert_false(ktau_glob("/system.slice/a.service", "/system.slice/a"));
}

struct made {
	struct ktau_rec_event event;
	char name[16];
};

static struct made make_event(uint16_t id, const char *name)
{
	struct made made = {
		.event = { .rec = { .size = sizeof(made), .type = KTAU_REC_EVENT,
				    .head = sizeof(made.event) },
			   .id = id, .name_bytes = strlen(name) + 1 },
	};

	strcpy(made.name, name);
	return made;
}

static void event_table(void **state)
{
	static const uint16_t ids[] = { 700, 0, 65534, 1023, 1024 };
	const struct ktau_rec_event *event = NULL, *old;
	struct ktau_events *events;
	struct made made;
	size_t i;

	(void)state;
	assert_int_equal(ktau_events_create(&events), 0);
	assert_null(ktau_events_next(events, NULL));
	assert_null(ktau_events_find(events, 0));
	for (i = 0; i < NR(ids); i++) {
		made = make_event(ids[i], "name");
		assert_int_equal(ktau_events_put(events, &made.event), 0);
		assert_int_equal(ktau_events_put(events, &made.event), 0);
	}
	assert_int_equal(ktau_events_count(events), NR(ids));
	for (i = 0; (event = ktau_events_next(events, event)); i++)
		assert_int_equal(event->id, ((uint16_t[]){ 0, 700, 1023, 1024, 65534 })[i]);
	assert_int_equal(i, NR(ids));
	assert_null(ktau_events_find(events, 1));
	assert_null(ktau_events_find(events, UINT32_MAX));
	/* An equal record keeps its address; a different one replaces it. */
	old = ktau_events_find(events, 700);
	made = make_event(700, "name");
	assert_int_equal(ktau_events_put(events, &made.event), 0);
	assert_ptr_equal(ktau_events_find(events, 700), old);
	made = make_event(700, "other");
	assert_int_equal(ktau_events_put(events, &made.event), 0);
	assert_string_equal(ktau_event_name(ktau_events_find(events, 700)), "other");
	made = make_event(KTAU_ID_NONE, "name");
	assert_int_equal(ktau_events_put(events, &made.event), -EINVAL);
	made = make_event(5, "");
	assert_int_equal(ktau_events_put(events, &made.event), -EINVAL);
	made.event.rec.type = KTAU_REC_CGROUP;
	assert_int_equal(ktau_events_put(events, &made.event), -EINVAL);
	assert_int_equal(ktau_events_count(events), NR(ids));
	ktau_events_destroy(events);
}

/* Without KTAU, or without control groups, the errors are those of the system. */
static void this_machine(void **state)
{
	struct ktau_info info;
	uint8_t id[16];
	uint64_t cgroup;

	(void)state;
	assert_int_equal(ktau_info_read(1000000, &info), -EBADF);
	assert_int_equal(ktau_cgroup_id("/no/such/group", &cgroup), -ENOENT);
	assert_int_equal(ktau_cgroup_id("/sys/fs/cgroup/no/such/group", &cgroup), -ENOENT);
	if (!access("/proc/sys/kernel/random/boot_id", R_OK)) {
		assert_int_equal(ktau_boot_id(id), 0);
		assert_int_equal(id[6] >> 4, 4);	/* a random UUID */
	}
}

/* Notes in the format of /sys/kernel/notes, in this machine's byte order, and truncated. */
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

/* The entries and frames of a later library, which are larger. */
static void larger_entries(void **state)
{
	struct entry {
		struct ktau_entry is;
		uint64_t later;
	};
	struct frame {
		struct ktau_open is;
		uint64_t later[2];
	};
	struct profile {
		struct ktau_rec_profile rec;
		struct entry entry[2];
		struct frame open[2];
	} p = {
		.rec = { .rec.head = offsetof(struct profile, entry),
			 .nr_entries = 2, .entry_size = sizeof(struct entry),
			 .nr_open = 2, .open_size = sizeof(struct frame) },
	};
	struct {
		struct ktau_rec_region rec;
		struct entry entry[2];
	} region = {
		.rec = { .rec.head = sizeof(region.rec),
			 .nr_entries = 2, .entry_size = sizeof(struct entry) },
	};

	(void)state;
	assert_ptr_equal(ktau_profile_entry(&p.rec, 1), &p.entry[1].is);
	assert_ptr_equal(ktau_profile_open(&p.rec), &p.open[0].is);
	assert_ptr_equal(ktau_profile_frame(&p.rec, 1), &p.open[1].is);
	assert_ptr_equal(ktau_region_entry(&region.rec, 1), &region.entry[1].is);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(larger_entries),
		cmocka_unit_test(clocks),
		cmocka_unit_test(hook_costs),
		cmocka_unit_test(control_reasons),
		cmocka_unit_test(display),
		cmocka_unit_test(names),
		cmocka_unit_test(policy),
		cmocka_unit_test(globs),
		cmocka_unit_test(task_globs),
		cmocka_unit_test(event_table),
		cmocka_unit_test(this_machine),
		cmocka_unit_test(notes),
	};

	return cmocka_run_group_tests_name("libktau: clock, names, events", tests, NULL, NULL);
}
