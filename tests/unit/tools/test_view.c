// SPDX-License-Identifier: GPL-2.0-only
/* Views: the language with its errors, and what rules make of events. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <cmocka.h>

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "lib/cli.h"
#include "view/builtin.h"
#include "view/draw.h"
#include "view/engine.h"
#include "view/labels.h"
#include "view/language.h"
#include "view/stats.h"
#include "view_steps.h"

/* What a test does not mention is 0. */
#pragma GCC diagnostic ignored "-Wmissing-field-initializers"

/* Errors of the language */

/* Read a view. Return: the message, which the caller frees. */
static char *message_of(const char *text, size_t bytes, bool *good)
{
	FILE *const err = stderr;
	struct view_rules view = { 0 };
	char *message = NULL;
	size_t size;

	stderr = open_memstream(&message, &size);
	*good = view_parse(&view, "v", text, bytes);
	fclose(stderr);
	stderr = err;
	view_deinit(&view);
	return message;
}

#define LEVELS_32 "((((((((((((((((((((((((((((((((("
#define NAMES_32 "a/a/a/a/a/a/a/a/a/a/a/a/a/a/a/a/a/a/a/a/a/a/a/a/a/a/a/a/a/a/a/a"

static const struct {
	const char *text, *message;
} errors[] = {
	{ "", "v:1:1: the view has no row" },
	{ "row a", "v:1:6: the view has no line with on" },
	{ "view x", "v:1:6: expected a title in quotes, not 'x'" },
	{ "view \"x", "v:1:7: the string has no end" },
	{ "view \"x\"\nview \"y\"", "v:2:7: the view has a title already" },
	{ "# a comment\n\nstae x", "v:3:1: unknown statement 'stae'; did you mean 'state'?" },
	{ "= x", "v:1:1: expected a statement, not '='" },
	{ "state", "v:1:6: expected the name of a state, not the end of the line" },
	{ "state A #12345g", "v:1:9: '#12345g' is not a colour such as #66FF33" },
	{ "state A #1234567", "is not a colour" },
	{ "state A ; state A", "v:1:17: the state 'A' exists already" },
	{ "state A B", "v:1:9: expected ; or the end of the line, not 'B'" },
	{ "on switchh set a = 1", "v:1:4: unknown event 'switchh'; did you mean 'switch'?" },
	{ "on user", "v:1:8: expected the name of an event, not the end of the line" },
	{ "on fork sat a = 1", "v:1:9: expected set, add, push, update, pop or none, not 'sat'" },
	{ "on fork set a 1", "v:1:15: expected =, not '1'" },
	{ "on fork set a = {cpuu}", "v:1:18: unknown field 'cpuu'; did you mean 'cpu'?" },
	{ "on fork set a = {prev_state}", "unknown field 'prev_state'" },
	{ "on user m(rank) set a/{rnk} = 1", "unknown field 'rnk'; did you mean 'rank'?" },
	{ "on user m(rank,host) set a/{hst} = 1", "unknown field 'hst'; did you mean 'host'?" },
	{ "on user m(a,b,c,d,e,f,g,h,i,j,k,l,m,n,o,p,q,r,s,t,u,v,w,x,y,z,A,B,C,D,E,F,G) none a",
	  "more than 32 fields" },
	{ "on user m(rank) set a = 1\non user n set a = {rank}", "v:2:20: unknown field 'rank'" },
	{ "state WAIT\non fork set a = WAITED",
	  "v:2:17: unknown state or field 'WAITED'; did you mean 'WAIT'?" },
	{ "on fork set a = 99999999999999999999", "v:1:17: the number is too large" },
	{ "on fork set a/* = 1", "v:1:15: expected the name of an attribute, not '*'" },
	{ "on fork set a = {cpu", "v:1:21: expected }, not the end of the line" },
	{ "on fork set a = [b", "v:1:19: expected ], not the end of the line" },
	{ "on fork set a = ", "v:1:17: expected a state, a number, a string, {field}, [path]" },
	{ "on fork if cpu set a = 1", "v:1:16: expected == != < <= > or >=, not 'set'" },
	{ "on fork if (cpu == 1 set a = 1", "v:1:22: expected ), not 'set'" },
	{ "on fork if " LEVELS_32 "cpu == 1", "more than 32 levels" },
	{ "on fork set " NAMES_32 "/a = 1", "the path has more than 32 names" },
	{ "row a/{cpu}", "v:1:8: the path of a row has no fields: use *" },
	{ "row a/[b]", "v:1:8: the path of a row has no other paths: use *" },
	{ "row a/* label \"{2}\"", "v:1:17: a label has {1} to {1}, the names that * stands for" },
	{ "row a/* label \"{1\"", "expected }, not the end of the line" },
	{ "row a/* label x", "v:1:15: expected a label in quotes, not 'x'" },
	{ "row a below a/*/n as rate", "v:1:13: the path of a rate has each * of the row" },
	{ "row a/* below a/* as rate", "v:1:15: the path of a rate has each * of the row" },
	{ "row a/* below a/*/n as sum", "v:1:24: expected as rate, not 'sum'" },
	{ "row a\nstat b = time(a/c == 1)", "v:2:15: no row above has this path" },
	{ "row a ; row b\nstat c = time(a == 1) / time(b == 1)",
	  "v:2:30: a stat is about one row" },
	{ "row a\nstat b = time(oncpu)", "the stat is about no row" },
	{ "row a\nstat b = time(a == {cpu})", "v:2:21: a stat has no fields" },
	{ "row a\nstat b = time(a == [c])", "v:2:21: a stat has no values of other paths" },
	{ "state A\nrow a\nstat b = time(a == B)", "v:3:20: unknown state 'B'; did you mean 'A'?" },
	{ "row a\nstat b = 5", "v:2:10: expected time(, not '5'" },
	{ "optional row a", "v:1:10: expected on, not 'row'" },
	{ "optional on switchh set a = 1\nrow a", "the view has no line with on" },
	{ "on fork set a = 1\non \xff", "v:2:4: a byte that is not UTF-8 text" },
};

