// SPDX-License-Identifier: GPL-2.0-only
/* The problems and the output of ktau status, for different machines. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <cmocka.h>

#include <errno.h>
#include <stdlib.h>
#include <string.h>

#include "commands/status.h"

#define ALL_ACCESS ((KTAU_ACCESS_ADDRESSES << 1) - 1)

/* Root on a machine on which everything is measured. */
static struct status good_status(void)
{
	struct status s = {
		.name = { .nodename = "ionode", .release = "6.1.0-ktau", .machine = "x86_64" },
		.info = {
			.version = KTAU_ABI_VERSION, .paranoid = 2, .access = ALL_ACCESS,
			.groups_built = 0x1ff,
			.groups = 0x1ff | KTAU_MODE_PROFILE, .ring_slots = 1024,
			.memory_limit_bytes = 64 << 20, .memory_bytes = 3 << 19,
			.user_limit_bytes = 8 << 20, .user_bytes = 4096,
		},
		.has_level = true, .filter = "none", .exited_limit_bytes = 16 << 20,
		.has_end = true,
	};

	return s;
}

static struct status user_status(int32_t level, uint32_t access)
{
	struct status s = good_status();

	s.info.paranoid = level;
	s.info.access = access;
	s.info.memory_limit_bytes = s.info.memory_bytes = 0;
	s.end.losses_own = 1;
	return s;
}

/* The problems of @s are those with these commands, in this order; NULL ends. */
static void expect(const struct status *s, const char *const *commands)
{
	struct problem problems[STATUS_PROBLEMS];
	size_t nr = status_judge(s, problems), i;

	for (i = 0; commands[i]; i++) {
		if (i >= nr)
			fail_msg("no problem with the command '%s'", commands[i]);
		assert_string_equal(problems[i].command, commands[i]);
	}
	if (nr > i)
		fail_msg("unexpected problem: %s", problems[i].text);
}

static void test_levels(void **state)
{
	static const char *const none[] = { NULL };
	static const char *const at_3[] = { "sysctl kernel.ktau_paranoid=2",
					    "sysctl kernel.ktau_paranoid=0", NULL };
	static const char *const at_2[] = { "sysctl kernel.ktau_paranoid=1",
					    "sysctl kernel.ktau_paranoid=0", NULL };
	static const char *const at_1[] = { "sysctl kernel.ktau_paranoid=0", NULL };
	static const char *const locked[] = { "", NULL };
	struct status s = good_status();

	(void)state;
	expect(&s, none);
	s = user_status(3, 0);
	expect(&s, at_3);
	s = user_status(2, KTAU_ACCESS_PROFILE);
	expect(&s, at_2);
	s = user_status(1, KTAU_ACCESS_PROFILE | KTAU_ACCESS_EXACT);
	expect(&s, at_1);
	s = user_status(0, KTAU_ACCESS_PROFILE | KTAU_ACCESS_EXACT | KTAU_ACCESS_TRACE);
	expect(&s, none);
	/* The level is sufficient: another sysctl does not help. */
	s = user_status(0, KTAU_ACCESS_PROFILE | KTAU_ACCESS_EXACT);
	expect(&s, locked);
}

static void test_no_answer(void **state)
{
	static const char *const without[] = { "boot a kernel with CONFIG_KTAU", NULL };
	static const char *const at_3[] = { "sysctl kernel.ktau_paranoid=2", NULL };
	static const char *const other[] = { "", NULL };
	struct status s = { .info_err = -ENOENT };

	(void)state;
	expect(&s, without);
	s = (struct status){ .info_err = -EACCES, .has_level = true, .info.paranoid = 3 };
	expect(&s, at_3);
	s.has_level = false;
	expect(&s, at_3);
	s.info_err = -ENOMEM;
	expect(&s, other);
}

/* A kernel without KTAU on which BPF programs can measure. */
static void test_bpf(void **state)
{
	static const char *const may[] = { "ktau top", NULL };
	static const char *const may_not[] = { "sudo ktau top", NULL };
	static const char *const cannot[] = {
		"boot a distribution's kernel, or one with CONFIG_KTAU", NULL
	};
	struct status s = { .info_err = -ENOENT, .has_bpf = true };
	struct problem problems[STATUS_PROBLEMS];
	char *text = NULL;
	size_t size;
	FILE *out;

	(void)state;
	expect(&s, may);
	s.bpf_err = -EPERM;
	expect(&s, may_not);
	s.has_bpf = false;
	s.bpf_missing = "CONFIG_KALLSYMS_ALL";
	expect(&s, cannot);
	s.has_bpf = true;
	s.bpf_missing = NULL;
	out = open_memstream(&text, &size);
	assert_non_null(out);
	status_text(&s, problems, status_judge(&s, problems), out);
	fclose(out);
	assert_non_null(strstr(text, "ktau noise, runktau and ktaud\n"
				     "          measure with BPF programs"));
	assert_non_null(strstr(text, "CAP_BPF and CAP_PERFMON: you may not"));
	assert_non_null(strstr(text, "instructions for a system call"));
	assert_non_null(strstr(text, "A kernel with KTAU adds:\n"
				     "    the functions in which tasks wait"));
	free(text);
}

static void test_collection(void **state)
{
	static const char *const off[] = { "ktau control +all",
					   "ktau control profile=on", NULL };
	static const char *const none[] = { NULL };
	struct status s = good_status();

	(void)state;
	s.info.groups = KTAU_MODE_TRACE;
	expect(&s, off);
	/* Deliberate settings are not problems. */
	s.info.groups = KTAU_GROUP_TCP | KTAU_MODE_PROFILE;
	strcpy(s.filter, "uid:1000");
	expect(&s, none);
}

