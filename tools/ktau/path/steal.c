// SPDX-License-Identifier: GPL-2.0-only
#include <stdlib.h>
#include <string.h>

#include "lib/cli.h"
#include "steal.h"

/**
 * struct dividing - new edges of a task
 * @edges: the edges
 * @nr: length of @edges
 * @room: allocated length of @edges
 */
struct dividing {
	struct path_edge *edges;
	size_t nr, room;
};

/* Add the part of @e until @to_ns, which becomes the start of @e. */
static void add_part(struct dividing *d, struct path_edge *e, uint64_t to_ns, const uint16_t *cause)
{
	struct path_edge part = *e;

	if (to_ns <= e->from_ns)
		return;
	if (d->nr == d->room) {
		d->room += d->room / 4 + 16;
		d->edges = cli_alloc(d->edges, d->room, sizeof(*d->edges));
	}
	part.to_ns = e->from_ns = to_ns;
	if (cause) {
		part.state = PATH_STOLEN;
		part.cause = *cause;
	}
	d->edges[d->nr++] = part;
}

/* The steals in [from, to) of one task, in the order of time. */
struct span {
	const struct steal *at, *end;
};

static void divide_edge(struct dividing *d, struct path_edge e, struct span *span)
{
	const struct steal *s;
	uint16_t cause;

	while (span->at < span->end && span->at->to_ns <= e.from_ns)
		span->at++;
	for (s = span->at; e.state == PATH_RUNNING && s < span->end && s->from_ns < e.to_ns; s++) {
		cause = (uint16_t)s->cause;
		add_part(d, &e, s->from_ns, NULL);
		add_part(d, &e, s->to_ns < e.to_ns ? s->to_ns : e.to_ns, &cause);
	}
	add_part(d, &e, e.to_ns, NULL);
}

/* Return: for each old edge, the number of the last new one that is a part of it. */
static size_t *divide_task(struct path_task *task, struct span span)
{
	size_t *moved = cli_alloc(NULL, task->nr, sizeof(*moved)), i;
	struct dividing d = { 0 };

	for (i = 0; i < task->nr; i++) {
		divide_edge(&d, task->edges[i], &span);
		moved[i] = d.nr - 1;
	}
	free(task->edges);
	task->edges = d.edges;
	task->nr = d.nr;
	task->room = d.room;
	return moved;
}

void steal_edges(struct path_graph *g, const struct steals_machine *steals)
{
	const struct steal *end = steals->all + steals->nr;
	size_t **moved = cli_alloc(NULL, g->nr_tasks + 1, sizeof(size_t *)), i;
	struct span span = { steals->all, steals->all };
	struct path_arrival *a;
	uint32_t task;

	memset(moved, 0, g->nr_tasks * sizeof(size_t *));
	for (; span.at < end; span.at = span.end) {
		while (span.end < end && span.end->serial == span.at->serial)
			span.end++;
		task = graph_find(g, span.at->serial);
		if (task != PATH_NONE && g->tasks[task].nr)
			moved[task] = divide_task(&g->tasks[task], span);
	}
	for (a = g->arrivals; a < g->arrivals + g->nr_arrivals; a++)
		if (moved[a->task])
			a->edge = moved[a->task][a->edge];
	for (i = 0; i < g->nr_tasks; i++)
		free(moved[i]);
	free(moved);
}