static void test_errors(void **state)
{
	char *message;
	bool good;
	size_t i;

	(void)state;
	for (i = 0; i < sizeof(errors) / sizeof(*errors); i++) {
		message = message_of(errors[i].text, strlen(errors[i].text), &good);
		if (good || !strstr(message, errors[i].message))
			fail_msg("%s: %s", errors[i].text, message);
		free(message);
	}
	message = message_of("view\0", 5, &good);
	assert_false(good);
	assert_non_null(strstr(message, "v:1:5: a byte that is not UTF-8 text"));
	free(message);
}

/* A view that is too long. */
static void test_long(void **state)
{
	const size_t bytes = (256 << 10) + 1;
	char *text = malloc(bytes), *message;
	bool good;

	(void)state;
	assert_non_null(text);
	memset(text, '\n', bytes);
	message = message_of(text, bytes, &good);
	assert_false(good);
	assert_non_null(strstr(message, "longer than 262144 bytes"));
	free(message);
	free(text);
}

/* The built-in views with bytes and words exchanged: a message, or a view. */
static void test_damaged(void **state)
{
	static const char signs[] = "\n ;\"#{}[]()*/=<!x0\xc3\0";
	const struct view_builtin *b;
	unsigned int seed = 1, i, k;
	char text[4096], *message;
	size_t bytes, at;
	bool good;

	(void)state;
	for (b = view_builtins; b->name; b++) {
		bytes = strlen(b->text);
		assert_true(bytes < sizeof(text));
		for (i = 0; i < 1500; i++) {
			memcpy(text, b->text, bytes + 1);
			for (k = 0; k < 1 + i % 4; k++) {
				at = (size_t)rand_r(&seed) % bytes;
				text[at] = i % 2 ? signs[(size_t)rand_r(&seed) % sizeof(signs)] :
						   b->text[(size_t)rand_r(&seed) % bytes];
			}
			message = message_of(text, i % 3 ? bytes : at, &good);
			assert_true(good || strstr(message, "v:"));
			free(message);
		}
	}
}

