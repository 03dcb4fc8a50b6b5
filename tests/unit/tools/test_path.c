// SPDX-License-Identifier: GPL-2.0-only
/*
 * Paths through hand-made traces whose answers are known: the figures in the comments are those of
 * the slots, with a tick of one nanosecond.
 */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <cmocka.h>

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "path_rings.h"
#include "path/blame.h"
#include "path/read.h"
#include "path/region.h"
#include "path/tree.h"
#include "path/walk.h"

/* What a test does not mention is 0. */
#pragma GCC diagnostic ignored "-Wmissing-field-initializers"

/* Names of programs as words. */
#define SH 0x6873ULL
#define ENV 0x766e65ULL
#define TRUE_ 0x65757274ULL

/* Print the rows of a tree: name, runs, time, time on a CPU, part of the path. */
static void print_rows(const struct path_graph *g, const struct path *path, uint32_t task,
		       char *text, size_t size)
{
	const struct path_program *p;
	struct path_tree tree = { 0 };
	uint64_t sum_ns = 0;
	size_t used = 0;
	uint32_t at;

	path_tree_make(g, path, task, &tree);
	for (at = 0; at != PATH_NONE; at = path_tree_next(&tree, at)) {
		p = &tree.programs[at];
		sum_ns += p->path_ns;
		used += (size_t)snprintf(text + used, size - used, "%*s%s %llu %llu %llu %llu\n",
					 (int)p->depth, "", p->name, (unsigned long long)p->runs,
					 (unsigned long long)p->wall_ns,
					 (unsigned long long)p->cpu_ns,
					 (unsigned long long)p->path_ns);
	}
	assert_int_equal(sum_ns, path->to_ns - path->from_ns);
	path_tree_deinit(&tree);
}

static void expect(void (*print)(const struct path_graph *, const struct path *, uint32_t, char *,
				 size_t),
		   enum path_mode mode, uint64_t serial, struct path path, const char *expected)
{
	struct timeline_sink sink;
	struct reading r;
	char text[4096];
	uint32_t task;

	read_given(&r, &sink, NULL);
	task = graph_find(r.g, serial);
	path_walk(r.g, mode, task, &path);
	print(r.g, &path, task, text, sizeof(text));
	assert_string_equal(text, expected);
	assert_true(path_is_exact(&path));
	path_deinit(&path);
	free_given(&r);
}

/* The path of the task @serial has these segments: start, serial, state, wait<-cause. */
static void expect_path(enum path_mode mode, uint64_t serial, uint64_t from_ns, uint64_t to_ns,
			const char *expected)
{
	const struct path path = { .from_ns = from_ns, .to_ns = to_ns };

	expect(print_path_segments, mode, serial, path, expected);
}

/*
 * A master (10) runs 400 and waits for its child (11), then runs 100 more. The child runs 100,
 * waits for its own child (12), which runs 200, and then runs 200.
 */
static const struct ring family[] = {
	{ 10, 0, { FORK(1, 11), WAITS(WAIT4, 401, 11, 501, 501), OUT(601, READ) } },
	{ 11, 501, { WOKEN(1, 10, 1), FORK(101, 12), WAITS(WAIT4, 103, 12, 301, 301),
		     WAKE(501, 10) } },
	{ 12, 301, { WOKEN(101, 11, 101), WAKE(301, 11) } },
};

static void bounded(void **state)
{
	(void)state;
	GIVEN(family);
	expect_path(PATH_BOUNDED, 10, 1, 601,
		    "1 10 RUNNING\n401 11 RUNNING\n501 10 RUNNING\n");
}

static void full(void **state)
{
	(void)state;
	GIVEN(family);
	expect_path(PATH_FULL, 10, 1, 601,
		    "1 11 RUNNING\n101 12 RUNNING\n301 11 RUNNING\n501 10 RUNNING\n");
}