static void test_losses(void **state)
{
	static const char *const memory[] = {
		"dmesg | grep ktau", "ktau control memory_limit=134217728", NULL,
	};
	static const char *const none[] = { NULL };
	struct status s = good_status();

	(void)state;
	/* Not problems: with bounded memory slots are overwritten and tasks are evicted. */
	s.end.lost_no_ring = s.end.lost_resized = s.end.lost_evicted = s.end.evicted = 9;
	s.end.clamped = 1;
	expect(&s, none);
	s.end.refused_memory_limit = 12;
	s.end.internal_errors = 1;
	expect(&s, memory);
}

static void test_version(void **state)
{
	static const char *const update[] = { "install the tools that match this kernel",
					      NULL };
	struct status s = good_status();

	(void)state;
	s.info.version++;
	expect(&s, update);
}

static char *print(const struct status *s,
		   void (*how)(const struct status *s, const struct problem *problems, size_t nr,
			       FILE *out))
{
	struct problem problems[STATUS_PROBLEMS];
	size_t nr = status_judge(s, problems), size;
	char *text;
	FILE *out = open_memstream(&text, &size);

	assert_non_null(out);
	how(s, problems, nr, out);
	fclose(out);
	return text;
}

static void test_text(void **state)
{
	struct status s = good_status();
	char *text;

	(void)state;
	s.info.features |= KTAU_FEATURE_REGIONS;
	text = print(&s, status_text);
	assert_string_equal(text,
		"kernel:   Linux 6.1.0-ktau, x86_64, ionode, with KTAU, interface version 2\n"
		"level:    kernel.ktau_paranoid=2: a user without CAP_PERFMON gets its own "
		"profile: its tasks outside interrupts, times rounded to 1 us; no trace\n"
		"you get:  everything, of all tasks and CPUs\n"
		"regions:  your programs may have them, and read their figures without "
		"system calls\n"
		"enabled:  syscall,irq,bh,sched,exception,signal,socket,tcp,icmp\n"
		"modes:    profile on, trace off, rings of up to 1024 slots\n"
		"filter:   none\n"
		"memory:   1.5 MiB of 64.0 MiB; yours 4.0 KiB of 8.0 MiB; exited tasks up to "
		"16.0 MiB\n"
		"losses:   none since boot\n"
		"\nEverything can be measured.\n");
	free(text);

	s = user_status(2, KTAU_ACCESS_PROFILE);
	s.info.groups_built |= KTAU_GROUP_WAIT | 1U << 15;
	s.info.features |= KTAU_FEATURE_REGIONS;
	strcpy(s.filter, "uid:1000");
	s.end.evicted = 3;
	text = print(&s, status_text);
	assert_string_equal(text,
		"kernel:   Linux 6.1.0-ktau, x86_64, ionode, with KTAU, interface version 2\n"
		"level:    kernel.ktau_paranoid=2: a user without CAP_PERFMON gets its own "
		"profile: its tasks outside interrupts, times rounded to 1 us; no trace\n"
		"you get:  profile, of your own tasks\n"
		"regions:  none: your programs read their figures by system calls\n"
		"enabled:  syscall,irq,bh,sched,exception,signal,socket,tcp,icmp; not enabled: "
		"wait,0x8000\n"
		"modes:    profile on, trace off, rings of up to 1024 slots\n"
		"filter:   uid:1000: other tasks are not measured\n"
		"memory:   yours 4.0 KiB of 8.0 MiB; exited tasks up to 16.0 MiB\n"
		"losses:   evicted 3 since boot, of your own tasks\n"
		"\n"
		"exact times and single interrupts: not permitted by kernel.ktau_paranoid=2 "
		"without CAP_PERFMON\n"
		"    sysctl kernel.ktau_paranoid=1\n"
		"traces: not permitted by kernel.ktau_paranoid=2 without CAP_PERFMON\n"
		"    sysctl kernel.ktau_paranoid=0\n");
	free(text);
}

static void test_json(void **state)
{
	struct status s = { .info_err = -ENOENT, .name = { .nodename = "a\"b" } };
	char *text = print(&s, status_json);

	(void)state;
	assert_string_equal(text,
		"{\"release\": \"\", \"machine\": \"\", \"host\": \"a\\\"b\", \"ktau\": false, "
		"\"exited_limit_bytes\": \"0\", \"filter\": \"\", \"problems\": [\n"
		"  {\"text\": \"this kernel has no KTAU\", "
		"\"command\": \"boot a kernel with CONFIG_KTAU\"}]}\n");
	free(text);
	s = good_status();
	s.end.refused_no_id = 5;
	text = print(&s, status_json);
	assert_non_null(strstr(text, "\"ktau\": true, \"paranoid\": 2, \"version\": 2, "));
	assert_non_null(strstr(text, "\"groups\": \"syscall,irq,bh,sched,"));
	assert_non_null(strstr(text, "\"refused_no_id\": \"5\", "));
	assert_non_null(strstr(text, "\"command\": \"reboot\"}]}\n"));
	free(text);
}

int main(void)
{
	static const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_levels),
		cmocka_unit_test(test_no_answer),
		cmocka_unit_test(test_bpf),
		cmocka_unit_test(test_collection),
		cmocka_unit_test(test_losses),
		cmocka_unit_test(test_version),
		cmocka_unit_test(test_text),
		cmocka_unit_test(test_json),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
