// SPDX-License-Identifier: GPL-2.0-only
/* The names of virtual machines in ktau top. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <cmocka.h>

#include <fcntl.h>
#include <signal.h>
#include <stdlib.h>
#include <string.h>
#include <sys/wait.h>
#include <unistd.h>

#include "fixture.h"
#include "print/top_vms.h"

#define WORDS(...) { __VA_ARGS__ }, sizeof((char[]){ __VA_ARGS__ }) - 1

static void names(void **state)
{
	static const struct {
		const char words[96];
		size_t bytes;
		const char *name;
	} lines[] = {
		{ WORDS("qemu\0-name\0guest=web1,debug-threads=on\0-m\0" "1G\0"), "web1" },
		{ WORDS("qemu\0--name\0web1\0"), "web1" },
		{ WORDS("qemu\0-name\0web1,process=x\0"), "web1" },
		{ WORDS("qemu\0-name\0debug-threads=on,guest=web1\0"), "web1" },
		{ WORDS("qemu\0-name\0guest=a,,b,,\0"), "a,b," },
		{ WORDS("qemu\0-name\0guest=a=b\0"), "a=b" },
		{ WORDS("qemu\0-name\0\0-m\0"), NULL },
		{ WORDS("qemu\0-name\0guest=\0"), NULL },
		{ WORDS("qemu\0-name\0process=x\0"), NULL },
		{ WORDS("qemu\0-name\0process=x,web1\0"), NULL },
		{ WORDS("qemu\0-m\0guest=web1\0"), NULL },
		/* Cut, in the option or in its value */
		{ WORDS("qemu\0-name\0guest=we"), NULL },
		{ WORDS("qemu\0-name"), NULL },
		{ WORDS("qemu\0-name\0"), NULL },
		{ "", 0, NULL },
	};
	char *name, *copy;
	size_t i;

	(void)state;
	for (i = 0; i < sizeof(lines) / sizeof(*lines); i++) {
		/* Nothing after the last byte may be read. */
		copy = malloc(lines[i].bytes);
		assert_true(copy || !lines[i].bytes);
		if (copy)
			memcpy(copy, lines[i].words, lines[i].bytes);
		name = top_vms_qemu_name(copy, lines[i].bytes);
		if (lines[i].name)
			assert_non_null(name);
		if (!lines[i].name)
			assert_null(name);
		else
			assert_string_equal(name, lines[i].name);
		free(name);
		free(copy);
	}
}

/* A process with a name of a VM on its command line, until @end is closed. */
static pid_t start(int *end)
{
	int input[2], started[2];
	char byte;
	pid_t pid;

	assert_int_equal(pipe2(input, O_CLOEXEC), 0);
	assert_int_equal(pipe2(started, O_CLOEXEC), 0);
	pid = fork();
	assert_true(pid >= 0);
	if (!pid) {
		dup2(input[0], 0);
		execl("/bin/sh", "qemu", "-c", "read x", "sh", "-name", "guest=web1", NULL);
		_exit(1);
	}
	close(started[1]);
	close(input[0]);
	/* It has closed its end: the new program runs. */
	assert_int_equal(read(started[0], &byte, 1), 0);
	close(started[0]);
	*end = input[1];
	return pid;
}

static void put(struct ktau_snapshot *snapshot, const void *record)
{
	const union ktau_record r = { .rec = record };

	assert_int_equal(ktau_snapshot_add(snapshot, &r), 0);
}

/* The first cell of the row of a thread with the pid of a process and the name @comm. */
static void check_name(pid_t pid, const char *comm, bool live, const char *name)
{
	const struct task_filter filter = { .applied = true };
	struct fixture_profile thread = {
		.owner = fixture_owner(KTAU_OWNER_TASK, 10, pid, pid, comm),
		.ticks = 2 * SECOND, .user = MS, .guest = MS,
	};
	struct ktau_rec_profile *profile = fixture_record(&thread);
	struct ktau_rec_stream stream = fixture_stream(KTAU_REC_PROFILE, 2 * SECOND);
	struct ktau_rec_end end = fixture_end(1, 1);
	struct report report = { .groups = KTAU_GROUP_ALL };
	struct view v = { .r = &report, .stream = &stream };
	struct aggregate rows;
	struct period p;
	struct top_vms vms;
	char expected[64];

	assert_int_equal(period_init(&p, &rows), 0);
	aggregate_init(&rows, BY_NAME, &filter, p.registry);
	put(p.after, &stream);
	put(p.after, &thread.owner);
	put(p.after, profile);
	put(p.after, &end);
	ktau_clock_init(&v.clock, &stream);
	top_vms_init(&vms, &v, &p, live);
	assert_int_equal(vms.table.nr_rows, 1);
	snprintf(expected, sizeof(expected), "%s/%d", comm, (int)pid);
	assert_string_equal(vms.names[0], name ? name : expected);
	top_vms_deinit(&vms);
	ktau_record_free(profile);
	aggregate_deinit(&rows);
	period_deinit(&p);
}

/* The name is taken from /proc only for the running kernel, and only from that process. */
static void proc(void **state)
{
	pid_t pid;
	int end;

	(void)state;
	pid = start(&end);
	check_name(pid, "sh", true, "web1");
	check_name(pid, "sh", false, NULL);
	check_name(pid, "shell", true, NULL);
	check_name(pid, "s", true, NULL);
	close(end);
	assert_int_equal(waitpid(pid, NULL, 0), pid);
	check_name(pid, "sh", true, NULL);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(names),
		cmocka_unit_test(proc),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