/* A part of the time: the wait is not over at its end, so its cause is not either. */
static void window(void **state)
{
	(void)state;
	GIVEN(family);
	expect_path(PATH_BOUNDED, 10, 200, 550,
		    "200 10 RUNNING\n401 11 RUNNING\n501 10 RUNNING\n");
	expect_path(PATH_BOUNDED, 10, 450, 480, "450 10 BLOCKED 4<-0\n");
	expect_path(PATH_FULL, 10, 200, 550, "200 12 RUNNING\n301 11 RUNNING\n501 10 RUNNING\n");
}

/* The interrupt that wakes a task, in the ring of the task that it interrupts, is the cause. */
static void expect_cause(uint16_t irq, uint16_t sched, const char *expected)
{
	struct ring rings[] = {
		{ 2, 0, { IRQ_IN(295, irq), IRQ_WAKE(300, 10), IRQ_OUT(305, irq) } },
		{ 10, 0, { IN(99, READ), IN(100, sched), SWITCH(100, 1), IRQ_WOKEN(320, 2, 300),
			   OUT(320, sched), OUT(400, READ) } },
	};
	char text[128];

	GIVEN(rings);
	snprintf(text, sizeof(text), "99 10 RUNNING\n100 10 %s\n300 10 RUN QUEUE\n"
				     "320 10 RUNNING\n", expected);
	expect_path(PATH_BOUNDED, 10, 99, 400, text);
	expect_path(PATH_FULL, 10, 99, 400, text);
}

static void causes(void **state)
{
	(void)state;
	expect_cause(HRTIMER, VOL, "TIMER 6<-8");
	expect_cause(IRQ_TTY, VOL, "INPUT 6<-9");
	expect_cause(IRQ_DISK, VOL, "DISK 6<-10");
	expect_cause(IRQ_OTHER, VOL, "DEVICE 6<-11");
	expect_cause(IRQ_OTHER, VOL_IO, "DISK 6<-11");
	expect_cause(SOFT_RX, VOL, "NETWORK 6<-12");
	expect_cause(SOFT_RCU, VOL, "RCU 6<-13");
	expect_cause(RESCHEDULE, VOL, "IPI 6<-14");
	expect_cause(SOFT_OTHER, VOL, "INTERRUPT 6<-0");
}

/* An interrupt inside a softirq: the innermost frame is the cause. */
static void nested(void **state)
{
	static const struct ring rings[] = {
		{ 2, 0, { IRQ_IN(290, SOFT_RX), IRQ_IN(295, HRTIMER), IRQ_WAKE(300, 10),
			  IRQ_OUT(305, HRTIMER), IRQ_OUT(306, SOFT_RX) } },
		{ 10, 0, { IN(99, READ), IN(100, VOL), SWITCH(100, 1), IRQ_WOKEN(300, 2, 300),
			   OUT(300, VOL), OUT(400, READ) } },
	};

	(void)state;
	GIVEN(rings);
	expect_path(PATH_BOUNDED, 10, 99, 400,
		    "99 10 RUNNING\n100 10 TIMER 6<-8\n300 10 RUNNING\n");
}

/* The slot of the wakeup was lost, so the frames of the wait decide. */
static void expect_guess(uint16_t wait, uint16_t sched, const char *expected)
{
	struct ring rings[] = {
		{ 10, 0, { IN(99, wait), IN(100, sched), SWITCH(100, 1), IRQ_WOKEN(320, 2, 300),
			   OUT(320, sched), OUT(400, wait) } },
	};
	char text[128];

	GIVEN(rings);
	snprintf(text, sizeof(text), "99 10 RUNNING\n100 10 %s\n300 10 RUN QUEUE\n"
				     "320 10 RUNNING\n", expected);
	expect_path(PATH_BOUNDED, 10, 99, 400, text);
}

static void waking_lost(void **state)
{
	(void)state;
	expect_guess(NANOSLEEP, VOL, "TIMER 5<-0");
	expect_guess(RECEIVE, VOL, "NETWORK 7<-0");
	expect_guess(READ, VOL_IO, "DISK 6<-0");
	expect_guess(READ, VOL, "INTERRUPT 6<-0");
}