/* What rules make of events */

/* The picture of the rows in 20 columns. */
static char *picture_of(struct engine *g)
{
	char *text = NULL;
	size_t size;
	FILE *out = open_memstream(&text, &size);

	view_draw(g, 20, out);
	fclose(out);
	return text;
}

/* What a view makes of events of which @rules is the middle. */
static void expect_text(const char *rules, const struct step *steps,
			char *(*text_of)(struct engine *g), const char *expected)
{
	char text[2048];

	snprintf(text, sizeof(text), "state A ; state B #00ff00\nstate C\n%s\n", rules);
	steps_expect(view_parse, text, steps, text_of, expected);
}

static void expect(const char *rules, const struct step *steps, const char *expected)
{
	expect_text(rules, steps, steps_intervals, expected);
}

static void test_set(void **state)
{
	(void)state;
	/* The value of a mark by its name, a label, and the end of the recording. */
	expect("on user mpi:work(rank) set W/{rank} = A\non user mpi:wait(rank) set W/{rank} = B\n"
	       "row W/* label \"rank {1}\"",
	       STEPS(MARK(10, 1, WORK, 0), MARK(20, 2, WORK, 1), MARK(30, 1, WAIT, 0)),
	       "0-10 rank 0 -\n0-20 rank 1 -\n10-30 rank 0 A\n30-100 rank 0 B\n20-100 rank 1 A\n");
	/* The same state again does not end it; none does. */
	expect("on user mpi:work(rank) set a = A\non user mpi:wait(rank) none a\nrow a",
	       STEPS(MARK(10, 1, WORK, 0), MARK(20, 1, WORK, 0), MARK(30, 1, WAIT, 0)),
	       "0-10 a -\n10-30 a A\n30-100 a -\n");
	/* Strings, numbers, fields, several actions, and another line with on. */
	expect("on user mpi:work(rank) set a = \"x y\" ; set b = -5 ; row a\n"
	       "on user mpi:wait(rank) set a = {comm} ; set a = {tid} ; row b",
	       STEPS(MARK(10, 1, WORK, 0), MARK(30, 7, WAIT, 0)),
	       "0-10 a -\n0-10 b -\n10-30 a x y\n30-100 a 7\n10-100 b -5\n");
}

static void test_names(void **state)
{
	(void)state;
	/* A name may end in *, and be in quotes; what no row is for is not shown. */
	expect("on enter MPI_* set T/{tid} = B ; set other = C\non exit \"MPI_*\" set T/{tid} = A\n"
	       "on exit MPI_Finalize set T/{tid} = none\nrow T/* label \"{1}\"",
	       STEPS(ENTER(10, 5, CALL), EXIT(20, 5, CALL), ENTER(30, 5, READ), EXIT(35, 5, READ),
		     ENTER(40, 5, CALL_2), EXIT(50, 5, CALL_2)),
	       "0-10 5 -\n10-20 5 B\n20-40 5 A\n40-50 5 B\n50-100 5 -\n");
	/* An unknown event in an optional line. */
	expect("optional on forkk set a = A\noptional on fork set a = A ; set a = {x} ; set a = B\n"
	       "on user mpi:work(rank) set a = {name}\nrow a",
	       STEPS(MARK(10, 1, WORK, 0)), "0-10 a -\n10-100 a mpi:work(rank)\n");
}

