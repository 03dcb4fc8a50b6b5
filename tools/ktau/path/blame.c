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
 * @likes: what is alike during the waits
 * @skips: parts of the walks
 * @by_key: index of a row plus 1
 */
struct adding {
	const struct path_graph *g;
	struct blame *blame;
	struct likes likes;
	struct path_skips skips;
	struct hash by_key;
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

/* The row of the name of @victim and of a number of what is alike. */
static struct blame_row *find_row(struct adding *a, uint32_t victim, uint32_t like)
{
	struct blame *blame = a->blame;
	uint64_t key = (uint64_t)a->likes.names[victim] << 32 | like;
	uintptr_t index = hash_get(&a->by_key, key);

	if (index)
		return &blame->rows[index - 1];
	if (blame->nr == blame->room) {
		blame->room = blame->room ? 2 * blame->room : 64;
		blame->rows = cli_alloc(blame->rows, blame->room, sizeof(*blame->rows));
	}
	blame->rows[blame->nr++] = (struct blame_row){ victim, a->likes.all[like], 0, 0 };
	hash_put(&a->by_key, key, blame->nr);
	return &blame->rows[blame->nr - 1];
}

static void add_sum(struct adding *a, uint32_t victim, const struct path_sum *sum)
{
	struct blame_row *row = find_row(a, victim, sum->like);

	row->ns += sum->ns;
	row->nr += sum->nr;
}

/* Add a segment, or many. If the first of them continues the one @before, they are one. */
static void add_segment(struct adding *a, uint32_t victim, const struct path_segment *s,
			const struct path_segment *before)
{
	const struct path_segment *first = skips_earliest(&a->skips, s);
	uint32_t like = likes_number(&a->likes, first);
	const struct path_skip *skip;
	size_t i;

	if (s->state == PATH_SKIPPED) {
		skip = &a->skips.all[s->row];
		for (i = 0; i < skip->nr_sums; i++)
			add_sum(a, victim, &a->skips.sums[skip->sums + i]);
	} else {
		add_sum(a, victim, &(struct path_sum){ like, 1, s->to_ns - s->from_ns });
	}
	if (before && segment_continues(skips_latest(&a->skips, before), first))
		find_row(a, victim, like)->nr--;
}

/* A task whose CPU the host has taken waits for nothing in the guest. */
static bool is_running(uint8_t state)
{
	return state == PATH_RUNNING || state == PATH_STOLEN;
}

/* The time in @path in which the task did not run, by its own edges. */
static uint64_t waiting(const struct path_task *task, const struct path *path)
{
	uint64_t ns = path->to_ns - path->from_ns, from_ns, to_ns;
	const struct path_edge *e;

	for (e = task->edges; e < task->edges + task->nr; e++) {
		from_ns = e->from_ns > path->from_ns ? e->from_ns : path->from_ns;
		to_ns = e->to_ns < path->to_ns ? e->to_ns : path->to_ns;
		if (is_running(e->state) && from_ns < to_ns)
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
	path_walk_skipping(&a->skips, victim, path);
	for (s = path->segments; s < path->segments + path->nr; s++)
		if (s->task != victim || !is_running(s->state))
			add_segment(a, victim, s, s > path->segments ? s - 1 : NULL);
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

	likes_init(&a.likes, g);
	skips_init(&a.skips, &a.likes);
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
	skips_deinit(&a.skips);
	likes_deinit(&a.likes);
	return sum_ns == blame->waiting_ns;
}