/* Preempted; woken before the switch; switched out while still runnable. */
static void run_queue(void **state)
{
	static const struct ring rings[] = {
		{ 10, 0, { IN(100, PREEMPT), SWITCH(100, 0), OUT(120, PREEMPT),
			   IN(200, VOL), SWITCH(200, 1), WOKEN(230, 11, 190), OUT(230, VOL),
			   IN(300, VOL), SWITCH(300, 0), OUT(340, VOL), OUT(400, READ) } },
	};

	(void)state;
	GIVEN(rings);
	expect_path(PATH_BOUNDED, 10, 100, 400,
		    "100 10 RUN QUEUE\n120 10 RUNNING\n200 10 RUN QUEUE\n230 10 RUNNING\n"
		    "300 10 RUN QUEUE\n340 10 RUNNING\n");
}

/* Asleep when the group sched is disabled, and read()ing when it is enabled again. */
static void untraced(void **state)
{
	static const struct ring rings[] = {
		{ 10, 0, { IN(100, READ), OUT(120, READ), IN(130, READ), IN(150, VOL),
			   SWITCH(150, 1), OTHER(200, GROUPS, 0, KTAU_GROUP_SYSCALL, 0, 0),
			   OUT(260, READ), IN(270, READ),
			   OTHER(300, GROUPS, 0, KTAU_GROUP_SYSCALL | KTAU_GROUP_SCHED, 0, 0),
			   OUT(350, READ), IN(360, READ), OUT(400, READ) } },
	};

	(void)state;
	GIVEN(rings);
	expect_path(PATH_BOUNDED, 10, 100, 400,
		    "100 10 RUNNING\n150 10 BLOCKED 6<-0\n200 10 UNKNOWN 4\n350 10 RUNNING\n");
}

/* Without --task, the path is that of the recorded command, whatever else was recorded. */
static void command(void **state)
{
	static const struct ring rings[] = {
		{ 10, 0, { IN(100, READ), OUT(150, READ) } },
		{ 11, 0, { IN(100, READ), OUT(150, READ) } },
	};
	struct timeline_sink sink;
	struct reading r;

	(void)state;
	GIVEN(rings);
	read_given(&r, &sink, NULL);
	assert_int_equal(choose_task(r.g, NULL), PATH_NONE);
	r.g->command_serial = 11;
	assert_int_equal(choose_task(r.g, NULL), graph_find(r.g, 11));
	r.g->command_serial = 12;
	assert_int_equal(choose_task(r.g, NULL), PATH_NONE);
	assert_int_equal(choose_task(r.g, "10"), graph_find(r.g, 10));
	free_given(&r);
}

/* Lost slots of the task itself are unknown until its next slot. */
static void own_loss(void **state)
{
	static const struct ring rings[] = {
		{ 10, 0, { IN(100, READ), OUT(150, READ) } },
		{ 10, 0, { IN(300, READ), OUT(400, READ) }, 12, 10, 160, 290 },
	};

	(void)state;
	GIVEN(rings);
	expect_path(PATH_BOUNDED, 10, 100, 400,
		    "100 10 RUNNING\n160 10 UNKNOWN 0\n300 10 RUNNING\n");
	expect_path(PATH_FULL, 10, 100, 400,
		    "100 10 RUNNING\n160 10 UNKNOWN 0\n300 10 RUNNING\n");
}

/* The waker is a task that the reader may not see, or one without a ring. */
static void hidden_waker(void **state)
{
	static const struct ring rings[] = {
		{ 10, 0, { WAITS(READ, 100, 0, 200, 200), WAITS(READ, 300, 77, 400, 400) } },
	};

	(void)state;
	GIVEN(rings);
	expect_path(PATH_BOUNDED, 10, 99, 400,
		    "99 10 RUNNING\n100 10 BLOCKED 6<-0\n200 10 RUNNING\n300 10 BLOCKED 6<-0\n");
	expect_path(PATH_FULL, 10, 99, 400,
		    "99 10 RUNNING\n100 10 BLOCKED 6<-0\n200 10 RUNNING\n300 10 BLOCKED 6<-0\n");
}