static void test_paths(void **state)
{
	(void)state;
	/* The value of one attribute is the name of another; without it, nothing is set. */
	expect("on user mpi:work(rank) set Tid/{tid}/rank = {rank}\n"
	       "on enter sys_read set R/[Tid/{tid}/rank] = A\n"
	       "on exit sys_read set R/[Tid/{tid}/rank] = [Tid/{tid}/rank]\n"
	       "row R/* label \"r{1} of [Tid/1/rank]\"",
	       STEPS(ENTER(10, 1, READ), MARK(20, 1, WORK, 9), ENTER(30, 1, READ),
		     EXIT(40, 1, READ)),
	       "0-30 r9 of 9 -\n30-40 r9 of 9 A\n40-100 r9 of 9 9\n");
	/* Without a label, the path. A label with an unknown part. */
	expect("on enter sys_read set x/y/z = A ; set q/1 = A\nrow x/*/*\nrow */1 label \"[n]{1}\"",
	       STEPS(ENTER(10, 1, READ)),
	       "0-10 x/y/z -\n0-10 ?q -\n10-100 x/y/z A\n10-100 ?q A\n");
}

static void test_numbers(void **state)
{
	(void)state;
	expect("on enter sys_read add n 2\non exit sys_read add n -1\nrow n",
	       STEPS(ENTER(10, 1, READ), ENTER(20, 1, READ), EXIT(30, 1, READ)),
	       "0-10 n -\n10-20 n 2\n20-30 n 4\n30-100 n 3\n");
	/* A counter does not wrap around, and only numbers are added. */
	expect("on enter sys_read add n 9223372036854775807\non exit sys_read add n {comm}\nrow n",
	       STEPS(ENTER(10, 1, READ), ENTER(20, 1, READ), EXIT(30, 1, READ)),
	       "0-10 n -\n10-100 n 9223372036854775807\n");
}

static void test_stack(void **state)
{
	(void)state;
	/* Below the first value is the one before it; what is not there is none. */
	expect("on user mpi:work(rank) set s = A\non enter * push s B\non exit * pop s\nrow s",
	       STEPS(MARK(10, 1, WORK, 0), ENTER(20, 1, READ), ENTER(30, 1, READ),
		     EXIT(40, 1, READ), EXIT(50, 1, READ), EXIT(60, 1, READ)),
	       "0-10 s -\n10-20 s A\n20-50 s B\n50-60 s A\n60-100 s -\n");
}

/* What a state was from its begin on; a row without a state, too. */
static void test_update(void **state)
{
	(void)state;
	expect("on user mpi:work(rank) set W/{rank} = A\n"
	       "on user mpi:wait(rank) update W/{rank} = {task}\nrow W/* label \"{1}\"",
	       STEPS(MARK(10, 1, WORK, 0), MARK(20, 2, WAIT, 0), MARK(30, 1, WORK, 0),
		     MARK(40, 3, WAIT, 5)),
	       "0-10 0 -\n10-30 0 task/2\n30-100 0 A\n0-100 5 task/3\n");
}

static const char *builtin(const char *name)
{
	const struct view_builtin *b = view_builtins;

	while (strcmp(b->name, name))
		b++;
	return b->text;
}

/* A wait in futex() has the name of the task that ends it, or none of a task. */
static void test_locks(void **state)
{
	(void)state;
	expect(builtin("locks"),
	       STEPS(SWITCH(10, 1, 1), SWITCH(15, 2, 0), WAKING(20, 2, 0, 1), ON(25, 1),
		     SWITCH(30, 1, 1), WAKING(40, 3, 1, 1), SWITCH(50, 1, 1), ON(60, 1),
		     SWITCH(70, 1, 1), WAKING(75, 1, 0, 2)),
	       "0-10 task/1 -\n10-20 task/1 task/2\n20-30 task/1 -\n30-40 task/1 TIMEOUT\n"
	       "40-50 task/1 -\n50-60 task/1 WAIT\n60-70 task/1 -\n70-100 task/1 WAIT\n");
}

