// SPDX-License-Identifier: GPL-2.0-only
/* Divides the time of segments among routines and tasks. */
#include <stdlib.h>
#include <string.h>

#include "lib/cli.h"
#include "uses.h"

/* The innermost routine of a task, since @ns; @runs: a segment shows it running. */
struct use_walk {
	uint64_t ns;
	uint32_t id;
	bool begun, runs;
};

struct uses {
	struct path_graph *g;
	const struct path *path;
	struct path_rows *rows;
	struct use_walk *walks;	/* of each task */
};

struct uses *uses_create(struct path_graph *g, const struct path *path, struct path_rows *rows)
{
	struct uses *u = cli_alloc(NULL, 1, sizeof(*u));
	size_t i;

	*u = (struct uses){ .g = g, .path = path, .rows = rows };
	u->walks = cli_alloc(NULL, g->nr_tasks + 1, sizeof(*u->walks));
	memset(u->walks, 0, (g->nr_tasks + 1) * sizeof(*u->walks));
	for (i = 0; i < path->nr; i++)
		if (path->segments[i].state == PATH_RUNNING)
			u->walks[path->segments[i].task].runs = true;
	return u;
}

void uses_destroy(struct uses *u)
{
	free(u->walks);
	free(u);
}

/* The first segment that ends after @ns. */
static size_t segment_at(const struct path *path, uint64_t ns)
{
	size_t low = 0, high = path->nr, middle;

	while (low < high) {
		middle = low + (high - low) / 2;
		if (path->segments[middle].to_ns <= ns)
			low = middle + 1;
		else
			high = middle;
	}
	return low;
}

static void use(struct uses *u, const struct path_segment *s, uint64_t from_ns, uint64_t to_ns,
		uint32_t key)
{
	if (from_ns < s->from_ns)
		from_ns = s->from_ns;
	if (to_ns > s->to_ns)
		to_ns = s->to_ns;
	path_row_use(&u->rows->rows[s->row], key, to_ns - from_ns);
}

/* @task has run the routine @id for this time. */
static void ran_routine(struct uses *u, uint32_t task, const struct use_walk *walk,
			uint64_t to_ns)
{
	const struct path_segment *s = u->path->segments + segment_at(u->path, walk->ns);

	for (; s < u->path->segments + u->path->nr && s->from_ns < to_ns; s++)
		if (s->task == task && s->state == PATH_RUNNING)
			use(u, s, walk->ns, to_ns, walk->id);
}

/* @task had the CPU for this time. */
static void had_cpu(struct uses *u, uint32_t task, const struct timeline_event *e)
{
	const struct path_segment *s = u->path->segments + segment_at(u->path, e->from_ns);

	for (; s < u->path->segments + u->path->nr && s->from_ns < e->ns; s++)
		if (s->state == PATH_RUN_QUEUE && s->cpu == e->track->cpu && s->task != task)
			use(u, s, e->from_ns, e->ns, task);
}

static uint32_t innermost(struct uses *u, const struct track *track)
{
	uint32_t id = track->depth ? track->frames[track->depth - 1].id : KTAU_ID_NONE;

	return graph_class(u->g, id) == CLASS_REGION ? KTAU_ID_NONE : id;
}

int uses_event(void *arg, const struct timeline_event *e)
{
	struct uses *u = arg;
	struct use_walk *walk;
	uint32_t task;

	if (!e->track->writer)
		e->track->writer = (uintptr_t)graph_find(u->g, e->track->serial) + 1;
	task = (uint32_t)(e->track->writer - 1);
	if (task >= u->g->nr_tasks)
		return 0;
	if (e->type == TIMELINE_OFF)
		had_cpu(u, task, e);
	walk = &u->walks[task];
	if (!walk->runs)
		return 0;
	if (walk->begun && e->ns > walk->ns)
		ran_routine(u, task, walk, e->ns);
	*walk = (struct use_walk){ e->ns, innermost(u, e->track), true, true };
	return 0;
}