/* The waker has no slot before time 350: the wait is not followed beyond that, but shown. */
static void dead_end(void **state)
{
	static const struct ring rings[] = {
		{ 10, 0, { WAITS(READ, 100, 11, 400, 400), OUT(500, READ) } },
		{ 11, 0, { IN(350, READ), OUT(360, READ), WAKE(400, 10) } },
	};

	(void)state;
	GIVEN(rings);
	expect_path(PATH_FULL, 10, 99, 500,
		    "99 10 RUNNING\n100 10 BLOCKED 6<-0\n400 10 RUNNING\n");
	expect_path(PATH_FULL, 11, 200, 400, "200 11 UNKNOWN 1\n350 11 RUNNING\n");
}

/* Two tasks that have woken each other at the same time. */
static void cycle(void **state)
{
	static const struct ring rings[] = {
		{ 10, 0, { WAITS(READ, 100, 11, 400, 400), OUT(500, READ) } },
		{ 11, 0, { WAITS(READ, 100, 10, 400, 400), OUT(500, READ) } },
	};

	(void)state;
	GIVEN(rings);
	expect_path(PATH_FULL, 10, 99, 500, "99 10 UNKNOWN 3\n400 10 RUNNING\n");
}

/* The profile of a thread that executes a program ends, and that of the program begins. */
static void exec_thread(void **state)
{
	static const struct ring rings[] = {
		{ 10, 200, { IN(100, READ), OUT(150, READ),
			     OTHER(200, EXEC, 0, 0x6d6172676f7270, 0, 11) } },
		{ 11, 0, { IN(200, READ), OUT(300, READ) } },
	};

	(void)state;
	GIVEN(rings);
	expect_path(PATH_FULL, 11, 100, 300, "100 10 RUNNING\n200 11 RUNNING\n");
}

/* An exited task has woken its parent after its last slot. */
static void after_last_slot(void **state)
{
	static const struct ring rings[] = {
		{ 10, 0, { FORK(100, 11), WAITS(WAIT4, 110, 11, 300, 310), OUT(400, READ) } },
		{ 11, 250, { WOKEN(120, 10, 105), OUT(200, READ) } },
	};

	(void)state;
	GIVEN(rings);
	expect_path(PATH_BOUNDED, 10, 100, 400,
		    "100 10 RUNNING\n110 11 RUN QUEUE\n120 11 RUNNING\n300 10 RUN QUEUE\n"
		    "310 10 RUNNING\n");
	expect_path(PATH_FULL, 10, 50, 400,
		    "50 10 UNKNOWN 1\n100 11 RUN QUEUE\n120 11 RUNNING\n300 10 RUN QUEUE\n"
		    "310 10 RUNNING\n");
}

/*
 * A shell (10, "sh") runs "true" twice, the second time by way of "env", which executes it. A
 * thread (13) of the first one has part of its time.
 */
static void programs(void **state)
{
	static const struct ring rings[] = {
		{ 10, 0, { EXEC(1, SH), FORK(100, 11), WAITS(WAIT4, 110, 11, 200, 200),
			   FORK(210, 12), WAITS(WAIT4, 220, 12, 400, 400), OUT(500, READ) } },
		{ 11, 200, { WOKEN(105, 10, 100), EXEC(120, TRUE_), OTHER(130, FORK, 0, 13, 11, 0),
			     WAITS(READ, 140, 13, 180, 180), OUT(200, READ) } },
		{ 12, 400, { WOKEN(210, 10, 210), EXEC(230, ENV), EXEC(300, TRUE_),
			     OUT(400, READ) } },
		{ 13, 180, { WOKEN(130, 11, 130), OUT(180, READ) } },
	};
	const struct path path = { .from_ns = 1, .to_ns = 500 };

	(void)state;
	GIVEN(rings);
	/* The shell's own time is 1 to 110, 200 to 220 and 400 to 500. */
	expect(print_rows, PATH_BOUNDED, 10, path,
	       "sh 1 499 229 229\n true 2 200 205 190\n env 1 90 90 80\n");
	/* In the full path, what the shell did while the first child ran is not its own. */
	expect(print_rows, PATH_FULL, 10, path,
	       "sh 1 499 229 209\n true 2 200 205 200\n env 1 90 90 90\n");
}

