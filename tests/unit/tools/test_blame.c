// SPDX-License-Identifier: GPL-2.0-only
/*
 * Sums of the waits of many tasks, compared with those of the segments of each wait, in random
 * graphs and in one where every task waits for a long time.
 */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <cmocka.h>

#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>

#include "path/blame.h"
#include "lib/cli.h"

/* What a test does not mention is 0. */
#pragma GCC diagnostic ignored "-Wmissing-field-initializers"

enum { NAMES = 6, MOST_ROWS = 100000 };

static uint32_t seed;

static uint32_t random_below(uint32_t n)
{
	seed = seed * 1664525 + 1013904223;
	return (seed >> 8) % n;
}

/* Graphs */

static struct path_graph *new_graph(size_t nr_tasks)
{
	struct path_graph *g = graph_create(NULL);
	struct path_task *task;
	size_t i;

	g->tasks = cli_alloc(NULL, nr_tasks, sizeof(*g->tasks));
	g->nr_tasks = g->room = nr_tasks;
	for (i = 0; i < nr_tasks; i++) {
		task = &g->tasks[i];
		*task = (struct path_task){ .serial = i + 1, .creator = PATH_NONE,
					    .leader = PATH_NONE, .before = PATH_NONE,
					    .next = PATH_NONE };
		task->owner.rec.type = KTAU_REC_OWNER;
		task->owner.tid = (int32_t)i + 1;
		snprintf(task->owner.comm, sizeof(task->owner.comm), "t%d", (int)i % NAMES);
	}
	return g;
}

static struct path_edge *add(struct path_task *task, uint64_t from_ns, uint64_t to_ns,
			     enum path_state state)
{
	if (task->nr == task->room) {
		task->room = 2 * task->room + 16;
		task->edges = cli_alloc(task->edges, task->room, sizeof(*task->edges));
	}
	task->edges[task->nr] = (struct path_edge){
		from_ns, to_ns, PATH_NONE, PATH_NONE, 0, KTAU_ID_NONE, KTAU_ID_NONE,
		(uint8_t)state,
	};
	return &task->edges[task->nr++];
}

/* A wait, of which many have a waker, and some a packet. */
static void add_wait(struct path_graph *g, struct path_task *task, uint64_t from_ns,
		     uint64_t to_ns)
{
	struct path_edge *e = add(task, from_ns, to_ns, PATH_BLOCKED - random_below(2));

	e->wait = (uint16_t)random_below(3);
	if (!random_below(4))
		return;
	e->waker = random_below((uint32_t)g->nr_tasks);
	if (!random_below(4))
		e->packet = graph_sent_at(g, to_ns - random_below(3));
}

/*
 * Few ticks for many edges, so that many wakeups are of one time. Some tasks begin late: with a
 * creator, or without one, so that walks end there.
 */
static struct path_graph *random_graph(uint32_t nr_tasks, uint32_t nr_edges)
{
	struct path_graph *g = new_graph(nr_tasks);
	struct path_task *task;
	uint64_t ns, end;
	uint32_t i;

	for (task = g->tasks; task < g->tasks + nr_tasks; task++) {
		if (!random_below(8))
			continue;
		task->exited = random_below(2);
		ns = 10 + random_below(random_below(2) ? 3 : nr_edges);
		if (random_below(2)) {
			task->creator = random_below(nr_tasks);
			task->created_ns = ns - random_below(3);
		}
		for (i = 0; i < nr_edges; i++, ns = end) {
			end = ns + 1 + random_below(3);
			switch (random_below(4)) {
			case 0:
				add(task, ns, end, PATH_RUNNING);
				break;
			case 1:
				add(task, ns, end, PATH_RUN_QUEUE)->cpu =
					(uint16_t)random_below(2);
				break;
			default:
				add_wait(g, task, ns,
					 end + random_below(4) * random_below(nr_edges));
				end = task->edges[task->nr - 1].to_ns;
			}
		}
		if (ns > g->end_ns)
			g->end_ns = ns;
	}
	return g;
}

/* The sums of the segments */

struct sums {
	struct blame_row rows[MOST_ROWS];
	size_t nr;
};

static bool is_alike(const struct path_graph *g, const struct path_segment *x,
		     const struct path_segment *y)
{
	if (strcmp(graph_task_name(g, x->task), graph_task_name(g, y->task)) ||
	    x->state != y->state)
		return false;
	if (x->state == PATH_RUN_QUEUE)
		return x->cpu == y->cpu;
	if (x->state == PATH_UNKNOWN)
		return x->unknown == y->unknown;
	return x->wait == y->wait && x->cause == y->cause;
}

