// SPDX-License-Identifier: GPL-2.0-only
/* Divides the time of segments among routines and tasks. */
#include <stdlib.h>
#include <string.h>

#include "lib/bisect.h"
#include "lib/cli.h"
#include "uses.h"

/* The innermost routine of a task, since @ns; @runs: a segment shows it running. */
struct use_walk {
	uint64_t ns;
	uint32_t id;
	bool begun, runs;
};

/* A machine, whose events are received. */
struct use_side {
	struct uses *uses;
	uint16_t machine;
};

/**
 * struct uses - a second pass
 * @machines: the machines
 * @path: the path
 * @rows: its rows
 * @walks: of each task
 * @sides: of each machine
 */
struct uses {
	const struct machines *machines;
	const struct path *path;
	struct path_rows *rows;
	struct use_walk *walks;
	struct use_side *sides;
};

static int take_event(void *arg, const struct timeline_event *e);

static void listen(struct uses *u, struct machines *m)
{
	void **args = cli_alloc(NULL, m->nr, sizeof(void *));
	size_t i;

	u->sides = cli_alloc(NULL, m->nr, sizeof(*u->sides));
	for (i = 0; i < m->nr; i++) {
		u->sides[i] = (struct use_side){ u, (uint16_t)i };
		args[i] = &u->sides[i];
	}
	machines_again(m, take_event, args);
	free(args);
}

struct uses *uses_create(struct machines *m, const struct path *path, struct path_rows *rows)
{
	struct uses *u = cli_alloc(NULL, 1, sizeof(*u));
	const struct path_graph *g = m->graph;
	size_t i;

	*u = (struct uses){ .machines = m, .path = path, .rows = rows };
	listen(u, m);
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
	free(u->sides);
	free(u);
}

static bool ends_before(const void *segments, size_t i, const void *ns)
{
	return ((const struct path_segment *)segments)[i].to_ns <= *(const uint64_t *)ns;
}

/* The first segment that ends after @ns. */
static size_t segment_at(const struct path *path, uint64_t ns)
{
	return bisect(path->segments, path->nr, &ns, ends_before);
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

static uint64_t map(const struct uses *u, uint16_t machine, uint64_t ns)
{
	return u->machines->lines ? clock_line_map(&u->machines->lines[machine], ns) : ns;
}

/* @task had the CPU. */
static void had_cpu(const struct use_side *side, uint32_t task, const struct timeline_event *e)
{
	struct uses *u = side->uses;
	uint64_t from_ns = map(u, side->machine, e->from_ns);
	uint64_t to_ns = map(u, side->machine, e->ns);
	const struct path_segment *s = u->path->segments + segment_at(u->path, from_ns);

	for (; s < u->path->segments + u->path->nr && s->from_ns < to_ns; s++)
		if (s->state == PATH_RUN_QUEUE && s->cpu == e->track->cpu && s->task != task &&
		    u->machines->graph->tasks[s->task].machine == side->machine)
			use(u, s, from_ns, to_ns, task);
}

static uint32_t innermost(struct path_graph *g, const struct track *track)
{
	uint32_t id = track->depth ? track->frames[track->depth - 1].id : KTAU_ID_NONE;

	return graph_class(g, id) == CLASS_REGION ? KTAU_ID_NONE : id;
}

static int take_event(void *arg, const struct timeline_event *e)
{
	const struct use_side *side = arg;
	struct uses *u = side->uses;
	struct machine *machine = u->machines->all[side->machine];
	uint64_t ns = map(u, side->machine, e->ns);
	struct use_walk *walk;
	uint32_t task;

	if (!e->track->writer)
		e->track->writer = (uintptr_t)graph_find(machine->graph, e->track->serial) + 1;
	task = (uint32_t)(e->track->writer - 1);
	if (task == PATH_NONE)
		return 0;
	task += machine->first_task;
	if (e->type == TIMELINE_OFF)
		had_cpu(side, task, e);
	walk = &u->walks[task];
	if (!walk->runs)
		return 0;
	if (walk->begun && ns > walk->ns)
		ran_routine(u, task, walk, ns);
	*walk = (struct use_walk){ ns, innermost(machine->graph, e->track), true, true };
	return 0;
}