/* A shell waits for another one, which does not descend from it: they are two rows. */
static void stranger(void **state)
{
	static const struct ring rings[] = {
		{ 10, 0, { EXEC(1, SH), WAITS(READ, 110, 11, 200, 200), OUT(500, READ) } },
		{ 11, 0, { EXEC(1, SH), OUT(500, READ) } },
	};
	const struct path path = { .from_ns = 1, .to_ns = 500 };

	(void)state;
	GIVEN(rings);
	expect(print_rows, PATH_BOUNDED, 10, path, "sh 1 499 409 409\nsh 1 499 499 90\n");
}

/*
 * A client (10, port 20) sends 5 bytes to a server (11, port 30), which answers with 7 at time 200.
 * Softirqs of the sender deliver both.
 */
static void packet(void **state)
{
	static const struct ring rings[] = {
		{ 10, 0, { IN(90, READ), SEND(100, 2030, 1000, 5), IRQ_IN(101, SOFT_RX),
			   RECV(102, 3020, 1000, 5), IRQ_WAKE(103, 11), IRQ_OUT(104, SOFT_RX),
			   IN(110, VOL), SWITCH(110, 1), RX_WOKEN(206, 11, 204), OUT(206, VOL),
			   OUT(300, READ) } },
		{ 11, 0, { IN(50, READ), IN(50, VOL), SWITCH(50, 1), RX_WOKEN(105, 10, 103),
			   OUT(105, VOL), SEND(200, 3020, 7000, 7), IRQ_IN(201, SOFT_RX),
			   RECV(202, 2030, 7000, 7), IRQ_WAKE(204, 10), IRQ_OUT(205, SOFT_RX),
			   OUT(300, READ) } },
	};

	(void)state;
	GIVEN(rings);
	expect_path(PATH_BOUNDED, 10, 90, 300,
		    "90 10 RUNNING\n110 11 RUNNING\n200 10 NETWORK 6<-12\n204 10 RUN QUEUE\n"
		    "206 10 RUNNING\n");
	expect_path(PATH_FULL, 10, 90, 300,
		    "90 10 RUNNING\n100 11 NETWORK 6<-12\n103 11 RUN QUEUE\n105 11 RUNNING\n"
		    "200 10 NETWORK 6<-12\n204 10 RUN QUEUE\n206 10 RUNNING\n");
}

/*
 * Task 10 waits until 204 for what task 2 has been interrupted to receive at 202: bytes @seq to
 * @seq + 9, of what task 11 has sent by @sends.
 */
static void expect_sender(const struct given sends[3], uint64_t seq, const char *expected)
{
	struct ring rings[] = {
		{ 2, 0, { IN(50, READ), IRQ_IN(201, SOFT_RX), RECV(202, 2030, seq, 10),
			  IRQ_WAKE(204, 10), IRQ_OUT(205, SOFT_RX) } },
		{ 10, 0, { IN(99, READ), IN(100, VOL), SWITCH(100, 1), RX_WOKEN(204, 2, 204),
			   OUT(204, VOL), OUT(300, READ) } },
		{ 11, 0, { IN(60, READ), sends[0], sends[1], sends[2], OUT(300, READ) } },
	};
	char text[128];

	GIVEN(rings);
	snprintf(text, sizeof(text), "99 10 RUNNING\n%s204 10 RUNNING\n", expected);
	expect_path(PATH_BOUNDED, 10, 99, 300, text);
}