/* @joined: @s continues the segment before it. */
static void sum_segment(struct sums *sums, const struct path_graph *g, uint32_t victim,
			const struct path_segment *s, bool joined)
{
	struct blame_row *row;

	for (row = sums->rows; row < sums->rows + sums->nr; row++)
		if (is_alike(g, &row->like, s) && !strcmp(graph_task_name(g, row->victim),
							  graph_task_name(g, victim)))
			break;
	if (row == sums->rows + sums->nr) {
		assert_true(sums->nr < MOST_ROWS);
		*row = (struct blame_row){ victim, *s };
		sums->nr++;
	}
	row->ns += s->to_ns - s->from_ns;
	row->nr += !joined;
}

static void sum_victim(struct sums *sums, const struct path_graph *g, uint32_t victim,
		       uint64_t from_ns, uint64_t to_ns)
{
	const struct path_task *task = &g->tasks[victim];
	struct path path = { .from_ns = from_ns, .to_ns = to_ns };
	const struct path_segment *s;

	if (!task->nr)
		return;
	if (path.from_ns < task->edges[0].from_ns)
		path.from_ns = task->edges[0].from_ns;
	if (path.to_ns > task->edges[task->nr - 1].to_ns)
		path.to_ns = task->edges[task->nr - 1].to_ns;
	if (path.from_ns >= path.to_ns)
		return;
	path_walk(g, PATH_BOUNDED, victim, &path);
	assert_true(path_is_exact(&path));
	for (s = path.segments; s < path.segments + path.nr; s++)
		if (s->task != victim || s->state != PATH_RUNNING)
			sum_segment(sums, g, victim, s,
				    s > path.segments && segment_continues(s - 1, s));
	path_deinit(&path);
}

static void expect_same(const struct path_graph *g, uint64_t from_ns, uint64_t to_ns)
{
	static struct sums sums;
	struct blame blame = { 0 };
	const struct blame_row *row, *found;
	uint32_t i;

	sums.nr = 0;
	for (i = 0; i < g->nr_tasks; i++)
		sum_victim(&sums, g, i, from_ns, to_ns);
	assert_true(blame_make(g, "*", from_ns, to_ns, &blame));
	assert_int_equal(blame.nr, sums.nr);
	for (row = blame.rows; row < blame.rows + blame.nr; row++) {
		for (found = sums.rows; found < sums.rows + sums.nr; found++)
			if (is_alike(g, &found->like, &row->like) &&
			    !strcmp(graph_task_name(g, found->victim),
				    graph_task_name(g, row->victim)))
				break;
		assert_true(found < sums.rows + sums.nr);
		assert_int_equal(row->ns, found->ns);
		assert_int_equal(row->nr, found->nr);
	}
	blame_deinit(&blame);
}

static void random_graphs(void **state)
{
	struct path_graph *g;
	uint32_t i;

	(void)state;
	for (i = 1; i <= 300; i++) {
		seed = i;
		g = random_graph(2 + i % 30, 5 + i * 3 % 200);
		expect_same(g, 1, g->end_ns);
		expect_same(g, g->end_ns / 3, g->end_ns / 2 + 1);
		graph_destroy(g);
	}
}

/* Time */

/*
 * @tasks tasks wait all the time for one of them that runs and waits in turn, @edges times; it is
 * woken by another one of them.
 */
static struct path_graph *crowd(uint32_t tasks, uint32_t edges)
{
	struct path_graph *g = new_graph(tasks);
	uint32_t i;

	for (i = 0; i < edges; i++) {
		add(&g->tasks[i & 1], 10 * i + 1, 10 * i + 11, PATH_RUNNING);
		add(&g->tasks[!(i & 1)], 10 * i + 1, 10 * i + 11, PATH_BLOCKED)->waker = i & 1;
	}
	for (i = 2; i < tasks; i++)
		add(&g->tasks[i], 1, 10 * edges + 1, PATH_BLOCKED)->waker = i & 1;
	g->end_ns = 10 * edges + 1;
	return g;
}

static double seconds(clockid_t clock)
{
	struct timespec now;

	clock_gettime(clock, &now);
	return (double)now.tv_sec + (double)now.tv_nsec / 1e9;
}

static double time_of(uint32_t tasks, uint32_t edges)
{
	struct path_graph *g = crowd(tasks, edges);
	struct blame blame = { 0 };
	double s = -seconds(CLOCK_PROCESS_CPUTIME_ID);

	assert_true(blame_make(g, "*", 1, g->end_ns, &blame));
	s += seconds(CLOCK_PROCESS_CPUTIME_ID);
	print_message("# %u tasks, %u edges: %.3f s\n", tasks, edges, s);
	blame_deinit(&blame);
	graph_destroy(g);
	return s;
}

/* Four times the tasks, which all wait for four times the edges, do not take 16 times as long. */
static void linear(void **state)
{
	double one, four;

	(void)state;
	one = time_of(1000, 20000);
	four = time_of(4000, 80000);
	assert_true(four < 9 * one);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(random_graphs),
		cmocka_unit_test(linear),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