/* A thread has its rank from the end of MPI_Init() on; one without a rank has its name. */
static void test_ranks(void **state)
{
	(void)state;
	expect(builtin("mpi"),
	       STEPS(ENTER(5, 7, INIT), MARK(10, 7, RANK, 3), EXIT(15, 7, INIT), ENTER(20, 7, CALL),
		     ENTER(25, 8, CALL), EXIT(30, 8, CALL), EXIT(35, 7, CALL), ENTER(40, 7, CALL_2),
		     EXIT(50, 7, CALL_2)),
	       "0-10 rank 3 -\n10-15 rank 3 WAIT\n15-20 rank 3 WORK\n0-25 task/8 -\n"
	       "25-30 task/8 WAIT\n20-35 rank 3 WAIT\n35-40 rank 3 WORK\n40-50 rank 3 WAIT\n"
	       "50-100 rank 3 -\n30-100 task/8 WORK\n");
}

static void test_conditions(void **state)
{
	static const struct {
		const char *guard;
		bool met;
	} cases[] = {
		{ "prev_state == 2", true },
		{ "{prev_state} != 2", false },
		{ "prev_state > 1", true },
		{ "prev_state >= 3", false },
		{ "prev_state < 3", true },
		{ "prev_state <= 1", false },
		{ "comm == \"task\"", true },
		{ "comm < \"tasl\"", true },
		{ "comm > 5", false },
		{ "comm < 5", false },
		{ "[x] == none", true },
		{ "[x/{tid}] != none", false },
		{ "not prev_state == 2", false },
		{ "A == A and not A == B", true },
		{ "1 == 2 and 1 == 1", false },
		{ "1 == 1 or 1 == 2 and 1 == 3", true },
		{ "(1 == 1 or 1 == 2) and 1 == 3", false },
		{ "not not (tid == 4)", true },
	};
	char rules[256];
	size_t i;

	(void)state;
	for (i = 0; i < sizeof(cases) / sizeof(*cases); i++) {
		snprintf(rules, sizeof(rules),
			 "on user * set a = A\non switch if %s set a = B\nrow a", cases[i].guard);
		expect(rules, STEPS(MARK(10, 4, WORK, 0), SWITCH(20, 4, 2)),
		       cases[i].met ? "0-10 a -\n10-20 a A\n20-100 a B\n" :
				      "0-10 a -\n10-100 a A\n");
	}
}

/*
 * A loss makes the rows unknown that events of the kernel of the task have set last, until the next
 * event. Programs have a trace of their own.
 */
static void test_lost(void **state)
{
	(void)state;
	expect("on enter sys_read set R/{tid} = A ; set last = {tid}\n"
	       "on exit sys_read set R/{tid} = B\non lost set n = {lost}\n"
	       "row R/* label \"{1}\"\nrow n\nrow last",
	       STEPS(ENTER(10, 1, READ), ENTER(20, 2, READ), LOST(30, 1), EXIT(40, 1, READ),
		     LOST(50, 2), LOST(60, 4)),
	       "0-10 1 -\n0-10 last -\n0-20 2 -\n10-20 last 1\n10-30 1 A\n0-30 n -\n30-40 1 ?\n"
	       "20-50 last 2\n20-50 2 A\n40-100 1 B\n50-100 last ?\n50-100 2 ?\n30-100 n 7\n");
	expect("on user mpi:work(rank) set W = A\non exit MPI_* set T = B\n"
	       "on enter sys_read set R = C\nrow W ; row T ; row R",
	       STEPS(MARK(10, 1, WORK, 1), EXIT(10, 1, CALL), ENTER(10, 1, READ), LOST(50, 1)),
	       "0-10 W -\n0-10 T -\n0-10 R -\n10-50 R C\n10-100 W A\n10-100 T B\n50-100 R ?\n");
}

/*
 * A column is 6 or 7 long, and has the state that was longest in it, in lower case if that was less
 * than half. The rows are in the order of their labels, numbers by their value.
 */