static void senders(void **state)
{
	static const struct given split[3] = { SEND(110, 3020, 995, 10), SEND(120, 3020, 1005, 10),
					       SEND(130, 3020, 1015, 10) };
	static const struct given again[3] = { SEND(110, 3020, 1000, 10),
					       SEND(150, 3020, 1000, 10),
					       SEND(160, 3020, 1010, 10) };
	static const struct given wrap[3] = { SEND(110, 3020, 0xfffffffa, 20),
					      SEND(120, 3021, 4, 20), SEND(130, 2030, 4, 20) };
	static const struct given timer[3] = { IRQ_IN(110, HRTIMER), RX_SEND(111, 3020, 1000, 10),
					       IRQ_OUT(112, HRTIMER) };

	(void)state;
	/* The last byte is in the second one of three. */
	expect_sender(split, 1000, "100 11 RUNNING\n120 10 NETWORK 6<-12\n");
	/* Sent twice: it is not known that the first one arrived. */
	expect_sender(again, 1000, "100 11 RUNNING\n150 10 NETWORK 6<-12\n");
	/* Sequence numbers wrap around; other connections do not count. */
	expect_sender(wrap, 0xfffffffc, "100 11 RUNNING\n110 10 NETWORK 6<-12\n");
	/* Nobody has sent it; a timer has. */
	expect_sender(split, 2000, "100 10 NETWORK 6<-12\n");
	expect_sender(timer, 1000, "100 10 NETWORK 6<-12\n");
}

/* An acknowledgement that task 12 has sent makes a softirq of task 2 send the data. */
static void released(void **state)
{
	static const struct ring rings[] = {
		{ 2, 0, { IN(50, READ), IRQ_IN(150, SOFT_RX), RECV(151, 3020, 500, 1),
			  RX_SEND(152, 3020, 1000, 10), RECV(160, 2030, 1000, 10),
			  IRQ_WAKE(161, 10), IRQ_OUT(162, SOFT_RX) } },
		{ 10, 0, { IN(99, READ), IN(100, VOL), SWITCH(100, 1), RX_WOKEN(161, 2, 161),
			   OUT(161, VOL), OUT(300, READ) } },
		{ 12, 0, { IN(60, READ), SEND(140, 2030, 500, 1), OUT(300, READ) } },
	};

	(void)state;
	GIVEN(rings);
	expect_path(PATH_BOUNDED, 10, 99, 300,
		    "99 10 RUNNING\n100 12 RUNNING\n140 10 NETWORK 6<-12\n161 10 RUNNING\n");
}

/* A trace without a serial belongs to no task. */
static void no_serial(void **state)
{
	static const struct ring rings[] = {
		{ 0, 0, { IN(100, READ), SEND(150, 2030, 1000, 5), OUT(200, READ) } },
	};
	struct timeline_sink sink;
	struct reading r;

	(void)state;
	GIVEN(rings);
	read_given(&r, &sink, NULL);
	assert_int_equal(r.g->events, 0);
	assert_int_equal(r.g->nr_tasks, 0);
	free_given(&r);
}

/* The waits of tasks whose names match a pattern: time, victim, task waited for, state. */
static void expect_blame(const char *pattern, uint64_t from_ns, uint64_t to_ns,
			 const char *expected)
{
	struct timeline_sink sink;
	struct blame blame = { 0 };
	const struct blame_row *row;
	struct reading r;
	size_t used = 0;
	char text[1024] = "";

	read_given(&r, &sink, NULL);
	assert_true(blame_make(r.g, pattern, from_ns, to_ns, &blame));
	for (row = blame.rows; row < blame.rows + blame.nr; row++)
		used += (size_t)snprintf(text + used, sizeof(text) - used, "%llu %s %s %s\n",
					 (unsigned long long)row->ns,
					 r.g->tasks[row->victim].owner.comm,
					 r.g->tasks[row->like.task].owner.comm,
					 cause_name(row->like.state));
	assert_string_equal(text, expected);
	blame_deinit(&blame);
	free_given(&r);
}

