// SPDX-License-Identifier: GPL-2.0-only
/* When tasks are on a CPU, by what their slots show. */
#include <stdlib.h>
#include <unistd.h>

#include "lib/cli.h"
#include "rings.h"

static struct seen cpus_of(const struct stream *s, size_t nr)
{
	struct seen seen = { .with_cpus = true };

	rings_given = s;
	rings_nr = nr;
	assert_int_equal(rings_convert(&seen), 0);
	return seen;
}

/*
 * A task is on a CPU from its first slot until it is switched out, and again from the end of its
 * wait, of which the slots have earlier times; then on another one, until it exits.
 */
static void cpus(void **state)
{
	static const struct stream s[] = {
		{ 150, 0, { { 10, 0, 0, 0, 0, { ENTER(100, 1), ENTER(120, SCHEDULE),
						SWITCH(120) } } } },
		{ 900, 0, { { .serial = 10, .first = 3, .exit_ns = 350,
			      .slots = { { 180, KTAU_TRACE_ENTER, SCHEDULE_WAIT, 0, 1 },
					 { 200, KTAU_TRACE_EXIT, SCHEDULE_WAIT, 0, 1 },
					 { 200, KTAU_TRACE_EXIT, SCHEDULE, 0, 1 },
					 { 300, KTAU_TRACE_TASK_EXIT, KTAU_ID_NONE, 9, 1 } } },
			    { 11, 0, 0, 0, 0, { ENTER(340, 2), ENTER(360, 3) } } } },
	};
	struct seen seen = cpus_of(s, 2);

	(void)state;
	assert_string_equal(seen.text,
			    "100 10 on 0\n100 10 in 1\n120 10 in 8\n120 10 other u0\n"
			    "120 10 off by switch since 100\n180 10 in 9\n200 10 on 1\n"
			    "200 10 out 9\n200 10 out 8\n300 10 other u0\n340 11 on 0\n"
			    "340 11 in 2\n"
			    "350 10 out 1 by end\n350 10 off by exit since 200\n350 10 gone\n"
			    "360 11 in 3\n900 11 out 3 by end\n900 11 out 2 by end\n"
			    "900 11 off by end since 340\n");
}

/* A loss makes it unknown whether a task is on a CPU, and so does a disabled group. */
static void cpus_unknown(void **state)
{
	static const struct stream s[] = {
		{ 150, 0, { { 10, 0, 0, 0, 0, { ENTER(100, 1) } } } },
		{ 400, 0, { { 10, 11, 10, 120, 300, { { 350, KTAU_TRACE_EXIT, SCHEDULE, 0, 1 },
						      { 370, KTAU_TRACE_COUNT, 5, 7, 0 } } } } },
		{ 500, 0, { { .serial = 10, .first = 13, .groups = KTAU_GROUP_SYSCALL,
			      .slots = { ENTER(450, 1), EXIT(460, 1) } } } },
	};
	struct seen seen = cpus_of(s, 3);

	(void)state;
	assert_string_equal(seen.text,
			    "100 10 on 0\n100 10 in 1\n120 10 out 1 by loss\n"
			    "120 10 off by loss since 100\n120 10 lost 10\n350 10 on 1\n"
			    "370 10 off by loss since 350\n370 10 on 0\n370 10 other 5\n"
			    "450 10 off by loss since 370\n450 10 in 1\n460 10 out 1\n");
}

/* A task whose switches are not traced may or may not be on a CPU. */
static void cpus_untraced(void **state)
{
	static const struct stream s[] = {
		{ 900, 0, { { .serial = 10, .groups = KTAU_GROUP_SCHED,
			      .slots = { ENTER(100, 1), ENTER(110, 2), SET_GROUPS(200, 0),
					 SET_GROUPS(500, KTAU_GROUP_SCHED), EXIT(550, 2),
					 EXIT(560, 1), ENTER(600, 1) } },
			    { .serial = 11, .groups = KTAU_GROUP_SCHED,
			      .slots = { ENTER(100, SCHEDULE),
					 SET_GROUPS(300, KTAU_GROUP_SCHED | 1),
					 SET_GROUPS(400, KTAU_GROUP_SCHED),
					 EXIT(450, SCHEDULE) } } } },
	};
	struct seen seen = cpus_of(s, 1);

	(void)state;
	assert_string_equal(seen.text,
			    "100 10 on 0\n100 10 in 1\n100 11 in 8\n110 10 in 2\n"
			    "200 10 other u0\n200 10 out 2 by end\n200 10 out 1 by end\n"
			    "200 10 off by loss since 100\n300 11 other u0\n400 11 other u0\n"
			    "450 11 on 0\n450 11 out 8\n500 10 other u0\n550 10 on 0\n"
			    "600 10 in 1\n900 10 out 1 by end\n900 10 off by end since 550\n"
			    "900 11 off by end since 450\n");
	assert_int_equal(seen.counts.half_exits, 2);
}

/* A wait that began before the recording: the task had no CPU when it entered the call. */
static void cpus_before(void **state)
{
	static const struct stream s[] = {
		{ 900, 0, { { .serial = 10, .groups = KTAU_GROUP_SCHED,
			      .slots = { BEFORE(100, 1), BEFORE(100, 8), EXIT(450, 8),
					 EXIT(460, 1) } } } },
	};
	struct seen seen = cpus_of(s, 1);

	(void)state;
	assert_string_equal(seen.text, "100 10 in 1\n100 10 in 8\n450 10 on 0\n450 10 out 8\n"
				       "460 10 out 1\n900 10 off by end since 450\n");
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(cpus),
		cmocka_unit_test(cpus_unknown),
		cmocka_unit_test(cpus_untraced),
		cmocka_unit_test(cpus_before),
	};
	int fd = mkstemp(rings_path), err;

	cli_init("test_running");
	if (fd < 0)
		return 1;
	close(fd);
	err = cmocka_run_group_tests(tests, NULL, NULL);
	unlink(rings_path);
	return err;
}