static void test_picture(void **state)
{
	(void)state;
	expect_text("on user mpi:work(rank) set r/{rank} = A\n"
		    "on user mpi:wait(rank) set r/{rank} = B\n"
		    "on enter sys_read set r/9 = B\nrow r/* label \"r{1}\"",
		    STEPS(MARK(20, 1, WORK, 10), MARK(30, 2, WORK, 9), MARK(39, 2, WAIT, 9),
			  ENTER(40, 2, READ), LOST(41, 2), MARK(43, 2, WAIT, 9),
			  ENTER(59, 2, READ), LOST(60, 2)),
		    picture_of, "r9  .....AaBBB??????\nr10 ...AAAAAAAAAAAAA\nA A  B B\n");
	/* A letter of the name that is not taken, or any; what is in no row is not in the list. */
	expect_text("on user mpi:work(rank) set r/{rank} = \"ab\"\n"
		    "on user mpi:wait(rank) set r/{rank} = {rank} ; set x = C\n"
		    "on enter * set r/{tid} = \"a\"\nrow r/* label \"{1}\"",
		    STEPS(MARK(10, 1, WORK, 3), MARK(60, 1, WAIT, 3), ENTER(80, 3, READ)),
		    picture_of, "3 ..AAAAAAAAABBBBCCC\nA ab  B 3  C a\n");
}

/* For each row and state its time, that on a CPU, and what was counted; then the stats. */
static char *sums_of(struct engine *g)
{
	const struct times_sum *sum;
	char *text = NULL;
	double *values;
	size_t size, i;
	FILE *out = open_memstream(&text, &size);

	for (i = 0; i < g->times.nr_sums; i++) {
		sum = &g->times.sums[i];
		fprintf(out, "%s %d %d %d\n", view_value_text(g, sum->value), (int)sum->ns,
			(int)sum->cpu_ns, (int)sum->counted);
	}
	for (i = 0; i < g->view->nr_stats; i++) {
		values = stats_values(g, &g->view->stats[i]);
		fprintf(out, "%s %.3f\n", g->view->stats[i].name, values[0]);
		free(values);
	}
	fclose(out);
	return text;
}

#define WORKS \
	"on user mpi:work(rank) set W/{rank} = A\non user mpi:wait(rank) set W/{rank} = B\n"

/* What happens in a state is counted for it, also if the counter is older than the row. */
static void test_rates(void **state)
{
	(void)state;
	expect_text(WORKS "on enter sys_read add W/0/reads 1\nrow W/* below W/*/reads as rate",
		    STEPS(MARK(10, 1, WORK, 0), ENTER(20, 1, READ), ENTER(30, 2, READ),
			  MARK(40, 1, WAIT, 0), ENTER(50, 1, READ), MARK(60, 1, WORK, 0),
			  ENTER(70, 1, READ)),
		    sums_of, "- 10 0 0\nA 70 0 3\nB 20 0 1\n");
	expect_text(WORKS "on enter sys_read add N/0/n 1\nrow W/* below N/*/n as rate",
		    STEPS(ENTER(5, 1, READ), MARK(10, 1, WORK, 0), ENTER(20, 1, READ)), sums_of,
		    "- 10 0 1\nA 90 0 1\n");
}