/* Passes through "request": number, median, 99 %; and rows: all, slowest, task, state. */
static void expect_region(uint64_t serial, const char *expected)
{
	struct region_paths paths = { 0 };
	const struct region_row *row;
	struct timeline_sink sink;
	struct reading r;
	char text[1024];
	size_t used;

	read_given(&r, &sink, "request");
	assert_true(region_make(r.g, PATH_BOUNDED, serial ? graph_find(r.g, serial) : PATH_NONE,
				&paths));
	used = (size_t)snprintf(text, sizeof(text), "%zu %llu %llu\n", paths.passes,
				(unsigned long long)paths.median_ns,
				(unsigned long long)paths.high_ns);
	for (row = paths.rows; row < paths.rows + paths.nr; row++)
		used += (size_t)snprintf(text + used, sizeof(text) - used, "%llu %llu %s %s\n",
					 (unsigned long long)row->ns,
					 (unsigned long long)row->slow_ns,
					 r.g->tasks[row->task].owner.comm, cause_name(row->state));
	assert_string_equal(text, expected);
	region_deinit(&paths);
	free_given(&r);
}

/*
 * Three passes: of 100 and 200 by task 10, the latter with a wait of 120 for task 11, and of 50 by
 * task 12. Nested passes, other regions and a pass that has not ended do not count.
 */
static void requests(void **state)
{
	static const struct ring rings[] = {
		{ 10, 0, { IN(50, REQUEST), IN(60, REQUEST), OUT(70, REQUEST), OUT(150, REQUEST),
			   IN(200, REQUEST), WAITS(READ, 220, 11, 340, 340), OUT(400, REQUEST),
			   IN(450, OTHER_REGION), OUT(500, OTHER_REGION) } },
		{ 11, 0, { IN(50, READ), OUT(500, READ) } },
		{ 12, 0, { IN(100, REQUEST), OUT(150, REQUEST), IN(160, READ), OUT(170, READ),
			   IN(600, REQUEST) } },
	};

	(void)state;
	GIVEN(rings);
	expect_region(0, "3 100 200\n180 80 t10 RUNNING\n120 120 t11 RUNNING\n"
			 "50 0 t12 RUNNING\n");
	expect_region(10, "2 100 200\n180 80 t10 RUNNING\n120 120 t11 RUNNING\n");
	expect_region(11, "0 0 0\n");
}

/* Tasks of one name share a row. */
static void equal_names(void **state)
{
	static const struct ring rings[] = {
		{ 12, 0, { IN(100, REQUEST), OUT(150, REQUEST), IN(160, READ), OUT(170, READ) } },
		{ 13, 0, { IN(200, REQUEST), OUT(260, REQUEST) }, .named = 12 },
	};

	(void)state;
	GIVEN(rings);
	expect_region(0, "2 50 60\n110 60 t12 RUNNING\n");
}

/* The master waits 100 for its child, which waits 198 for its own. */
static void blames(void **state)
{
	(void)state;
	GIVEN(family);
	expect_blame("*", 1, 601, "198 t11 t12 RUNNING\n100 t10 t11 RUNNING\n");
	expect_blame("t10", 1, 601, "100 t10 t11 RUNNING\n");
	expect_blame("t1[12]", 200, 601, "101 t11 t12 RUNNING\n");
	expect_blame("t12", 1, 601, "");
}

/* Between two losses without a slot, nothing is known of a task either, even if it has exited. */
static void two_losses(void **state)
{
	static const struct ring rings[] = {
		{ 10, 0, { IN(100, READ), OUT(150, READ) } },
		{ 10, 0, { { 0 } }, 12, 10, 160, 190 },
		{ 10, 0, { { 0 } }, 32, 20, 250, 290 },
		{ 10, 500, { IN(300, READ), OUT(400, READ) }, 32 },
	};

	(void)state;
	GIVEN(rings);
	expect_path(PATH_BOUNDED, 10, 100, 400,
		    "100 10 RUNNING\n160 10 UNKNOWN 0\n300 10 RUNNING\n");
	expect_blame("t10", 100, 400, "140 t10 t10 UNKNOWN\n");
}

