// SPDX-License-Identifier: GPL-2.0-only
/* Adds up the waits of many tasks. */
#include <fnmatch.h>
#include <stdlib.h>
#include <string.h>

#include "lib/cli.h"
#include "lib/hash.h"
#include "blame.h"

void blame_deinit(struct blame *blame)
{
	free(blame->rows);
	*blame = (struct blame){ 0 };
}

/**
 * struct adding - state of blame_make()
 * @g: the graph
 * @blame: the result
 * @names: number of the name of each task
 * @by_key: index of a row plus 1
 * @pairs: number of each pair of names
 * @causes: number of each pair of wait and cause
 */
struct adding {
	const struct path_graph *g;
	struct blame *blame;
	uint32_t *names;
	struct hash by_key, pairs, causes;
};

/* The order of rows with the same sum. */
static int compare(const struct path_graph *g, const struct blame_row *x,
		   const struct blame_row *y)
{
	int order = strcmp(graph_task_name(g, x->victim), graph_task_name(g, y->victim));

	if (!order)
		order = strcmp(graph_task_name(g, x->like.task), graph_task_name(g, y->like.task));
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

static int by_ns(const void *a, const void *b, void *g)
{
	const struct blame_row *x = a, *y = b;

	if (x->ns != y->ns)
		return x->ns < y->ns ? 1 : -1;
	return compare(g, a, b);
}

static int by_name(const void *a, const void *b, void *g)
{
	return strcmp(graph_task_name(g, *(const uint32_t *)a),
		      graph_task_name(g, *(const uint32_t *)b));
}

/* Tasks of one name have one number. */
static void number_names(struct adding *a)
{
	const struct path_graph *g = a->g;
	uint32_t *order = cli_alloc(NULL, g->nr_tasks + 1, sizeof(*order)), nr = 0;
	size_t i;

	a->names = cli_alloc(NULL, g->nr_tasks + 1, sizeof(*a->names));
	for (i = 0; i < g->nr_tasks; i++)
		order[i] = (uint32_t)i;
	if (g->nr_tasks)
		qsort_r(order, g->nr_tasks, sizeof(*order), by_name, (void *)g);
	for (i = 0; i < g->nr_tasks; i++) {
		if (i && by_name(&order[i - 1], &order[i], (void *)g))
			nr++;
		a->names[order[i]] = nr;
	}
	free(order);
}

/* The number of @pair, which may be new. */
static uint64_t number_of(struct hash *numbers, uint64_t pair)
{
	uintptr_t number = hash_get(numbers, pair);

	if (!number) {
		number = numbers->nr + 1;
		hash_put(numbers, pair, number);
	}
	return number;
}

/* Names, states and causes as one number. A run queue is that of a CPU. */
static uint64_t key_of(struct adding *a, uint32_t victim, const struct path_segment *s)
{
	uint64_t names = (uint64_t)a->names[victim] << 32 | a->names[s->task], cause;

	if (s->state == PATH_RUN_QUEUE)
		cause = s->cpu;
	else if (s->state == PATH_UNKNOWN)
		cause = s->unknown;
	else
		cause = number_of(&a->causes, (uint64_t)s->wait << 16 | s->cause);
	return number_of(&a->pairs, names) << 32 | (uint64_t)s->state << 28 | (cause & 0xfffffff);
}

static void add_segment(struct adding *a, uint32_t victim, const struct path_segment *s)
{
	struct blame *blame = a->blame;
	uint64_t key = key_of(a, victim, s);
	uintptr_t index = hash_get(&a->by_key, key);

	if (!index) {
		if (blame->nr == blame->room) {
			blame->room = blame->room ? 2 * blame->room : 64;
			blame->rows = cli_alloc(blame->rows, blame->room, sizeof(*blame->rows));
		}
		blame->rows[blame->nr++] = (struct blame_row){ victim, *s, 0, 0 };
		index = blame->nr;
		hash_put(&a->by_key, key, index);
	}
	blame->rows[index - 1].ns += s->to_ns - s->from_ns;
	blame->rows[index - 1].nr++;
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

static void add_victim(struct adding *a, uint32_t victim, struct path *path)
{
	const struct path_task *task = &a->g->tasks[victim];
	const struct path_segment *s;

	path->nr = 0;
	if (path->from_ns < task->edges[0].from_ns)
		path->from_ns = task->edges[0].from_ns;
	if (path->to_ns > task->edges[task->nr - 1].to_ns)
		path->to_ns = task->edges[task->nr - 1].to_ns;
	if (path->from_ns >= path->to_ns)
		return;
	path_walk(a->g, PATH_BOUNDED, victim, path);
	for (s = path->segments; s < path->segments + path->nr; s++)
		if (s->task != victim || s->state != PATH_RUNNING)
			add_segment(a, victim, s);
	a->blame->victims++;
	a->blame->waiting_ns += waiting(task, path);
}

bool blame_make(const struct path_graph *g, const char *pattern, uint64_t from_ns, uint64_t to_ns,
		struct blame *blame)
{
	struct adding a = { .g = g, .blame = blame };
	struct path path = { 0 };
	uint64_t sum_ns = 0;
	size_t i;

	number_names(&a);
	for (i = 0; i < g->nr_tasks; i++) {
		if (!g->tasks[i].nr || !g->tasks[i].owner.tid ||
		    fnmatch(pattern, g->tasks[i].owner.comm, 0))
			continue;
		path.from_ns = from_ns;
		path.to_ns = to_ns;
		add_victim(&a, (uint32_t)i, &path);
	}
	if (blame->nr)
		qsort_r(blame->rows, blame->nr, sizeof(*blame->rows), by_ns, (void *)g);
	for (i = 0; i < blame->nr; i++)
		sum_ns += blame->rows[i].ns;
	path_deinit(&path);
	hash_deinit(&a.by_key);
	hash_deinit(&a.pairs);
	hash_deinit(&a.causes);
	free(a.names);
	return sum_ns == blame->waiting_ns;
}
