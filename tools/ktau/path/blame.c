// SPDX-License-Identifier: GPL-2.0-only
/* Adds up the waits of many tasks. */
#include <fnmatch.h>
#include <stdlib.h>
#include <string.h>

#include "lib/cli.h"
#include "blame.h"

void blame_deinit(struct blame *blame)
{
	free(blame->rows);
	*blame = (struct blame){ 0 };
}

static void add_row(struct blame *blame, uint32_t victim, const struct path_segment *s)
{
	if (blame->nr == blame->room) {
		blame->room = blame->room ? 2 * blame->room : 256;
		blame->rows = cli_alloc(blame->rows, blame->room, sizeof(*blame->rows));
	}
	blame->rows[blame->nr++] = (struct blame_row){ victim, *s, s->to_ns - s->from_ns, 1 };
}

static const char *name_of(const struct path_graph *g, uint32_t task)
{
	return g->tasks[task].owner.comm;
}

/* What the rows are sorted and merged by. */
static int compare(const struct path_graph *g, const struct blame_row *x,
		   const struct blame_row *y)
{
	int order = strcmp(name_of(g, x->victim), name_of(g, y->victim));

	if (!order)
		order = strcmp(name_of(g, x->like.task), name_of(g, y->like.task));
	if (!order)
		order = (int)x->like.state - (int)y->like.state;
	if (!order && x->like.state == PATH_RUN_QUEUE)
		order = (int)x->like.cpu - (int)y->like.cpu;
	if (!order)
		order = (int)x->like.wait - (int)y->like.wait;
	if (!order)
		order = (int)x->like.cause - (int)y->like.cause;
	if (!order)
		order = (int)x->like.unknown - (int)y->like.unknown;
	return order;
}

static int by_name(const void *a, const void *b, void *g)
{
	return compare(g, a, b);
}

static int by_ns(const void *a, const void *b, void *g)
{
	const struct blame_row *x = a, *y = b;

	if (x->ns != y->ns)
		return x->ns < y->ns ? 1 : -1;
	return compare(g, a, b);
}

/* Merge the rows with the same names, states and causes. */
static void merge(const struct path_graph *g, struct blame *blame)
{
	size_t i, nr = 0;

	if (!blame->nr)
		return;
	qsort_r(blame->rows, blame->nr, sizeof(*blame->rows), by_name, (void *)g);
	for (i = 1; i < blame->nr; i++) {
		if (compare(g, &blame->rows[nr], &blame->rows[i])) {
			blame->rows[++nr] = blame->rows[i];
			continue;
		}
		blame->rows[nr].ns += blame->rows[i].ns;
		blame->rows[nr].nr += blame->rows[i].nr;
	}
	blame->nr = nr + 1;
}

/* The time in @path in which the task did not run, by its own edges. */
static uint64_t waiting(const struct path_task *task, const struct path *path)
{
	uint64_t ns = path->to_ns - path->from_ns, from_ns, to_ns;
	const struct path_edge *e;

	for (e = task->edges; e < task->edges + task->nr; e++) {
		from_ns = e->from_ns > path->from_ns ? e->from_ns : path->from_ns;
		to_ns = e->to_ns < path->to_ns ? e->to_ns : path->to_ns;
		if (e->state == PATH_RUNNING && from_ns < to_ns)
			ns -= to_ns - from_ns;
	}
	return ns;
}

static void add_victim(const struct path_graph *g, uint32_t victim, struct path *path,
		       struct blame *blame)
{
	const struct path_task *task = &g->tasks[victim];
	const struct path_segment *s;

	path->nr = 0;
	if (path->from_ns < task->edges[0].from_ns)
		path->from_ns = task->edges[0].from_ns;
	if (path->to_ns > task->edges[task->nr - 1].to_ns)
		path->to_ns = task->edges[task->nr - 1].to_ns;
	if (path->from_ns >= path->to_ns)
		return;
	path_walk(g, PATH_BOUNDED, victim, path);
	for (s = path->segments; s < path->segments + path->nr; s++)
		if (s->task != victim || s->state != PATH_RUNNING)
			add_row(blame, victim, s);
	blame->victims++;
	blame->waiting_ns += waiting(task, path);
}

bool blame_make(const struct path_graph *g, const char *pattern, uint64_t from_ns, uint64_t to_ns,
		struct blame *blame)
{
	struct path path = { 0 };
	uint64_t sum_ns = 0;
	size_t i, merged = 0;

	for (i = 0; i < g->nr_tasks; i++) {
		if (!g->tasks[i].nr || !g->tasks[i].owner.tid ||
		    fnmatch(pattern, name_of(g, (uint32_t)i), 0))
			continue;
		path.from_ns = from_ns;
		path.to_ns = to_ns;
		add_victim(g, (uint32_t)i, &path, blame);
		/* Merging whenever the rows have doubled bounds memory, at the cost of sorting. */
		if (blame->nr > 2 * merged + 100000) {
			merge(g, blame);
			merged = blame->nr;
		}
	}
	merge(g, blame);
	if (blame->nr)
		qsort_r(blame->rows, blame->nr, sizeof(*blame->rows), by_ns, (void *)g);
	for (i = 0; i < blame->nr; i++)
		sum_ns += blame->rows[i].ns;
	path_deinit(&path);
	return sum_ns == blame->waiting_ns;
}