/* The last lines about lost slots: the size of a ring that would have kept them. */
static void expect_ring(uint64_t lost, const char *expected)
{
	struct ring rings[] = {
		{ 10, 0, { IN(100, READ), OUT(150, READ) } },
		{ 10, 0, { IN(300, READ), OUT(400, READ) }, lost + 2, lost, 160, 290 },
	};
	struct path path = { .from_ns = 100, .to_ns = 400 };
	struct path_print p = { .path = &path };
	FILE *const out = stdout;
	struct timeline_sink sink;
	struct reading r;
	char *text = NULL;
	size_t size;

	GIVEN(rings);
	read_given(&r, &sink, NULL);
	p.g = r.g;
	path_walk(r.g, PATH_BOUNDED, graph_find(r.g, 10), &path);
	stdout = open_memstream(&text, &size);
	path_print_unknown(&p);
	fclose(stdout);
	stdout = out;
	assert_non_null(strstr(text, expected));
	free(text);
	path_deinit(&path);
	free_given(&r);
}

static void sizes_of_rings(void **state)
{
	(void)state;
	expect_ring(100, "100 slots lost in t10/10 (ring=256 would have kept them)");
	expect_ring(1048512, "(ring=1048576 would have kept them)");
	expect_ring(1048513, "(more than a ring can have)");
	expect_ring(1ULL << 63, "(more than a ring can have)");
	expect_ring(UINT64_MAX - 10, "(more than a ring can have)");
}

/* What dot cannot have in a string, such as control characters and broken UTF-8, is replaced. */
static void quoted(void **state)
{
	FILE *const out = stdout;
	struct timeline_sink sink;
	struct blame blame = { 0 };
	struct path_print p = { 0 };
	struct reading r;
	char *text = NULL;
	size_t size;

	(void)state;
	GIVEN(family);
	read_given(&r, &sink, NULL);
	strcpy(r.g->tasks[graph_find(r.g, 10)].owner.comm, "\"\\\033\x7f\xc2\x9b\xff");
	strcpy(r.g->tasks[graph_find(r.g, 11)].owner.comm, "\xc3\xa4\xc3");
	p.g = r.g;
	assert_true(blame_make(r.g, "\"*", 1, 601, &blame));
	stdout = open_memstream(&text, &size);
	blame_print_dot(&p, &blame);
	fclose(stdout);
	stdout = out;
	assert_non_null(strstr(text, "\"\\\"\\\\????\" -> \"\xc3\xa4?\" ["));
	free(text);
	blame_deinit(&blame);
	free_given(&r);
}

/* The last 32 segments of a direction are known, of which the latest is found. */
static void kept_segments(void **state)
{
	struct ktau_slot_net net;
	struct packets packets = { 0 };
	uint32_t i, k;

	(void)state;
	for (i = 0; i < 100; i++) {
		net = (struct ktau_slot_net){ .local_port = 20, .remote_port = 30, .bytes = 10,
					      .seq = 10 * i };
		packets_send(&packets, &net, i, (struct path_origin){ i, 0, i });
		net = (struct ktau_slot_net){ .local_port = 30, .remote_port = 20, .bytes = 10 };
		for (k = 0; k <= i; k++) {
			net.seq = 10 * k;
			assert_int_equal(packets_receive(&packets, &net, k).task,
					 i - k < 32 ? k : PATH_NONE);
		}
	}
	packets_deinit(&packets);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(bounded),
		cmocka_unit_test(full),
		cmocka_unit_test(window),
		cmocka_unit_test(causes),
		cmocka_unit_test(nested),
		cmocka_unit_test(waking_lost),
		cmocka_unit_test(untraced),
		cmocka_unit_test(command),
		cmocka_unit_test(run_queue),
		cmocka_unit_test(own_loss),
		cmocka_unit_test(no_serial),
		cmocka_unit_test(hidden_waker),
		cmocka_unit_test(dead_end),
		cmocka_unit_test(cycle),
		cmocka_unit_test(exec_thread),
		cmocka_unit_test(after_last_slot),
		cmocka_unit_test(packet),
		cmocka_unit_test(senders),
		cmocka_unit_test(released),
		cmocka_unit_test(kept_segments),
		cmocka_unit_test(programs),
		cmocka_unit_test(stranger),
		cmocka_unit_test(two_losses),
		cmocka_unit_test(sizes_of_rings),
		cmocka_unit_test(blames),
		cmocka_unit_test(quoted),
		cmocka_unit_test(requests),
		cmocka_unit_test(equal_names),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
