// SPDX-License-Identifier: GPL-2.0-only
/* From when to when a path is that of a task, in hand-made traces; see test_path.c. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <cmocka.h>

#include "path_rings.h"
#include "path/read.h"
#include "path/walk.h"

/* What a test does not mention is 0. */
#pragma GCC diagnostic ignored "-Wmissing-field-initializers"

/* Names of programs as words. */
#define SH 0x6873ULL
#define ENV 0x766e65ULL
#define TRUE_ 0x65757274ULL

/* The life of the task that is chosen without --task, or of @name, has these segments. */
static void expect_life(enum path_mode mode, const char *name, const char *expected)
{
	struct timeline_sink sink;
	struct reading r;
	struct path path;
	char text[4096];
	uint32_t task;

	read_given(&r, &sink, NULL);
	task = choose_task(r.g, name);
	assert_int_not_equal(task, PATH_NONE);
	path = path_life(r.g, task);
	path_walk(r.g, mode, task, &path);
	print_path_segments(r.g, &path, task, text, sizeof(text));
	assert_string_equal(text, expected);
	assert_true(path_is_exact(&path));
	path_deinit(&path);
	free_given(&r);
}

static void expect_command(enum path_mode mode, uint64_t serial, const char *expected)
{
	give_command(serial);
	expect_life(mode, NULL, expected);
	give_command(0);
}

/*
 * The recorder (20) lets the command (10) run at time 300, which waits for a disk and another task
 * while it is executed at 400, and again for the recorder later.
 */
static void recorded_command(void **state)
{
	static const struct ring rings[] = {
		{ 20, 0, { FORK(50, 10), IN(60, READ), WAKE(300, 10), OUT(600, READ) } },
		{ 21, 0, { IN(60, READ), WAKE(350, 10), OUT(600, READ) } },
		{ 10, 500, { WOKEN(70, 20, 50), WAITS(READ, 80, 20, 300, 310),
			     WAITS(READ, 330, 21, 350, 350), EXEC(400, TRUE_),
			     WAITS(READ, 420, 20, 440, 440), OUT(500, READ) },
		  .parent = 20 },
	};
	static const struct ring late[] = {
		{ 10, 500, { WOKEN(310, 20, 300), EXEC(400, TRUE_), OUT(500, READ) },
		  .parent = 20 },
	};

	(void)state;
	GIVEN(rings);
	expect_command(PATH_BOUNDED, 10,
		       "300 10 RUN QUEUE\n310 10 RUNNING\n330 21 RUNNING\n350 10 RUNNING\n"
		       "420 20 RUNNING\n440 10 RUNNING\n");
	expect_command(PATH_FULL, 10, "300 20 RUNNING\n440 10 RUNNING\n");
	/* That of another task begins when that was created. */
	give_command(21);
	expect_life(PATH_FULL, "10", "50 20 RUNNING\n440 10 RUNNING\n");
	give_command(0);
	/* Only the command was recorded, or all from the time on at which it was let go. */
	give_rings(&rings[2], 1);
	expect_command(PATH_BOUNDED, 10,
		       "300 10 RUN QUEUE\n310 10 RUNNING\n330 10 BLOCKED 6<-0\n350 10 RUNNING\n"
		       "420 10 BLOCKED 6<-0\n440 10 RUNNING\n");
	GIVEN(late);
	expect_command(PATH_BOUNDED, 10, "300 10 RUN QUEUE\n310 10 RUNNING\n");
}

/*
 * A command (10) gives up its privileges, executes another program at 200 as 11, and that does so
 * again at 300 as 12. All of it is the command; a wait during each life is one of the path.
 */
static void lives(void **state)
{
	static const struct ring rings[] = {
		{ 13, 0, { IN(100, READ), WAKE(140, 10), WAKE(240, 11), OUT(400, READ) } },
		{ 10, 200, { IN(100, READ), WAITS(READ, 120, 13, 140, 140),
			     EXEC_AS(200, SH, 11) } },
		{ 11, 300, { IN(201, READ), WAITS(READ, 220, 13, 240, 240),
			     EXEC_AS(300, ENV, 12) } },
		{ 12, 0, { IN(300, READ), OUT(400, READ) } },
	};
	/* The thread 11 of the command executes a program, which ends the thread 10. */
	static const struct ring thread[] = {
		{ 13, 0, { IN(90, READ), OUT(400, READ) } },
		{ 10, 200, { IN(100, READ), OTHER(110, FORK, 0, 11, 10, 0), IN(120, VOL),
			     SWITCH(120, 1) } },
		{ 11, 0, { WOKEN(130, 10, 110), EXEC(200, SH), IN(220, READ), EXEC(300, ENV),
			   OUT(400, READ) } },
	};

	(void)state;
	GIVEN(rings);
	expect_command(PATH_BOUNDED, 10,
		       "100 10 RUNNING\n120 13 RUNNING\n140 10 RUNNING\n200 11 RUNNING\n"
		       "220 13 RUNNING\n240 11 RUNNING\n300 12 RUNNING\n");
	expect_life(PATH_FULL, "12",
		    "100 13 RUNNING\n240 11 RUNNING\n300 12 RUNNING\n");
	GIVEN(thread);
	expect_command(PATH_BOUNDED, 10,
		       "100 10 RUNNING\n120 10 BLOCKED\n200 11 RUNNING\n");
}

/* Damaged: programs that are executed by tasks that these programs have executed. */
static void circle_of_lives(void **state)
{
	static const struct ring rings[] = {
		{ 10, 0, { IN(100, READ), EXEC_AS(200, SH, 11), OUT(400, READ) } },
		{ 11, 0, { IN(100, READ), EXEC_AS(200, SH, 12), OUT(400, READ) } },
		{ 12, 0, { IN(100, READ), EXEC_AS(200, SH, 10), OUT(400, READ) } },
	};
	struct timeline_sink sink;
	struct reading r;
	struct path path;
	uint32_t task;

	(void)state;
	GIVEN(rings);
	give_command(11);
	read_given(&r, &sink, NULL);
	task = choose_task(r.g, NULL);
	path = path_life(r.g, task);
	path_walk(r.g, PATH_BOUNDED, task, &path);
	assert_true(path_is_exact(&path));
	path_deinit(&path);
	free_given(&r);
	give_command(0);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(recorded_command),
		cmocka_unit_test(lives),
		cmocka_unit_test(circle_of_lives),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
