// SPDX-License-Identifier: GPL-2.0-only
#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "lib/cli.h"
#include "lib/hash.h"
#include "lib/report/registry.h"
#include "lib/symbolize.h"
#include "blame.h"
#include "cause.h"
#include "keep.h"
#include "read.h"

/* Green is running, orange waits for a CPU. */
static const char *const colours[PATH_STATES] = {
	[PATH_RUNNING] = "#4caf50",   [PATH_RUN_QUEUE] = "#ff9800", [PATH_UNKNOWN] = "#bdbdbd",
	[PATH_TIMER] = "#9fa8da",     [PATH_NETWORK] = "#29b6f6",   [PATH_DISK] = "#8d6e63",
	[PATH_INPUT] = "#80cbc4",     [PATH_DEVICE] = "#78909c",    [PATH_RCU] = "#ce93d8",
	[PATH_IPI] = "#f48fb1",	      [PATH_INTERRUPT] = "#b0bec5", [PATH_BLOCKED] = "#90a4ae",
	[PATH_STOLEN] = "#e53935",
};

/* @name_of: number of the name of each pair of task and state, plus 1 */
struct keeping {
	const struct path_graph *g;
	struct states *states;
	struct hash name_of;
};

static uint32_t find_name(struct keeping *k, const struct path_segment *segment)
{
	uint64_t key = (uint64_t)segment->task << 8 | segment->state;
	uintptr_t number = hash_get(&k->name_of, key);
	struct states *s = k->states;
	char *text;

	if (number)
		return (uint32_t)number - 1;
	if (asprintf(&text, "%s/%" PRId32 ": %s", graph_task_name(k->g, segment->task),
		     k->g->tasks[segment->task].owner.tid, cause_name(segment->state)) < 0)
		text = NULL;
	s->names = cli_alloc(s->names, s->nr_names + 1, sizeof(*s->names));
	s->names[s->nr_names++] = (struct states_name){
		states_own(s, text), colours[segment->state], cause_name(segment->state),
	};
	hash_put(&k->name_of, key, s->nr_names);
	return (uint32_t)s->nr_names - 1;
}

static void keep(const struct path_graph *g, uint32_t task, const struct path *path,
		 struct states *s)
{
	struct keeping k = { .g = g, .states = s };
	const struct path_segment *segment;
	char *title;

	if (asprintf(&title, "path of %s", graph_task_name(g, task)) < 0)
		title = NULL;
	s->title = states_own(s, title);
	s->rows = cli_alloc(NULL, 1, sizeof(*s->rows));
	s->rows[s->nr_rows++] = s->title;
	s->intervals = cli_alloc(NULL, path->nr + 1, sizeof(*s->intervals));
	for (segment = path->segments; segment < path->segments + path->nr; segment++)
		s->intervals[s->nr_intervals++] = (struct states_interval){
			segment->from_ns, segment->to_ns, 0, find_name(&k, segment),
			g->tasks[segment->task].serial,
		};
	hash_deinit(&k.name_of);
}

static int keep_task(const struct path_reading *r, const char *name, struct states *states)
{
	const struct path_graph *g = r->machines->graph;
	uint32_t task = path_choose_task(r, name, "path");
	int status = CLI_FAILED;
	struct path path;

	if (task == PATH_NONE)
		return CLI_FAILED;
	path = path_life(g, task);
	path_walk(g, PATH_BOUNDED, task, &path);
	if (path_is_exact(&path)) {
		keep(g, task, &path, states);
		status = CLI_DONE;
	} else {
		complain("%s: internal error: the segments do not add up", r->in->files[0]);
	}
	path_deinit(&path);
	return status;
}

/* What is kept of the paths of one machine: a path, or delays. */
struct kept {
	const char *option;
	const char *name;
	struct states *states;
	struct delays *delays;
};

static char *copy(char *text)
{
	if (!text) {
		complain("out of memory");
		exit(CLI_FAILED);
	}
	return text;
}

static void keep_rows(const struct path_print *p, const struct blame *blame, struct delays *delays)
{
	const struct blame_row *row;

	delays->rows = cli_alloc(NULL, blame->nr + 1, sizeof(*delays->rows));
	for (row = blame->rows; row < blame->rows + blame->nr; row++)
		delays->rows[delays->nr++] = (struct delay){
			.victim = copy(strdup(graph_task_name(p->g, row->victim))),
			.by = copy(strdup(graph_task_name(p->g, row->like.task))),
			.state = cause_name(row->like.state),
			.in = path_wait_text(p, &row->like), .ns = row->ns, .nr = row->nr,
		};
	delays->tasks = blame->victims;
	delays->ns = blame->waiting_ns;
}

static int keep_delays(const struct path_reading *r, const struct kept *kept)
{
	const struct machines *m = r->machines;
	struct symbolizer *names = symbolize_create(registry_events(m->all[0]->registry),
						    r->map.symtab);
	const struct path_print p = { .g = m->graph, .names = &names };
	struct blame blame = { 0 };
	int status = CLI_FAILED;

	if (!blame_make(m->graph, kept->name, path_first_ns(m->graph), m->graph->end_ns, &blame)) {
		complain("%s: internal error: the waits do not add up", r->in->files[0]);
	} else if (!blame.victims) {
		complain("%s: the trace has no task '%s'", r->in->files[0], kept->name);
	} else {
		keep_rows(&p, &blame, kept->delays);
		status = CLI_DONE;
	}
	blame_deinit(&blame);
	symbolize_destroy(names);
	return status;
}

static int keep_kept(const struct path_reading *r, const struct kept *kept)
{
	if (!path_has_trace(r))
		return CLI_FAILED;
	return kept->delays ? keep_delays(r, kept) : keep_task(r, kept->name, kept->states);
}

/*
 * What the files say is damaged is reported by the pass that comes next, if it does: if nothing was
 * found here, it does not.
 */
static int read_once(const struct shared_options *in, const struct kept *kept,
		     struct ktau_symtab *symtab, bool quiet)
{
	struct machines machines = { 0 };
	struct path_reading r = {
		.in = in, .machines = &machines, .host.host = in->host, .quiet = quiet,
		.map.symtab = symtab,
	};
	int status = path_read(&r);

	if (machines.nr > 1) {
		complain("--%s: the files are of %zu machines: select one with --host=NAME, or "
			 "use ktau path", kept->option, machines.nr);
		status = CLI_FAILED;
	} else if (!r.map.misfit && (!status || (machines.graph && machines.graph->events))) {
		status = keep_kept(&r, kept);
	} else if (!r.map.misfit && quiet) {
		status = read_once(in, kept, symtab, false);
	}
	machines_deinit(&machines);
	return status;
}

static int read_and_keep(const struct shared_options *in, const struct kept *kept)
{
	struct ktau_symtab *symtab = NULL;
	int status;

	if (in->map && symbolize_load_map(&symtab, in->map))
		return CLI_FAILED;
	status = read_once(in, kept, symtab, true);
	ktau_symtab_destroy(symtab);
	return status;
}

int path_keep(const struct shared_options *in, const char *name, struct states *states)
{
	return read_and_keep(in, &(struct kept){ "path", name, states, NULL });
}

int path_keep_delays(const struct shared_options *in, const char *pattern, struct delays *delays)
{
	return read_and_keep(in, &(struct kept){ "blame", pattern, NULL, delays });
}
