// SPDX-License-Identifier: GPL-2.0-only
#include <stdlib.h>
#include <string.h>

#include "lib/cli.h"
#include "analyse/records.h"
#include "read.h"

/* Reading */

static int take_record(void *arg, const struct ktau_reader *reader,
		       const union ktau_record *record)
{
	struct path_reading *r = arg;

	if (record->rec->type == KTAU_REC_STREAM) {
		r->elsewhere = !host_is_selected(&r->host, record->stream);
		if (!r->elsewhere)
			machines_stream(r->machines, record->stream, r->region,
					r->in->region_names);
	}
	if (r->elsewhere || !r->machines->current)
		return 0;
	if (r->machines->nr == 1 && !symbolize_map_record(&r->map, reader, record))
		return 0;
	return machines_record(r->machines, reader, record);
}

int path_read(struct path_reading *r)
{
	int status = CLI_DONE, i;

	for (i = 0; i < r->in->nr_files; i++) {
		symbolize_map_begin(&r->map, r->in->files[i]);
		status |= records_read(r->in->files[i], r->quiet, take_record, r);
	}
	if (r->map.misfit)
		status = CLI_FAILED;
	if (r->machines->left_out && !r->quiet) {
		complain("%s: there are more than %d machines: select one with --host=NAME",
			 r->in->files[0], MACHINES_MOST);
		status = CLI_FAILED;
	}
	if (r->find_steals && machines_run_guests(r->machines)) {
		status |= r->find_steals(r->in, r->machines->nr, &r->steals);
		r->machines->steals = &r->steals;
	}
	if (machines_finish(r->machines))
		status = CLI_FAILED;
	if (r->machines->nr == 1)
		r->machines->graph->host = r->machines->all[0]->stream.nodename;
	return status;
}

bool path_has_trace(const struct path_reading *r)
{
	const struct path_graph *g = r->machines->graph;

	if (!r->machines->nr && r->in->host)
		complain("%s: contains nothing of host %s", r->in->files[0], r->in->host);
	else if (!g || !g->events)
		complain("%s: has no trace: record one with ktaud --info=both", r->in->files[0]);
	else if (path_first_ns(g) == UINT64_MAX)
		complain("%s: the trace has no durations: no task has slots of two times",
			 r->in->files[0]);
	else
		return true;
	return false;
}

uint64_t path_first_ns(const struct path_graph *g)
{
	uint64_t first = UINT64_MAX;
	size_t i;

	for (i = 0; i < g->nr_tasks; i++)
		if (g->tasks[i].nr && g->tasks[i].edges[0].from_ns < first)
			first = g->tasks[i].edges[0].from_ns;
	return first;
}

/* Which task */

/* @name is COMM, or COMM@HOST; of one machine, tasks have no labels. */
static bool has_name(const struct path_graph *g, const struct path_task *task, const char *name)
{
	const char *comm = task->owner.comm;
	size_t bytes = strlen(comm);

	if (!task->owner.rec.type)
		return false;
	if (task->label && !strcmp(task->label, name))
		return true;
	if (strncmp(name, comm, bytes))
		return false;
	name += bytes;
	return !*name || (g->host && *name == '@' && !strcmp(name + 1, g->host));
}

static bool is_named(const struct path_graph *g, const struct path_task *task, const char *name)
{
	uint64_t number;

	if (!task->nr)
		return false;
	if (cli_number(name, UINT64_MAX, &number))
		return has_name(g, task, name);
	return task->owner.rec.type && task->owner.kind <= KTAU_OWNER_EXITED &&
	       (uint64_t)(uint32_t)task->owner.tid == number;
}

/* The last task with this name; the pid of an earlier one may have been used again. */
static uint32_t find_named(const struct path_graph *g, const char *name)
{
	uint32_t found = PATH_NONE, i;
	uint64_t serial = 0;

	for (i = 0; i < g->nr_tasks; i++)
		if (is_named(g, &g->tasks[i], name) &&
		    (found == PATH_NONE ||
		     g->tasks[i].edges[0].from_ns >= g->tasks[found].edges[0].from_ns))
			found = i;
	if (found != PATH_NONE || cli_number(name, UINT64_MAX, &serial))
		return found;
	for (i = 0; i < g->nr_tasks && found == PATH_NONE; i++)
		if (g->tasks[i].serial == serial && g->tasks[i].nr)
			found = i;
	return found;
}

/*
 * The first ancestor of @task that is traced, or, if tasks have created each other, one of these.
 * Each task is passed once: @seen has those whose ancestors have been looked at.
 */
static uint32_t root_of(const struct path_graph *g, uint32_t task, bool *seen)
{
	while (!seen[task] && g->tasks[task].creator != PATH_NONE) {
		seen[task] = true;
		task = g->tasks[task].creator;
	}
	return task;
}

/* The task from which all others descend; PATH_NONE if there is more than one. */
static uint32_t find_root(const struct path_graph *g)
{
	bool *seen = cli_alloc(NULL, g->nr_tasks + 1, sizeof(*seen));
	uint32_t root = PATH_NONE, i, at;

	memset(seen, 0, g->nr_tasks * sizeof(*seen));
	for (i = 0; i < g->nr_tasks; i++) {
		if (!g->tasks[i].nr)
			continue;
		at = root_of(g, i, seen);
		/* One that has been passed has the root of the first one, or there are two. */
		if (seen[at] && root != PATH_NONE)
			continue;
		if (root != PATH_NONE && root != at)
			break;
		root = at;
	}
	free(seen);
	return i == g->nr_tasks && root != PATH_NONE && g->tasks[root].nr ? root : PATH_NONE;
}

/* The command of ktau record, without --task. */
static uint32_t find_command(const struct path_graph *g)
{
	uint32_t task = g->command_serial ? graph_find(g, g->command_serial) : PATH_NONE, next;

	if (task == PATH_NONE || !g->tasks[task].nr)
		return find_root(g);
	while ((next = g->tasks[task].next) != PATH_NONE)
		task = next;
	return task;
}

uint32_t path_choose_task(const struct path_reading *r, const char *name, const char *option)
{
	const struct path_graph *g = r->machines->graph;
	const char *file = r->in->files[0];
	uint32_t task = name ? find_named(g, name) : find_command(g);

	if (task != PATH_NONE)
		return task;
	if (name)
		complain("%s: the trace has no task '%s'", file, name);
	else
		complain("%s: the trace is not that of a single command: select a task with "
			 "--%s=PID", file, option);
	return PATH_NONE;
}

struct path path_life(const struct path_graph *g, uint32_t task)
{
	const struct path_task *first = &g->tasks[graph_first_life(g, task)];
	const struct path_task *last = &g->tasks[task];
	struct path path = { .from_ns = first->edges[0].from_ns,
			     .to_ns = last->edges[last->nr - 1].to_ns };

	if (first->released_ns)
		path.from_ns = first->released_ns;
	else if (first->creator != PATH_NONE && first->created_ns < path.from_ns)
		path.from_ns = first->created_ns;
	return path;
}