/* The CPU is that of the task that has set the state. */
static void test_stats(void **state)
{
	const char *stats = WORKS
		"row W/*\n"
		"stat busy = time(W/* == B and oncpu) / time(W/* == B)\n"
		"stat idle = time(not oncpu and not (W/* == none or W/* == A))\n"
		"stat zero = time(W/* == C) / time(W/* == C)\n";

	(void)state;
	expect_text(stats,
		    STEPS(ON(5, 1), MARK(10, 1, WORK, 0), MARK(20, 1, WAIT, 0), OFF(30, 1),
			  ON(35, 2), ON(50, 1), MARK(60, 1, WORK, 0), OFF(70, 1)),
		    sums_of,
		    "- 10 0 0\nA 50 20 0\nB 40 20 0\nbusy 0.500\nidle 20.000\nzero 0.000\n");
	/* The next state is set by another task. */
	expect_text(stats,
		    STEPS(ON(5, 1), MARK(10, 1, WAIT, 0), MARK(20, 2, WORK, 0), ON(30, 2),
			  OFF(40, 1), OFF(50, 2)),
		    sums_of,
		    "- 10 0 0\nB 10 10 0\nA 80 20 0\nbusy 1.000\nidle 0.000\nzero 0.000\n");
}

/* Only what is in the time of the view counts, and there is an end to the memory. */
static void test_limits(void **state)
{
	const char *text = "on user mpi:work(rank) set W/{rank} = {rank}\nrow W/*\n";
	struct registry *registry = steps_registry();
	struct symbolizer *symbols = symbolize_create(registry_events(registry), NULL);
	struct view_rules view = { 0 };
	struct engine *g;
	char *seen;

	(void)state;
	assert_true(view_parse(&view, "v", text, strlen(text)));
	g = engine_create(&view, symbols);
	g->times.keep = true;
	g->times.from_ns = 15;
	g->times.to_ns = 30;
	assert_int_equal(steps_take(g, &MARK(10, 1, WORK, 1)), 0);
	assert_int_equal(steps_take(g, &MARK(20, 1, WORK, 2)), 0);
	/* Earlier than what precedes it. */
	assert_int_equal(steps_take(g, &MARK(12, 1, WORK, 2)), 0);
	assert_int_equal(steps_take(g, &MARK(40, 1, WORK, 3)), 0);
	assert_true(times_finish(&g->times, 100));
	seen = steps_intervals(g);
	assert_string_equal(seen, "15-20 W/2 -\n15-30 W/3 -\n15-30 W/1 1\n20-30 W/2 2\n");
	free(seen);
	engine_destroy(g);

	g = engine_create(&view, symbols);
	g->times.most = 2;
	assert_int_equal(steps_take(g, &MARK(10, 1, WORK, 1)), 0);
	assert_int_equal(steps_take(g, &MARK(20, 1, WORK, 2)), 0);
	assert_int_not_equal(steps_take(g, &MARK(30, 1, WORK, 3)), 0);
	assert_true(g->times.full);
	engine_destroy(g);
	view_deinit(&view);
	symbolize_destroy(symbols);
	registry_destroy(registry);
}

/* The sums of a row that are not the time of the view are found. */
static void test_exact(void **state)
{
	const struct view_value one = { VALUE_NUMBER, 1 };
	struct times times = { .to_ns = UINT64_MAX, .most = 10 };

	(void)state;
	times_set(&times, times_add_row(&times, 1, 0), one, 10, (struct times_owner){ 5, true });
	times.sums[0].ns++;
	assert_false(times_finish(&times, 100));
	times.sums[0].ns--;
	assert_true(times_finish(&times, 100));
	times_deinit(&times);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_errors),
		cmocka_unit_test(test_long),
		cmocka_unit_test(test_damaged),
		cmocka_unit_test(test_set),
		cmocka_unit_test(test_names),
		cmocka_unit_test(test_paths),
		cmocka_unit_test(test_numbers),
		cmocka_unit_test(test_stack),
		cmocka_unit_test(test_update),
		cmocka_unit_test(test_locks),
		cmocka_unit_test(test_ranks),
		cmocka_unit_test(test_conditions),
		cmocka_unit_test(test_lost),
		cmocka_unit_test(test_rates),
		cmocka_unit_test(test_stats),
		cmocka_unit_test(test_limits),
		cmocka_unit_test(test_picture),
		cmocka_unit_test(test_exact),
	};

	cli_init("test_view");
	return cmocka_run_group_tests(tests, NULL, NULL);
}
